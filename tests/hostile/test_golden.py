"""Hostile input over a real socket, and what kube-apiserver v1.37 was seen to answer to it."""

from __future__ import annotations

import gzip
import ssl
import time
from dataclasses import dataclass, field
from itertools import count, pairwise

import pytest

from tests.chaos.process import Server
from tests.chaos.wire import Answer, Wire

MAPS = "/api/v1/namespaces/default/configmaps"
BODY_BYTES_MAX = 3 << 20
_numbers = count()


@dataclass(frozen=True)
class Probe:
    """A request that nobody needs; `NAME` in its body becomes a name of its own."""

    path: str = MAPS
    body: bytes = b""
    method: str = ""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)

    async def send(self, server: Server, tls: ssl.SSLContext | None = None) -> Answer:
        wire = await Wire.open(server, tls)
        try:
            method = self.method or ("POST" if self.body else "GET")
            body = self.body.replace(b"NAME", b"golden-%d" % next(_numbers))
            return await wire.ask(method, self.path, body, content_type=self.content_type, **self.headers)
        finally:
            wire.cut()


def field_of_depth(depth: int) -> bytes:
    """An object whose unknown field makes it so deep."""
    brackets = depth - 1
    return b'{"metadata":{"name":"NAME"},"x":' + b"[" * brackets + b"]" * brackets + b"}"


def yaml_bomb() -> bytes:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    names = "abcdefghi"
    lines += [f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]" for before, name in pairwise(names)]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("probe", "status"),
    [
        pytest.param(Probe("/api"), 403, id="the API"),
        pytest.param(Probe("/readyz"), 200, id="readiness"),
        pytest.param(Probe("/version"), 200, id="the version"),
        pytest.param(Probe("/api", headers={"Authorization": "Bearer nobody"}), 401, id="a bad token"),
        pytest.param(
            Probe("/api", headers={"X_Remote_User": "admin", "X_Remote_Group": "system:masters"}), 403, id="proxy"
        ),
    ],
)
async def test_strangers(server: Server, probe: Probe, status: int) -> None:
    assert (await probe.send(server, server.anonymous())).status == status


async def test_a_claimed_identity_is_not_believed(server: Server) -> None:
    refused = await Probe("/api", headers={"X-Remote-User": "admin"}).send(server, server.anonymous())
    assert 'User \\"system:anonymous\\"' in refused.body.decode()


