"""Apps at work in a real cluster: definitions first, then controllers, and an end at which nothing is lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from hardpoint import App
from hardpoint.apiserver.server import ApiServer
from hardpoint.client.client import Client
from hardpoint.controller import Context, Requeue
from hardpoint.crd import Resource
from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError, ConfigError
from hardpoint.machinery.messages import Request, Response, User
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.controlling import Control, Lease, NotReady, controlling
from hardpoint.sdk.deployment import Deployed
from hardpoint.sdk.installing import DEFINITIONS, install
from hardpoint.sdk.loading import Loaded
from hardpoint.sdk.manifests import manifests, trust_of
from hardpoint.sdk.running import Cluster, Running, Webhooks, running
from hardpoint.sdk.serving import Place
from hardpoint.serving.writing import status_response
from hardpoint.store.memory import MemoryStore
from tests.observing import ADMIN, PATIENCE_SECONDS, Observed

Json = dict[str, Any]

BACKUP = "example.com/v1 Backup"


class World(Observed):
    """Where Apps run."""

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self.lists = 0
        """How often somebody began to read all backups."""

    async def handle(self, request: Request) -> Response:
        self.lists += request.method == "GET" and request.path.endswith("/backups")
        return await super().handle(request)

    async def backup(self, name: str) -> Json:
        return await self.client.create(
            {"apiVersion": "example.com/v1", "kind": "Backup", "metadata": {"name": name}, "spec": {"of": "disk"}}
        )


@pytest.fixture
async def world() -> AsyncIterator[World]:
    store = MemoryStore()
    async with ApiServer(store).running() as server:
        yield World(server)
    await store.close()


def backups(reconcile: Callable[[Any, Context], Awaitable[Requeue | None]] | None = None, **options: Any) -> App:
    """An App with a resource, and a controller that makes a ConfigMap for each object and says so in its status."""
    app = App("backups")

    @app.resource(group="example.com", version="v1")
    class Backup(Resource):
        class Spec(BaseModel):
            of: str

        class Status(BaseModel):
            done: datetime | None = None

        spec: Spec
        status: Status

    async def make(backup: Backup, ctx: Context) -> Requeue | None:
        assert backup.metadata.name
        body: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": backup.metadata.name}}
        await ctx.apply({**body, "data": {"of": backup.spec.of}})
        backup.status.done = backup.status.done or ctx.now
        ctx.event("Normal", "Done", "it is done")
        return None

    app.controller(Backup, owns=["v1 ConfigMap"], name="backups", **options)(reconcile or make)
    return app


@asynccontextmanager
async def run(apps: Sequence[App], world: World, **control: Any) -> AsyncIterator[Running]:
    webhooks = Webhooks(Trust(Path("unused"), ()), Place())
    async with running(apps, webhooks, Cluster(world.another_client(), Control(**control))) as found:
        yield found


async def is_done(world: World, name: str) -> bool:
    found = await world.find(BACKUP, name)
    return bool(((found or {}).get("status") or {}).get("done"))


async def test_definitions_come_first_and_controllers_do_their_work(world: World) -> None:
    async with run([backups()], world) as found:
        assert found.installed == ["backups.example.com"]
        await world.backup("a")
        await world.until(lambda: is_done(world, "a"))
    assert await world.find("v1 ConfigMap", "a")
    events = (await world.client.list("events.k8s.io/v1 Event"))["items"]
    told = [(event["reportingController"], event["regarding"]["name"], event["note"]) for event in events]
    assert ("backups", "a", "it is done") in told, "what was said is told before the end"


async def test_what_is_under_way_is_finished_before_the_end(world: World) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def slow(backup: Any, ctx: Context) -> None:
        begun.set()
        await may_end.wait()
        backup.status.done = datetime(2026, 1, 1, tzinfo=UTC)

    async with run([backups(slow)], world):
        await world.backup("a")
        await begun.wait()
        asyncio.get_running_loop().call_later(0.01, may_end.set)
    assert await is_done(world, "a")


async def test_what_takes_too_long_at_the_end_is_given_up(world: World, caplog: pytest.LogCaptureFixture) -> None:
    begun = asyncio.Event()

    async def endless(backup: Any, ctx: Context) -> None:
        begun.set()
        await asyncio.get_running_loop().create_future()

    async with run([backups(endless)], world, grace_seconds=0.01):
        await world.backup("a")
        await begun.wait()
    assert "reconciles did not end in time" in [record.getMessage() for record in caplog.records]


async def test_of_two_processes_one_works_and_the_other_takes_over(world: World) -> None:
    leaders: list[str] = []

    def app(name: str) -> App:
        async def note(backup: Any, ctx: Context) -> None:
            leaders.append(name)
            world.happened()

        return backups(note)

    async def were(*expected: str) -> bool:
        return leaders == list(expected)

    async with run([app("first")], world, lease=Lease("default", "backups", "first")):
        await world.backup("a")
        await world.until(lambda: were("first"))
        async with run([app("second")], world, lease=Lease("default", "backups", "second")) as second:
            await world.until(lambda: _is_ready(world, second))
            await world.backup("b")
            await world.until(lambda: were("first", "first"))
    lease = await world.client.get("coordination.k8s.io/v1 Lease", "backups", namespace="default")
    assert lease["spec"]["holderIdentity"] == "", "whoever comes next need not wait"
    async with run([app("third")], world, lease=Lease("default", "backups", "third")):
        await world.until(lambda: were("first", "first", "third", "third"))


async def _is_ready(world: World, found: Running) -> bool:
    if not (found.controllers and found.controllers.is_ready):
        await asyncio.sleep(0.005)  # Nobody tells when a cache is filled.
        return await _is_ready(world, found)
    return True


async def test_another_file_takes_over_and_the_caches_stay(world: World) -> None:
    seen: list[tuple[str, str]] = []

    def app(name: str) -> App:
        async def note(backup: Any, ctx: Context) -> None:
            seen.append((name, ctx.key.name))
            world.happened()

        return backups(note)

    async def were(*expected: tuple[str, str]) -> bool:
        return seen == list(expected)

    async with run([app("old")], world) as found:
        await world.backup("a")
        await world.until(lambda: were(("old", "a")))
        lists = world.lists
        found.replace([app("new")])
        await world.until(lambda: were(("old", "a"), ("new", "a")))
        assert world.lists == lists, "nothing is read again"


async def test_a_resource_that_is_not_there_holds_up_nobody_else(world: World) -> None:
    app = backups()

    @app.controller("example.com/v1 Missing")
    async def wait(missing: Any, ctx: Context) -> None:
        raise AssertionError("there is none")

    async with run([app], world) as found:
        await world.backup("a")
        await world.until(lambda: is_done(world, "a"))
        assert found.controllers is not None
        with pytest.raises(NotReady):
            await found.controllers.check_ready()


async def test_a_process_that_shares_the_objects_with_nobody_has_them_all(world: World) -> None:
    async with run([backups()], world, lease=Lease("default", "backups", "only"), shards=3):
        for name in "abc":
            await world.backup(name)
        for name in "abc":
            await world.until(lambda name=name: is_done(world, name))  # type: ignore[misc] # bound at once
    leases = (await world.client.list("coordination.k8s.io/v1 Lease"))["items"]
    assert {each["spec"].get("holderIdentity", "") for each in leases} == {""}, "nobody need wait for them"


async def test_a_dry_run_tells_and_writes_nothing(world: World, caplog: pytest.LogCaptureFixture) -> None:
    async with run([backups()], world):
        pass
    await world.backup("a")
    before = await world.find(BACKUP, "a")
    with caplog.at_level(logging.INFO):
        async with run([backups(finalize=_nothing)], world, dry_run=True):

            async def has_told() -> bool:
                told = [record.getMessage() for record in caplog.records]
                return {"would patch", "would apply", "would patch status", "would tell"} <= set(told)

            await world.until(has_told)
    assert await world.find(BACKUP, "a") == before
    assert await world.find("v1 ConfigMap", "a") is None
    assert (await world.client.list("events.k8s.io/v1 Event"))["items"] == []
    (applied,) = [record for record in caplog.records if record.getMessage() == "would apply"][:1]
    assert vars(applied)["change"]["data"] == {"of": "disk"}


async def _nothing(backup: Any, ctx: Context) -> None:
    return None


async def test_the_roles_that_are_printed_are_enough(tmp_path: Path) -> None:
    async def drop(backup: Any, ctx: Context) -> None:
        secret = await ctx.get("v1 Secret", "key")
        assert secret is None

    app = backups(finalize=drop, reads=["v1 Secret"])
    deployed = Deployed("backups", "operators", "hardpoint:test")
    pki = trust_of(deployed, tmp_path).ensured(datetime.now(UTC))
    objects = manifests(["backups_module"], [Loaded(app, ())], deployed, pki)
    store = MemoryStore()
    async with ApiServer(store).running() as server:
        world = World(server)
        for body in ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "operators"}}, *objects):
            await world.client.create(body)
        definitions = [body for body in objects if body["kind"] == DEFINITIONS.kind]
        await install(world.client, definitions, field_manager="test")
        groups = ("system:serviceaccounts", "system:serviceaccounts:operators", "system:authenticated")
        account = User("system:serviceaccount:operators:backups", groups)
        lease = Lease("operators", "backups", "only")
        async with controlling([app], world.another_client(account), Control(lease=lease)):
            await world.backup("a")
            await world.until(lambda: is_done(world, "a"))
            await world.client.delete(BACKUP, "a", namespace="default")

            async def is_gone() -> bool:
                return await world.find(BACKUP, "a") is None

            await world.until(is_gone)
        events = (await world.client.list("events.k8s.io/v1 Event"))["items"]
        assert {event["type"] for event in events} == {"Normal"}
    await store.close()


async def test_a_dry_run_is_dry_for_the_client_too(world: World) -> None:
    async def write(backup: Any, ctx: Context) -> None:
        await ctx.client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "real"}})
        await ctx.client.delete(BACKUP, "a", namespace="default")
        world.happened()
        done.set()

    done = asyncio.Event()
    async with run([backups()], world):
        await world.backup("a")
    lease = Lease("default", "backups", "dry")
    async with run([backups(write)], world, dry_run=True, lease=lease), asyncio.timeout(PATIENCE_SECONDS):
        await done.wait()
    assert await world.find("v1 ConfigMap", "real") is None
    assert await world.find(BACKUP, "a") is not None
    assert (await world.client.list("coordination.k8s.io/v1 Lease"))["items"] == []


async def test_a_file_that_was_saved_brings_its_definitions(world: World) -> None:
    more = backups()

    @more.resource(group="example.com", version="v1")
    class Restore(Resource):
        class Spec(BaseModel):
            of: str

        spec: Spec

    async def is_there() -> bool:
        return await world.find("customresourcedefinitions", "restores.example.com") is not None

    async with run([backups()], world) as found:
        assert not await is_there()
        found.replace([more])
        await world.until(is_there)


async def test_a_definition_that_the_server_refuses_is_one_sentence(world: World) -> None:
    async with run([backups()], world):
        pass
    app = App("others")

    @app.resource(group="example.com", version="v1", plural="others", short_names=["backups"])
    class Other(Resource):
        class Spec(BaseModel):
            of: str

        spec: Spec

    with pytest.raises(ConfigError, match=r"does not accept the names of others.example.com: .*already in use"):
        async with run([app], world):
            pass


async def test_what_goes_wrong_for_good_comes_out() -> None:
    app = App("nobody")

    @app.controller("v1 ConfigMap")
    async def look(found: Any, ctx: Context) -> None:
        return None

    async def refuse(request: Request) -> Response:
        return status_response(errors.forbidden("", "", "nobody may"))

    client = Client.in_process(refuse, ADMIN)
    with pytest.raises(ApiError, match="nobody may"):
        async with controlling([app], client, Control()):
            await asyncio.get_running_loop().create_future()
