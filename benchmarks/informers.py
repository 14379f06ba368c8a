"""What an informer costs: `python -m benchmarks.informers [OBJECTS]`.

Custom resources of about 1 KB, with the managedFields that a server adds, from a server in another process over TLS:
how long until all are known, what the whole process then weighs, and what it does while nothing happens. The same from
a server in this process, and changes as they come out of a watch, from bytes to a subscriber.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import orjson

from hardpoint.client.client import Client
from hardpoint.client.resources import Resource
from hardpoint.client.transport import Answer, Stream
from hardpoint.runtime import Change, Informers, by_label

if TYPE_CHECKING:
    from hardpoint.store.contract import Store

Json = dict[str, Any]

OBJECTS = 50_000
EVENTS = 100_000
IDLE_SECONDS = 5.0
AT_ONCE = 1000
CHUNK_BYTES = 64 * 1024
NAMESPACES = 100
CRON_TABS = Resource("stable.example.com/v1", "crontabs", "CronTab")
SCHEMA = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "crontabs.stable.example.com"},
    "spec": {
        "group": "stable.example.com",
        "names": {"kind": "CronTab", "plural": "crontabs"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}],
    },
}


def cron_tab(number: int, version: int = 1) -> Json:
    """Just over 1 KB without its managedFields."""
    env = [{"name": f"SETTING_{each}", "value": f"value {version} " * 3} for each in range(14)]
    return {
        "apiVersion": "stable.example.com/v1",
        "kind": "CronTab",
        "metadata": {
            "name": f"tab-{number:06}",
            "namespace": f"team-{number % NAMESPACES}",
            "labels": {"app": "bench", "tier": f"tier-{number % 10}"},
        },
        "spec": {"cronSpec": "*/5 * * * *", "image": "registry.example/cron:1.2.3", "replicas": 3, "env": env},
        "status": {"observedGeneration": version, "phase": "Running"},
    }


@asynccontextmanager
async def filled_server(count: int) -> AsyncIterator[Any]:
    """An API server that holds `count` of them. The first is made as anybody would, the others after its model."""
    from hardpoint.apiserver.server import ApiServer
    from hardpoint.machinery.messages import User
    from hardpoint.store.sqlite import SqliteStore

    with tempfile.TemporaryDirectory(prefix="hardpoint-bench-") as scratch:
        store = await SqliteStore.open(Path(scratch) / "data")
        async with ApiServer(store).running() as api:
            client = Client.in_process(api.handle, User("bench", ("system:masters",)))
            await _fill(client, store, count)
            yield api, client
        await store.close()


async def _fill(client: Client, store: Store, count: int) -> None:
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-0"}})
    await client.create(DEFINITION)
    async with client.list_then_watch("customresourcedefinitions") as events:
        async for event in events:
            conditions = event.object.get("status", {}).get("conditions") or ()
            if any((each["type"], each["status"]) == ("Established", "True") for each in conditions):
                break
    made = await client.create(cron_tab(0), field_manager="kubectl-client-side-apply")
    prefix = "/registry/stable.example.com/crontabs/"
    (model,) = (await store.range(prefix)).items

    def create(number: int) -> Coroutine[Any, Any, int]:
        space, name, uid = f"team-{number % NAMESPACES}", f"tab-{number:06}", f"{number:08}"
        value = model.value.replace(b"tab-000000", name.encode()).replace(b"team-0", space.encode())
        value = value.replace(made["metadata"]["uid"][:8].encode(), uid.encode())
        return store.create(f"{prefix}{space}/{name}", value)

    for start in range(1, count, AT_ONCE):
        await asyncio.gather(*map(create, range(start, min(start + AT_ONCE, count))))


async def serve(count: int, kubeconfig: Path) -> None:
    """Serve over TLS until nobody listens any more."""
    from hardpoint.apiserver.pki import ensure
    from hardpoint.client.kubeconfig import write_context
    from hardpoint.serving.server import serve as listen
    from hardpoint.serving.tls import serving_context

    pki = ensure(kubeconfig.parent / "pki", [], datetime.now(UTC))
    context = serving_context(pki.certificate("apiserver"), pki.key("apiserver"), pki.certificate("client-ca"))
    async with (
        filled_server(count) as (api, _),
        await listen(api.handle, host="127.0.0.1", port=0, ssl_context=context) as server,
    ):
        write_context(
            kubeconfig,
            name="bench",
            server=f"https://127.0.0.1:{server.port}",
            ca_pem=pki.certificate("server-ca").read_bytes(),
            cert_pem=pki.certificate("admin").read_bytes(),
            key_pem=pki.key("admin").read_bytes(),
        )
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


@asynccontextmanager
async def served_elsewhere(count: int) -> AsyncIterator[Client]:
    """A client of a server in another process."""
    with tempfile.TemporaryDirectory(prefix="hardpoint-bench-") as scratch:
        kubeconfig = Path(scratch) / "kubeconfig"
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.informers", "serve", str(count), str(kubeconfig)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            assert await server.stdout.readline() == b"ready\n", "the server did not start"
            async with Client.from_kubeconfig(kubeconfig) as client:
                yield client
        finally:
            server.stdin.close()
            await server.wait()


class Lines:
    """A transport that says what a watch says: a complete list of nothing, then prepared events."""

    def __init__(self, events: bytes) -> None:
        self._events = events

    async def request(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        raise AssertionError("only watches are asked for")

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> AsyncIterator[Stream]:
        yield Stream(200, {}, self._chunks())

    async def close(self) -> None: ...

    async def _chunks(self) -> AsyncIterator[bytes]:
        end = {"k8s.io/initial-events-end": "true"}
        mark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "1", "annotations": end}}}
        yield orjson.dumps(mark) + b"\n"
        for start in range(0, len(self._events), CHUNK_BYTES):
            yield self._events[start : start + CHUNK_BYTES]
        await asyncio.Event().wait()


def event_lines(model: Json, count: int, objects: int) -> bytes:
    """What happens to `objects` of them, `count` times, as a watch tells it."""
    lines = []
    for number in range(count):
        which = number % objects
        metadata = {**model["metadata"], **cron_tab(which)["metadata"]}
        metadata |= {"uid": f"uid-{which}", "resourceVersion": str(number + 2)}
        kind = "ADDED" if number < objects else "MODIFIED"
        lines.append(orjson.dumps({"type": kind, "object": {**model, "metadata": metadata}}) + b"\n")
    return b"".join(lines)


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Stopwatch:
    """Time on the clock, and time of this process's processor: other processes take from the first only."""

    def __init__(self) -> None:
        self._began, self._busy = perf_counter(), process_time()

    def told(self, count: int) -> str:
        took, busy = perf_counter() - self._began, process_time() - self._busy
        return f"{took:8.2f} s   {count / took:,.0f}/s; {busy:.2f} s of processor time, {count / busy:,.0f}/s"


