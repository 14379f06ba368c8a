"""How documents are asked for: hashes, caching, compression, media types."""

from __future__ import annotations

import asyncio
import gzip
import re
import subprocess
import sys
from collections.abc import Callable

import orjson
import pytest

from hardpoint.apiserver.openapi import OpenApi
from hardpoint.apiserver.registry import Registry
from hardpoint.machinery import kinds
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request, Response
from tests.apiserver.openapi.crontab import CRONTAB, CRONTAB_SCHEMA

OLD_PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


@pytest.fixture
def registry() -> Registry:
    return Registry(kind for kind in kinds.builtin() if kind.group in ("coordination.k8s.io", "node.k8s.io"))


@pytest.fixture
def openapi(registry: Registry) -> OpenApi:
    return OpenApi(registry, lambda kind: CRONTAB_SCHEMA if kind is CRONTAB else None)


async def test_the_index_leads_to_the_documents(openapi: OpenApi, request_for: Callable[..., Request]) -> None:
    index = await _ask(openapi, request_for("/openapi/v3"))
    links = {path: one["serverRelativeURL"] for path, one in orjson.loads(index.body)["paths"].items()}
    groups = ("coordination.k8s.io", "node.k8s.io")
    assert links.keys() == {
        "api",
        "apis",
        *(f"apis/{name}" for name in groups),
        *(f"apis/{name}/v1" for name in groups),
    }
    answer = await _ask(openapi, request_for(links["apis/node.k8s.io/v1"]))
    headers = dict(answer.headers)
    assert headers["Cache-Control"] == "public, immutable"
    assert headers["Expires"].endswith(" GMT")
    assert f"hash={headers['ETag'][1:-1]}" in links["apis/node.k8s.io/v1"]
    assert "/apis/node.k8s.io/v1/runtimeclasses" in orjson.loads(answer.body)["paths"]


async def test_a_wrong_hash_is_sent_on_to_the_right_one(openapi: OpenApi, request_for: Callable[..., Request]) -> None:
    answer = await _ask(openapi, request_for("/openapi/v3/apis/node.k8s.io/v1?hash=OLD"))
    assert answer.status == 301
    right = await _ask(openapi, request_for(dict(answer.headers)["Location"]))
    assert right.status == 200


async def test_without_a_hash_nothing_is_promised(openapi: OpenApi, request_for: Callable[..., Request]) -> None:
    answer = await _ask(openapi, request_for("/openapi/v3/apis/node.k8s.io/v1"))
    assert answer.status == 200
    assert "Cache-Control" not in dict(answer.headers)


@pytest.mark.parametrize("path", ["/openapi/v3", "/openapi/v3/apis/node.k8s.io/v1", "/openapi/v2"])
async def test_what_is_known_is_not_sent_again(
    openapi: OpenApi, request_for: Callable[..., Request], path: str
) -> None:
    etag = dict((await _ask(openapi, request_for(path))).headers)["ETag"]
    assert re.fullmatch(r'"[0-9A-F]{128}"', etag)
    again = await _ask(openapi, request_for(path, headers={"if-none-match": etag}))
    assert (again.status, again.body) == (304, b"")


