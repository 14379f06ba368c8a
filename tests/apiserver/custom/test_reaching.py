"""Where the webhook of a clientConfig is, and where none may be."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hardpoint.apiserver.custom.reaching import Reach, url_of
from hardpoint.apiserver.reader import StoreReader
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.stored import to_stored
from hardpoint.store.memory import MemoryStore
from tests.client.scripted import Asked, Reply
from tests.seams.webhooks import AUTHORITY, guest

Json = dict[str, Any]

SERVICE: Json = {"service": {"namespace": "shop", "name": "conv", "path": "/convert"}}


def _object(kind: str, name: str, **parts: Any) -> Json:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "shop"}, **parts}


def service(**spec: Any) -> Json:
    return _object(
        "Service", "conv", spec={"type": "ClusterIP", "clusterIP": "10.0.0.1", "ports": [{"port": 443}]} | spec
    )


def endpoints(*addresses: str, ready: bool = True, port: int = 8443, name: str = "") -> Json:
    found = _object("EndpointSlice", "conv-1", ports=[{"name": name, "port": port}])
    found["metadata"]["labels"] = {"kubernetes.io/service-name": "conv"}
    found["endpoints"] = [{"addresses": [each], "conditions": {"ready": ready}} for each in addresses]
    return found


async def reach(config: Mapping[str, Any], objects: Sequence[Json] = ()) -> Reach:
    store = MemoryStore()
    places = {"Service": "core/services", "EndpointSlice": "discovery.k8s.io/endpointslices"}
    for obj in objects:
        await store.create(f"/registry/{places[obj['kind']]}/shop/{obj['metadata']['name']}", to_stored(obj))
    return Reach("crd", dict(config), StoreReader(store))


@pytest.mark.parametrize(
    ("config", "url"),
    [
        ({"url": "https://conv.example.com/a"}, "https://conv.example.com/a"),
        (SERVICE, "https://conv.shop.svc:443/convert"),
        ({"service": {"namespace": "shop", "name": "conv", "port": 8443}}, "https://conv.shop.svc:8443/"),
    ],
)
def test_what_errors_call_it(config: Json, url: str) -> None:
    assert url_of(config) == url


@pytest.mark.parametrize(
    ("objects", "where"),
    [
        pytest.param([service(), endpoints("10.1.1.1")], "https://10.1.1.1:8443/convert", id="an endpoint"),
        pytest.param([service()], "https://10.0.0.1:443/convert", id="nobody keeps endpoints"),
        pytest.param(
            [service(ports=[{"port": 80, "name": "a"}, {"port": 443, "name": "b"}]), endpoints("10.1.1.1", name="b")],
            "https://10.1.1.1:8443/convert",
            id="the port of that name",
        ),
    ],
)
async def test_behind_a_service(objects: Sequence[Json], where: str) -> None:
    async with await (await reach(SERVICE, objects))() as webhook:
        assert webhook.name == where


@pytest.mark.parametrize(
    ("objects", "told"),
    [
        ([], 'service "conv" not found'),
        ([service(type="ExternalName")], 'unsupported service type "ExternalName"'),
        ([service(ports=[{"port": 80}])], 'no service port 443 found for service "conv"'),
        ([service(), endpoints("10.1.1.1", ready=False)], 'no endpoints available for service "conv"'),
        ([service(clusterIP="None")], 'no endpoints available for service "conv"'),
    ],
)
async def test_nobody_behind_a_service(objects: Sequence[Json], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        await (await reach(SERVICE, objects))()
    assert str(caught.value) == told


@pytest.mark.parametrize(
    "host",
    [
        *("169.254.169.254", "2852039166", "0xa9.254.0xa9fe", "[::ffff:169.254.169.254]"),
        *("[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]", "[::a9fe:a9fe]", "0251.0376.0251.0376"),
        *("[fe80::1]", "[fd00:ec2::254]", "0.0.0.0", "[::]", "224.0.0.1"),
    ],
)
async def test_where_no_webhook_may_be(host: str) -> None:
    with pytest.raises(ConfigError, match="where no webhook may be"):
        await (await reach({"url": f"https://{host}/"}))()


async def test_a_name_nobody_can_have() -> None:
    with pytest.raises(ConfigError, match=r"^dial tcp: lookup a\.\.b: "):
        await (await reach({"url": "https://a..b/"}))()


async def test_it_is_asked_by_its_own_name(tmp_path: Path) -> None:
    async def script(asked: Asked, reply: Reply) -> None:
        await reply.answer(b"{}")

    async with guest(script, tmp_path) as (server, _):
        config = {"url": f"https://127.0.0.1:{server.port}/x", "caBundle": b64encode(AUTHORITY.pem).decode()}
        found = await reach(config)
        webhook = await found()
        assert await webhook.post({}, patience_seconds=5) == {}
        assert await found() is webhook
        assert (server.asked[0].header("host"), server.asked[0].target) == (f"127.0.0.1:{server.port}", "/x?timeout=5s")
        await found.close()
