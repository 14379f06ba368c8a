"""What strangers send: a clear Status, never a 500, and nothing lost."""

from __future__ import annotations

import pytest

from tests.apiserver.asking import Api

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(b"{", 400, id="truncated"),
        pytest.param(b"[]", 400, id="a list"),
        pytest.param(b'"x"', 400, id="a string"),
        pytest.param(b'{"metadata": NaN}', 400, id="not a number"),
        pytest.param(b"[" * 2_900_000, 400, id="brackets"),
        pytest.param(b'{"metadata":{"name":"a"},"x":' + b"[" * 10_001 + b"]" * 10_001 + b"}", 400, id="too deep"),
        pytest.param(b'{"metadata":{"name":"a"},"x":' + b"[" * 9_000 + b"]" * 9_000 + b"}", 201, id="deep"),
        pytest.param(b'{"metadata":{"name":"a"},"data":{"k":"\\ud800"}}', 201, id="lone surrogate"),
        pytest.param(b'{"metadata":{"name":"a"},"data":{"k":"\xff"}}', 201, id="invalid UTF-8"),
        pytest.param(b'{"metadata":{"name":"a"},"data":{"k":"\\u0000"}}', 201, id="NUL"),
        pytest.param(b'{"metadata":{"name":"a","name":"b"}}', 201, id="said twice"),
        pytest.param(b'{"metadata":{"name":7}}', 400, id="wrong type"),
        pytest.param(b'{"kind":"Pod","apiVersion":"v1"}', 400, id="another kind"),
        pytest.param(b'{"kind":"ConfigMap","apiVersion":"v2"}', 400, id="another version"),
        pytest.param(b'{"metadata":{"name":"A_B"}}', 422, id="bad name"),
        pytest.param(b'{"metadata":{"name":"a"},"immutable":1e400}', 400, id="too large a number"),
        pytest.param(b"\x1f\x8b\x08\x00", 400, id="gzip"),
    ],
)
async def test_json(api: Api, body: bytes, code: int) -> None:
    status, answer = await api.ask("POST", MAPS, body)
    assert status == code, answer


@pytest.mark.parametrize(
    ("content_type", "body", "code"),
    [
        ("application/yaml", b"metadata: {name: a}", 201),
        ("application/yaml", b"a: &a [x,x]\nb: &b [*a,*a]\n" + b"c: *b\n" * 3 + b"metadata: {name: a}", 201),
        ("application/yaml", b"a: !!python/object:os.system x", 400),
        ("application/yaml", b"\t: x", 400),
        ("application/cbor", b"\xa0", 415),
        ("text/plain", b"{}", 415),
        ("application/vnd.kubernetes.protobuf", b"k8s\x00garbage", 400),
        ("application/vnd.kubernetes.protobuf", b"", 400),
        ("application/vnd.kubernetes.protobuf", b"{}", 400),
    ],
)
async def test_other_media(api: Api, content_type: str, body: bytes, code: int) -> None:
    response = await api.server.handle(_raw(api, body, content_type))
    assert response.status == code, response.body


def _raw(api: Api, body: bytes, content_type: str):  # type: ignore[no-untyped-def]
    from hardpoint.machinery.messages import Request

    return Request("POST", MAPS, "", {"content-type": content_type}, body, api._peer)


async def test_a_yaml_bomb_is_refused_quickly(api: Api) -> None:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    lines += [
        f"{name}: &{name} [{','.join(['*' + before] * 9)}]" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    status, _ = await api.ask("POST", MAPS, "\n".join(lines).encode(), content_type="application/yaml")
    assert status == 400


@pytest.mark.parametrize("namespace", ["..", ".", "%2e%2e", "a%2fb", "%00", "x" * 5000, "ä"])
async def test_odd_namespaces_are_never_a_500(api: Api, namespace: str) -> None:
    for method, url in (
        ("GET", f"/api/v1/namespaces/{namespace}"),
        ("GET", f"/api/v1/namespaces/{namespace}/pods"),
        ("GET", f"/api/v1/namespaces/{namespace}/configmaps/x"),
        ("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/x"),
    ):
        assert (await api.send(method, url)).status < 500, url
    status, _ = await api.ask("POST", f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "a"}})
    assert 400 <= status < 500


@pytest.mark.parametrize(
    ("method", "url", "code"),
    [
        ("BREW", MAPS, 405),
        ("POST", f"{MAPS}/a", 405),
        ("PUT", MAPS, 405),
        ("POST", "/api/v1/configmaps", 405),
        ("GET", "/api/v1/nothings", 404),
        ("GET", "/apis/none/v1/things", 404),
        ("GET", "/api/v1/namespaces/default/nodes", 404),
        ("GET", f"{MAPS}/a/status", 404),
        ("GET", "/nowhere", 404),
        ("POST", "/version", 405),
        ("DELETE", "/api/v1/namespaces", 405),
    ],
)
async def test_unknown_paths_and_methods(api: Api, method: str, url: str, code: int) -> None:
    assert (await api.send(method, url)).status == code


async def test_impatience_is_granted(api: Api) -> None:
    status, refused = await api.ask("GET", f"{MAPS}?timeout=abc")
    assert status == 400
    assert refused["message"] == 'invalid timeout specified in the request URL - time: invalid duration "abc"'
    assert (await api.ask("GET", f"{MAPS}?timeout=0s"))[0] == 200
    status, refused = await api.ask("POST", f"{MAPS}?timeout=1ns", {"metadata": {"name": "a"}})
    assert status == 504
    assert refused["message"] == "Timeout: request did not complete within the allotted timeout"


@pytest.mark.parametrize(
    "patch",
    [
        b"{",
        b"[]",
        b"null",
        b'[{"op":"add"}]',
        b'[{"op":"replace","path":"/data/none/none","value":1}]',
        b'[{"op":"replace","path":"","value":1}]',
        b'[{"op":"remove","path":"/metadata"}]',
        b'[{"op":"replace","path":"/metadata/name","value":"b"}]',
        b'{"kind":"Pod"}',
        b'{"metadata":null}',
        b'{"metadata":{"name":"b"}}',
        b'{"data":7}',
        b'{"$patch":"bogus"}',
    ],
)
async def test_bad_patches(api: Api, patch: bytes) -> None:
    made = await api.ok("POST", MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
    for kind in ("json-patch", "merge-patch", "strategic-merge-patch"):
        response = await api.send("PATCH", f"{MAPS}/a", patch, content_type=f"application/{kind}+json")
        assert response.status < 500, response.body
    after = await api.ok("GET", f"{MAPS}/a")
    assert after["metadata"]["uid"] == made["metadata"]["uid"]
    assert after["data"] == {"k": "v"} or patch == b"[]"


async def test_too_many_operations(api: Api) -> None:
    await api.ok("POST", MAPS, {"metadata": {"name": "a"}})
    patch = [{"op": "test", "path": "/metadata/name", "value": "a"}] * 10_001
    status, _ = await api.ask("PATCH", f"{MAPS}/a", patch, content_type="application/json-patch+json")
    assert status == 413
