"""Which tokens and certificates a node may ask for."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery.messages import User
from tests.apiserver.asking import Api

Json = dict[str, Any]

MINE = User("system:node:mine", ("system:nodes", "system:authenticated"))
INSIDE = "/api/v1/namespaces/default"
CERTIFICATES = "/apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests"
ROLES = "/apis/rbac.authorization.k8s.io/v1"


def _projected(audience: str) -> Json:
    return {"projected": {"sources": [{"serviceAccountToken": {"path": "t", "audience": audience}}]}}


def _pod(name: str, node: str, *volumes: Json) -> Json:
    named = [{"name": f"v{index}", **volume} for index, volume in enumerate(volumes)]
    spec = {"nodeName": node, "containers": [{"name": "c", "image": "i"}], "volumes": named}
    return {"metadata": {"name": name}, "spec": {**spec, "serviceAccountName": "app"}}


@pytest.fixture
async def node(api: Api) -> Api:
    await api.ok("POST", f"{INSIDE}/serviceaccounts", {"metadata": {"name": "app"}})
    await api.ok("POST", "/api/v1/nodes", {"metadata": {"name": "mine"}})
    return api.as_user(MINE)


async def _token(api: Api, node: Api, pod: str, *audiences: str) -> tuple[int, str]:
    uid = (await api.ok("GET", f"{INSIDE}/pods/{pod}"))["metadata"]["uid"]
    bound = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid}
    body = {"spec": {"boundObjectRef": bound, "audiences": list(audiences)}}
    status, answer = await node.ask("POST", f"{INSIDE}/serviceaccounts/app/token", body)
    return status, answer.get("message", "").partition(" is forbidden: ")[2]


async def _bind(api: Api, rule: Json) -> None:
    await api.ok("POST", f"{ROLES}/clusterroles", {"metadata": {"name": "more"}, "rules": [rule]})
    binding = {
        "metadata": {"name": "more"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "more"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:nodes"}],
    }
    await api.ok("POST", f"{ROLES}/clusterrolebindings", binding)


async def test_a_token_for_an_audience_its_pod_names(api: Api, node: Api) -> None:
    await api.ok("POST", f"{INSIDE}/pods", _pod("web", "mine", _projected("vault")))
    assert await _token(api, node, "web", "vault") == (201, "")
    told = 'system:node:mine is not authorized to request tokens for audience "bank"'
    assert await _token(api, node, "web", "bank") == (403, told)
    assert await _token(api, node, "web", "vault", "bank") == (403, "node may only request 0 or 1 audiences")


async def test_a_role_may_name_more_audiences(api: Api, node: Api) -> None:
    await api.ok("POST", f"{INSIDE}/pods", _pod("web", "mine"))
    verbs = ["request-serviceaccounts-token-audience"]
    await _bind(api, {"apiGroups": [""], "resources": ["bank"], "resourceNames": ["app"], "verbs": verbs})
    assert await _token(api, node, "web", "bank") == (201, "")
    assert (await _token(api, node, "web", "vault"))[0] == 403


async def test_no_token_for_a_pod_elsewhere(api: Api, node: Api) -> None:
    """Also not where a pod of the same account runs here."""
    await api.ok("POST", f"{INSIDE}/pods", _pod("here", "mine", _projected("vault")))
    await api.ok("POST", f"{INSIDE}/pods", _pod("there", "other", _projected("vault")))
    told = "node requested token bound to a pod scheduled on a different node"
    assert await _token(api, node, "there", "vault") == (403, told)


@pytest.mark.parametrize(
    ("bound", "told"),
    [
        (None, "node requested token not bound to a pod"),
        ({"apiVersion": "v1", "kind": "Node", "name": "mine", "uid": "x"}, "node requested token not bound to a pod"),
        ({"apiVersion": "v1", "kind": "Pod", "name": "here"}, "node requested token with a pod binding without a uid"),
        (
            {"apiVersion": "v1", "kind": "Pod", "name": "here", "uid": "x"},
            "the UID in the bound object reference (x) does not match the UID in record. The object might have been "
            "deleted and then recreated",
        ),
    ],
)
async def test_no_token_without_a_pod(api: Api, node: Api, bound: Json | None, told: str) -> None:
    await api.ok("POST", f"{INSIDE}/pods", _pod("here", "mine"))
    body = {"spec": {"boundObjectRef": bound} if bound else {}}
    status, answer = await node.ask("POST", f"{INSIDE}/serviceaccounts/app/token", body)
    assert (status, answer["message"]) == (403, f'serviceaccounts "app" is forbidden: {told}')


class TestDrivers:
    """A CSI driver may want tokens for the pods whose volumes it mounts."""

    @pytest.fixture(autouse=True)
    async def storage(self, api: Api, node: Api) -> None:
        wants = {"tokenRequests": [{"audience": "vault"}]}
        for name in ("d.example.com", "ebs.csi.aws.com"):
            await api.ok("POST", "/apis/storage.k8s.io/v1/csidrivers", {"metadata": {"name": name}, "spec": wants})
        size, modes = {"storage": "1Gi"}, ["ReadWriteOnce"]
        sources = {
            "csi": {"csi": {"driver": "d.example.com", "volumeHandle": "h"}},
            "migrated": {"awsElasticBlockStore": {"volumeID": "v"}},
            "plain": {"hostPath": {"path": "/x"}},
        }
        for name, source in sources.items():
            spec = {"capacity": size, "accessModes": modes, **source}
            await api.ok("POST", "/api/v1/persistentvolumes", {"metadata": {"name": name}, "spec": spec})
        for name in (*sources, "web-v0"):
            claim = {"accessModes": modes, "resources": {"requests": size}}
            claim["volumeName"] = name if name in sources else "csi"
            await api.ok("POST", f"{INSIDE}/persistentvolumeclaims", {"metadata": {"name": name}, "spec": claim})

    @pytest.mark.parametrize(
        ("volume", "status"),
        [
            pytest.param({"csi": {"driver": "d.example.com"}}, 201, id="of the pod itself"),
            pytest.param({"persistentVolumeClaim": {"claimName": "csi"}}, 201, id="of a claim"),
            pytest.param({"persistentVolumeClaim": {"claimName": "migrated"}}, 201, id="of a kind that moved to CSI"),
            pytest.param({"awsElasticBlockStore": {"volumeID": "v"}}, 201, id="of such a kind in the pod itself"),
            pytest.param({"persistentVolumeClaim": {"claimName": "plain"}}, 403, id="of no driver"),
            pytest.param({"emptyDir": {}}, 403, id="of the node"),
        ],
    )
    async def test_audiences(self, api: Api, node: Api, volume: Json, status: int) -> None:
        await api.ok("POST", f"{INSIDE}/pods", _pod("web", "mine", volume))
        assert (await _token(api, node, "web", "vault"))[0] == status
        assert (await _token(api, node, "web", "bank"))[0] == 403

    async def test_a_claim_made_for_the_pod(self, api: Api, node: Api) -> None:
        template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
        await api.ok("POST", f"{INSIDE}/pods", _pod("web", "mine", {"ephemeral": {"volumeClaimTemplate": template}}))
        assert (await _token(api, node, "web", "vault"))[0] == 201

    async def test_what_is_missing_is_told(self, api: Api, node: Api) -> None:
        volumes = ({"persistentVolumeClaim": {"claimName": "none"}}, {"csi": {"driver": "none.example.com"}})
        await api.ok("POST", f"{INSIDE}/pods", _pod("web", "mine", *volumes))
        missing = 'persistentvolumeclaim "none" not found, csidriver.storage.k8s.io "none.example.com" not found'
        assert await _token(api, node, "web", "vault") == (403, f'error validating audience "vault": [{missing}]')


class TestPodCertificates:
    SIGNER = "example.com/signer"

    @pytest.fixture
    async def spec(self, api: Api, node: Api) -> Json:
        """What a node asks for its pod; whoever reads the key refuses it, but nobody gets so far here."""
        certificate = {"signerName": self.SIGNER, "keyType": "ECDSAP256", "credentialBundlePath": "p"}
        await api.ok(
            "POST", f"{INSIDE}/pods", _pod("web", "mine", {"projected": {"sources": [{"podCertificate": certificate}]}})
        )
        uids = {
            "podUID": f"{INSIDE}/pods/web",
            "serviceAccountUID": f"{INSIDE}/serviceaccounts/app",
            "nodeUID": "/api/v1/nodes/mine",
        }
        found = {field: (await api.ok("GET", path))["metadata"]["uid"] for field, path in uids.items()}
        names = {"podName": "web", "serviceAccountName": "app", "nodeName": "mine", "signerName": self.SIGNER}
        return {**found, **names}

    async def _ask(self, node: Api, spec: Json) -> tuple[int, str]:
        status, answer = await node.ask("POST", CERTIFICATES, {"metadata": {"name": "a"}, "spec": spec})
        return status, answer["message"].rpartition(" is forbidden: ")[2]

    async def test_the_truth_is_let_through(self, node: Api, spec: Json) -> None:
        status, _ = await self._ask(node, spec)
        assert status == 422, "validation asks for a key"

    @pytest.mark.parametrize(
        ("change", "code", "told"),
        [
            (
                {"nodeName": "other"},
                403,
                'PodCertificateRequest.Spec.NodeName="other", which is not the requesting node "mine"',
            ),
            (
                {"serviceAccountName": "default"},
                403,
                'PodCertificateRequest for pod "default/web" contains serviceAccountName ("default") that differs from '
                'running pod ("app")',
            ),
            (
                {"podUID": "x"},
                500,
                'PodCertificateRequest for pod "default/web" contains pod UID ("x") which differs from running pod '
                '"{podUID}"',
            ),
            (
                {"nodeUID": "x"},
                500,
                'PodCertificateRequest for pod "default/web" names node UID "x", inconsistent with the running node '
                '("{nodeUID}")',
            ),
            (
                {"signerName": "example.com/other"},
                403,
                'pod "default/web" does not mount a podCertificate projected volume for signer "example.com/other"',
            ),
        ],
    )
    async def test_lies(self, node: Api, spec: Json, change: Json, code: int, told: str) -> None:
        assert await self._ask(node, {**spec, **change}) == (code, told.format(**spec))

    async def test_a_pod_elsewhere(self, api: Api, node: Api, spec: Json) -> None:
        made = await api.ok("POST", f"{INSIDE}/pods", _pod("there", "other"))
        lie = {**spec, "podName": "there", "podUID": made["metadata"]["uid"]}
        told = 'pod "default/there" is not running on node "mine" named in the PodCertificateRequest'
        assert await self._ask(node, lie) == (403, told)

    async def test_a_role_may_name_more_signers(self, api: Api, node: Api, spec: Json) -> None:
        verbs = ["request-serviceaccounts-podcertificate-signer"]
        groups = ["certificates.k8s.io"]
        await _bind(api, {"apiGroups": groups, "resources": ["example.com:other"], "verbs": verbs})
        status, _ = await self._ask(node, {**spec, "signerName": "example.com/other"})
        assert status == 422, "validation asks for a key"
