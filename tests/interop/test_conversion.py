"""The same definitions, converter and requests to the real kube-apiserver and to ours: the same answers.

Both ask one and the same conversion webhook on 127.0.0.1. What servers make up (uids, times, revisions) is left out,
and so are the words that kube-apiserver puts around a conversion that failed on the way out of its storage.
"""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest

from hardpoint.client.client import Client
from tests.apiserver.custom.converting import (
    AUTHORITY,
    GROUP,
    NAME,
    Converting,
    address,
    addresses,
    converting,
    definition,
    honest,
)
from tests.client.authority import Authority
from tests.interop.conftest import built, running_cluster
from tests.interop.kube_apiserver import running_kube_apiserver
from tests.interop.sides import UID

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

Json = dict[str, Any]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
JSON, MERGE, APPLY = "application/json", "application/merge-patch+json", "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
PATIENCE_SECONDS = 30.0
_AROUND = re.compile(
    r"^Internal error occurred: |StorageError: corrupt object, Code: 7, Key: \S+, ResourceVersion: \d+, "
    r"AdditionalErrorMsg: object not decodable revision=\d+: | \(and \d+ more\)$"
)
_VARIES = ("uid", "resourceVersion", "creationTimestamp", "continue", "time", "description")


class Ask(NamedTuple):
    method: str
    path: str
    body: Any = None
    media: str = JSON
    accept: str = JSON


def applied(version: str, **spec: Any) -> Json:
    return address(version=version, **spec)


HONEST = [
    Ask("POST", addresses("v1"), address("a")),
    Ask("GET", addresses("v2", "a")),
    Ask("POST", f"{addresses('v2')}?fieldManager=two", address("b", version="v2")),
    Ask("POST", f"{addresses('v2')}?dryRun=All", address("c", version="v2")),
    Ask("GET", addresses("v1")),
    Ask("GET", addresses("v2")),
    Ask("GET", f"{addresses('v2')}?fieldSelector=spec.host%3Dh"),
    Ask("GET", f"{addresses('v2')}?fieldSelector=spec.hostPort%3Dh"),
    Ask("GET", addresses("v2"), accept="application/json;as=Table;v=v1;g=meta.k8s.io"),
    Ask("PATCH", addresses("v2", "a"), {"spec": {"port": "2"}}, MERGE),
    Ask("PATCH", addresses("v2", "b"), [{"op": "replace", "path": "/spec/host", "value": "x"}], JSON_PATCH),
    Ask("PATCH", f"{addresses('v2', 'a')}?fieldManager=ap", applied("v2", mode="x"), APPLY),
    Ask("PATCH", f"{addresses('v1', 'a')}?fieldManager=ap", applied("v1", mode="x"), APPLY),
    Ask("PATCH", f"{addresses('v1', 'a')}?fieldManager=ap&force=true", applied("v1", mode="x", replicas=1), APPLY),
    Ask("PATCH", f"{addresses('v2', 'a')}?fieldManager=ap", applied("v2", mode="x"), APPLY),
    Ask("PATCH", addresses("v1", "a"), {"spec": {"replicas": 3}}, MERGE),
    Ask("GET", addresses("v2", "a", "scale")),
    Ask("PATCH", addresses("v2", "a", "scale"), {"spec": {"replicas": 4}}, MERGE),
    Ask("PATCH", addresses("v2", "a", "status"), {"status": {"seen": "x"}}, MERGE),
    Ask("GET", addresses("v1", "a")),
    Ask("GET", addresses("v2", "a")),
    Ask("DELETE", addresses("v2", "b")),
]

FAILING = [
    Ask("GET", addresses("v2", "a")),
    Ask("GET", addresses("v2")),
    Ask("GET", addresses("v1")),
    Ask("POST", addresses("v2"), address("n", version="v2")),
    Ask("POST", f"{addresses('v2')}?dryRun=All", address("n", version="v2")),
    Ask("PATCH", addresses("v1", "a"), {"spec": {"replicas": 5}}, MERGE),
    Ask("PATCH", f"{addresses('v1', 'a')}?fieldManager=ap", applied("v1", mode="z"), APPLY),
    Ask("GET", addresses("v1", "a")),
    Ask("DELETE", addresses("v2", "a")),
    Ask("DELETE", addresses("v2")),
    Ask("GET", addresses("v2", "a", "scale")),
]


