"""A small controller to be checked, good or with the defect that its command line names.

A Greeting becomes as many ConfigMaps as it has `replicas`, which it owns, and one in the namespace `archive`, which
nobody can own from outside and which its finalizer therefore removes; its status tells how many were made.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import sys
from datetime import UTC, datetime
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.endpoint import find_endpoint
from hardpoint.client.http import HttpTransport
from hardpoint.client.resources import Resource
from hardpoint.client.retries import Retrying
from hardpoint.client.transport import TransportError
from hardpoint.machinery.errors import ApiError

Json = dict[str, Any]

GREETINGS = Resource("example.com/v1", "greetings", "Greeting")
MAPS = Resource("v1", "configmaps", "ConfigMap")
LEASES = Resource("coordination.k8s.io/v1", "leases", "Lease")
FINALIZER = "example.com/archive"
MANAGER = "greeter"
DEFECT = sys.argv[1] if len(sys.argv) > 1 else ""


@dataclasses.dataclass
class Spec:
    """What a Greeting asks for, as far as a controller with the defect `crashes-on-unknown` has heard."""

    text: str = ""
    replicas: int = 1


class Greeter:
    """The controller."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.queue: asyncio.Queue[tuple[str, str]] = asyncio.Queue()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.work())
            tasks.create_task(self.watch())
            if DEFECT == "polls":
                tasks.create_task(self.poll())
            if DEFECT == "tight":
                tasks.create_task(self.watch_tightly())

    async def watch(self) -> None:
        async with self.client.list_then_watch(GREETINGS, namespace="") as events:
            async for event in events:
                if event.type == "SYNCED":
                    continue
                metadata = event.object["metadata"]
                if event.type == "DELETED" and DEFECT == "relies-on-events":
                    await self.drop_archive(metadata["namespace"], metadata["name"])
                self.queue.put_nowait((metadata["namespace"], metadata["name"]))

    async def poll(self) -> None:
        while True:
            await self.client.list(GREETINGS, namespace="")
            await asyncio.sleep(0.02)

    async def watch_tightly(self) -> None:
        while True:
            with contextlib.suppress(TransportError):
                await self.client.raw("GET", GREETINGS.path(), query={"watch": "true"})

    async def work(self) -> None:
        while True:
            key = await self.queue.get()
            try:
                await self.reconcile(*key)
            except (ApiError, TransportError) as failed:
                self.think_again(key, failed)

    def think_again(self, key: tuple[str, str], failed: Exception) -> None:
        if DEFECT == "gives-up":
            return
        wait = 0.01 if DEFECT == "impatient" else max(0.1, getattr(failed, "retry_after_seconds", 0))
        asyncio.get_running_loop().call_later(wait, self.queue.put_nowait, key)

    async def reconcile(self, namespace: str, name: str) -> None:
        try:
            greeting = await self.client.get(GREETINGS, name, namespace=namespace)
        except ApiError as missing:
            if missing.code == 404:
                return
            raise
        if "deletionTimestamp" in greeting["metadata"]:
            await self.finalize(greeting)
            return
        greeting = await self.with_finalizer(greeting)
        spec = greeting["spec"]
        if DEFECT == "crashes-on-unknown":
            spec = dataclasses.asdict(Spec(**spec))
        await self.make_children(greeting, spec)
        await self.archive(greeting)
        await self.tell(greeting, spec.get("replicas", 1))

    async def with_finalizer(self, greeting: Json) -> Json:
        finalizers = greeting["metadata"].get("finalizers") or []
        if FINALIZER in finalizers or DEFECT == "relies-on-events":
            return greeting
        greeting["metadata"]["finalizers"] = [*finalizers, FINALIZER]
        return await self.client.update(greeting)

    async def make_children(self, greeting: Json, spec: Json) -> None:
        if DEFECT in ("makes-before-it-tells", "trusts-old-lists"):
            await self.make_one_unless_done(greeting)
            return
        wanted = {f"{greeting['metadata']['name']}-{number}" for number in range(spec.get("replicas", 1))}
        for child in sorted(wanted):
            await self.write(self.child(greeting, {"name": child}))
        label = f"greeting={greeting['metadata']['name']}"
        there = await self.client.list(MAPS, namespace=greeting["metadata"]["namespace"], label_selector=label)
        for each in there["items"]:
            if each["metadata"]["name"] not in wanted:
                await self.client.delete(MAPS, each["metadata"]["name"], namespace=each["metadata"]["namespace"])

    async def make_one_unless_done(self, greeting: Json) -> None:
        name = greeting["metadata"]["name"]
        if DEFECT == "makes-before-it-tells":
            is_done = "made" in (greeting.get("status") or {})
        else:
            is_done = name in await self.names_in_an_old_list()
        if not is_done:
            await self.client.create(self.child(greeting, {"generateName": f"{name}-"}))

    async def names_in_an_old_list(self) -> set[str]:
        answer = await self.client.raw(
            "GET", MAPS.path("default"), query={"resourceVersion": "0"}, headers={"accept": "application/json"}
        )
        items = json.loads(answer.body)["items"]
        return {(each["metadata"].get("labels") or {}).get("greeting", "") for each in items}

    async def write(self, child: Json) -> None:
        if DEFECT == "ignores-409":
            await self.write_in_two_steps(child)
            return
        if DEFECT != "overwrites":
            await self.client.apply(child, field_manager=MANAGER, force=True)
            return
        try:
            await self.client.update(child)
        except ApiError as missing:
            if missing.code != 404:
                raise
            await self.client.create(child)

    async def write_in_two_steps(self, child: Json) -> None:
        """Make it empty and fill it then; if somebody was faster, leave it."""
        try:
            made = await self.client.create({**child, "data": {}})
            await self.client.update({**made, "data": child["data"]})
        except ApiError as refused:
            if refused.code != 409:
                raise

    def child(self, greeting: Json, named: Json) -> Json:
        metadata = greeting["metadata"]
        owner = {"apiVersion": "example.com/v1", "kind": "Greeting", "name": metadata["name"], "uid": metadata["uid"]}
        own = {"ownerReferences": [owner]} if DEFECT != "no-owner" else {}
        labels = {"greeting": metadata["name"]}
        data = {"text": greeting["spec"].get("text", "")}
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {**named, "namespace": metadata["namespace"], "labels": labels, **own},
            "data": data,
        }

    async def archive(self, greeting: Json) -> None:
        metadata = greeting["metadata"]
        name = f"{metadata['namespace']}.{metadata['name']}"
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "archive"}}
        await self.client.apply(body, field_manager=MANAGER, force=True)

    async def drop_archive(self, namespace: str, name: str) -> None:
        try:
            await self.client.delete(MAPS, f"{namespace}.{name}", namespace="archive")
        except ApiError as missing:
            if missing.code != 404:
                raise

    async def finalize(self, greeting: Json) -> None:
        metadata = greeting["metadata"]
        if FINALIZER not in (metadata.get("finalizers") or ()) or DEFECT == "keeps-finalizer":
            return
        await self.drop_archive(metadata["namespace"], metadata["name"])
        metadata["finalizers"] = [each for each in metadata["finalizers"] if each != FINALIZER]
        await self.client.update(greeting)

    async def tell(self, greeting: Json, made: int) -> None:
        condition = {"type": "Ready", "status": "True"}
        status: Json = {"made": made, "conditions": [condition]}
        if DEFECT == "hot-loop":
            status["at"] = datetime.now(UTC).isoformat()
        body = {key: greeting[key] for key in ("apiVersion", "kind")}
        names = {key: greeting["metadata"][key] for key in ("name", "namespace")}
        if DEFECT == "overwrites-status":
            await self.client.patch(
                GREETINGS, names["name"], {"status": status}, namespace=names["namespace"], subresource="status"
            )
            return
        await self.client.apply(
            {**body, "metadata": names, "status": status}, field_manager=MANAGER, force=True, subresource="status"
        )


