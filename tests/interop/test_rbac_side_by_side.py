"""The same roles, bindings and questions to the real kube-apiserver and to ours: the answers must be the same."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.client.client import Client
from tests.interop.conftest import built, running_cluster
from tests.interop.kube_apiserver import running_kube_apiserver
from tests.interop.random_roles import RBAC, World

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

Json = dict[str, Any]
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
ROUNDS, QUESTIONS = 40, 160
AT_ONCE = 16
_NOT_FOUND = re.compile(r'[a-z]+\.rbac\.authorization\.k8s\.io "[^"]*" not found')


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("real")
    with running_kube_apiserver(built("kube-apiserver"), folder, modes="Node,RBAC") as kubeconfig:
        yield kubeconfig


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running_cluster(tmp_path_factory.mktemp("ours"), "--components", "apiserver") as kubeconfig:
        yield kubeconfig


async def post(client: Client, path: str, body: Json) -> tuple[int, Json]:
    headers = {"content-type": "application/json", "accept": "application/json"}
    answer = await client.raw("POST", path, headers=headers, body=orjson.dumps(body))
    return answer.status, orjson.loads(answer.body)


async def decide(client: Client, spec: Json) -> tuple[bool, tuple[str, ...]]:
    """The decision, and which roles were missed: which of several bindings allows is a matter of luck."""
    status, review = await post(client, REVIEWS, {"spec": spec})
    assert status == 201, review
    decided = review["status"]
    reason = decided.get("reason", "")
    if decided["allowed"]:
        assert reason.startswith("RBAC: allowed by "), reason
        return True, ()
    return False, tuple(sorted(_NOT_FOUND.findall(reason)))


async def until_known(client: Client, number: int) -> None:
    """Wait until the server decides by all that was written: it hears of each resource in order."""
    for place, kind in (("cluster", "ClusterRole"), ("namespaces/default/", "Role")):
        name = f"canary-{kind.lower()}-{number}"
        rule = {"verbs": ["get"], "apiGroups": [""], "resources": [name]}
        await post(client, f"/apis/{RBAC}/v1/{place}roles", {"metadata": {"name": name}, "rules": [rule]})
        reference = {"apiGroup": RBAC, "kind": kind, "name": name}
        subjects = [{"kind": "User", "apiGroup": RBAC, "name": name}]
        binding = {"metadata": {"name": name}, "roleRef": reference, "subjects": subjects}
        await post(client, f"/apis/{RBAC}/v1/{place}rolebindings", binding)
        asked = {"verb": "get", "resource": name, "namespace": "default"}
        while not (await decide(client, {"user": name, "resourceAttributes": asked}))[0]:  # noqa: ASYNC110 Nobody tells.
            await asyncio.sleep(0.01)


async def test_decisions_are_the_same(real: Path, ours: Path) -> None:
    slots = asyncio.Semaphore(AT_ONCE)
    asked, allowed = 0, 0
    async with Client.from_kubeconfig(real) as theirs, Client.from_kubeconfig(ours) as mine:

        async def compare(spec: Json) -> bool:
            async with slots:
                expected, found = await decide(theirs, spec), await decide(mine, spec)
            assert found == expected, spec
            return expected[0]

        for number in range(ROUNDS):
            world = World(number)
            for path, body in world.objects():
                expected, found = await post(theirs, path, body), await post(mine, path, body)
                assert found[0] == expected[0], (body, expected, found)
            for client in (theirs, mine):
                await until_known(client, number)
            decisions = await asyncio.gather(*(compare(spec) for spec in world.specs(QUESTIONS)))
            asked += len(decisions)
            allowed += sum(decisions)
    assert asked == ROUNDS * QUESTIONS
    assert asked / 10 < allowed < asked * 9 / 10, "questions that are all answered alike show nothing"


async def test_default_roles_allow_the_same(real: Path, ours: Path) -> None:
    people = [
        {"user": "system:anonymous", "groups": ["system:unauthenticated"]},
        {"user": "ann", "groups": ["system:authenticated"]},
        {"user": "system:kube-scheduler", "groups": ["system:authenticated"]},
        {"user": "system:kube-controller-manager", "groups": ["system:authenticated"]},
        {"user": "system:kube-proxy", "groups": ["system:authenticated"]},
        {"user": "system:serviceaccount:kube-system:deployment-controller", "groups": ["system:serviceaccounts"]},
        {"user": "system:serviceaccount:kube-system:bootstrap-signer", "groups": ["system:serviceaccounts"]},
        {"user": "m", "groups": ["system:monitoring"]},
    ]
    things: list[Json] = [
        {"resource": resource, "group": group, "namespace": namespace}
        for group, resource in (
            ("", "pods"),
            ("", "secrets"),
            ("", "nodes"),
            ("", "configmaps"),
            ("apps", "deployments"),
            ("coordination.k8s.io", "leases"),
            ("discovery.k8s.io", "endpointslices"),
        )
        for namespace in ("", "kube-system", "kube-public")
    ]
    paths = ("/healthz", "/livez/ping", "/api/v1", "/metrics", "/version/", "/openapi/v3/x", "/", "/logs/x")
    specs = [
        *(
            {**who, "resourceAttributes": {**thing, "verb": verb}}
            for who in people
            for thing in things
            for verb in ("get", "list", "create", "delete")
        ),
        *({**who, "nonResourceAttributes": {"path": path, "verb": "get"}} for who in people for path in paths),
    ]
    async with Client.from_kubeconfig(real) as theirs, Client.from_kubeconfig(ours) as mine:
        for spec in specs:
            assert await decide(mine, spec) == await decide(theirs, spec), spec