async def test_answers_are_compressed_for_who_can_read_it(
    openapi: OpenApi, request_for: Callable[..., Request]
) -> None:
    path = "/openapi/v3/apis/node.k8s.io/v1"
    plain = await _ask(openapi, request_for(path))
    packed = await _ask(openapi, request_for(path, headers={"accept-encoding": "gzip"}))
    assert dict(packed.headers)["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in dict(packed.headers)["Vary"]
    assert gzip.decompress(packed.body) == plain.body
    refused = await _ask(openapi, request_for(path, headers={"accept-encoding": "br, gzip; q=0"}))
    assert refused.body == plain.body


async def test_a_change_touches_one_document(
    openapi: OpenApi, registry: Registry, request_for: Callable[..., Request]
) -> None:
    before = orjson.loads((await _ask(openapi, request_for("/openapi/v3"))).body)["paths"]
    registry.add(CRONTAB)
    after = orjson.loads((await _ask(openapi, request_for("/openapi/v3"))).body)["paths"]
    assert {path for path in after if after[path] != before.get(path)} == {
        "apis/stable.example.com",
        "apis/stable.example.com/v1",
    }
    old = orjson.loads((await _ask(openapi, request_for("/openapi/v2"))).body)
    assert "com.example.stable.v1.CronTab" in old["definitions"]
    registry.remove(CRONTAB)
    assert await openapi.respond(request_for("/openapi/v3/apis/stable.example.com/v1")) is None
    old = orjson.loads((await _ask(openapi, request_for("/openapi/v2"))).body)
    assert "com.example.stable.v1.CronTab" not in old["definitions"]


async def test_a_document_is_built_once(openapi: OpenApi, request_for: Callable[..., Request]) -> None:
    asked = [openapi.respond(request_for("/openapi/v3/apis/node.k8s.io/v1")) for _ in range(5)]
    answers = await asyncio.gather(*asked)
    assert len({answer.body for answer in answers if answer}) == 1


async def test_a_schema_too_deep_to_publish_harms_nobody(
    registry: Registry, request_for: Callable[..., Request]
) -> None:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(3000):
        schema = {"type": "object", "properties": {"deeper": schema}}
    openapi = OpenApi(registry, lambda kind: schema if kind is CRONTAB else None)
    registry.add(CRONTAB)
    for path in ("/openapi/v3", "/openapi/v3/apis/stable.example.com/v1", "/openapi/v2"):
        assert (await _ask(openapi, request_for(path))).status == 200


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        ("/openapi/v3", "application/yaml"),
        ("/openapi/v3/apis/node.k8s.io/v1", OLD_PROTOBUF),
        ("/openapi/v2", "text/html"),
    ],
)
async def test_other_media_types_are_refused(
    openapi: OpenApi, request_for: Callable[..., Request], path: str, accept: str
) -> None:
    with pytest.raises(ApiError) as refused:
        await openapi.respond(request_for(path, headers={"accept": accept}))
    assert refused.value.code == 406


async def test_documents_cannot_be_written(openapi: OpenApi, request_for: Callable[..., Request]) -> None:
    with pytest.raises(ApiError) as refused:
        await openapi.respond(request_for("/openapi/v3", method="POST"))
    assert refused.value.code == 405


@pytest.mark.parametrize("path", ["/openapi", "/openapi/v1", "/openapi/v3/apis/apps/v1", "/openapi/v2/x", "/api"])
async def test_other_paths_are_left_to_others(openapi: OpenApi, request_for: Callable[..., Request], path: str) -> None:
    assert await openapi.respond(request_for(path)) is None


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/openapi/v3/api", "APIVersions"),
        ("/openapi/v3/apis", "APIGroupList"),
        ("/openapi/v3/apis/node.k8s.io", "APIGroup"),
    ],
)
async def test_discovery_is_documented(
    openapi: OpenApi, request_for: Callable[..., Request], path: str, kind: str
) -> None:
    made = orjson.loads((await _ask(openapi, request_for(path))).body)
    assert list(made["paths"]) == [f"{path.removeprefix('/openapi/v3')}/"]
    assert f"io.k8s.apimachinery.pkg.apis.meta.v1.{kind}" in made["components"]["schemas"]


async def test_every_path_is_listed(openapi: OpenApi, request_for: Callable[..., Request]) -> None:
    paths = openapi.paths()
    assert {"/openapi/v2", "/openapi/v3", "/openapi/v3/api", "/openapi/v3/apis/node.k8s.io/v1"} <= set(paths)
    for path in paths:
        assert (await _ask(openapi, request_for(path))).status == 200


def test_starting_does_not_load_a_client_library() -> None:
    script = (
        "import sys, hardpoint.apiserver.openapi; sys.exit(any(name.startswith('lightkube') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


async def _ask(openapi: OpenApi, request: Request) -> Response:
    answer = await openapi.respond(request)
    assert answer is not None
    return answer
