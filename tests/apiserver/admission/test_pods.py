"""The plugins every pod passes: service accounts, priorities, tolerations. Asked through the front door."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hardpoint.apiserver.server import ApiServer
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api

Json = dict[str, Any]

PODS = "/api/v1/namespaces/default/pods"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with ApiServer(MemoryStore()).running() as server:
        yield Api(server)


def pod(name: str = "p", metadata: Json | None = None, **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **(metadata or {})},
        "spec": {"containers": [{"name": "c", "image": "nginx:1"}], **spec},
    }


async def refusal(api: Api, body: Json) -> str:
    status, answer = await api.ask("POST", PODS, body)
    assert status == 403, answer
    message: str = answer["message"]
    return message


def token_mounts(created: Json) -> list[Json]:
    mounts = [mount for container in created["spec"]["containers"] for mount in container.get("volumeMounts", ())]
    return [mount for mount in mounts if mount["mountPath"] == TOKEN_PATH]


async def test_a_pod_finds_the_token_of_its_account(api: Api) -> None:
    spec = (await api.ok("POST", PODS, pod()))["spec"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    (volume,) = spec["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    assert len(volume["name"]) == len("kube-api-access-") + 5
    assert [next(iter(source)) for source in volume["projected"]["sources"]] == [
        "serviceAccountToken",
        "configMap",
        "downwardAPI",
    ]
    assert spec["containers"][0]["volumeMounts"] == [
        {"name": volume["name"], "readOnly": True, "mountPath": TOKEN_PATH}
    ]


@pytest.mark.parametrize(
    ("of_account", "of_pod", "mounted"),
    [
        (None, None, True),
        (False, None, False),
        (False, True, True),
        (True, False, False),
    ],
)
async def test_the_pods_word_counts_more_than_its_accounts(
    api: Api, of_account: bool | None, of_pod: bool | None, mounted: bool
) -> None:
    account: Json = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
    if of_account is not None:
        account["automountServiceAccountToken"] = of_account
    await api.ok("POST", ACCOUNTS, account)
    wish = {} if of_pod is None else {"automountServiceAccountToken": of_pod}
    created = await api.ok("POST", PODS, pod(serviceAccountName="robot", **wish))
    assert bool(token_mounts(created)) is mounted


async def test_who_mounts_something_there_keeps_it(api: Api) -> None:
    container = {"name": "c", "image": "n:1", "volumeMounts": [{"name": "mine", "mountPath": TOKEN_PATH}]}
    created = await api.ok("POST", PODS, pod(containers=[container], volumes=[{"name": "mine", "emptyDir": {}}]))
    assert [mount["name"] for mount in token_mounts(created)] == ["mine"]
    assert [volume["name"] for volume in created["spec"]["volumes"]] == ["mine"]


async def test_pull_secrets_come_with_the_account(api: Api) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
    await api.ok("POST", ACCOUNTS, {**account, "imagePullSecrets": [{"name": "s"}]})
    plain = await api.ok("POST", PODS, pod("plain", serviceAccountName="robot"))
    assert plain["spec"]["imagePullSecrets"] == [{"name": "s"}]
    own = await api.ok("POST", PODS, pod("own", serviceAccountName="robot", imagePullSecrets=[{"name": "t"}]))
    assert own["spec"]["imagePullSecrets"] == [{"name": "t"}]


async def test_an_account_must_exist(api: Api) -> None:
    assert await refusal(api, pod(serviceAccountName="nobody")) == (
        'pods "p" is forbidden: error looking up service account default/nobody: serviceaccount "nobody" not found'
    )


async def test_an_account_may_insist_on_its_secrets(api: Api) -> None:
    annotations = {"kubernetes.io/enforce-mountable-secrets": "true"}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "annotations": annotations}}
    await api.ok("POST", ACCOUNTS, {**account, "secrets": [{"name": "known"}]})
    for secret, is_allowed in (("known", True), ("other", False)):
        volumes = [{"name": "v", "secret": {"secretName": secret}}]
        status, answer = await api.ask("POST", PODS, pod(secret, serviceAccountName="robot", volumes=volumes))
        assert (status == 201) is is_allowed, answer
    assert answer["message"] == (
        'pods "other" is forbidden: volume with secret.secretName="other" is not allowed because service account robot'
        " does not reference that secret"
    )


async def test_containers_that_come_later_get_no_more_secrets(api: Api) -> None:
    annotations = {"kubernetes.io/enforce-mountable-secrets": "true"}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "annotations": annotations}}
    await api.ok("POST", ACCOUNTS, {**account, "secrets": [{"name": "known"}]})
    await api.ok("POST", PODS, pod("web", serviceAccountName="robot"))
    merge = "application/strategic-merge-patch+json"
    for secret, status in (("known", 200), ("other", 403)):
        debugger = {"name": secret, "image": "i", "envFrom": [{"secretRef": {"name": secret}}]}
        patch = {"spec": {"ephemeralContainers": [debugger]}}
        found, answer = await api.ask("PATCH", f"{PODS}/web/ephemeralcontainers", patch, content_type=merge)
        assert found == status, answer
    assert answer["message"] == (
        'pods "web" is forbidden: ephemeral container other with envFrom referencing secret.secretName="other" is not '
        "allowed because service account robot does not reference that secret"
    )


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"serviceAccountName": "a"}, "a mirror pod may not reference service accounts"),
        ({"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}, "a mirror pod may not reference secrets"),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]},
            "a mirror pod may not use ServiceAccountToken volume projections",
        ),
    ],
)
async def test_a_mirror_has_nothing_the_server_gives(api: Api, spec: Json, why: str) -> None:
    mirror = pod(metadata={"annotations": {"kubernetes.io/config.mirror": "m"}}, nodeName="n", **spec)
    assert await refusal(api, mirror) == f'pods "p" is forbidden: {why}'


async def test_pods_without_a_class_are_of_no_priority(api: Api) -> None:
    spec = (await api.ok("POST", PODS, pod()))["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority")
    assert "priorityClassName" not in spec


async def test_a_class_gives_its_number(api: Api) -> None:
    spec = (await api.ok("POST", PODS, pod(priorityClassName="system-node-critical")))["spec"]
    assert spec["priority"] == 2000001000


async def test_the_default_class_is_for_everybody_else(api: Api) -> None:
    made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 7, "globalDefault": True}
    await api.ok("POST", CLASSES, {**made, "metadata": {"name": "usual"}, "preemptionPolicy": "Never"})
    spec = (await api.ok("POST", PODS, pod()))["spec"]
    assert (spec["priorityClassName"], spec["priority"], spec["preemptionPolicy"]) == ("usual", 7, "Never")
    status, answer = await api.ask("POST", CLASSES, {**made, "metadata": {"name": "second"}})
    assert (status, answer["message"]) == (
        403,
        'priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass usual is already marked as default.'
        " Only one default can exist",
    )


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"priorityClassName": "none"}, "no PriorityClass with name none was found"),
        (
            {"priority": 5},
            "the integer value of priority (5) must not be provided in pod spec; priority admission controller"
            " computed 0 from the given PriorityClass name",
        ),
        (
            {"preemptionPolicy": "Never"},
            "the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission"
            " controller computed PreemptLowerPriority from the given PriorityClass name",
        ),
    ],
)
async def test_nobody_chooses_the_number(api: Api, spec: Json, why: str) -> None:
    assert await refusal(api, pod(**spec)) == f'pods "p" is forbidden: {why}'


async def test_an_object_without_a_name_is_refused_by_the_one_it_would_get(api: Api) -> None:
    body = pod(priorityClassName="none")
    body["metadata"] = {"generateName": "web-"}
    assert (await refusal(api, body)).startswith('pods "web-" is forbidden: ')


NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"


@pytest.mark.parametrize(
    ("tolerations", "added"),
    [
        ([], [NOT_READY, UNREACHABLE]),
        ([{"key": NOT_READY, "operator": "Exists"}], [UNREACHABLE]),
        ([{"key": NOT_READY, "operator": "Exists", "effect": "NoSchedule"}], [NOT_READY, UNREACHABLE]),
        ([{"operator": "Exists"}], []),
    ],
)
async def test_five_minutes_on_a_broken_node(api: Api, tolerations: list[Json], added: list[str]) -> None:
    spec = (await api.ok("POST", PODS, pod(tolerations=tolerations)))["spec"]
    assert spec["tolerations"] == [
        *tolerations,
        *({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300} for key in added),
    ]


async def test_a_default_class_that_is_gone_is_forgotten_at_once(api: Api) -> None:
    made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 7, "globalDefault": True}
    await api.ok("POST", PODS, pod("before"))
    await api.ok("POST", CLASSES, {**made, "metadata": {"name": "usual"}})
    assert (await api.ok("POST", PODS, pod("during")))["spec"]["priority"] == 7
    await api.ok("DELETE", f"{CLASSES}/usual")
    assert (await api.ok("POST", PODS, pod("after")))["spec"]["priority"] == 0
