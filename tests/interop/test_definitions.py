"""The life of definitions on the real kube-apiserver and on ours: names, versions, conflicts, approval and the end.

Each step changes a definition and waits for what must come of it; then both servers say the same of it, and of what is
served. Times, uids and revisions are left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.client.client import Client
from tests.apiserver.custom.samples import definition, gadget, version
from tests.interop.conftest import built, running_cluster
from tests.interop.kube_apiserver import running_kube_apiserver

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

Json = dict[str, Any]
Change = Callable[[Json], None]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GADGETS, WIDGETS, THINGS = (f"{plural}.shop.example.com" for plural in ("gadgets", "widgets", "things"))
OBJECTS = "/apis/shop.example.com/v1/namespaces/default/gadgets"
PATIENCE_SECONDS = 30.0
_VARIES = (
    "uid",
    "resourceVersion",
    "lastTransitionTime",
    "creationTimestamp",
    "deletionTimestamp",
    "time",
    "managedFields",
)


@pytest.fixture(scope="module")
def kubeconfigs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    real, ours = tmp_path_factory.mktemp("real"), tmp_path_factory.mktemp("ours")
    with (
        running_kube_apiserver(built("kube-apiserver"), real) as theirs,
        running_cluster(ours, "--components", "apiserver") as mine,
    ):
        yield theirs, mine


@pytest.fixture
async def sides(kubeconfigs: tuple[Path, Path]) -> AsyncIterator[list[Side]]:
    theirs, mine = kubeconfigs
    async with Client.from_kubeconfig(theirs) as real, Client.from_kubeconfig(mine) as ours:
        yield [Side(real), Side(ours)]


class Side:
    """One of the two servers, and what it said so far."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.said: list[Any] = []

    async def ask(self, method: str, path: str, body: Any = None, media: str = "application/json") -> Any:
        """Ask, and remember the answer."""
        content = b"" if body is None else orjson.dumps(body)
        answer = await self._client.raw(method, path, headers={"content-type": media}, body=content)
        said = orjson.loads(answer.body)
        self.said.append((method, path, answer.status, _comparable(said)))
        return said

    async def change(self, name: str, change: Change, part: str = "") -> None:
        found = await self.read(name)
        change(found)
        await self.ask("PUT", "/".join(filter(None, (DEFINITIONS, name, part))), found)

    async def read(self, name: str) -> Json:
        found: Json = orjson.loads((await self._client.raw("GET", f"{DEFINITIONS}/{name}")).body)
        return found

    async def until(self, name: str, is_so: Callable[[Json], bool]) -> None:
        """Wait for a definition to become what it must, and remember what it is then."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not is_so(found := await self.read(name)):
                continue
        self.said.append((name, _comparable({part: found.get(part) for part in ("metadata", "status", "code")})))

    async def until_served(self, path: str, told: bytes = b"") -> None:
        """Wait until there is something at a path, and that in it."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (answer := await self._client.raw("GET", path)).status != 200 or told not in answer.body:
                continue


def has(kind: str, reason: str) -> Callable[[Json], bool]:
    """Whether a definition has a condition with that reason."""
    return lambda found: any(
        (each["type"], each["reason"]) == (kind, reason) for each in (found.get("status") or {}).get("conditions") or ()
    )


ESTABLISHED = has("Established", "InitialNamesAccepted")


async def _names(side: Side) -> None:
    await side.ask("POST", DEFINITIONS, definition())
    await side.until(GADGETS, ESTABLISHED)

    def rename(found: Json) -> None:
        found["spec"]["names"] |= {"shortNames": ["gg"], "categories": ["all"]}

    await side.change(GADGETS, rename)
    await side.until(GADGETS, lambda found: found["status"]["acceptedNames"].get("shortNames") == ["gg"])
    await side.ask("POST", DEFINITIONS, definition(plural="widgets", kind="Gadget"))
    await side.until(WIDGETS, has("NamesAccepted", "ListKindConflict"))
    things = definition(plural="things", kind="Thing")
    things["spec"]["names"]["shortNames"] = ["gg"]
    await side.ask("POST", DEFINITIONS, things)
    await side.until(THINGS, has("NamesAccepted", "ShortNamesConflict"))
    await side.ask("DELETE", f"{DEFINITIONS}/{THINGS}")
    await side.until(THINGS, lambda found: found.get("code") == 404)


async def _versions(side: Side) -> None:
    await side.ask("POST", DEFINITIONS, definition(plural="things", kind="Thing"))
    await side.until(THINGS, ESTABLISHED)

    def add(found: Json) -> None:
        found["spec"]["versions"] += [
            version("v2", storage=False),
            version("v1beta1", storage=False, deprecated=True),
            version("v10", storage=False, served=False),
        ]

    def store_v2(found: Json) -> None:
        for each in found["spec"]["versions"]:
            each["storage"] = each["name"] == "v2"

    def drop_v1(found: Json) -> None:
        found["spec"]["versions"] = [each for each in found["spec"]["versions"] if each["name"] != "v1"]

    def forget_v1(found: Json) -> None:
        found["status"]["storedVersions"] = ["v2"]

    for change, part in ((add, ""), (store_v2, ""), (drop_v1, ""), (forget_v1, "status"), (drop_v1, "")):
        await side.change(THINGS, change, part)
    await side.until_served("/apis/shop.example.com/v2/namespaces/default/things")
    await side.ask("GET", "/apis/shop.example.com")


async def _end(side: Side) -> None:
    held = gadget("a")
    held["metadata"]["finalizers"] = ["x.example.com/y"]
    await side.ask("POST", OBJECTS, held)
    await side.ask("DELETE", f"{DEFINITIONS}/{GADGETS}")
    await side.until(GADGETS, has("Terminating", "InstanceDeletionInProgress"))
    await side.ask("POST", OBJECTS, gadget("b"))
    await side.until_served(f"{OBJECTS}/a", b"deletionTimestamp")
    await side.ask("PATCH", f"{OBJECTS}/a", {"metadata": {"finalizers": None}}, "application/merge-patch+json")
    await side.until(GADGETS, lambda found: found.get("code") == 404)
    # Who waited for the names has them now.
    await side.until(WIDGETS, ESTABLISHED)
    await side.until_served("/apis/shop.example.com/v1/namespaces/default/widgets")
    await side.ask("GET", "/apis/shop.example.com/v1")


async def _approval(side: Side) -> None:
    protected = definition(plural="apps", kind="App", group="x.k8s.io")
    await side.ask("POST", DEFINITIONS, protected)
    protected["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, testing"}
    await side.ask("POST", DEFINITIONS, protected)
    await side.until("apps.x.k8s.io", lambda found: ESTABLISHED(found) and len(found["status"]["conditions"]) == 3)


async def test_the_life_of_definitions_side_by_side(sides: list[Side]) -> None:
    for chapter in (_names, _versions, _end, _approval):
        for side in sides:
            side.said.clear()
            await chapter(side)
        real, ours = sides
        for theirs, mine in zip(real.said, ours.said, strict=True):
            assert mine == theirs, chapter.__name__


def _comparable(value: Any) -> Any:
    """An answer without what every server makes up by itself; of conditions the order is not told."""
    if isinstance(value, dict):
        return {name: _comparable(item) for name, item in value.items() if name not in _VARIES}
    if isinstance(value, list):
        items = [_comparable(item) for item in value]
        is_told = bool(items) and isinstance(items[0], dict) and "reason" in items[0]
        return sorted(items, key=lambda item: str(item["type" if "type" in item else "field"])) if is_told else items
    return value
