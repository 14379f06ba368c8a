"""What a decision costs with many roles: `python -m benchmarks.rbac [ROLES [BINDINGS]]`.

Every role allows something on some of the same few resources, half of the bindings are in namespaces, and everybody is
in three groups. One user holds every role there is.
"""

from __future__ import annotations

import asyncio
import random
import resource
import sys
from collections.abc import Iterator, Mapping
from statistics import median
from time import perf_counter

from hardpoint.apiserver.authorization.contract import Question
from hardpoint.apiserver.authorization.rbac.authorizer import GROUP, Rbac
from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.places import ROOT
from hardpoint.apiserver.target import Target
from hardpoint.machinery.messages import User
from hardpoint.machinery.stored import to_stored
from hardpoint.store.memory import MemoryStore

ROLES, BINDINGS = 1_000, 10_000
USERS, GROUPS, NAMESPACES = 1_000, 50, 100
ROUNDS, REPEATS = 5, 20_000
VERBS = ("get", "list", "watch", "create", "update", "delete")
RESOURCES = ("pods", "services", "configmaps", "secrets", "deployments", "jobs", "nodes", "leases")

_MEMBER = User("user-7", ("group-7", "group-8", "system:authenticated"))
_ALL_GROUPS = User("somebody", tuple(f"group-{number}" for number in range(GROUPS)))
_HOLDS_ALL = User("holds-all")
_POD = Target("", "", "v1", "pods", "ns-7", "web-0")
QUESTIONS: Mapping[str, Question] = {
    "a yes": Question(_MEMBER, "get", _POD),
    "a no": Question(_MEMBER, "proxy", _POD),
    "a no about a subresource": Question(_MEMBER, "create", Target("", "", "v1", "pods", "ns-7", "web-0", "exec")),
    "a path": Question(_MEMBER, "get", Target("/healthz")),
    "a stranger": Question(User("stranger", ("system:authenticated",)), "get", _POD),
    "a yes to a member of 50 groups": Question(_ALL_GROUPS, "get", _POD),
    "a no to a member of 50 groups": Question(_ALL_GROUPS, "proxy", _POD),
    "a yes to who holds every role": Question(_HOLDS_ALL, "get", _POD),
    "a no to who holds every role": Question(_HOLDS_ALL, "proxy", _POD),
}


def objects(roles: int, bindings: int) -> Iterator[tuple[str, bytes]]:
    """Keys and values as a store has them."""
    chance = random.Random(1)
    for number in range(roles):
        rules = [
            {"verbs": chance.sample(VERBS, 3), "apiGroups": ["", "apps"], "resources": chance.sample(RESOURCES, 3)}
            for _ in range(4)
        ]
        yield _stored("ClusterRole", f"role-{number}", rules=rules)
        yield _binding(f"all-{number}", number, _HOLDS_ALL.name)
    for number in range(bindings):
        namespace = f"ns-{number % NAMESPACES}" if number % 2 else ""
        user, group = f"user-{number % USERS}", f"group-{number % GROUPS}"
        yield _binding(f"binding-{number}", chance.randrange(roles), user, group, namespace)


def _binding(name: str, role: int, user: str, group: str = "", namespace: str = "") -> tuple[str, bytes]:
    subjects = [{"kind": "User", "name": user}]
    if group:
        subjects.append({"kind": "Group", "name": group})
    reference = {"apiGroup": GROUP, "kind": "ClusterRole", "name": f"role-{role}"}
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    return _stored(kind, name, namespace, roleRef=reference, subjects=subjects)


def _stored(kind: str, name: str, namespace: str = "", **rest: object) -> tuple[str, bytes]:
    place = f"{kind.lower()}s/{namespace}/" if namespace else f"{kind.lower()}s/"
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    obj = {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, **rest}
    return f"{ROOT}{GROUP}/{place}{name}", to_stored(obj)


async def cost_us(rbac: Rbac, question: Question) -> float:
    """Microseconds for a decision: the middle of several rounds."""
    rounds = []
    for _ in range(ROUNDS):
        began = perf_counter()
        for _ in range(REPEATS):
            await rbac.authorize(question)
        rounds.append((perf_counter() - began) / REPEATS * 1e6)
    return median(rounds)


async def main(roles: int, bindings: int) -> None:
    store = MemoryStore()
    for key, value in objects(roles, bindings):
        await store.create(key, value)
    hub = Hub(store)
    rbac = Rbac(hub, store)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with hub.running():
        began = perf_counter()
        await rbac.load()
        seconds = perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"{roles:,} roles, {bindings:,} bindings: loaded in {seconds:.2f} s, {(after - before) / 1024:.0f} MB")
        for name, question in QUESTIONS.items():
            print(f"  {name:32} {await cost_us(rbac, question):6.2f} µs")


if __name__ == "__main__":
    given = dict(enumerate(map(int, sys.argv[1:])))
    asyncio.run(main(given.get(0, ROLES), given.get(1, BINDINGS)))
