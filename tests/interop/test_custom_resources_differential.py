"""Definitions and objects drawn at random, to the real kube-apiserver and to ours: both say the same, word for word.

First definitions alone, right and wrong ones, as dry runs; then some that live: objects are created and changed, the
definition gets stricter, and the objects are changed again, so that what was stored before is tolerated or not. Go
walks maps in no particular order, so causes and warnings are compared as sets.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.client.client import Client
from tests.interop.conftest import built, running_cluster
from tests.interop.kube_apiserver import running_kube_apiserver
from tests.interop.random_definitions import Draw

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

Json = dict[str, Any]
Told = tuple[Any, ...]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ALONE, LIVING, AT_ONCE = 1000, 24, 12
PATIENCE_SECONDS = 30.0
# kube-apiserver says yes to a changed definition before it serves by it, and nothing tells when it does.
UNTIL_SERVED_ANEW_SECONDS = 1.5
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
_TYPE_NAME = re.compile(r"selfType\d+")
_WARNINGS = re.compile(r", (?=299 )")


@pytest.fixture(scope="module")
def kubeconfigs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    real, ours = tmp_path_factory.mktemp("real"), tmp_path_factory.mktemp("ours")
    with (
        running_kube_apiserver(built("kube-apiserver"), real) as theirs,
        running_cluster(ours, "--components", "apiserver") as mine,
    ):
        yield theirs, mine


@pytest.fixture
async def sides(kubeconfigs: tuple[Path, Path]) -> AsyncIterator[Sides]:
    theirs, mine = kubeconfigs
    async with Client.from_kubeconfig(theirs) as real, Client.from_kubeconfig(mine) as ours:
        yield Sides(real, ours)


class Sides:
    """Both servers, asked the same."""

    def __init__(self, real: Client, ours: Client) -> None:
        self._clients = (real, ours)
        self.asked = 0
        self.differences: list[str] = []

    async def ask(self, about: Any, method: str, path: str, body: Any, media: str = "application/json") -> Told:
        """What the real one says; that ours says something else is written down."""
        told = [await _ask(client, method, path, body, media) for client in self._clients]
        return self._compared(about, path, body, told)

    async def replace(self, about: Any, path: str, change: Json) -> Told:
        """Replace an object by itself with `change`."""
        told = []
        for client in self._clients:
            now = orjson.loads((await client.raw("GET", path)).body)
            told.append(await _ask(client, "PUT", path, now | change, "application/json"))
        return self._compared(about, path, change, told)

    def _compared(self, about: Any, path: str, body: Any, told: list[Told]) -> Told:
        self.asked += 1
        if told[0] != told[1]:
            shown = orjson.dumps([about, body]).decode()
            self.differences.append(f"{path} {shown}\n  real {told[0]}\n  ours {told[1]}")
        return told[0]

    async def wait_until_served(self, path: str) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            for client in self._clients:
                while (await client.raw("GET", path)).status != 200:
                    continue

    def check(self) -> None:
        assert self.asked, "nothing was asked"
        count = len(self.differences)
        assert not count, f"{count} of {self.asked} answers differ:\n" + "\n".join(self.differences[:10])


async def _ask(client: Client, method: str, path: str, body: Any, media: str) -> Told:
    bare, _, query = path.partition("?")
    asked = dict(part.split("=", 1) for part in query.split("&") if part)
    answer = await client.raw(
        method,
        bare,
        query=asked,
        headers={"content-type": media, "accept": "application/json"},
        body=orjson.dumps(body),
    )
    found = orjson.loads(answer.body)
    warnings = sorted(_WARNINGS.split(_TYPE_NAME.sub("selfType", answer.headers.get("warning", ""))))
    if answer.status < 400:
        return answer.status, warnings, None if DEFINITIONS in path else (found.get("spec"), found.get("status"))
    causes = (found.get("details") or {}).get("causes") or ()
    return answer.status, warnings, sorted(map(_cause, causes)) or sorted(found["message"].splitlines())


def _cause(cause: Json) -> str:
    """A cause; of a patch that makes no object, the object is not shown: it has times and names of its own."""
    message = cause["message"] if cause.get("field") != "patch" else ""
    return _TYPE_NAME.sub("selfType", f"{cause.get('reason')} {cause.get('field')} {message}")


async def test_definitions(sides: Sides) -> None:
    for number in range(ALONE):
        draw = Draw(number)
        schema = draw.definition_schema()
        schema = draw.wrong(schema) if draw.chance(3) else schema
        body = _definition(f"alone{number}.example.com", schema, has_status=draw.chance(4))
        await sides.ask(number, "POST", f"{DEFINITIONS}?dryRun=All", body)
    sides.check()


async def test_objects(sides: Sides) -> None:
    for first in range(0, LIVING, AT_ONCE):
        async with asyncio.TaskGroup() as tasks:
            for number in range(first, first + AT_ONCE):
                tasks.create_task(_live(sides, Draw(number), f"life{number}.example.com"))
    sides.check()


async def _live(sides: Sides, draw: Draw, group: str) -> None:
    """One definition, from its first object to after its change."""
    schema = await _settled(sides, draw, group)
    things = f"/apis/{group}/v1/namespaces/default/things"
    await sides.wait_until_served(things)
    spec = schema["properties"]["spec"]
    stored: dict[str, Any] = {}
    for number in range(10):
        value = draw.value(spec)
        told = await sides.ask(schema, "POST", things, _thing(group, f"n{number}", value))
        if told[0] == 201:
            stored[f"n{number}"] = told[2][0]
    await _change(sides, draw, group, schema, stored, 6)
    strict = await _stricter(sides, draw, group, schema)
    await asyncio.sleep(UNTIL_SERVED_ANEW_SECONDS)
    await _change(sides, draw, group, strict, stored, 12)


async def _settled(sides: Sides, draw: Draw, group: str) -> Json:
    """A schema that is accepted, and a definition with it."""
    while True:
        schema, has_status = draw.definition_schema(), draw.chance(3)
        body = _definition(group, schema, has_status=has_status)
        if (await sides.ask("", "POST", DEFINITIONS, body))[0] == 201:
            return schema


async def _stricter(sides: Sides, draw: Draw, group: str, schema: Json) -> Json:
    """A stricter schema that is accepted in place of the first, or that one if there is none."""
    path = f"{DEFINITIONS}/things.{group}"
    for _ in range(20):
        strict = draw.tightened(schema)
        definition = _definition(group, strict, has_status=False)
        if (await sides.replace(schema, path, {"spec": definition["spec"]}))[0] == 200:
            return strict
    return schema


async def _change(sides: Sides, draw: Draw, group: str, schema: Json, stored: dict[str, Any], times: int) -> None:
    for number in range(times if stored else 0):
        name = draw.pick(sorted(stored))
        path = f"/apis/{group}/v1/namespaces/default/things/{name}"
        about = [schema, stored[name]]
        new = draw.changed(stored[name], schema["properties"]["spec"])
        match draw.pick(("merge", "label", "replace", "apply")):
            case "merge":
                told = await sides.ask(about, "PATCH", path, {"spec": new}, MERGE)
            case "label":
                told = await sides.ask(about, "PATCH", path, {"metadata": {"labels": {"n": str(number)}}}, MERGE)
            case "replace":
                told = await sides.replace(about, path, {"spec": new})
            case _:
                asked = f"{path}?fieldManager=test&force=true"
                told = await sides.ask(about, "PATCH", asked, _thing(group, name, new), APPLY)
        if told[0] == 200:
            stored[name] = told[2][0]


def _thing(group: str, name: str, spec: Any) -> Json:
    return {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec}


def _definition(group: str, schema: Json, *, has_status: bool) -> Json:
    version: Json = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if has_status:
        version["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing", "singular": "thing", "listKind": "ThingList"},
            "versions": [version],
        },
    }
