"""The same definitions and objects to the real kube-apiserver and to ours: both refuse the same, in the same words.

Each row is a schema for `spec.f` and values to try. Go walks maps in no particular order, so causes are compared as
sets; names that servers make up and times are left out.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.client.client import Client
from tests.interop.conftest import built, running_cluster
from tests.interop.kube_apiserver import running_kube_apiserver

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

Json = dict[str, Any]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PATIENCE_SECONDS = 30.0
STRING: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}
PRESERVE: Json = {"x-kubernetes-preserve-unknown-fields": True}
EMBEDDED: Json = {"type": "object", "x-kubernetes-embedded-resource": True, **PRESERVE}
EITHER: Json = {"type": "object", "properties": {"a": STRING, "b": INTEGER}}
KEYED: Json = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": {"type": "object", "required": ["k"], "properties": {"k": STRING, "v": STRING}},
}
_numbers = itertools.count(1)

ROWS: list[tuple[Json, list[Any]]] = [
    (STRING, ["x", 5, 5.5, True, None, [], {}]),
    (INTEGER, [5, 5.0, 5.5, "x", 1e30, 2**63, -1]),
    (INTEGER | {"format": "int32"}, [2**31 - 1, 2**31, 5.5]),
    ({"type": "number", "minimum": 1.5, "maximum": 1000000}, [1, 1.25, 2000000.5]),
    (INTEGER | {"minimum": 2, "maximum": 5, "exclusiveMaximum": True, "multipleOf": 2}, [1, 2, 4, 5]),
    (STRING | {"enum": ["a", "b"], "nullable": True}, ["a", "c", None]),
    (STRING | {"minLength": 2, "maxLength": 3, "pattern": "^a"}, ["a", "abc", "bcd", "äöüß"]),
    (STRING | {"format": "date-time"}, ["2020-01-01T00:00:00Z", "2020-01-01", 5]),
    (STRING | {"format": "email"}, ["a@b.c", "x"]),
    ({"type": "array", "items": STRING, "maxItems": 2}, [[], ["a", 1], ["a", "b", "c"]]),
    ({"type": "array", "items": STRING, "x-kubernetes-list-type": "set"}, [["a", "b"], ["a", "a", "a"]]),
    (KEYED, [[{"k": "a"}, {"k": "b"}], [{"k": "a"}, {"k": "a"}], [{"v": "a"}], ["x"]]),
    ({"type": "object", "additionalProperties": INTEGER}, [{"a": 1}, {"a": "x"}, {"a": None}]),
    ({"x-kubernetes-int-or-string": True}, [5, "x", 5.5, True]),
    (EITHER | {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, [{}, {"a": "x"}, {"a": "x", "b": 1}]),
    (EITHER | {"not": {"required": ["a", "b"]}}, [{"a": "x"}, {"a": "x", "b": 1}]),
    (EITHER, [{"zz": 1, "a": "x"}, {"a": None}]),
    (EMBEDDED, [{"apiVersion": "v1"}, {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": 1}}}]),
    (STRING | {"pattern": "("}, []),
    (STRING | {"default": 5}, []),
    ({"type": "array"}, []),
    ({"type": "object", "oneOf": [{"type": "string"}]}, []),
]


@pytest.fixture(scope="module")
def kubeconfigs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    real, ours = tmp_path_factory.mktemp("real"), tmp_path_factory.mktemp("ours")
    with (
        running_kube_apiserver(built("kube-apiserver"), real) as theirs,
        running_cluster(ours, "--components", "apiserver") as mine,
    ):
        yield theirs, mine


@pytest.fixture
async def servers(kubeconfigs: tuple[Path, Path]) -> AsyncIterator[tuple[Client, Client]]:
    theirs, mine = kubeconfigs
    async with Client.from_kubeconfig(theirs) as real, Client.from_kubeconfig(mine) as ours:
        yield real, ours


@pytest.mark.parametrize(("schema", "values"), ROWS, ids=[str(row[0])[:60] for row in ROWS])
async def test_side_by_side(servers: tuple[Client, Client], schema: Json, values: list[Any]) -> None:
    group = f"side{next(_numbers)}.example.com"
    told = [await _told(server, group, schema, values) for server in servers]
    assert told[1] == told[0]


async def _told(server: Client, group: str, schema: Json, values: list[Any]) -> list[Any]:
    """What a server answers to a definition with this schema, and to an object for each value."""
    answers = [await _post(server, DEFINITIONS, _definition(group, schema))]
    path = f"/apis/{group}/v1/namespaces/default/things"
    async with asyncio.timeout(PATIENCE_SECONDS):
        while values and (await server.raw("GET", path)).status != 200:
            continue
    for number, value in enumerate(values):
        obj = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": f"n{number}"}, "spec": {"f": value}}
        answers.append(await _post(server, path, obj))
    return answers


async def _post(server: Client, path: str, body: Json) -> Any:
    answer = await server.raw("POST", path, headers={"content-type": "application/json"}, body=orjson.dumps(body))
    found = orjson.loads(answer.body)
    if answer.status >= 400:
        causes = (found.get("details") or {}).get("causes") or ()
        return answer.status, sorted(map(str, causes)) or found["message"]
    return answer.status, found["spec"] if path != DEFINITIONS else None, answer.headers.get("warning")


def _definition(group: str, schema: Json) -> Json:
    whole = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"f": schema}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": whole}}
    names = {"plural": "things", "kind": "Thing"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }
