"""Databases of a service outside of the cluster, as objects: made, resized and dropped with them.

DATABASES=http://127.0.0.1:8080 hardpoint run examples/09_database.py
"""

import asyncio
import json
import os
from base64 import b64decode
from secrets import token_hex
from typing import Annotated, Any, Literal
from urllib.request import Request, urlopen

from pydantic import BaseModel, Field

from hardpoint import App
from hardpoint.controller import Context, Requeue
from hardpoint.crd import Conditions, Resource, Rule
from hardpoint.objects import Secret

app = App("databases")


@app.resource(group="shop.example.com", version="v1", columns={"Engine": ".spec.engine", "Address": ".status.address"})
class Database(Resource):
    class Spec(BaseModel):
        engine: Annotated[Literal["postgres", "mysql"], Rule("self == oldSelf", "another engine is another database")]
        gigabytes: Annotated[int, Field(ge=1, le=1024)] = 10

    class Status(BaseModel):
        address: str = ""
        conditions: Conditions = []

    spec: Spec
    status: Status


async def drop(database: Database, ctx: Context) -> None:
    await asyncio.to_thread(ask, "DELETE", database)


@app.controller(Database, owns=[Secret], finalize=drop)
async def provide(database: Database, ctx: Context) -> Requeue | None:
    name = f"{database.metadata.name}-credentials"
    secret = await ctx.get(Secret, name)
    if secret is None:
        secret = await ctx.apply(Secret({"metadata": {"name": name}, "stringData": {"password": token_hex(16)}}))
    wanted = {**database.spec.model_dump(), "password": b64decode(secret.data["password"]).decode()}
    found = await asyncio.to_thread(ask, "PUT", database, wanted)
    database.status.address = found["address"]
    is_ready = found["state"] == "ready"
    ctx.condition("Ready", is_ready, "Provided" if is_ready else "Waiting", f"the service says: {found['state']}")
    return None if is_ready else Requeue(after=5)


def ask(method: str, database: Database, body: Any = None) -> Any:
    url = f"{os.environ['DATABASES']}/databases/{database.metadata.namespace}.{database.metadata.name}"
    with urlopen(Request(url, json.dumps(body).encode(), method=method), timeout=10) as answer:
        return json.load(answer)
