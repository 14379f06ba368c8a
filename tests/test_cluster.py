"""A cluster put together inside the test's own process."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
import yaml

from hardpoint import datadir
from hardpoint.cluster import Cluster, Options, PortTaken, parse_components
from hardpoint.datadir import AlreadyRunning
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import Peer, Request, User

HAS_IPV6 = Path("/proc/net/if_inet6").exists()


def options(tmp_path: Path, **more: object) -> Options:
    return Options(data_dir=tmp_path / "data", port=0, kubeconfig=tmp_path / "config", **more)  # type: ignore[arg-type]


def read(kubeconfig: Path) -> tuple[str, ssl.SSLContext]:
    """The address a kubeconfig leads to, and the credentials."""
    document = yaml.safe_load(kubeconfig.read_text())
    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
    context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    pair = kubeconfig.with_suffix(".pem")
    pair.write_bytes(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
    context.load_cert_chain(pair)
    return cluster["server"].removeprefix("https://"), context


async def fetch(kubeconfig: Path, path: str) -> tuple[int, bytes]:
    """A request with what a kubeconfig says, over a socket."""
    address, context = read(kubeconfig)
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host.strip("[]"), int(port), ssl=context)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.transport.abort()
    return int(head.split()[1]), body


async def test_it_is_ready_when_it_is_entered_and_gone_when_it_is_left(tmp_path: Path) -> None:
    wanted = options(tmp_path)
    async with Cluster(wanted).running() as cluster:
        assert await fetch(tmp_path / "config", "/readyz") == (200, b"ok")
        assert datadir.read_state(wanted.data_dir) == cluster.state
        port = int(cluster.state.address.rpartition(":")[2])
    assert datadir.read_state(wanted.data_dir) is None
    assert not datadir.is_held(wanted.data_dir)
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", port))


async def test_the_admin_may_do_everything_and_others_nothing(tmp_path: Path) -> None:
    async with Cluster(options(tmp_path, store="memory")).running() as cluster:
        status, body = await fetch(tmp_path / "config", "/api/v1/namespaces")
        assert status == 200
        assert "kube-system" in [item["metadata"]["name"] for item in orjson.loads(body)["items"]]
        for user in (None, User("somebody")):
            request = Request("GET", "/api/v1/namespaces", "", {}, b"", Peer("in-process", user))
            assert (await cluster.handle(request)).status == 403


async def test_two_cannot_share_a_data_directory(tmp_path: Path) -> None:
    wanted = options(tmp_path, store="memory")
    async with Cluster(wanted).running() as cluster:
        with pytest.raises(AlreadyRunning, match=f"process {cluster.state.pid} at {cluster.state.address}"):
            await Cluster(wanted).running().__aenter__()
    async with Cluster(wanted).running():
        pass


async def test_a_start_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    """The kubeconfig is written last; by then everything runs."""
    wanted = options(tmp_path)
    (tmp_path / "config").mkdir()
    with pytest.raises(ConfigError, match="config"):
        await Cluster(wanted).running().__aenter__()
    assert not datadir.is_held(wanted.data_dir)
    (tmp_path / "config").rmdir()
    async with Cluster(wanted).running():
        pass


async def test_what_is_raised_inside_comes_out_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="mine"):
        async with Cluster(options(tmp_path, store="memory")).running():
            raise LookupError("mine")


async def test_a_taken_port_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        wanted = Options(data_dir=tmp_path / "data", port=port)
        with pytest.raises(PortTaken, match=f"port {port} of 127.0.0.1 is taken"):
            await Cluster(wanted).running().__aenter__()


@pytest.mark.parametrize(
    ("host", "address"), [("0.0.0.0", "https://127.0.0.1:"), ("::1", "https://[::1]:"), ("::", "https://[::1]:")]
)
async def test_other_addresses(tmp_path: Path, host: str, address: str) -> None:
    if ":" in host and not HAS_IPV6:
        pytest.skip("this machine has no IPv6")
    async with Cluster(options(tmp_path, store="memory", host=host)).running() as cluster:
        assert cluster.state.address.startswith(address)
        assert await fetch(tmp_path / "config", "/readyz") == (200, b"ok")


async def test_a_certificate_near_its_end_is_replaced_where_it_is_used(tmp_path: Path) -> None:
    def admin() -> str:
        user: str = yaml.safe_load((tmp_path / "config").read_text())["users"][0]["user"]["client-certificate-data"]
        return user

    wanted = options(tmp_path, store="memory")
    long_ago = datetime.now(UTC) - timedelta(days=350)
    async with Cluster(wanted, now=lambda: long_ago).running():
        old = admin()
    async with Cluster(wanted).running():
        assert admin() != old
        assert await fetch(tmp_path / "config", "/readyz") == (200, b"ok")


@pytest.mark.parametrize(
    ("text", "components"),
    [
        ("all", ("apiserver", "controller-manager")),
        ("apiserver", ("apiserver",)),
        (" apiserver,apiserver", ("apiserver",)),
        ("controller-manager,apiserver", ("controller-manager", "apiserver")),
    ],
)
def test_components(text: str, components: tuple[str, ...]) -> None:
    assert parse_components(text) == components


@pytest.mark.parametrize("text", ["", "apiserver,", "warp"])
def test_components_nobody_has(text: str) -> None:
    with pytest.raises(ConfigError, match="choose from apiserver, controller-manager, or say all"):
        parse_components(text)


def test_a_cluster_is_nothing_without_its_api_server() -> None:
    with pytest.raises(ConfigError, match="needs its apiserver; `hardpoint controller-manager` runs that alone"):
        parse_components("controller-manager")
