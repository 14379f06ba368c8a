"""Ways to more power than one was given, each tried by somebody who nearly has it, against a real server over TLS.

Every attack is one that the admin could make: what refuses it is who asks, not what is asked.
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson
import pytest
import pytest_asyncio

from hardpoint.serving.certificates import Wanted
from hardpoint.serving.issuing import issue
from tests.hostile.besieged import HERS, RBAC, VAULT, Besieged
from tests.signing_requests import COLLECTION as REQUESTS
from tests.signing_requests import encoded, pem_request, signing_request

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("siege")]

Json = dict[str, Any]

MERGE, STRATEGIC, JSON, APPLY = (
    *(f"application/{kind}-patch+json" for kind in ("merge", "strategic-merge", "json")),
    "application/apply-patch+yaml",
)
HER_ROLES = f"{RBAC}/namespaces/hers/roles"
HER_BINDINGS = f"{RBAC}/namespaces/hers/rolebindings"
ROLES, BINDINGS = f"{RBAC}/clusterroles", f"{RBAC}/clusterrolebindings"
WRITE = ["get", "list", "create", "update", "patch", "delete"]
GROUP = "rbac.authorization.k8s.io"


def rule(verbs: list[str], *resources: str, group: str = "", **more: list[str]) -> Json:
    return {"verbs": verbs, "apiGroups": [group], "resources": list(resources), **more}


def user(name: str) -> Json:
    return {"kind": "User", "apiGroup": GROUP, "name": name}


SECRETS = rule(["get"], "secrets")
EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
EVERY_PATH = {"verbs": ["*"], "nonResourceURLs": ["*"]}


def role(*rules: Json, name: str = "greedy", kind: str = "ClusterRole", **more: Any) -> Json:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}, "rules": list(rules), **more}


def binding(to: str, *, kind: str = "ClusterRoleBinding", of: str = "ClusterRole", name: str = "greedy") -> Json:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": kind,
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": of, "name": to},
        "subjects": [user("mallory")],
    }


def labelled(into: str) -> Json:
    return {"metadata": {"name": "greedy", "labels": {f"{GROUP}/aggregate-to-{into}": "true"}}}


class Attack(NamedTuple):
    method: str
    path: str
    body: Any = None
    media: str = "application/json"


THROUGH_ROLES = {
    "a role with a right she lacks": Attack("POST", HER_ROLES, role(SECRETS, kind="Role")),
    "a cluster role with it": Attack("POST", ROLES, role(SECRETS)),
    "every right": Attack("POST", ROLES, role(EVERYTHING)),
    "every path": Attack("POST", ROLES, role(EVERY_PATH)),
    "every verb on what she has": Attack("POST", ROLES, role(rule(["*"], "configmaps"))),
    "escalate": Attack("POST", ROLES, role(rule(["escalate", "bind"], "clusterroles", group=GROUP))),
    "impersonate": Attack("POST", ROLES, role(rule(["impersonate"], "users", "groups"))),
    "a subresource": Attack("POST", HER_ROLES, role(rule(["create"], "pods/exec"), kind="Role")),
    "what she has in one namespace, everywhere": Attack("POST", ROLES, role(rule(["get"], "configmaps"))),
    "PUT that creates": Attack("PUT", f"{ROLES}/greedy", role(SECRETS)),
    "PUT": Attack("PUT", f"{HER_ROLES}/mallory", role(SECRETS, name="mallory", kind="Role")),
    "merge patch": Attack("PATCH", f"{HER_ROLES}/mallory", {"rules": [SECRETS]}, MERGE),
    "strategic patch": Attack("PATCH", f"{HER_ROLES}/mallory", {"rules": [SECRETS]}, STRATEGIC),
    "JSON patch": Attack(
        "PATCH", f"{HER_ROLES}/mallory", [{"op": "add", "path": "/rules/0/resources/-", "value": "secrets"}], JSON
    ),
    "apply that creates": Attack("PATCH", f"{ROLES}/greedy?fieldManager=m", role(SECRETS), APPLY),
    "apply": Attack(
        "PATCH",
        f"{HER_ROLES}/mallory?fieldManager=m&force=true",
        role(SECRETS, name="mallory", kind="Role"),
        APPLY,
    ),
    "another namespace's role": Attack("POST", f"{RBAC}/namespaces/vault/roles", role(SECRETS, kind="Role")),
    "a label that gives it to admins": Attack("POST", ROLES, role(SECRETS) | labelled("admin")),
    "a label that gives it to editors": Attack("POST", ROLES, role(SECRETS) | labelled("edit")),
    "a label that gives it to viewers": Attack("POST", ROLES, role(SECRETS) | labelled("view")),
    "a label on a role that is there": Attack(
        "PATCH", f"{ROLES}/cluster-admin", {"metadata": labelled("view")["metadata"] | {"name": "cluster-admin"}}, MERGE
    ),
    "a role that gathers others": Attack(
        "POST", ROLES, role(aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]})
    ),
    "a gathering role made to gather more": Attack(
        "PATCH", f"{ROLES}/view", {"aggregationRule": {"clusterRoleSelectors": [{}]}}, MERGE
    ),
}

THROUGH_BINDINGS = {
    "cluster-admin everywhere": Attack("POST", BINDINGS, binding("cluster-admin")),
    "cluster-admin in her namespace": Attack("POST", HER_BINDINGS, binding("cluster-admin", kind="RoleBinding")),
    "view everywhere": Attack("POST", BINDINGS, binding("view")),
    "her role in another namespace": Attack(
        "POST", f"{RBAC}/namespaces/vault/rolebindings", binding("mallory", kind="RoleBinding", of="Role")
    ),
    "PUT that creates": Attack("PUT", f"{BINDINGS}/greedy", binding("cluster-admin")),
    "apply": Attack("PATCH", f"{BINDINGS}/greedy?fieldManager=m", binding("cluster-admin"), APPLY),
    "herself among the admins": Attack("PATCH", f"{BINDINGS}/cluster-admin", {"subjects": [user("mallory")]}, MERGE),
    "herself among the admins, at the end": Attack(
        "PATCH", f"{BINDINGS}/cluster-admin", [{"op": "add", "path": "/subjects/-", "value": user("mallory")}], JSON
    ),
    "everybody among the admins": Attack(
        "PATCH",
        f"{BINDINGS}/cluster-admin",
        {"subjects": [{"kind": "Group", "apiGroup": GROUP, "name": "system:unauthenticated"}]},
        STRATEGIC,
    ),
}

POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
TARGET = {"apiVersion": "v1", "kind": "Node", "name": "n1"}

THROUGH_SUBRESOURCES = {
    "a token of an account": Attack("POST", f"{HERS}/serviceaccounts/default/token", {"spec": {}}),
    "a token of another namespace's account": Attack(
        "POST", "/api/v1/namespaces/kube-system/serviceaccounts/default/token", {"spec": {}}
    ),
    "binding a pod": Attack("POST", f"{HERS}/pods/p/binding", {"metadata": {"name": "p"}, "target": TARGET}),
    "binding a pod, the old way": Attack("POST", f"{HERS}/bindings", {"metadata": {"name": "p"}, "target": TARGET}),
    "eviction": Attack(
        "POST",
        f"{HERS}/pods/p/eviction",
        {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p", "namespace": "hers"}},
    ),
    "a pod's status": Attack("PATCH", f"{HERS}/pods/p/status", {"status": {"phase": "Running"}}, MERGE),
    "ephemeral containers": Attack(
        "PATCH",
        f"{HERS}/pods/p/ephemeralcontainers",
        {"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}},
        STRATEGIC,
    ),
    "the end of a namespace": Attack(
        "PUT", f"{HERS}/finalize", {"metadata": {"name": "hers"}, "spec": {"finalizers": []}}
    ),
    "every ConfigMap at once": Attack("DELETE", f"{HERS}/configmaps"),
    "every ConfigMap at once, by name": Attack("DELETE", f"{HERS}/configmaps?fieldSelector=metadata.name%3Dopen"),
    "every Secret at once": Attack("DELETE", f"{VAULT}/secrets"),
    "everywhere": Attack("GET", "/api/v1/configmaps"),
    "by watching": Attack("GET", f"{HERS}/configmaps?watch=1&timeoutSeconds=1"),
    "by watching, the old way": Attack("GET", "/api/v1/watch/namespaces/hers/configmaps?timeoutSeconds=1"),
}

CERTIFICATE = encoded(issue(Wanted("x", "x", "x", "client"), None, datetime.now(UTC)).certificate_pem)
APPROVED = {"type": "Approved", "status": "True", "reason": "r", "message": "m"}

THROUGH_REQUESTS = {
    "approving her own": Attack("PATCH", f"{REQUESTS}/hers/approval", {"status": {"conditions": [APPROVED]}}, MERGE),
    "approving another's": Attack(
        "PATCH", f"{REQUESTS}/a-node/approval", {"status": {"conditions": [APPROVED]}}, MERGE
    ),
    "signing": Attack("PATCH", f"{REQUESTS}/hers/status", {"status": {"certificate": CERTIFICATE}}, MERGE),
}

ATTACKS = {
    f"{way}: {name}": attack
    for way, attacks in {
        "roles": THROUGH_ROLES,
        "bindings": THROUGH_BINDINGS,
        "subresources": THROUGH_SUBRESOURCES,
        "signing requests": THROUGH_REQUESTS,
    }.items()
    for name, attack in attacks.items()
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def mallory(siege: Besieged) -> ssl.SSLContext:
    """May write roles, bindings and signing requests, and do most things with a few kinds in a namespace of hers."""
    requests = "certificatesigningrequests"
    await siege.allow(
        "mallory",
        user("mallory"),
        rule(WRITE, "clusterroles", "clusterrolebindings", group=GROUP),
        rule(WRITE, requests, f"{requests}/approval", group="certificates.k8s.io"),
        rule(WRITE, "customresourcedefinitions", group="apiextensions.k8s.io"),
    )
    await siege.allow(
        "mallory",
        user("mallory"),
        rule(WRITE, "configmaps", "pods", "serviceaccounts"),
        rule(WRITE, "roles", "rolebindings", group=GROUP),
        namespace="hers",
    )
    await siege.ok("POST", f"{HERS}/pods", POD | {"spec": POD["spec"] | {"serviceAccountName": "builder"}})
    asked = signing_request("a-node", pem_request("system:node:n1", organizations=["system:nodes"]))
    asked["spec"]["signerName"] = "kubernetes.io/kube-apiserver-client-kubelet"
    await siege.ok("POST", REQUESTS, asked)
    await siege.ok("POST", "/api/v1/nodes", {"metadata": {"name": "other"}})
    mallory = siege.person("mallory")
    assert (await siege.ask(mallory, "POST", REQUESTS, signing_request("hers", pem_request("mallory")))).status == 201
    return mallory


@pytest_asyncio.fixture(scope="module", loop_scope="session", autouse=True)
async def accounts(siege: Besieged) -> None:
    """What pods run as. The controllers may have made the one of them already."""
    for name in ("builder", "default"):
        await siege.ask(None, "POST", f"{HERS}/serviceaccounts", {"metadata": {"name": name}})


async def send(siege: Besieged, who: ssl.SSLContext | None, attack: Attack, *, dry: bool = False) -> tuple[int, Json]:
    path = attack.path
    if dry and attack.method != "GET":
        path += ("&" if "?" in path else "?") + "dryRun=All"
    body = b"" if attack.body is None else orjson.dumps(attack.body)
    answer = await siege.ask(who, attack.method, path, body, content_type=attack.media)
    return answer.status, answer.json() if answer.status >= 400 else {}


@pytest.mark.parametrize("name", ATTACKS)
async def test_escalation(siege: Besieged, mallory: ssl.SSLContext, name: str) -> None:
    attack = ATTACKS[name]
    for dry in (True, False):
        status, refused = await send(siege, mallory, attack, dry=dry)
        assert (status, refused["reason"]) == (403, "Forbidden"), refused
    assert (await send(siege, None, attack, dry=True))[0] < 300, "the admin could have"


@pytest.mark.parametrize(
    "path",
    [
        f"{VAULT}/secrets/s",
        f"{VAULT}/secrets",
        f"{HERS}/secrets",
        "/api/v1/secrets",
        f"{VAULT}/configmaps",
        "/api/v1/nodes",
        "/metrics",
    ],
)
async def test_after_all_of_it_she_has_nothing_new(siege: Besieged, mallory: ssl.SSLContext, path: str) -> None:
    assert (await siege.ask(mallory, "GET", path)).status == 403


async def test_what_she_may_she_still_may(siege: Besieged, mallory: ssl.SSLContext) -> None:
    """Else the refusals would prove nothing."""
    assert (await siege.ask(mallory, "GET", f"{HERS}/configmaps/open")).status == 200
    own = role(rule(["get", "list"], "configmaps"), name="shared", kind="Role")
    assert (await siege.ask(mallory, "POST", HER_ROLES, own)).status == 201
    shared = binding("shared", kind="RoleBinding", of="Role", name="shared")
    assert (await siege.ask(mallory, "POST", HER_BINDINGS, shared)).status == 201


@pytest.mark.parametrize(
    "signer", ["kubernetes.io/kube-apiserver-client", "kubernetes.io/kube-apiserver-client-kubelet"]
)
async def test_nobody_asks_to_be_a_master(siege: Besieged, mallory: ssl.SSLContext, signer: str) -> None:
    """By the clients' signer it is refused at once; by the nodes' it is not signed, as nobody approved it."""
    pem = pem_request("mallory", organizations=["system:masters"])
    asked = signing_request(f"master-{signer.rpartition('-')[2]}", pem, signer=signer)
    answer = await siege.ask(mallory, "POST", REQUESTS, asked)
    if signer.endswith("client"):
        assert answer.status == 403
        return
    assert answer.json()["spec"]["username"] == "mallory"
    assert "certificate" not in answer.json()["status"]
    assert (await siege.ask(mallory, "PUT", f"{REQUESTS}/{asked['metadata']['name']}/approval", asked)).status == 403


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.mark.parametrize(
    ("name", "version", "made", "written"),
    [
        pytest.param(f"clusterroles.{GROUP}.example.com", "v1", 201, 403, id="a group of a similar name"),
        pytest.param("clusterroles.example.com", "v1", 201, 403, id="another group"),
        pytest.param(f"clusterroles.{GROUP}", "v1", 201, 403, id="in the place of the real ones"),
        pytest.param(f"clusterroles.{GROUP}", "v9", 201, 404, id="as another version of the real ones"),
        pytest.param(f"clusterrolebindings.{GROUP}", "v9", 201, 404, id="as another version of bindings"),
        pytest.param("secrets.core", "v1", 422, 403, id="where Secrets are stored"),
    ],
)
async def test_custom_resources_that_look_like_roles_give_nothing(
    siege: Besieged, mallory: ssl.SSLContext, name: str, version: str, made: int, written: int
) -> None:
    """Rights on the real ones are not rights on these, and the real ones stay what they are."""
    answer = await siege.ask(mallory, "POST", DEFINITIONS, _definition(name, version))
    assert answer.status == made, answer.body
    if made == 201:
        await siege.wait_until(DEFINITIONS, name, _is_established)
    plural, _, group = name.partition(".")
    for body in (role(EVERYTHING), binding("cluster-admin")):
        lookalike = body | {"apiVersion": f"{group}/{version}", "kind": "Lookalike"}
        answered = await send(siege, mallory, Attack("POST", f"/apis/{group}/{version}/{plural}", lookalike))
        assert answered[0] in (written, 400), answered
    if made == 201:
        going = await siege.ok("DELETE", f"{DEFINITIONS}/{name}")
        since = going["metadata"]["resourceVersion"]
        await siege.wait_until(DEFINITIONS, name, lambda event: bool(event["type"] == "DELETED"), since)
    assert (await siege.ok("GET", f"{ROLES}/cluster-admin"))["rules"] == [EVERYTHING, EVERY_PATH]
    assert (await siege.ok("GET", f"{BINDINGS}/cluster-admin"))["subjects"]
    assert (await send(siege, mallory, THROUGH_ROLES["every right"]))[0] == 403


def _is_established(event: Json) -> bool:
    conditions = event["object"].get("status", {}).get("conditions") or ()
    return any((each["type"], each["status"]) == ("Established", "True") for each in conditions)


def _definition(name: str, version: str) -> Json:
    plural, _, group = name.partition(".")
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "metadata": {"name": name, "annotations": {"api-approved.kubernetes.io": "unapproved, mine"}},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": {"plural": plural, "kind": "Lookalike"},
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


async def test_escalate_and_bind_reach_no_further_than_they_say(siege: Besieged) -> None:
    """A wildcard on the roles of a namespace holds `escalate`, for the roles of that namespace."""
    await siege.allow("wanda", user("wanda"), rule(["*"], "roles", "rolebindings", group=GROUP), namespace="hers")
    named = rule(["bind"], "clusterroles", group=GROUP, resourceNames=["view"])
    await siege.allow("wanda", user("wanda"), named, rule(["create"], "clusterrolebindings", group=GROUP))
    wanda = siege.person("wanda")
    table = [
        (Attack("POST", HER_ROLES, role(SECRETS, kind="Role", name="wandas")), 201),
        (Attack("POST", HER_BINDINGS, binding("wandas", kind="RoleBinding", of="Role", name="wandas")), 201),
        (Attack("POST", BINDINGS, binding("view", name="wandas")), 201),
        (Attack("POST", BINDINGS, binding("edit")), 403),
        (Attack("POST", HER_BINDINGS, binding("cluster-admin", kind="RoleBinding")), 403),
        (Attack("POST", ROLES, role(SECRETS)), 403),
        (Attack("POST", f"{RBAC}/namespaces/vault/roles", role(SECRETS, kind="Role")), 403),
        (Attack("GET", f"{VAULT}/secrets/s"), 403),
    ]
    answered = [(await send(siege, wanda, attack))[0] for attack, _ in table]
    assert answered == [status for _, status in table]
    for path in (f"{BINDINGS}/wandas", f"{HER_BINDINGS}/wandas"):
        await siege.ok("DELETE", path)


A_NODE = {
    "a Secret that no pod of it names": Attack("GET", f"{VAULT}/secrets/s"),
    "every Secret": Attack("GET", "/api/v1/secrets"),
    "another node": Attack("PATCH", "/api/v1/nodes/other", {"metadata": {"labels": {"a": "b"}}}, MERGE),
    "a token of any account": Attack("POST", f"{HERS}/serviceaccounts/builder/token", {"spec": {}}),
    "a pod of its own making": Attack("POST", f"{HERS}/pods", POD),
    "approving": Attack("PATCH", f"{REQUESTS}/a-node/approval", {"status": {"conditions": [APPROVED]}}, MERGE),
    "a role": Attack("POST", ROLES, role(EVERYTHING)),
    "another node's lease": Attack(
        "PUT",
        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/other",
        {"metadata": {"name": "other"}, "spec": {}},
    ),
}


@pytest.mark.parametrize("name", A_NODE)
async def test_a_node_is_held_to_its_own(siege: Besieged, mallory: ssl.SSLContext, name: str) -> None:
    node = siege.person("system:node:n1", "system:nodes")
    status, refused = await send(siege, node, A_NODE[name])
    assert (status, refused["reason"]) == (403, "Forbidden"), refused


async def test_a_token_dies_with_what_it_is_bound_to(siege: Besieged, mallory: ssl.SSLContext) -> None:
    bound = {"apiVersion": "v1", "kind": "Pod", "name": "short"}
    pod = {"metadata": {"name": "short"}, "spec": POD["spec"] | {"serviceAccountName": "builder"}}
    await siege.ok("POST", f"{HERS}/pods", pod)
    made = await siege.ok("POST", f"{HERS}/serviceaccounts/builder/token", {"spec": {"boundObjectRef": bound}})
    token = siege.canaries.add_token("a token of a pod", made["status"]["token"])
    assert (await siege.whoami(siege.nobody, authorization=f"Bearer {token}"))[0] == 201
    await siege.ok("DELETE", f"{HERS}/pods/short?gracePeriodSeconds=0")
    assert (await siege.whoami(siege.nobody, authorization=f"Bearer {token}"))[0] == 401