@pytest.mark.parametrize(
    ("probe", "status", "words"),
    [
        pytest.param(Probe(body=b"x" * (BODY_BYTES_MAX + 1)), 413, "limit is 3145728", id="body too large"),
        pytest.param(
            Probe(body=b'{"metadata":{"name":"NAME"},"data":{"a":"%b"}}' % (b"x" * 2_900_000)),
            422,
            "1048576",
            id="large map",
        ),
        pytest.param(Probe(body=field_of_depth(9_990)), 201, "", id="deep"),
        pytest.param(Probe(body=field_of_depth(10_001)), 400, "depth", id="too deep"),
        pytest.param(Probe(body=b'{"metadata":{"name":"NAME"},"x":NaN}'), 400, "", id="NaN"),
        pytest.param(Probe(body=b'{"metadata":{"name":"NAME","generation":1e400}}'), 400, "", id="1e400"),
        pytest.param(
            Probe(body=b'{"metadata":{"name":"NAME","generation":%b}}' % (b"9" * 5000)), 400, "", id="long int"
        ),
        pytest.param(
            Probe(body=b'{"metadata":{"name":"NAME"},"data":{"k":"\\ud800"}}'), 201, "\ufffd", id="lone surrogate"
        ),
        pytest.param(Probe(body=b'{"metadata":{"name":"NAME"},"data":{"k":"\xff"}}'), 201, "\ufffd", id="0xFF"),
        pytest.param(Probe(body=b'{"metadata":{"name":"NAME"},"data":{"k":"\\u0000"}}'), 201, "\\u0000", id="NUL"),
        pytest.param(Probe(body=gzip.compress(b'{"metadata":{"name":"NAME"}}')), 400, "", id="gzip"),
        pytest.param(
            Probe(body=gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}), 400, "", id="gzip that says so"
        ),
        pytest.param(Probe(body=b'{"metadata":'), 400, "", id="truncated"),
        pytest.param(Probe(method="POST"), 400, "", id="empty"),
        pytest.param(Probe(body=b"[]"), 400, "", id="a list"),
        pytest.param(Probe(body=b'{"kind":"Pod","apiVersion":"v1"}'), 400, "", id="wrong kind"),
        pytest.param(Probe(body=b"{}", content_type="text/plain"), 415, "", id="unknown content type"),
        pytest.param(Probe(headers={"Accept": "image/png"}), 406, "", id="unknown accept"),
        pytest.param(
            Probe(body=b"k8s\0garbage", content_type="application/vnd.kubernetes.protobuf"), 400, "", id="bad protobuf"
        ),
        pytest.param(Probe(body=b"\xa0", content_type="application/cbor"), 415, "", id="CBOR"),
        pytest.param(Probe("/api/v1/namespaces/../configmaps"), 400, "", id="namespace .."),
        pytest.param(Probe("/api/v1/namespaces/%2e%2e/configmaps"), 400, "", id="namespace %2e%2e"),
        pytest.param(Probe(f"{MAPS}/a%2fb"), 404, "", id="a slash in a name"),
        pytest.param(Probe(f"{MAPS}?limit=abc"), 400, "", id="limit=abc"),
        pytest.param(Probe(f"{MAPS}?limit=-1"), 200, "", id="limit=-1"),
        pytest.param(Probe(f"{MAPS}?limit=1&continue=nonsense"), 400, "", id="bad continue"),
        pytest.param(Probe(f"{MAPS}?resourceVersion=abc"), 400, "", id="resourceVersion=abc"),
        pytest.param(Probe(f"{MAPS}?labelSelector=a+in+("), 400, "", id="bad label selector"),
        pytest.param(Probe(f"{MAPS}?fieldSelector=a%3Db"), 400, "", id="bad field selector"),
        pytest.param(Probe(headers={"X-Long": "x" * 1_200_000}), 431, "", id="long header"),
        pytest.param(Probe(f"{MAPS}?timeout=1ns"), 504, "", id="timeout=1ns"),
        pytest.param(Probe(method="BREW"), 405, "", id="unknown method"),
    ],
)
async def test_the_answer_is_the_recorded_one(server: Server, probe: Probe, status: int, words: str) -> None:
    answer = await probe.send(server)
    assert (answer.status, words in answer.body.decode(errors="replace")) == (status, True), answer.body[:500]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b'{"metadata":{"name":"NAME"},"data":{"a":"b","a":"c"}}', 'duplicate field "data.a"', id="twice"),
        pytest.param(
            b'{"metadata":{"name":"NAME"},"x":%b}' % (b"9" * 5000), 'unknown field "x"', id="unknown long int"
        ),
        pytest.param(field_of_depth(9_000), 'unknown field "x"', id="unknown and deep"),
    ],
)
async def test_what_is_strange_is_warned_of_or_refused(server: Server, body: bytes, says: str) -> None:
    warned = await Probe(body=body).send(server)
    assert warned.status == 201
    assert says in warned.headers["warning"].replace("\\", "")
    refused = await Probe(f"{MAPS}?fieldValidation=Strict", body=body).send(server)
    assert refused.status == 400
    assert says in refused.json()["message"]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        pytest.param(yaml_bomb(), "application/yaml", id="YAML bomb"),
        pytest.param(b"[" * 2_900_000, "application/json", id="brackets"),
        pytest.param(b'{"a":' * 580_000, "application/json", id="braces"),
        pytest.param(b"[" * 500_000, "application/yaml", id="brackets of YAML"),
        pytest.param(b"a: &a\n" + b" - *a\n" * 100_000, "application/yaml", id="aliases"),
    ],
)
async def test_bombs_are_refused_quickly(server: Server, body: bytes, content_type: str) -> None:
    started = time.monotonic()
    answer = await Probe(body=body, content_type=content_type).send(server)
    assert answer.status == 400, answer.body[:300]
    assert time.monotonic() - started < 2


async def test_a_revision_that_has_not_happened(server: Server) -> None:
    started = time.monotonic()
    answer = await Probe(f"{MAPS}?resourceVersion=99999999").send(server)
    assert answer.status == 504
    assert 2.5 < time.monotonic() - started < 6


async def test_a_group_without_a_user(server: Server) -> None:
    answer = await Probe("/api", headers={"Impersonate-Group": "system:masters"}).send(server)
    assert answer.status == 400, answer.body
