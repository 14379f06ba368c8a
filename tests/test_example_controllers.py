"""The controllers among the examples, at work in a real cluster, with the real things outside of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery.errors import ApiError
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.controlling import Control
from hardpoint.sdk.loading import load
from hardpoint.sdk.running import Cluster, Webhooks, running
from hardpoint.sdk.serving import Place
from hardpoint.store.memory import MemoryStore
from tests.observing import PATIENCE_SECONDS, Observed
from tests.outside import Catalogue, Databases, Outside

Json = dict[str, Any]

EXAMPLES = Path(__file__).parents[1] / "examples"


class World(Observed):
    """Where examples run."""

    @asynccontextmanager
    async def running(self, example: str, tmp_path: Path) -> AsyncIterator[None]:
        app = load(str(EXAMPLES / example)).app
        webhooks = Webhooks(Trust(tmp_path, ("localhost",)), Place(port=0))
        cluster = Cluster(self.another_client(), Control())
        async with running([app], webhooks, cluster):
            yield


@pytest.fixture
async def world() -> AsyncIterator[World]:
    store = MemoryStore()
    async with ApiServer(store).running() as server:
        yield World(server)
    await store.close()


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, Any], Outside]]:
    """Makes servers outside of the cluster, whose address a variable of the environment has."""
    made: list[Outside] = []

    def make(variable: str, answer: Any) -> Outside:
        made.append(Outside(answer))
        monkeypatch.setenv(variable, made[-1].url)
        return made[-1]

    yield make
    for each in made:
        each.close()


def crontab(name: str, schedule: str, **spec: Any) -> Json:
    return {
        "apiVersion": "stable.example.com/v1",
        "kind": "CronTab",
        "metadata": {"name": name},
        "spec": {"cronSpec": schedule, "image": "my-backup", **spec},
    }


async def test_a_crontab_starts_the_job_that_is_due(world: World, tmp_path: Path) -> None:
    async with world.running("07_crontab.py", tmp_path):
        tab = await world.client.create(crontab("backup", "*/5 * * * *"))
        tab["status"] = {"lastRun": "2026-01-01T00:03:00Z"}
        await world.client.replace_status(tab)
        job = await world.until(lambda: world.find("batch/v1 Job", "backup-202601010005"))
        assert job["spec"]["template"]["spec"]["containers"][0]["image"] == "my-backup"
        (owner,) = job["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["controller"]) == ("CronTab", "backup", True)

        async def has_run() -> bool:
            found = await world.client.get("ct", "backup")
            last = datetime.fromisoformat(found["status"]["lastRun"])
            return (datetime.now(UTC) - last).total_seconds() < PATIENCE_SECONDS

        await world.until(has_run)
        assert len((await world.client.list("batch/v1 Job"))["items"]) == 1, "what was missed is made up for once"


async def test_a_crontab_that_cannot_be_read_says_so(world: World, tmp_path: Path) -> None:
    async with world.running("07_crontab.py", tmp_path):
        await world.client.create(crontab("never", "0 0 30 2 *"))

        async def is_told() -> list[str]:
            events = (await world.client.list("events.k8s.io/v1 Event"))["items"]
            return [event["note"] for event in events if event["regarding"]["name"] == "never"]

        (note,) = await world.until(is_told)
        assert "spec.cronSpec: '0 0 30 2 *' never comes" in note
        with pytest.raises(ApiError, match="at most ten"):
            await world.client.create(crontab("many", "* * * * *", replicas=11))


def endpoints(*addresses: str, ready: bool = True) -> Json:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "web-abc", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [each], "conditions": {"ready": ready}} for each in addresses],
        "ports": [{"port": 8080}],
    }


async def test_endpoints_are_registered_as_they_come_and_go(
    world: World, tmp_path: Path, outside: Callable[[str, Any], Outside]
) -> None:
    catalogue = Catalogue()
    outside("CONSUL", catalogue).changed = world.happened_elsewhere

    async def says(*addresses: str) -> None:
        async def same() -> bool:
            return catalogue.addresses == set(addresses)

        await world.until(same)

    web = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "labels": {"consul": "yes"}}}
    await world.client.create({**web, "spec": {"ports": [{"port": 80}]}})
    async with world.running("08_service_registry.py", tmp_path):
        await world.client.create(endpoints("10.1.0.1", "10.1.0.2"))
        await says("10.1.0.1:8080", "10.1.0.2:8080")
        await world.client.apply(endpoints("10.1.0.2", "10.1.0.3"), field_manager="test", force=True)
        await says("10.1.0.2:8080", "10.1.0.3:8080")
        await world.client.delete("services", "web")

        async def is_gone() -> bool:
            return await world.find("v1 Service", "web") is None

        await world.until(is_gone)
        await says()


async def test_a_database_is_made_and_dropped_with_its_object(
    world: World, tmp_path: Path, outside: Callable[[str, Any], Outside]
) -> None:
    databases = Databases()
    outside("DATABASES", databases)
    orders = {"apiVersion": "shop.example.com/v1", "kind": "Database", "metadata": {"name": "orders"}}

    async def is_ready() -> Json | None:
        found = await world.find("shop.example.com/v1 Database", "orders")
        conditions = ((found or {}).get("status") or {}).get("conditions") or ()
        return found if any(each["status"] == "True" for each in conditions) else None

    async with world.running("09_database.py", tmp_path):
        await world.client.create({**orders, "spec": {"engine": "postgres"}})
        ready = await world.until(is_ready)
        assert ready["status"]["address"] == "default.orders.example.com:5432"
        password = databases.made["default.orders"]["password"]
        secret = await world.client.get("v1 Secret", "orders-credentials")
        assert secret["metadata"]["ownerReferences"][0]["name"] == "orders"
        with pytest.raises(ApiError, match="another engine is another database"):
            await world.client.patch("databases.shop.example.com", "orders", {"spec": {"engine": "mysql"}})

    # While nobody is at work the object cannot go; whoever comes next finishes it, with the password of before.
    await world.client.delete("databases.shop.example.com", "orders")
    assert databases.made["default.orders"]["password"] == password
    async with world.running("09_database.py", tmp_path):

        async def is_gone() -> bool:
            return await world.find("shop.example.com/v1 Database", "orders") is None

        await world.until(is_gone)
    assert databases.made == {}


async def test_a_mirror_follows_what_happens_to_config_maps(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRROR", str(tmp_path))
    file = tmp_path / "default.words.json"

    async def is_mirrored(data: str) -> None:
        async def holds() -> bool:
            return file.exists() and file.read_text() == data

        await world.until(holds)

    words = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "words", "labels": {"mirror": "yes"}}}
    other = await world.client.create({**words, "metadata": {"name": "other"}})
    await world.client.create({**words, "data": {"a": "1", "b": "2"}})
    async with world.running("10_handlers.py", tmp_path):
        await is_mirrored('{"a": "1", "b": "2"}')
        await world.client.patch("configmaps", "words", {"data": {"b": None}})
        await is_mirrored('{"a": "1"}')
    await world.client.patch("configmaps", "words", {"data": {"a": "2"}})
    await world.client.patch("configmaps", "words", {"data": {"a": "3"}})
    async with world.running("10_handlers.py", tmp_path):
        await is_mirrored('{"a": "3"}')
        await world.client.delete("configmaps", "words")

        async def is_gone() -> bool:
            return await world.find("v1 ConfigMap", "words") is None

        await world.until(is_gone)
    assert not file.exists()
    assert await world.client.get("configmaps", "other") == other, "what concerns nobody is left as it is"


@pytest.mark.parametrize("example", ["07_crontab.py", "08_service_registry.py", "09_database.py", "10_handlers.py"])
def test_an_example_is_short(example: str) -> None:
    assert len((EXAMPLES / example).read_text().splitlines()) < 60