def _response(**changed: Any) -> Callable[[Json], Json]:
    return lambda review: review | {"response": review["response"] | changed}


def _objects(change: Callable[[Json], Any]) -> Callable[[Json], Json]:
    def twist(review: Json) -> Json:
        for obj in review["response"]["convertedObjects"]:
            change(obj)
        return review

    return twist


def _metadata(**changed: Any) -> Callable[[Json], Json]:
    return _objects(lambda obj: obj["metadata"].update(changed))


TWISTS: dict[str, Callable[[Json], Any]] = {
    "another uid": _response(uid="x"),
    "no response": lambda review: {"apiVersion": review["apiVersion"], "kind": review["kind"]},
    "an empty object": lambda _: b"{}",
    "a failure": _response(result={"status": "Failure", "message": "no way"}),
    "a failure without words": _response(result={"status": "Failure"}),
    "no result": _response(result={}),
    "no objects": _response(convertedObjects=[]),
    "another version": _objects(lambda obj: obj.update(apiVersion=f"{GROUP}/v9")),
    "no version": _objects(lambda obj: obj.pop("apiVersion")),
    "another kind": _objects(lambda obj: obj.update(kind="Xx")),
    "another name": _metadata(name="zz"),
    "another namespace": _metadata(namespace="zz"),
    "another uid of the object": _metadata(uid="zz"),
    "no metadata": _objects(lambda obj: obj.pop("metadata")),
    "bad labels": _metadata(labels={"a b": "x y"}),
    "labels that are numbers": _metadata(labels={"a": 5}),
    "labels that are a list": _metadata(labels=["x"]),
    "bad annotations": _metadata(annotations={"a b": "x y"}),
    "labels and more": _metadata(labels={"a": "b"}, generation=77, finalizers=["x/y"]),
    "unknown fields": _objects(lambda obj: obj["spec"].update(unheard=1, mode=None)),
    "a spec that is a number": _objects(lambda obj: obj.update(spec=5)),
    "500": lambda _: 500,
    "404": lambda _: 404,
    "302": lambda _: 302,
    "429": lambda _: 429,
    "503": lambda _: 503,
}

# kube-apiserver tells these in the words of Go's JSON decoder, and one with all that is in the object.
WORDED_OTHERWISE: dict[str, Callable[[Json], Any]] = {
    "another review": lambda review: review | {"apiVersion": "apiextensions.k8s.io/v1beta1"},
    "no review": lambda review: review | {"kind": "Foo"},
    "no kind": _objects(lambda obj: obj.pop("kind")),
    "a text": _response(convertedObjects=["x"]),
    "null": _response(convertedObjects=[None]),
    "objects that are no list": _response(convertedObjects={}),
    "no JSON": lambda _: b"hello",
    "a list": lambda _: b"[]",
    "nothing": lambda _: b"",
    "403": lambda _: 403,
    "204": lambda _: 204,
}


@pytest.fixture(scope="module")
def kubeconfigs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    real, ours = tmp_path_factory.mktemp("real"), tmp_path_factory.mktemp("ours")
    with (
        running_kube_apiserver(built("kube-apiserver"), real) as theirs,
        running_cluster(ours, "--components", "apiserver") as mine,
    ):
        yield theirs, mine


class Pair:
    """Both servers, and the converter they share."""

    def __init__(self, real: Client, ours: Client, converter: Converting) -> None:
        self._sides = (real, ours)
        self.converter = converter

    async def ask(self, ask: Ask) -> tuple[Any, Any]:
        """What both answer, made comparable."""
        real, ours = [await _answer(side, ask) for side in self._sides]
        return real, ours

    async def define(self, body: Json) -> None:
        for side in self._sides:
            assert (await _answer(side, Ask("POST", DEFINITIONS, body)))[0] == 201
            await _until(side, addresses("v2"), 200)

    async def convert_elsewhere(self, config: Json, told: bytes) -> None:
        """Change the converter's clientConfig, and wait until the error of who asks tells of it."""
        change = [{"op": "replace", "path": "/spec/conversion/webhook/clientConfig", "value": config}]
        for side in self._sides:
            assert (await _answer(side, Ask("PATCH", f"{DEFINITIONS}/{NAME}", change, JSON_PATCH)))[0] == 200
            async with asyncio.timeout(PATIENCE_SECONDS):
                while told not in (await side.raw("GET", addresses("v2", "a"))).body:
                    continue

    async def drop(self) -> None:
        for side in self._sides:
            await _answer(side, Ask("DELETE", f"{DEFINITIONS}/{NAME}"))
            await _until(side, f"{DEFINITIONS}/{NAME}", 404)


