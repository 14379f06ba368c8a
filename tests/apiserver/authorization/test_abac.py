"""ABAC: what a file of policies allows, and what is no such file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.apiserver.authorization.abac import Abac
from hardpoint.apiserver.authorization.contract import Question
from hardpoint.apiserver.authorization.options import AuthorizationOptions
from hardpoint.apiserver.server import ApiServer
from hardpoint.apiserver.target import Target
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import User
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api

ALICE = User("alice", ("devs",))
PODS = Target("/api/v1/namespaces/n/pods", version="v1", resource="pods", namespace="n")
EVENTS = Target("/x", group="events.k8s.io", version="v1", resource="events", namespace="n")
METRICS = Target("/metrics")


def policies(file: Path, *specs: dict[str, Any]) -> Path:
    head = {"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy"}
    lines = [b"# who may do what", b"", *(orjson.dumps({**head, "spec": spec}) for spec in specs)]
    file.write_bytes(b"\n".join(lines))
    return file


@pytest.mark.parametrize(
    ("spec", "verb", "target", "is_allowed"),
    [
        ({"user": "alice", "namespace": "*", "resource": "*", "apiGroup": "*"}, "delete", PODS, True),
        ({"user": "bob", "namespace": "*", "resource": "*", "apiGroup": "*"}, "get", PODS, False),
        ({"user": "*", "namespace": "n", "resource": "pods"}, "get", PODS, True),
        ({"group": "devs", "namespace": "n", "resource": "pods"}, "get", PODS, True),
        ({"group": "ops", "namespace": "n", "resource": "pods"}, "get", PODS, False),
        ({"user": "alice", "group": "ops", "namespace": "n", "resource": "pods"}, "get", PODS, False),
        ({"namespace": "n", "resource": "pods"}, "get", PODS, False),
        ({"user": "alice", "namespace": "m", "resource": "pods"}, "get", PODS, False),
        ({"user": "alice", "namespace": "n", "resource": "services"}, "get", PODS, False),
        ({"user": "alice", "namespace": "n", "resource": "events"}, "get", EVENTS, False),
        ({"user": "alice", "namespace": "n", "resource": "*", "apiGroup": "events.k8s.io"}, "get", EVENTS, True),
        ({"user": "alice", "namespace": "n", "resource": "pods", "readonly": True}, "list", PODS, True),
        ({"user": "alice", "namespace": "n", "resource": "pods", "readonly": True}, "create", PODS, False),
        ({"user": "alice", "nonResourcePath": "/metrics"}, "get", METRICS, True),
        ({"user": "alice", "nonResourcePath": "/met*"}, "get", METRICS, True),
        ({"user": "alice", "nonResourcePath": "*"}, "get", METRICS, True),
        ({"user": "alice", "nonResourcePath": "/met"}, "get", METRICS, False),
        ({"user": "alice", "nonResourcePath": "*"}, "get", PODS, False),
        ({"user": "alice", "namespace": "*", "resource": "*", "apiGroup": "*"}, "get", METRICS, False),
    ],
)
async def test_what_a_policy_allows(
    tmp_path: Path, spec: dict[str, Any], verb: str, target: Target, is_allowed: bool
) -> None:
    abac = Abac.from_file(policies(tmp_path / "policy.jsonl", spec))
    assert (await abac.authorize(Question(ALICE, verb, target))).is_allowed is is_allowed


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", ":1: it is not JSON"),
        ("[]", "kind must be Policy"),
        ('{"user": "alice"}', "kind must be Policy"),
        ('{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":[]}', "spec must be"),
        ('{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"x":1}}', "spec.x: there"),
        ('{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":1}}', "a text"),
        (
            '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"readonly":"no"}}',
            "true or false",
        ),
    ],
)
def test_what_is_no_policy(tmp_path: Path, line: str, told: str) -> None:
    file = tmp_path / "policy.jsonl"
    file.write_text(line)
    with pytest.raises(ConfigError) as refused:
        Abac.from_file(file)
    assert told in str(refused.value)
    assert str(file) in str(refused.value)


async def test_a_server_with_policies(tmp_path: Path) -> None:
    file = policies(
        tmp_path / "policy.jsonl", {"user": "alice", "namespace": "*", "resource": "pods", "readonly": True}
    )
    options = AuthorizationOptions(modes=("ABAC",), policy_file=file)
    async with ApiServer(MemoryStore(), authorization=options).running() as server:
        api = Api(server, ALICE)
        assert (await api.send("GET", "/api/v1/pods")).status == 200
        status, refused = await api.ask("GET", "/api/v1/secrets")
    assert status == 403
    assert refused["message"].endswith("at the cluster scope: abac: No policy matched.")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--authorization-policy-file .* cannot be read"):
        Abac.from_file(tmp_path / "no")
