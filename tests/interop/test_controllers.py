"""A controller's whole life on our server and on the real one: definition, finalizer, owned object, status, races."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from hardpoint import App
from hardpoint.client.client import Client
from hardpoint.controller import Context
from hardpoint.crd import Conditions, Resource
from hardpoint.machinery.errors import ApiError
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.controlling import Control
from hardpoint.sdk.running import Cluster, Webhooks, running
from hardpoint.sdk.serving import Place
from tests.interop.conftest import built
from tests.interop.kube_apiserver import running_kube_apiserver

pytestmark = pytest.mark.interop

Json = dict[str, Any]
SITE = "sites.example.com/v1 Site"


@pytest.fixture(scope="module", params=["ours", "real"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """How to reach either of them."""
    if request.param == "ours":
        yield request.getfixturevalue("kubeconfig")
        return
    with running_kube_apiserver(built("kube-apiserver"), tmp_path_factory.mktemp("real")) as kubeconfig:
        yield kubeconfig


app = App("sites")
races: list[str] = []
"""Sites that somebody else writes the status of while they are reconciled."""


@app.resource(group="sites.example.com", version="v1")
class Site(Resource):
    class Spec(BaseModel):
        text: str

    class Status(BaseModel):
        page: str = ""
        visits: int = 0
        conditions: Conditions = []

    spec: Spec
    status: Status


async def take_down(site: Site, ctx: Context) -> None:
    page = await ctx.get("v1 ConfigMap", f"{site.metadata.name}-page")
    if page is not None:
        await ctx.delete(page)


@app.controller(Site, owns=["v1 ConfigMap"], finalize=take_down)
async def publish(site: Site, ctx: Context) -> None:
    name = f"{site.metadata.name}-page"
    body: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    made = await ctx.apply({**body, "data": {"index.html": site.spec.text}})
    if site.metadata.name in races:
        races.remove(site.metadata.name)
        theirs = {"status": {"visits": 7}}
        await ctx.client.patch(SITE, site.metadata.name, theirs, namespace=ctx.key.namespace, subresource="status")
    site.status.page = made["metadata"]["name"]
    ctx.condition("Ready", True, "Published", "the page is there")
    ctx.event("Normal", "Published", "the page is there")


def site(name: str, text: str) -> Json:
    return {"apiVersion": "sites.example.com/v1", "kind": "Site", "metadata": {"name": name}, "spec": {"text": text}}


@asynccontextmanager
async def published(server: Path, **control: Any) -> AsyncIterator[Client]:
    async with Client.from_kubeconfig(server) as client, Client.from_kubeconfig(server) as another:
        cluster = Cluster(another, Control(**control))
        async with running([app], Webhooks(Trust(Path("unused"), ()), Place()), cluster):
            yield client


async def until(holds: Callable[[], Awaitable[Any]]) -> Any:
    async with asyncio.timeout(30):
        while True:
            if found := await holds():
                return found
            await asyncio.sleep(0.05)  # Another process, which tells us nothing of its own accord.


async def find(client: Client, kind: str, name: str) -> Json | None:
    try:
        return await client.get(kind, name)
    except ApiError as refused:
        if refused.code != 404:
            raise
        return None


async def ready(client: Client, name: str) -> Json | None:
    found = await find(client, SITE, name)
    return found if found and (found.get("status") or {}).get("conditions") else None


async def test_a_whole_life(server: Path) -> None:
    async with published(server) as client:
        await client.create(site("life", "hi"))
        found = await until(lambda: ready(client, "life"))
        assert found["metadata"]["finalizers"] == ["sites.sites.example.com/finalizer"]
        assert found["status"]["page"] == "life-page"
        assert found["status"]["conditions"][0]["observedGeneration"] == 1
        page = await client.get("v1 ConfigMap", "life-page")
        assert page["metadata"]["ownerReferences"][0]["uid"] == found["metadata"]["uid"]
        await client.patch("v1 ConfigMap", "life-page", {"data": {"index.html": "defaced"}})

        async def is_mended() -> bool:
            return bool((await client.get("v1 ConfigMap", "life-page"))["data"]["index.html"] == "hi")

        await until(is_mended)
        await client.delete(SITE, "life")

        async def is_gone() -> bool:
            return await find(client, SITE, "life") is None and await find(client, "v1 ConfigMap", "life-page") is None

        await until(is_gone)

        async def is_told() -> bool:
            events = await client.list("events.k8s.io/v1 Event", field_selector="reportingController=sites")
            return any(event["regarding"]["name"] == "life" for event in events["items"])

        await until(is_told)


async def test_a_status_is_merged_with_what_others_write(server: Path) -> None:
    races.append("raced")
    async with published(server) as client:
        await client.create(site("raced", "hi"))
        found = await until(lambda: ready(client, "raced"))
        assert (found["status"]["visits"], found["status"]["page"]) == (7, "raced-page")
        await client.delete(SITE, "raced")


async def test_a_dry_run_writes_nothing(server: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with published(server):
        pass
    caplog.set_level("INFO")
    async with published(server, dry_run=True) as client:
        made = await client.create(site("dry", "hi"))

        async def has_told() -> bool:
            return {"would patch", "would apply", "would patch status"} <= {r.getMessage() for r in caplog.records}

        await until(has_told)
        found = await client.get(SITE, "dry")
        assert found["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
        await client.delete(SITE, "dry")
