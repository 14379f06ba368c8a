"""The client against our own API server, over both transports: the same calls, the same outcomes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardpoint.apiserver import hub
from hardpoint.apiserver.pki import ensure
from hardpoint.apiserver.server import ApiServer
from hardpoint.client.client import Client
from hardpoint.client.endpoint import find_endpoint
from hardpoint.client.events import Event
from hardpoint.client.http import HttpTransport
from hardpoint.client.inprocess import InProcessTransport
from hardpoint.client.kubeconfig import write_context
from hardpoint.client.options import ALL_NAMESPACES
from hardpoint.client.transport import Interrupted, Stream, Transport
from hardpoint.client.watch import Pace
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import User
from hardpoint.serving.certificates import Pki
from hardpoint.serving.server import serve
from hardpoint.serving.tls import serving_context
from hardpoint.store.memory import MemoryStore

from .reader import Reader

ADMIN = User("hardpoint-admin", ("system:masters",))
GUIDE = Path(__file__).parents[2] / "docs/guides/client.md"


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    return ensure(tmp_path_factory.mktemp("end-to-end") / "pki", [], datetime.now(UTC))


@asynccontextmanager
async def serving(store: MemoryStore, pki: Pki, port: int = 0) -> AsyncIterator[int]:
    context = serving_context(pki.certificate("apiserver"), pki.key("apiserver"), pki.certificate("client-ca"))
    async with (
        ApiServer(store).running() as api,
        await serve(api.handle, host="127.0.0.1", port=port, ssl_context=context) as server,
    ):
        yield server.port


def kubeconfig_for(port: int, pki: Pki, path: Path) -> Path:
    write_context(
        path,
        name="test",
        server=f"https://127.0.0.1:{port}",
        ca_pem=pki.certificate("server-ca").read_bytes(),
        cert_pem=pki.certificate("admin").read_bytes(),
        key_pem=pki.key("admin").read_bytes(),
    )
    return path


@pytest.fixture(params=["in-process", "https"])
async def client(request: pytest.FixtureRequest, pki: Pki, tmp_path: Path) -> AsyncIterator[Client]:
    if request.param == "in-process":
        async with ApiServer(MemoryStore()).running() as api:
            yield Client.in_process(api.handle, ADMIN)
    else:
        async with (
            serving(MemoryStore(), pki) as port,
            Client.from_kubeconfig(kubeconfig_for(port, pki, tmp_path / "config")) as client,
        ):
            yield client


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"app": "x"}}, "data": data}


async def test_the_life_of_an_object(client: Client) -> None:
    created = await client.create(config_map("a", text="1"))
    assert created["metadata"]["namespace"] == "default"
    created["data"]["text"] = "2"
    updated = await client.update(created)
    with pytest.raises(ApiError, match="the object has been modified") as conflict:
        await client.update(created | {"data": {}})
    assert conflict.value.reason == "Conflict"
    await client.patch("cm", "a", {"data": {"more": "3"}})
    await client.patch("cm", "a", [{"op": "remove", "path": "/data/text"}], strategy="json")
    await client.patch("cm", "a", {"data": {"some": "4"}}, strategy="strategic")
    assert (await client.get("v1 ConfigMap", "a"))["data"] == {"more": "3", "some": "4"}
    with pytest.raises(ApiError, match="the UID in the precondition"):
        await client.delete("configmaps", "a", uid="another")
    await client.delete("configmaps", "a", uid=updated["metadata"]["uid"])
    with pytest.raises(ApiError, match='configmaps "a" not found'):
        await client.get("configmaps", "a")


async def test_refusals_arrive_whole(client: Client) -> None:
    await client.create(config_map("a"))
    with pytest.raises(ApiError) as exists:
        await client.create(config_map("a"))
    assert (exists.value.code, exists.value.reason) == (409, "AlreadyExists")
    assert exists.value.details == {"name": "a", "kind": "configmaps"}
    with pytest.raises(ApiError) as invalid:
        await client.create(config_map("Not A Name"))
    assert invalid.value.code == 422
    assert invalid.value.details is not None
    assert invalid.value.details["causes"][0]["field"] == "metadata.name"


async def test_lists_in_pages_and_selections(client: Client) -> None:
    for number in range(7):
        await client.create(config_map(f"n{number}", odd=str(number % 2)))
    listed = await client.list("configmaps", label_selector="app=x", page_size=3)
    assert [item["metadata"]["name"] for item in listed["items"]] == [f"n{number}" for number in range(7)]
    assert {item["kind"] for item in listed["items"]} == {"ConfigMap"}
    sizes = [len(page["items"]) async for page in client.pages("cm", label_selector="app=x", page_size=3)]
    assert sizes == [3, 3, 1]
    assert len((await client.list("cm", namespace=ALL_NAMESPACES, field_selector="metadata.name=n3"))["items"]) == 1
    await client.delete_collection("configmaps", label_selector="app=x")
    assert (await client.list("configmaps", label_selector="app=x"))["items"] == []


async def take(events: AsyncIterator[Event], count: int) -> list[tuple[str, str]]:
    async with asyncio.timeout(10):
        taken = [await anext(events) for _ in range(count)]
    return [(event.type, event.object["metadata"].get("name", "")) for event in taken]


async def test_following_a_collection(client: Client) -> None:
    await client.create(config_map("there"))
    async with client.list_then_watch("configmaps", label_selector="app=x") as events:
        assert await take(events, 2) == [("ADDED", "there"), ("SYNCED", "")]
        made = await client.create(config_map("new"))
        await client.update(made | {"data": {"a": "b"}})
        await client.delete("configmaps", "there")
        assert await take(events, 3) == [("ADDED", "new"), ("MODIFIED", "new"), ("DELETED", "there")]


async def test_watching_from_now_and_from_a_version(client: Client) -> None:
    first = await client.create(config_map("first"))
    async with client.watch("configmaps") as from_now:
        waiting = asyncio.ensure_future(take(from_now, 1))
        await client.create(config_map("second"))
        while not waiting.done():
            # The watch may begin after the write; what it misses then is not its promise.
            await client.patch("cm", "first", {"data": {"tick": str(asyncio.get_running_loop().time())}})
            await asyncio.wait((waiting,), timeout=0.05)
        assert waiting.result()[0] in (("ADDED", "second"), ("MODIFIED", "first"))
    version = first["metadata"]["resourceVersion"]
    async with client.watch("configmaps", resource_version=version) as events:
        assert (await take(events, 1))[0] == ("ADDED", "second")


async def test_a_follower_does_not_notice_a_restart(pki: Pki, tmp_path: Path) -> None:
    store = MemoryStore()
    async with AsyncExitStack() as first_life:
        port = await first_life.enter_async_context(serving(store, pki))
        endpoint = find_endpoint(kubeconfig_for(port, pki, tmp_path / "config"))
        pace = Pace(sleep=lambda seconds: asyncio.sleep(0.01))
        async with (
            Client(HttpTransport(endpoint)) as writer,
            Client(HttpTransport(endpoint), pace=pace) as follower,
            follower.list_then_watch("cm", label_selector="app=x") as events,
        ):
            await writer.create(config_map("before"))
            assert await take(events, 2) == [("ADDED", "before"), ("SYNCED", "")]
            await first_life.aclose()
            async with serving(store, pki, port):
                await writer.create(config_map("after"))
                assert await take(events, 1) == [("ADDED", "after")]


class Cutting:
    """A transport whose streams break after so many chunks."""

    def __init__(self, transport: Transport, lives: list[int]) -> None:
        self.request, self.close = transport.request, transport.close
        self._transport = transport
        self._lives = lives

    @asynccontextmanager
    async def stream(self, *asked: Any) -> AsyncIterator[Stream]:
        life = self._lives.pop(0) if self._lives else 1_000_000
        async with self._transport.stream(*asked) as stream:
            yield Stream(stream.status, stream.headers, _cut(stream.chunks, life))


async def _cut(chunks: AsyncIterator[bytes], life: int) -> AsyncIterator[bytes]:
    for _ in range(life):
        chunk = await anext(chunks, None)
        if chunk is None:
            return
        yield chunk
    raise Interrupted("test", "cut")


async def play(client: Client, store: MemoryStore, acts: list[tuple[str, str]]) -> None:
    """Write, delete and forget, and last of all create `end`."""
    for what, name in acts:
        if what == "compact":
            await store.compact(await store.revision())
        elif what == "write":
            with suppress(ApiError):
                await client.create(config_map(name))
            await client.patch("cm", name, {"data": {"at": str(await store.revision())}})
        else:
            with suppress(ApiError):
                await client.delete("cm", name)
        await asyncio.sleep(0)
    await client.create(config_map("end"))


acts = st.lists(
    st.tuples(st.sampled_from(["write", "write", "delete", "compact"]), st.sampled_from("abc")), max_size=25
)


@settings(max_examples=25, deadline=None)
@given(acts, st.lists(st.integers(0, 4), max_size=10))
async def test_a_follower_arrives_at_the_servers_state_whatever_is_cut_and_forgotten(
    happens: list[tuple[str, str]], lives: list[int]
) -> None:
    store, reader = MemoryStore(), Reader()
    # A server with next to no memory of its own, so that what is compacted is forgotten.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hub, "LOG_EVENTS_MAX", 1)
        await follow_to_the_end(store, reader, happens, lives)


async def follow_to_the_end(
    store: MemoryStore, reader: Reader, happens: list[tuple[str, str]], lives: list[int]
) -> None:
    async with ApiServer(store).running() as api:
        client = Client.in_process(api.handle, ADMIN)
        pace = Pace(sleep=lambda seconds: asyncio.sleep(0), watch_seconds_min=0.0)
        follower = Client(Cutting(InProcessTransport(api.handle, ADMIN), list(lives)), pace=pace)
        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            tasks.create_task(play(client, store, happens))
            async with follower.list_then_watch("cm", label_selector="app=x") as events:
                async for event in events:
                    reader.take_in(event)
                    if "end" in reader.objects and reader.objects == await state(client):
                        break


async def state(client: Client) -> dict[str, Any]:
    listed = await client.list("cm", label_selector="app=x")
    return {item["metadata"]["name"]: item for item in listed["items"]}


async def test_discovery_knows_what_the_server_serves(client: Client) -> None:
    kinds = await client.discovery.kinds()
    assert {"pods", "deployments", "customresourcedefinitions"} <= {kind.plural for kind in kinds}
    assert (await client.resource("deploy")).api_version == "apps/v1"


async def test_any_path_can_be_asked(client: Client) -> None:
    answer = await client.raw("GET", "/readyz", query={"verbose": ""})
    assert (answer.status, answer.body.splitlines()[-1]) == (200, b"readyz check passed")


async def test_the_guides_examples_run(
    client: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL))
    namespace: dict[str, Any] = {}
    exec(compile(code, str(GUIDE), "exec"), namespace)
    monkeypatch.setattr(Client, "from_kubeconfig", lambda: nullcontext(client))
    await namespace["main"]()
    for example in ("read", "write", "follow"):
        await namespace[example](client)
    told = capsys.readouterr().out
    assert told.startswith("hello\n")
    assert told.endswith("that is all there is, changes from here on\n")
