"""What the node authorizer costs with many pods: `python -m benchmarks.nodes [PODS]`.

Memory of its graph, the time until it is built, and what a question and a write to a bound pod cost then.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from hardpoint.apiserver.authorization.contract import Question
from hardpoint.apiserver.authorization.node import NodeAuthorizer
from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.target import Target
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.messages import User
from hardpoint.store.contract import Event, Store
from hardpoint.store.sqlite import SqliteStore

NODES, NAMESPACES, ROUNDS, BATCH = 5_000, 100, 20_000, 1_000


def pod(number: int, *, bound: bool = True) -> bytes:
    """A pod as most are: one container, its account's token, a Secret in its environment."""
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    ]
    env = [{"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": f"app-{number % 1000}", "key": "password"}}}]
    conditions = [{"type": kind, "status": "True"} for kind in ("Initialized", "Ready", "ContainersReady")]
    return encode(
        {
            "metadata": {"name": f"pod-{number}", "namespace": f"team-{number % NAMESPACES}", "labels": {"app": "web"}},
            "spec": {
                **({"nodeName": f"node-{number % NODES}"} if bound else {}),
                "serviceAccountName": "default",
                "containers": [{"name": "main", "image": "registry.example/app:1", "env": env}],
                "volumes": [{"name": "kube-api-access", "projected": {"sources": sources, "defaultMode": 420}}],
            },
            "status": {"phase": "Running", "conditions": conditions},
        }
    )


def key(number: int) -> str:
    return f"/registry/core/pods/team-{number % NAMESPACES}/pod-{number}"


async def main(pods: int) -> None:
    with TemporaryDirectory() as folder:
        store = await SqliteStore.open(Path(folder) / "store", holder="benchmark")
        for start in range(0, pods, BATCH):
            numbers = range(start, min(start + BATCH, pods))
            await asyncio.gather(*(store.create(key(number), pod(number)) for number in numbers))
        await _measure(store, pods)
        await store.close()


async def _measure(store: Store, pods: int) -> None:
    # As a running server has it.
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    hub = Hub(store)
    async with hub.running():
        before, started = _megabytes(), perf_counter()
        authorizer = NodeAuthorizer(hub, store)
        await _ask(authorizer)
        built, grown = perf_counter() - started, _megabytes() - before
        started = process_time()
        for _ in range(ROUNDS):
            await _ask(authorizer)
        question = (process_time() - started) / ROUNDS
        writes = [-_telling_seconds(Hub(store), events) + _telling_seconds(hub, events) for events in _writes(pods)]
    print(f"{pods} pods on {NODES} nodes: built in {built:.2f} s, {grown:.0f} MB")
    print(f"a question takes {question * 1e6:.1f} us")
    for name, seconds in zip(("create", "bind", "update of the status"), writes, strict=True):
        print(f"the {name} of a pod takes {seconds * 1e6:.1f} us more")


async def _ask(authorizer: NodeAuthorizer) -> None:
    user = User("system:node:node-1", ("system:nodes",))
    target = Target("/", "", "v1", "secrets", "team-1", "app-1")
    assert (await authorizer.authorize(Question(user, "get", target))).is_allowed


def _writes(pods: int) -> Iterator[list[Event]]:
    """The life of new pods: created, bound, reported on."""
    numbers = range(pods, pods + ROUNDS)
    stages: list[Callable[[int], bytes | None]] = [lambda _: None, lambda number: pod(number, bound=False), pod, pod]
    for step, (before, after) in enumerate(pairwise(stages)):
        first = 10**9 + step * ROUNDS
        yield [Event(key(number), after(number), first + number, before(number)) for number in numbers]


def _telling_seconds(hub: Hub, events: list[Event]) -> float:
    """What it takes to tell of one write."""
    started = process_time()
    for event in events:
        hub.publish([event])
    return (process_time() - started) / len(events)


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
