"""What a node may do, for every verb of every resource and subresource that the server has.

A resource that is new to the server has no row here and fails the build: somebody has to decide what nodes may do
with it. What is allowed on condition of the object's content is NodeRestriction's, and tested there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from hardpoint.apiserver.authorization.contract import Opinion, Question
from hardpoint.apiserver.authorization.node import NodeAuthorizer
from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.target import Target
from hardpoint.machinery import kinds
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.messages import User
from hardpoint.store.memory import MemoryStore

Json = dict[str, Any]

NODE = User("system:node:mine", ("system:nodes", "system:authenticated"))
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "escalate", "*")

NEVER: Mapping[str, str] = {}
ALWAYS, RELATED, OWN, SELECTED = "always", "what its pods refer to", "what has its name", "what it selects by its name"
READ = dict.fromkeys(("get", "list", "watch"), ALWAYS)
READ_RELATED = dict.fromkeys(("get", "list", "watch"), RELATED)
WRITE_EVENTS = dict.fromkeys(("create", "update", "patch"), ALWAYS)
KEEP_OWN = {"create": ALWAYS} | dict.fromkeys(("get", "update", "patch", "delete"), OWN)


def _never(group: str, *resources: str) -> dict[tuple[str, str], Mapping[str, str]]:
    return {(group, resource): NEVER for resource in resources}


# fmt: off
TABLE: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("", "configmaps"): READ_RELATED,
    ("", "endpoints"): {"get": ALWAYS},
    ("", "events"): WRITE_EVENTS,
    ("", "nodes"): dict.fromkeys(("get", "list", "watch"), OWN) | dict.fromkeys(("create", "update", "patch"), ALWAYS),
    ("", "nodes/status"): dict.fromkeys(("update", "patch"), ALWAYS),
    ("", "persistentvolumeclaims"): {"get": RELATED},
    ("", "persistentvolumeclaims/status"): dict.fromkeys(("update", "patch"), RELATED),
    ("", "persistentvolumes"): {"get": RELATED},
    ("", "pods"): {"get": RELATED, "list": SELECTED, "watch": SELECTED, "create": ALWAYS, "delete": ALWAYS},
    ("", "pods/eviction"): {"create": ALWAYS},
    ("", "pods/status"): dict.fromkeys(("update", "patch"), ALWAYS),
    ("", "secrets"): READ_RELATED,
    ("", "serviceaccounts"): {"get": RELATED},
    ("", "serviceaccounts/token"): {"create": RELATED},
    ("", "services"): READ,
    ("authentication.k8s.io", "tokenreviews"): {"create": ALWAYS},
    ("authorization.k8s.io", "localsubjectaccessreviews"): {"create": ALWAYS},
    ("authorization.k8s.io", "subjectaccessreviews"): {"create": ALWAYS},
    ("certificates.k8s.io", "certificatesigningrequests"): READ | {"create": ALWAYS},
    ("certificates.k8s.io", "clustertrustbundles"): READ,
    ("certificates.k8s.io", "podcertificaterequests"):
        {"create": ALWAYS, "get": RELATED, "list": SELECTED, "watch": SELECTED},
    ("coordination.k8s.io", "leases"): KEEP_OWN,
    ("events.k8s.io", "events"): WRITE_EVENTS,
    ("node.k8s.io", "runtimeclasses"): READ,
    ("resource.k8s.io", "resourceclaims"): {"get": RELATED},
    ("resource.k8s.io", "resourceslices"):
        {"create": ALWAYS} | dict.fromkeys(("get", "update", "patch", "delete"), RELATED)
        | dict.fromkeys(("list", "watch", "deletecollection"), SELECTED),
    ("storage.k8s.io", "csidrivers"): READ,
    ("storage.k8s.io", "csinodes"): KEEP_OWN,
    ("storage.k8s.io", "volumeattachments"): {"get": RELATED},
    **_never("", "bindings", "componentstatuses", "limitranges", "namespaces", "namespaces/finalize",
             "namespaces/status", "nodes/proxy", "persistentvolumes/status", "pods/attach", "pods/binding",
             "pods/ephemeralcontainers", "pods/exec", "pods/log", "pods/portforward", "pods/proxy", "pods/resize",
             "podtemplates", "replicationcontrollers", "replicationcontrollers/scale", "replicationcontrollers/status",
             "resourcequotas", "resourcequotas/status", "services/proxy", "services/status"),
    **_never("admissionregistration.k8s.io", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
             "mutatingwebhookconfigurations", "validatingadmissionpolicies", "validatingadmissionpolicies/status",
             "validatingadmissionpolicybindings", "validatingwebhookconfigurations"),
    **_never("apiextensions.k8s.io", "customresourcedefinitions", "customresourcedefinitions/status"),
    **_never("apiregistration.k8s.io", "apiservices", "apiservices/status"),
    **_never("apps", "controllerrevisions", "daemonsets", "daemonsets/status", "deployments", "deployments/scale",
             "deployments/status", "replicasets", "replicasets/scale", "replicasets/status", "statefulsets",
             "statefulsets/scale", "statefulsets/status"),
    # Everybody may ask these about themselves, by a role of their own.
    **_never("authentication.k8s.io", "selfsubjectreviews"),
    **_never("authorization.k8s.io", "selfsubjectaccessreviews", "selfsubjectrulesreviews"),
    **_never("autoscaling", "horizontalpodautoscalers", "horizontalpodautoscalers/status"),
    **_never("batch", "cronjobs", "cronjobs/status", "jobs", "jobs/status"),
    **_never("certificates.k8s.io", "certificatesigningrequests/approval", "certificatesigningrequests/status",
             "podcertificaterequests/status"),
    **_never("discovery.k8s.io", "endpointslices"),
    **_never("flowcontrol.apiserver.k8s.io", "flowschemas", "flowschemas/status", "prioritylevelconfigurations",
             "prioritylevelconfigurations/status"),
    **_never("networking.k8s.io", "ingressclasses", "ingresses", "ingresses/status", "ipaddresses", "networkpolicies",
             "servicecidrs", "servicecidrs/status"),
    **_never("policy", "poddisruptionbudgets", "poddisruptionbudgets/status"),
    **_never("rbac.authorization.k8s.io", "clusterrolebindings", "clusterroles", "rolebindings", "roles"),
    **_never("resource.k8s.io", "deviceclasses", "devicetaintrules", "devicetaintrules/status",
             "resourceclaims/status", "resourceclaimtemplates"),
    **_never("scheduling.k8s.io", "priorityclasses"),
    **_never("storage.k8s.io", "csinodes/status", "csistoragecapacities", "storageclasses",
             "volumeattachments/status", "volumeattributesclasses"),
    **_never("storagemigration.k8s.io", "storageversionmigrations", "storageversionmigrations/status"),
}
# fmt: on

SERVED = {
    (kind.group, f"{kind.plural}/{part}" if part else kind.plural): kind
    for kind in kinds.builtin()
    for part in ("", *(each.name for each in kind.subresources))
}


def test_every_resource_has_a_row() -> None:
    assert set(TABLE) == set(SERVED)


def _pod(name: str, node: str, **spec: Any) -> Json:
    return {"metadata": {"name": name, "namespace": "team"}, "spec": {"nodeName": node, **spec}}


def _naming(what: str) -> Json:
    return {
        "serviceAccountName": what,
        "resourceClaims": [{"name": "c", "resourceClaimName": what}],
        "volumes": [
            {"name": "a", "secret": {"secretName": what}},
            {"name": "b", "configMap": {"name": what}},
            {"name": "c", "persistentVolumeClaim": {"claimName": what}},
        ],
    }


def _objects(name: str, node: str) -> dict[str, Json]:
    """What there is because of one node, all of the same name."""
    named = {"metadata": {"name": name}}
    volume = {**named, "spec": {"claimRef": {"namespace": "team", "name": name}}}
    return {
        f"/registry/core/pods/team/{name}": _pod(name, node, **_naming(name)),
        f"/registry/core/persistentvolumes/{name}": volume,
        f"/registry/storage.k8s.io/volumeattachments/{name}": {**named, "spec": {"nodeName": node}},
        f"/registry/resource.k8s.io/resourceslices/{name}": {**named, "spec": {"nodeName": node}},
        f"/registry/certificates.k8s.io/podcertificaterequests/team/{name}": {
            "metadata": {"name": name, "namespace": "team"},
            "spec": {"nodeName": node},
        },
    }


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    """A store with what belongs to the node `mine` and to the node `other`."""
    store = MemoryStore()
    for key, obj in (_objects("mine", "mine") | _objects("other", "other")).items():
        await store.create(key, encode(obj))
    yield store
    await store.close()


@pytest.fixture
async def authorizer(store: MemoryStore) -> AsyncIterator[NodeAuthorizer]:
    hub = Hub(store)
    async with hub.running():
        yield NodeAuthorizer(hub, store)


async def _may(authorizer: NodeAuthorizer, verb: str, row: tuple[str, str], name: str, selector: str = "") -> bool:
    group, (resource, _, part) = row[0], row[1].partition("/")
    kind = SERVED[row]
    lease = resource == "leases"
    namespace = ("kube-node-lease" if lease else "team") if kind.namespaced else ""
    target = Target("/", group, "v1", resource, namespace, name, part)
    decision = await authorizer.authorize(Question(NODE, verb, target, field_selector=selector))
    assert decision.opinion is not Opinion.DENY, "others may know better"
    return decision.is_allowed


@pytest.mark.parametrize("row", TABLE, ids=lambda row: "/".join(filter(None, row)))
async def test_table(authorizer: NodeAuthorizer, row: tuple[str, str]) -> None:
    for verb in VERBS:
        condition = TABLE[row].get(verb, "")
        allowed = {
            "": (False, False, False, False),
            ALWAYS: (True, True, True, True),
            RELATED: (True, False, False, False),
            OWN: (True, False, False, False),
            # One pod of its own may be read by every verb that reads.
            SELECTED: (row[1] == "pods", False, True, False),
        }[condition]
        said = (
            await _may(authorizer, verb, row, "mine"),
            await _may(authorizer, verb, row, "other"),
            await _may(authorizer, verb, row, "", "spec.nodeName=mine"),
            await _may(authorizer, verb, row, "", "spec.nodeName=other"),
        )
        assert said == allowed, f"{verb} {row}: {condition}"


@pytest.mark.parametrize(
    ("user", "opinion"),
    [
        pytest.param(User("system:node:mine", ("system:nodes",)), Opinion.ALLOW, id="a node"),
        pytest.param(User("system:node:mine"), Opinion.NONE, id="outside the group"),
        pytest.param(User("mine", ("system:nodes",)), Opinion.NONE, id="without the name"),
        pytest.param(User("system:node:", ("system:nodes",)), Opinion.NONE, id="no name at all"),
        pytest.param(User("system:node:other", ("system:nodes",)), Opinion.NONE, id="another node"),
        pytest.param(User("system:node:mine ", ("system:nodes",)), Opinion.NONE, id="a name that looks the same"),
        pytest.param(User("SYSTEM:NODE:mine", ("system:nodes",)), Opinion.NONE, id="capitals"),
    ],
)
async def test_who_is_a_node(authorizer: NodeAuthorizer, user: User, opinion: Opinion) -> None:
    target = Target("/", "", "v1", "secrets", "team", "mine")
    assert (await authorizer.authorize(Question(user, "get", target))).opinion is opinion


@pytest.mark.parametrize(
    ("selector", "allowed"),
    [
        ("spec.nodeName=mine", True),
        ("spec.nodeName==mine", True),
        ("spec.nodeName=mine,status.phase=Running", True),
        ("spec.nodeName=mine,spec.nodeName=other", True),
        ("metadata.name=mine", True),
        ("metadata.name=other", False),
        ("", False),
        ("spec.nodeName!=mine", False),
        ("spec.nodeName=other", False),
        ("spec.nodeName=", False),
        ("spec.nodeName", False),
        ("status.nodeName=mine", False),
        ("spec.nodeName=mine\\", False),
    ],
)
async def test_pods_are_listed_by_selector(authorizer: NodeAuthorizer, selector: str, allowed: bool) -> None:
    assert await _may(authorizer, "list", ("", "pods"), "", selector) is allowed


async def test_reasons(authorizer: NodeAuthorizer) -> None:
    async def why(verb: str, resource: str, namespace: str = "", name: str = "") -> str:
        target = Target("/", "", "v1", resource, namespace, name)
        return (await authorizer.authorize(Question(NODE, verb, target))).reason

    assert await why("get", "secrets", "team", "other") == "no relationship found between node 'mine' and this object"
    assert await why("list", "secrets", "team") == "No Object name found"
    assert await why("list", "secrets") == "can only read namespaced object of this type"
    assert await why("update", "secrets", "team", "mine") == "can only read resources of this type"
    assert await why("get", "nodes", name="other") == "node 'mine' cannot read 'other', only its own Node object"
    assert await why("list", "nodes") == "node 'mine' cannot read all nodes, only its own Node object"
    assert await why("list", "pods", "team") == "can only list/watch pods with spec.nodeName field selector"
    assert await why("delete", "nodes", name="mine") == ""


async def test_a_grant_counts_as_soon_as_it_is_stored(store: MemoryStore) -> None:
    """Also before the hub has heard of it."""
    hub = Hub(store)
    async with hub.running():
        authorizer = NodeAuthorizer(hub, store)
        assert not await _may(authorizer, "get", ("", "secrets"), "new")
        for number in range(100):
            name = f"new-{number}"
            await store.create(f"/registry/core/pods/team/{name}", encode(_pod(name, "mine", **_naming(name))))
            assert await _may(authorizer, "get", ("", "secrets"), name)


async def test_what_is_gone_is_closed(store: MemoryStore) -> None:
    hub = Hub(store)
    async with hub.running():
        authorizer = NodeAuthorizer(hub, store)
        assert await _may(authorizer, "get", ("", "secrets"), "mine")
        found = await store.get("/registry/core/pods/team/mine")
        assert found is not None
        revision = await store.delete(found.key, expected=found.revision)
        assert await hub.wait_until_reached(revision, seconds=5)
        assert not await _may(authorizer, "get", ("", "secrets"), "mine")
        assert not await _may(authorizer, "get", ("", "persistentvolumes"), "mine")
        assert await _may(authorizer, "get", ("storage.k8s.io", "volumeattachments"), "mine")


async def test_many_pods_are_loaded_in_pages_and_followed(store: MemoryStore) -> None:
    for number in range(1200):
        name = f"pod-{number:04}"
        await store.create(f"/registry/core/pods/team/{name}", encode(_pod(name, "mine", **_naming(name))))
    hub = Hub(store)
    async with hub.running():
        authorizer = NodeAuthorizer(hub, store)
        for number in (0, 499, 500, 999, 1000, 1199):
            assert await _may(authorizer, "get", ("", "secrets"), f"pod-{number:04}")
        for number in range(1200):
            found = await store.get(f"/registry/core/pods/team/pod-{number:04}")
            assert found is not None
            revision = await store.delete(found.key, expected=found.revision)
        assert await hub.wait_until_reached(revision, seconds=5)
        assert not await _may(authorizer, "get", ("", "pods"), "pod-0000")
        assert not await _may(authorizer, "get", ("", "secrets"), "pod-1199")


async def test_what_a_running_pod_comes_to_name(store: MemoryStore) -> None:
    """Ephemeral containers and claims that are made for it; a change of its status tells nothing."""
    hub = Hub(store)
    key = "/registry/core/pods/team/late"
    debugger = {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "debug"}}}]}
    claims = {"resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t"}]}
    made = {"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "late-c"}]}
    async with hub.running():
        authorizer = NodeAuthorizer(hub, store)
        revision = await store.create(key, encode(_pod("late", "")))
        for pod in (
            _pod("late", "mine", **claims),
            {**_pod("late", "mine", **claims), "status": {"phase": "Running"}},
            {**_pod("late", "mine", **claims, ephemeralContainers=[debugger]), "status": made},
        ):
            assert not await _may(authorizer, "get", ("", "secrets"), "debug")
            assert not await _may(authorizer, "get", ("resource.k8s.io", "resourceclaims"), "late-c")
            revision = await store.update(key, encode(pod), expected=revision)
            assert await _may(authorizer, "get", ("", "pods"), "late")
        assert await _may(authorizer, "get", ("", "secrets"), "debug")
        assert await _may(authorizer, "get", ("resource.k8s.io", "resourceclaims"), "late-c")