@pytest.fixture
async def pair(kubeconfigs: tuple[Path, Path], tmp_path: Path) -> AsyncIterator[Pair]:
    theirs, mine = kubeconfigs
    async with (
        Client.from_kubeconfig(theirs) as real,
        Client.from_kubeconfig(mine) as ours,
        converting(tmp_path) as converter,
    ):
        both = Pair(real, ours, converter)
        await both.define(definition(converter.url))
        yield both
        converter.twist = honest
        await both.drop()


async def test_versions_side_by_side(pair: Pair) -> None:
    for ask in HONEST:
        real, ours = await pair.ask(ask)
        assert ours == real, (ask, real, ours)


async def test_converters_that_fail_side_by_side(pair: Pair) -> None:
    await pair.ask(Ask("POST", addresses("v1"), address("a")))
    for name, twist in TWISTS.items():
        pair.converter.twist = twist
        real, ours = await pair.ask(Ask("GET", addresses("v2", "a")))
        assert ours == real, name
    for name, twist in WORDED_OTHERWISE.items():
        pair.converter.twist = twist
        real, ours = await pair.ask(Ask("GET", addresses("v2", "a")))
        assert ours[0] == real[0] == 500, name


async def test_requests_while_the_converter_fails_side_by_side(pair: Pair) -> None:
    for ask in HONEST[:-1]:
        await pair.ask(ask)
    pair.converter.twist = _response(result={"status": "Failure", "message": "no way"})
    for ask in FAILING:
        real, ours = await pair.ask(ask)
        assert ours == real, (ask, real, ours)


async def test_converters_that_are_not_there_side_by_side(pair: Pair) -> None:
    await pair.ask(Ask("POST", addresses("v1"), address("a")))
    bundle, stranger = (b64encode(pem).decode() for pem in (AUTHORITY.pem, Authority("stranger").pem))
    service = {"namespace": "default", "name": "nobody", "path": "/convert", "port": 8443}
    for config, told in (
        ({"url": "https://127.0.0.1:1/convert", "caBundle": bundle}, b"refused"),
        ({"url": pair.converter.url, "caBundle": stranger}, b"x509"),
        ({"service": service, "caBundle": bundle}, b"nobody"),
    ):
        await pair.convert_elsewhere(config, told)
        for path in (addresses("v2", "a"), addresses("v2"), addresses("v1")):
            real, ours = await pair.ask(Ask("GET", path))
            assert ours == real, (path, config)


async def _answer(side: Client, ask: Ask) -> tuple[int, Any]:
    path, _, query = ask.path.partition("?")
    asked = dict(part.split("=", 1) for part in query.split("&") if part)
    body = b"" if ask.body is None else orjson.dumps(ask.body)
    headers = {"content-type": ask.media, "accept": ask.accept}
    asked = {name: value.replace("%3D", "=") for name, value in asked.items()}
    answer = await side.raw(ask.method, path, query=asked, headers=headers, body=body)
    said = orjson.loads(answer.body)
    if answer.status >= 400:
        return answer.status, _AROUND.sub("", UID.sub("<uid>", said["message"])).removeprefix(
            "Internal error occurred: "
        )
    return answer.status, _comparable(said)


def _comparable(value: Any) -> Any:
    """An answer without what every server makes up by itself."""
    if isinstance(value, dict):
        return {name: _comparable(item) for name, item in value.items() if name not in _VARIES}
    if isinstance(value, list):
        items = [_comparable(item) for item in value]
        is_managed = bool(items) and isinstance(items[0], dict) and "fieldsV1" in items[0]
        return sorted(items, key=lambda item: orjson.dumps(item, option=orjson.OPT_SORT_KEYS)) if is_managed else items
    return value


async def _until(side: Client, path: str, status: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await side.raw("GET", path)).status != status:
            continue