async def lead(client: Client) -> None:
    """Hold a lease of one second, and do the work meanwhile; `leads-for-ever` does not notice its loss."""
    greeter: asyncio.Task[None] | None = None
    while True:
        is_ours = await claim(client)
        if is_ours and greeter is None:
            greeter = asyncio.create_task(Greeter(client).run())
        elif not is_ours and greeter is not None and DEFECT != "leads-for-ever":
            greeter.cancel()
            greeter = None
        await asyncio.sleep(0.2)


async def claim(client: Client) -> bool:
    body: Json = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "greeter", "namespace": "default"},
        "spec": {"holderIdentity": "greeter", "leaseDurationSeconds": 1},
    }
    try:
        held = await client.get(LEASES, "greeter", namespace="default")
    except ApiError as missing:
        if missing.code != 404:
            raise
        await client.create(body)
        return True
    if held["spec"].get("holderIdentity") in ("", None, "greeter"):
        await client.apply(body, field_manager=MANAGER, force=True)
        return True
    return False


async def main() -> None:
    transport = HttpTransport(find_endpoint())
    async with Client(transport if DEFECT in ("impatient", "tight") else Retrying(transport)) as client:
        if DEFECT.startswith("leads"):
            await lead(client)
        else:
            await Greeter(client).run()


if __name__ == "__main__":
    asyncio.run(main())
