"""One client floods, others are polite: `python -m benchmarks.flood [--connections N] [--lists]`.

A server, a flood and the polite run in processes of their own. The flood asks over many connections as fast as it is
answered, for one object or for ten megabytes of them, and does not heed Retry-After. Meanwhile another user reads one
object over one connection, a node reads its lease, and somebody asks for the server's health.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import ssl
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click
import orjson

OBJECT = "/api/v1/namespaces/default"
CONFIG_MAPS = f"{OBJECT}/configmaps"
TOKENS = """\
flood-token,flooder,1,"devs"
polite-token,polite,2,"devs"
node-token,system:node:n1,3,"system:nodes,devs"
"""
BINDING = {
    "metadata": {"name": "devs"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "devs"}],
}
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1"


class Polite(NamedTuple):
    who: str
    token: str
    path: str
    pause_seconds: float


POLITE = (
    Polite("another user", "polite-token", "/api/v1/namespaces/kube-system", 0.005),
    Polite("a node's lease", "node-token", LEASE, 0.05),
    Polite("health", "", "/livez", 0.05),
)


class Wire:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(self, path: str, token: str = "", body: Any = None) -> int:
        """Send one request, take its answer whole, and return its status."""
        data = b"" if body is None else orjson.dumps(body)
        lines = [f"{'POST' if data else 'GET'} {path} HTTP/1.1", "Host: here", f"Content-Length: {len(data)}"]
        lines += [f"Authorization: Bearer {token}"] if token else []
        lines += ["Content-Type: application/json"] if data else []
        self._writer.write("\r\n".join([*lines, "", ""]).encode() + data)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        await self._reader.readexactly(length)
        return int(head[9:12])


@asynccontextmanager
async def connected(folder: Path, *, is_admin: bool = False) -> AsyncIterator[Wire]:
    pki = folder / "data" / "pki"
    context = ssl.create_default_context(cafile=str(pki / "server-ca.crt"))
    if is_admin:
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    port = int((folder / "port").read_text())
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost")
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()


def serve(folder: Path, is_fair: bool) -> None:
    """The server's whole life."""
    import uvloop

    from hardpoint.apiserver.authentication.options import AuthenticationOptions
    from hardpoint.apiserver.flow.options import FlowOptions
    from hardpoint.cluster import API_SERVER, Cluster, Options

    options = Options(
        data_dir=folder / "data",
        port=0,
        components=(API_SERVER,),
        authentication=AuthenticationOptions(token_file=folder / "tokens.csv"),
        flow=FlowOptions() if is_fair else FlowOptions(is_fair=False, reads_max=0, writes_max=0),
    )

    async def run() -> None:
        async with Cluster(options).running() as cluster:
            (folder / "port.new").write_text(cluster.state.address.rpartition(":")[2])
            os.replace(folder / "port.new", folder / "port")
            await asyncio.Event().wait()

    uvloop.run(run())


def flood(folder: Path, connections: int, path: str, told: Any) -> None:
    """The flood's whole life; it tells how it was answered when it is asked to end."""
    statuses: Counter[int] = Counter()

    async def one(connecting: asyncio.Barrier) -> None:
        async with connected(folder) as wire:
            await connecting.wait()
            while True:
                statuses[await wire.ask(path, "flood-token")] += 1

    async def run() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        connecting = asyncio.Barrier(connections + 1)
        tasks = [asyncio.create_task(one(connecting)) for _ in range(connections)]
        await connecting.wait()
        told.put(None)
        await stop.wait()
        told.put(dict(statuses))
        told.close()
        told.join_thread()
        for task in tasks:
            task.cancel()
        os._exit(0)

    asyncio.run(run())


def processor_seconds(pid: int | None) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure(folder: Path, label: str, seconds: float) -> None:
    async def be_polite(polite: Polite) -> None:
        took: list[float] = []
        statuses: Counter[int] = Counter()
        async with connected(folder) as wire:
            end = time.perf_counter() + seconds
            while (began := time.perf_counter()) < end:
                statuses[await wire.ask(polite.path, polite.token)] += 1
                took.append(time.perf_counter() - began)
                await asyncio.sleep(polite.pause_seconds)
        took.sort()
        middle, late = took[len(took) // 2] * 1e3, took[int(len(took) * 0.99)] * 1e3
        print(f"{label:6} {polite.who:15} p50 {middle:7.1f} ms   p99 {late:7.1f} ms   answers {dict(statuses)}")

    await asyncio.gather(*(be_polite(polite) for polite in POLITE))


async def prepare(folder: Path, *, lists: bool) -> None:
    async with connected(folder, is_admin=True) as wire:
        await wire.ask("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", body=BINDING)
        for number in range(100 if lists else 0):
            body = {"metadata": {"name": f"c{number}"}, "data": {"x": "y" * 100_000}}
            await wire.ask(CONFIG_MAPS, body=body)


@click.command()
@click.option("--connections", default=300, show_default=True, help="How many connections the flood has.")
@click.option("--lists", is_flag=True, help="Flood with lists of 10 MB instead of single objects.")
@click.option("--seconds", default=5.0, show_default=True)
@click.option("--unfair", is_flag=True, help="Measure the server without priority and fairness.")
def main(*, connections: int, lists: bool, seconds: float, unfair: bool) -> None:
    """Measure how the polite fare while one client floods."""
    processes = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="hardpoint-flood-") as scratch:
        folder = Path(scratch)
        (folder / "tokens.csv").write_text(TOKENS)
        (folder / "tokens.csv").chmod(0o600)
        server = processes.Process(target=serve, args=(folder, not unfair), daemon=True)
        server.start()
        while not (folder / "port").exists():
            time.sleep(0.05)
        told = processes.Queue()
        path = CONFIG_MAPS if lists else OBJECT
        flooding = processes.Process(target=flood, args=(folder, connections, path, told), daemon=True)
        try:
            asyncio.run(prepare(folder, lists=lists))
            asyncio.run(measure(folder, "quiet", seconds))
            flooding.start()
            told.get()
            before = processor_seconds(server.pid)
            asyncio.run(measure(folder, "flood", seconds))
            spent = processor_seconds(server.pid) - before
            memory = Path(f"/proc/{server.pid}/status").read_text().partition("VmHWM:")[2].split()[0]
            flooding.terminate()
            answers = told.get()
            each = f"{spent / max(sum(answers.values()), 1) * 1e6:.0f} µs of the server's processor for each"
            print(f"flood  answers {answers}, {each}, its memory at most {int(memory) // 1024} MiB")
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