class Longest:
    """The longest time that the loop worked for others before it came back."""

    def __init__(self) -> None:
        self.seconds = 0.0

    async def watch(self) -> None:
        while True:
            began = process_time()
            await asyncio.sleep(0.001)
            self.seconds = max(self.seconds, process_time() - began)


async def elsewhere(count: int) -> Json:
    """Sync over TLS, weigh, and rest. Returns one of the objects."""
    before = resident_mb()
    async with served_elsewhere(count) as client:
        informers, longest, told = Informers(client), Longest(), 0

        def hear(change: Change) -> None:
            nonlocal told
            told += 1

        informer = informers.get(CRON_TABS)
        informer.add_index("tier", by_label("tier"))
        informer.subscribe(hear)
        async with informers.running(), asyncio.TaskGroup() as tasks:
            watching, watch = tasks.create_task(longest.watch()), Stopwatch()
            await informer.wait_until_synced()
            synced = watch.told(count)
            watching.cancel()
            assert (told, len(informer)) == (count, count)
            gc.collect()
            weight = resident_mb()
            model = await client.get(CRON_TABS, "tab-000000", namespace="team-0")
            print(f"{count:,} custom resources of {len(orjson.dumps(model)):,} bytes each, over TLS")
            print(f"  {'until all are known':40} {synced}")
            print(f"  {'loop held up, at most':40} {longest.seconds * 1000:8.1f} ms")
            print(f"  {'resident memory, all of the process':40} {weight:8.0f} MB  {before:.0f} MB before")
            busy = process_time()
            await asyncio.sleep(IDLE_SECONDS)
            print(f"  {'processor time while nothing happens':40} {(process_time() - busy) / IDLE_SECONDS:8.2%}")
        return model


async def in_process(count: int) -> None:
    async with filled_server(count) as (_, client):
        informers = Informers(client)
        informer = informers.get(CRON_TABS)
        watch = Stopwatch()
        async with informers.running():
            await informer.wait_until_synced()
        print(f"the same from a server in this process\n  {'until all are known':40} {watch.told(count)}")


async def from_bytes(model: Json, events: int) -> None:
    client = Client(Lines(event_lines(model, events, events // 10)))
    informers, done, told = Informers(client), asyncio.Event(), 0

    def hear(change: Change) -> None:
        nonlocal told
        told += 1
        if told == events:
            done.set()

    informers.get(CRON_TABS).subscribe(hear)
    watch = Stopwatch()
    async with informers.running():
        await done.wait()
    print(f"changes from bytes to a subscriber\n  {f'{events:,} changes':40} {watch.told(events)}")


async def main(count: int) -> None:
    # As the command line does it for whatever it runs.
    gc.set_threshold(50_000, 20, 20)
    gc.freeze()
    model = await elsewhere(count)
    await from_bytes(model, EVENTS)
    await in_process(count)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(int(sys.argv[2]), Path(sys.argv[3])))
    else:
        asyncio.run(main(int(sys.argv[1]) if sys.argv[1:] else OBJECTS))
