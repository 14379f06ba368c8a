"""What a node may write, asked of a whole server: the authorizer first, then what is written."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.apiserver.admission.node_restriction import forbidden_labels
from hardpoint.machinery.messages import User
from tests.apiserver.asking import Api

Json = dict[str, Any]

MINE = User("system:node:mine", ("system:nodes", "system:authenticated"))
PODS = "/api/v1/namespaces/default/pods"
MIRROR = {"kubernetes.io/config.mirror": "x"}


def _pod(name: str, node: str, *, annotations: Json | None = None, **spec: Any) -> Json:
    container = {"name": "c", "image": "i"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations or {}},
        "spec": {"nodeName": node, "containers": [container], **spec},
    }


def _node(name: str, **metadata: Any) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, **metadata}}


async def refusal(api: Api, method: str, url: str, body: Any = None, **headers: str) -> str:
    """Why a node is refused, after the name of what it is refused."""
    status, answer = await api.ask(method, url, body, **headers)
    assert status == 403, answer
    told: str = answer["message"].partition(" is forbidden: ")[2]
    return told


@pytest.fixture
async def node(api: Api) -> Api:
    """The server as the node `mine` sees it, which has a pod, as has the node `other`."""
    for name in ("mine", "other"):
        await api.ok("POST", "/api/v1/nodes", _node(name))
        await api.ok("POST", PODS, _pod(name, name))
    return api.as_user(MINE)


LABELS = [
    ("example.com/a", True),
    ("plain", True),
    ("kubernetes.io/hostname", True),
    ("topology.kubernetes.io/zone", True),
    ("node.kubernetes.io/anything", True),
    ("kubelet.kubernetes.io/anything", True),
    ("x.node.kubernetes.io/anything", True),
    ("beta.kubernetes.io/os", True),
    ("node-role.kubernetes.io/control-plane", False),
    ("node-restriction.kubernetes.io/secure", False),
    ("x.node-restriction.kubernetes.io/secure", False),
    ("kubernetes.io/unknown", False),
    ("k8s.io/unknown", False),
    ("x.k8s.io/unknown", False),
    ("notkubernetes.io/a", True),
    ("kubernetes.io.example.com/a", True),
]


@pytest.mark.parametrize(("label", "free"), LABELS)
def test_labels(label: str, free: bool) -> None:
    expected = [] if free else [label]
    assert forbidden_labels({label: "a"}, {}) == expected
    assert forbidden_labels({}, {label: "a"}) == expected
    assert forbidden_labels({label: "b"}, {label: "a"}) == expected
    assert forbidden_labels({label: "a"}, {label: "a"}) == []


class TestItsOwnObject:
    """Create, update, patch and status alike."""

    NODE = "/api/v1/nodes/mine"

    async def test_it_registers_itself_with_taints_and_plain_labels(self, api: Api) -> None:
        taints = [{"key": "a", "effect": "NoSchedule"}]
        wanted = _node("mine", labels={"example.com/a": "b"}) | {"spec": {"taints": taints}}
        made = await api.as_user(MINE).ok("POST", "/api/v1/nodes", wanted)
        assert taints[0] in made["spec"]["taints"]

    async def test_it_registers_nobody_else(self, api: Api) -> None:
        told = await refusal(api.as_user(MINE), "POST", "/api/v1/nodes", _node("other"))
        assert told == 'node "mine" is not allowed to modify node "other"'
        unnamed = {"apiVersion": "v1", "kind": "Node", "metadata": {"generateName": "mine"}}
        told = await refusal(api.as_user(MINE), "POST", "/api/v1/nodes", unnamed)
        assert told == 'node "mine" is not allowed to modify node ""'

    async def test_it_does_not_label_itself_into_trust(self, api: Api) -> None:
        labels = {"node-restriction.kubernetes.io/b": "", "node-role.kubernetes.io/a": ""}
        told = await refusal(api.as_user(MINE), "POST", "/api/v1/nodes", _node("mine", labels=labels))
        named = "node-restriction.kubernetes.io/b, node-role.kubernetes.io/a"
        assert told == f'node "mine" is not allowed to set the following labels: {named}'

    @pytest.mark.parametrize("part", ["", "/status"])
    @pytest.mark.parametrize(
        ("patch", "told"),
        [
            (
                {"spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}},
                'node "mine" is not allowed to modify taints',
            ),
            ({"spec": {"taints": None}}, 'node "mine" is not allowed to modify taints'),
            (
                {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u"}]}},
                'node "mine" is not allowed to modify ownerReferences',
            ),
            ({"metadata": {"labels": {"k8s.io/a": "b"}}}, "is not allowed to modify labels: k8s.io/a"),
            (
                {"spec": {"configSource": {"configMap": {"name": "a", "namespace": "b", "kubeletConfigKey": "c"}}}},
                'node "mine" is not allowed to update configSource to a new non-nil configSource',
            ),
        ],
    )
    async def test_it_does_not_change_what_draws_pods(
        self, api: Api, node: Api, part: str, patch: Json, told: str
    ) -> None:
        taint = {"spec": {"taints": [{"key": "keep", "effect": "NoSchedule"}]}}
        await api.ok("PATCH", self.NODE, taint, content_type="application/merge-patch+json")
        for media in ("application/merge-patch+json", "application/strategic-merge-patch+json"):
            assert await refusal(node, "PATCH", self.NODE + part, patch, content_type=media) == told
        whole = await api.ok("GET", self.NODE)
        for field, change in patch.items():
            whole[field] = {**whole[field], **change}
        assert await refusal(node, "PUT", self.NODE + part, whole) == told

    async def test_it_reports_its_status_and_its_own_labels(self, api: Api, node: Api) -> None:
        change = {"metadata": {"labels": {"kubernetes.io/os": "linux"}}, "spec": {"unschedulable": True}}
        await node.ok("PATCH", self.NODE, change, content_type="application/merge-patch+json")
        ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        changed = await node.ok("PATCH", f"{self.NODE}/status", ready, content_type="application/merge-patch+json")
        assert changed["status"]["conditions"][0]["status"] == "True"
        assert changed["metadata"]["labels"]["kubernetes.io/os"] == "linux"

    async def test_no_other_object_and_no_end(self, node: Api) -> None:
        told = 'node "mine" is not allowed to modify node "other"'
        for part in ("", "/status"):
            media = "application/merge-patch+json"
            assert await refusal(node, "PATCH", f"/api/v1/nodes/other{part}", {}, content_type=media) == told
        for name in ("mine", "other"):
            told = await refusal(node, "DELETE", f"/api/v1/nodes/{name}")
            assert told == 'User "system:node:mine" cannot delete resource "nodes" in API group "" at the cluster scope'


class TestPods:
    @pytest.fixture
    async def uid(self, node: Api) -> str:
        uid: str = (await node.ok("GET", "/api/v1/nodes/mine"))["metadata"]["uid"]
        return uid

    def _mirror(self, uid: str, **changes: Any) -> Json:
        pod = _pod("mirror", "mine", annotations=MIRROR)
        owner = {"apiVersion": "v1", "kind": "Node", "name": "mine", "uid": uid, "controller": True}
        pod["metadata"]["ownerReferences"] = [owner]
        for field, value in changes.items():
            pod[field] = {**pod[field], **value}
        return pod

    async def test_it_mirrors_its_own(self, node: Api, uid: str) -> None:
        await node.ok("POST", PODS, self._mirror(uid))
        await node.ok("DELETE", f"{PODS}/mirror?gracePeriodSeconds=0")

    @pytest.mark.parametrize(
        ("owner", "told"),
        [
            ({"uid": "no"}, "node mine UID mismatch: expected no got {uid}"),
            ({"name": "other"}, 'node "mine" can only create pods with an owner reference set to itself'),
            ({"kind": "Pod"}, 'node "mine" can only create pods with an owner reference set to itself'),
            ({"apiVersion": "apps/v1"}, 'node "mine" can only create pods with an owner reference set to itself'),
            ({"controller": False}, 'node "mine" can only create pods with a controller owner reference set to itself'),
            ({"blockOwnerDeletion": True}, 'node "mine" must not set blockOwnerDeletion on an owner reference'),
        ],
    )
    async def test_the_mirrors_owner(self, node: Api, uid: str, owner: Json, told: str) -> None:
        pod = self._mirror(uid)
        pod["metadata"]["ownerReferences"][0].update(owner)
        assert await refusal(node, "POST", PODS, pod) == told.format(uid=uid)

    async def test_one_owner(self, node: Api, uid: str) -> None:
        pod = self._mirror(uid)
        owner = pod["metadata"]["ownerReferences"][0]
        pod["metadata"]["ownerReferences"] = [owner, {**owner, "uid": "other", "controller": False}]
        told = 'node "mine" can only create pods with a single owner reference set to itself'
        assert await refusal(node, "POST", PODS, pod) == told
        del pod["metadata"]["ownerReferences"]
        told = 'node "mine" can only create pods with an owner reference set to itself'
        assert await refusal(node, "POST", PODS, pod) == told

    async def test_no_ordinary_pods_and_none_elsewhere(self, node: Api, uid: str) -> None:
        told = 'pod does not have "kubernetes.io/config.mirror" annotation, node "mine" can only create mirror pods'
        assert await refusal(node, "POST", PODS, _pod("a", "mine")) == told
        told = 'node "mine" can only create pods with spec.nodeName set to itself'
        assert await refusal(node, "POST", PODS, self._mirror(uid, spec={"nodeName": "other"})) == told

    @pytest.mark.parametrize(
        ("volume", "needed"),
        [
            ({"configMap": {"name": "a"}}, "configmaps"),
            ({"csi": {"driver": "d"}}, "csidrivers (via CSI volumes)"),
            ({"persistentVolumeClaim": {"claimName": "a"}}, "persistentvolumeclaims"),
            (
                {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
                "persistentvolumeclaims (via ephemeral volumes)",
            ),
            ({"glusterfs": {"endpoints": "e", "path": "p"}}, "endpoints (via glusterFS volumes)"),
            ({"projected": {"sources": [{"clusterTrustBundle": {"name": "a", "path": "p"}}]}}, "clustertrustbundles"),
        ],
    )
    async def test_a_mirror_opens_nothing(self, node: Api, uid: str, volume: Json, needed: str) -> None:
        pod = self._mirror(uid, spec={"volumes": [{"name": "v", **volume}]})
        assert await refusal(node, "POST", PODS, pod) == f'node "mine" can not create pods that reference {needed}'

    async def test_a_mirror_may_have_volumes_of_the_node(self, node: Api, uid: str) -> None:
        volumes = [{"name": "v", "hostPath": {"path": "/"}}, {"name": "w", "emptyDir": {}}]
        await node.ok("POST", PODS, self._mirror(uid, spec={"volumes": volumes}))

    async def test_it_ends_only_its_own(self, node: Api) -> None:
        told = 'node "mine" can only delete pods with spec.nodeName set to itself'
        assert await refusal(node, "DELETE", f"{PODS}/other") == told
        await node.ok("DELETE", f"{PODS}/mine?gracePeriodSeconds=0")

    async def test_it_evicts_only_its_own(self, node: Api) -> None:
        def eviction(name: str) -> Json:
            return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}

        told = "node mine can only evict pods with spec.nodeName set to itself"
        assert await refusal(node, "POST", f"{PODS}/other/eviction", eviction("other")) == told
        await node.ok("POST", f"{PODS}/mine/eviction", eviction("mine"))
        status, _ = await node.ask("POST", f"{PODS}/none/eviction", eviction("none"))
        assert status == 404

    async def test_it_reports_only_on_its_own(self, node: Api) -> None:
        media = "application/merge-patch+json"
        told = 'node "mine" can only update pod status for pods with spec.nodeName set to itself'
        assert await refusal(node, "PATCH", f"{PODS}/other/status", {}, content_type=media) == told
        said = await node.ok("PATCH", f"{PODS}/mine/status", {"status": {"phase": "Running"}}, content_type=media)
        assert said["status"]["phase"] == "Running"

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"metadata": {"labels": {"a": "b"}}}, "cannot update labels through pod status"),
            (
                {"status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "b"}]}},
                "cannot update resource claim statues",
            ),
            (
                {"status": {"extendedResourceClaimStatus": {"resourceClaimName": "b", "requestMappings": []}}},
                "cannot update extended resource claim status",
            ),
        ],
    )
    async def test_it_says_nothing_that_opens_more(self, node: Api, change: Json, told: str) -> None:
        for media in ("application/merge-patch+json", "application/strategic-merge-patch+json"):
            said = await refusal(node, "PATCH", f"{PODS}/mine/status", change, content_type=media)
            assert said == f'node "mine" {told}'

    async def test_it_gives_itself_no_ephemeral_container(self, api: Api, node: Api) -> None:
        """Not even where a role would let it."""
        await _grant(api, ["pods/ephemeralcontainers", "pods/binding", "pods"], ["update", "patch", "create"])
        container = {"name": "e", "image": "i", "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s"}}}]}
        change = {"spec": {"ephemeralContainers": [container]}}
        media = "application/strategic-merge-patch+json"
        told = await refusal(node, "PATCH", f"{PODS}/mine/ephemeralcontainers", change, content_type=media)
        allowed = "only 'status' and 'eviction' are allowed"
        assert told == f'unexpected pod subresource "ephemeralcontainers", {allowed}'
        binding = {"metadata": {"name": "other"}, "target": {"kind": "Node", "name": "mine"}}
        told = await refusal(node, "POST", f"{PODS}/other/binding", binding)
        assert told == f'unexpected pod subresource "binding", {allowed}'
        told = await refusal(node, "PATCH", f"{PODS}/mine", {"metadata": {"labels": {"a": "b"}}}, content_type=media)
        assert told == 'unexpected operation "UPDATE", node "mine" can only create and delete mirror pods'


async def _grant(api: Api, resources: list[str], verbs: list[str], *, groups: tuple[str, ...] = ("",)) -> None:
    """A role for nodes, beyond what they may do by themselves."""
    rules = [{"apiGroups": list(groups), "resources": resources, "verbs": verbs}]
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    await api.ok("POST", roles, {"metadata": {"name": "more"}, "rules": rules})
    binding = {
        "metadata": {"name": "more"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "more"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:nodes"}],
    }
    await api.ok("POST", f"{roles[:-5]}rolebindings", binding)


class TestClaims:
    CLAIM = "/api/v1/namespaces/default/persistentvolumeclaims/data"

    @pytest.fixture
    async def claim(self, api: Api, node: Api) -> Json:
        claim = {
            "metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }
        await api.ok("POST", self.CLAIM.removesuffix("/data"), claim)
        volume = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
        await api.ok("POST", PODS, _pod("uses", "mine", volumes=[volume]))
        return await node.ok("GET", self.CLAIM)

    async def test_it_says_how_large_a_volume_became(self, node: Api, claim: Json) -> None:
        claim["status"] = {**claim["status"], "capacity": {"storage": "2Gi"}}
        changed = await node.ok("PUT", f"{self.CLAIM}/status", claim)
        assert changed["status"]["capacity"] == {"storage": "2Gi"}

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"metadata": {"labels": {"a": "b"}}}, "metadata.labels"),
            ({"metadata": {"finalizers": None}}, "metadata.finalizers"),
            ({"status": {"phase": "Bound"}}, "status.phase"),
            ({"spec": {"volumeName": "other"}}, "spec.volumeName"),
        ],
    )
    async def test_and_nothing_else(self, node: Api, claim: Json, change: Json, field: str) -> None:
        media = "application/merge-patch+json"
        told = await refusal(node, "PATCH", f"{self.CLAIM}/status", change, content_type=media)
        allowed = "fields other than status.quantity and status.conditions"
        assert told == f'node "mine" is not allowed to update {allowed}: {field}'

    async def test_not_of_a_claim_that_none_of_its_pods_uses(self, api: Api, node: Api, claim: Json) -> None:
        other = api.as_user(User("system:node:other", MINE.groups))
        told = await refusal(other, "PATCH", f"{self.CLAIM}/status", {}, content_type="application/merge-patch+json")
        assert told.endswith("no relationship found between node 'other' and this object")

    async def test_not_the_claim_itself(self, api: Api, node: Api, claim: Json) -> None:
        await _grant(api, ["persistentvolumeclaims"], ["update"])
        assert await refusal(node, "PUT", self.CLAIM, claim) == "may only update PVC status"


@pytest.mark.parametrize(
    ("collection", "obj", "told"),
    [
        (
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
            {"spec": {}},
            "can only access node lease with the same name as the requesting node",
        ),
        (
            "/apis/storage.k8s.io/v1/csinodes",
            {"spec": {"drivers": []}},
            "can only access CSINode with the same name as the requesting node",
        ),
    ],
)
async def test_objects_of_its_name(node: Api, collection: str, obj: Json, told: str) -> None:
    await node.ok("POST", collection, {**obj, "metadata": {"name": "mine"}})
    assert await refusal(node, "POST", collection, {**obj, "metadata": {"name": "other"}}) == told
    assert (await refusal(node, "DELETE", f"{collection}/other")).endswith(told)
    await node.ok("DELETE", f"{collection}/mine")


async def test_slices(api: Api, node: Api) -> None:
    slices = "/apis/resource.k8s.io/v1/resourceslices"

    def one(name: str, node_name: str) -> Json:
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        return {"metadata": {"name": name}, "spec": {"driver": "d.example.com", "nodeName": node_name, "pool": pool}}

    await node.ok("POST", slices, one("a", "mine"))
    told = "can only create ResourceSlice with the same NodeName as the requesting node"
    assert await refusal(node, "POST", slices, one("b", "other")) == told
    await api.ok("POST", slices, one("b", "other"))
    relation = "no relationship found between node 'mine' and this object"
    assert (await refusal(node, "GET", f"{slices}/b")).endswith(relation)
    assert (await refusal(node, "DELETE", f"{slices}/b")).endswith(relation)
    await node.ok("DELETE", f"{slices}?fieldSelector=spec.nodeName%3Dmine")
    left = await api.ok("GET", slices)
    assert [each["metadata"]["name"] for each in left["items"]] == ["b"]


async def test_a_node_without_a_name_writes_nothing(api: Api) -> None:
    await _grant(api, ["*"], ["*"], groups=("*",))
    nobody = api.as_user(User("system:node:", MINE.groups))
    told = await refusal(nobody, "POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}})
    assert told == 'could not determine node from user "system:node:"'
