"""Which tokens and certificates a node may ask for: those of its own pods, for the audiences they name, and its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hardpoint.apiserver.admission.contract import Attributes, Reader
from hardpoint.apiserver.admission.refusals import refused
from hardpoint.apiserver.authorization.contract import Authorizer, Question
from hardpoint.apiserver.authorization.node_identity import PREFIX
from hardpoint.apiserver.target import Target
from hardpoint.machinery import errors, signingrequests
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.references import claim_of
from hardpoint.machinery.validation.podspec_annotations import MIRROR

Json = dict[str, Any]

# The CSI drivers that took over from volumes which had a kind of their own.
MIGRATED_TO: Mapping[str, str] = {
    "awsElasticBlockStore": "ebs.csi.aws.com",
    "azureDisk": "disk.csi.azure.com",
    "azureFile": "file.csi.azure.com",
    "cinder": "cinder.csi.openstack.org",
    "gcePersistentDisk": "pd.csi.storage.gke.io",
    "portworxVolume": "pxd.portworx.com",
    "vsphereVolume": "csi.vsphere.vmware.com",
}


class Credentials:
    """The checks, each of which returns, or raises what is wrong."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def check_signing_request(self, node: str, attributes: Attributes, _: Reader) -> None:
        """A node's certificate carries that node's name."""
        if attributes.operation != "CREATE" or attributes.object is None:
            return
        spec = attributes.object["spec"]
        if spec.get("signerName") not in (signingrequests.KUBELET_SERVING, signingrequests.KUBELET_CLIENT):
            return
        try:
            asked = signingrequests.parse(spec.get("request", ""))
        except signingrequests.BadRequest as wrong:
            raise refused(attributes, f"unable to parse csr: {wrong}") from wrong
        if asked.common_name != PREFIX + node:
            raise refused(attributes, f"can only create a node CSR with CN={PREFIX}{node}")

    async def check_token(self, node: str, attributes: Attributes, reader: Reader) -> None:
        """A token is bound to a pod that runs here, and for an audience that this pod asks for."""
        if attributes.operation != "CREATE" or attributes.subresource != "token" or attributes.object is None:
            return
        spec = attributes.object.get("spec") or {}
        bound = spec.get("boundObjectRef") or {}
        if (bound.get("apiVersion"), bound.get("kind")) != ("v1", "Pod") or not bound.get("name"):
            raise refused(attributes, "node requested token not bound to a pod")
        if not bound.get("uid"):
            raise refused(attributes, "node requested token with a pod binding without a uid")
        pod = await reader.get("", "pods", attributes.namespace, bound["name"])
        if pod is None:
            raise errors.not_found("pod", bound["name"])
        if bound["uid"] != pod["metadata"]["uid"]:
            told = f"the UID in the bound object reference ({bound['uid']}) does not match the UID in record."
            raise refused(attributes, f"{told} The object might have been deleted and then recreated")
        if pod["spec"].get("nodeName") != node:
            raise refused(attributes, "node requested token bound to a pod scheduled on a different node")
        await self._check_audience(attributes, pod, spec.get("audiences") or [], reader)

    async def _check_audience(self, attributes: Attributes, pod: Json, audiences: list[str], reader: Reader) -> None:
        if len(audiences) > 1:
            raise refused(attributes, "node may only request 0 or 1 audiences")
        audience = audiences[0] if audiences else ""
        problems: list[str] = []
        for volume in pod["spec"].get("volumes") or ():
            try:
                if await _asks_for(volume, pod, audience, reader):
                    return
            except ApiError as missing:
                problems.append(missing.message)
        if problems:
            told = problems[0] if len(problems) == 1 else f"[{', '.join(dict.fromkeys(problems))}]"
            raise refused(attributes, f"error validating audience {quote(audience)}: {told}")
        if not await self._may(attributes, "request-serviceaccounts-token-audience", audience, attributes.name):
            who = attributes.user.name
            raise refused(attributes, f"{who} is not authorized to request tokens for audience {quote(audience)}")

    async def check_pod_certificate(self, node: str, attributes: Attributes, reader: Reader) -> None:
        """A pod's certificate is asked for by the node it runs on, with everything said about the pod true."""
        if attributes.operation != "CREATE" or attributes.object is None:
            raise refused(attributes, f"unexpected operation {attributes.operation}")
        if attributes.subresource:
            raise refused(attributes, f"unexpected subresource {attributes.subresource}")
        spec = attributes.object["spec"]
        named = spec.get("nodeName", "")
        if named != node:
            told = f"PodCertificateRequest.Spec.NodeName={quote(named)}, which is not the requesting node {quote(node)}"
            raise refused(attributes, told)
        await _check_node(attributes, spec, reader)
        pod = await _check_pod(attributes, spec, reader)
        await _check_account(attributes, spec, pod, reader)
        await self._check_signer(attributes, spec, pod)

    async def _check_signer(self, attributes: Attributes, spec: Json, pod: Json) -> None:
        signer = spec.get("signerName", "")
        for volume in pod["spec"].get("volumes") or ():
            for source in (volume.get("projected") or {}).get("sources") or ():
                if (source.get("podCertificate") or {}).get("signerName") == signer:
                    return
        # Roles cannot hold resources with slashes.
        resource, account = signer.replace("/", ":"), spec.get("serviceAccountName", "")
        if not await self._may(attributes, "request-serviceaccounts-podcertificate-signer", resource, account):
            told = f"does not mount a podCertificate projected volume for signer {quote(signer)}"
            raise refused(attributes, f"pod {_place(attributes, spec['podName'])} {told}")

    async def _may(self, attributes: Attributes, verb: str, resource: str, name: str) -> bool:
        kind = attributes.kind
        target = Target("", kind.group, kind.version, resource, attributes.namespace, name)
        return (await self._authorizer.authorize(Question(attributes.user, verb, target))).is_allowed


async def _asks_for(volume: Json, pod: Json, audience: str, reader: Reader) -> bool:
    """Whether a volume needs tokens for this audience, itself or through its CSI driver."""
    for source in (volume.get("projected") or {}).get("sources") or ():
        token = source.get("serviceAccountToken")
        if token is not None and token.get("audience", "") == audience:
            return True
    driver = await _driver_of(volume, pod, reader)
    if not driver:
        return False
    found = await reader.get("storage.k8s.io", "csidrivers", "", driver)
    if found is None:
        raise errors.not_found("csidriver.storage.k8s.io", driver)
    return any(each.get("audience", "") == audience for each in found["spec"].get("tokenRequests") or ())


async def _driver_of(volume: Json, pod: Json, reader: Reader) -> str:
    claim = claim_of(volume, pod["metadata"]["name"])
    if not claim:
        return _driver(volume)
    namespace = pod["metadata"]["namespace"]
    found = await reader.get("", "persistentvolumeclaims", namespace, claim)
    if found is None:
        raise errors.not_found("persistentvolumeclaim", claim)
    name = found["spec"].get("volumeName", "")
    behind = await reader.get("", "persistentvolumes", "", name)
    if behind is None:
        raise errors.not_found("persistentvolume", name)
    return _driver(behind["spec"])


def _driver(source: Json) -> str:
    driver: str = (source.get("csi") or {}).get("driver", "")
    return driver or next((MIGRATED_TO[kind] for kind in MIGRATED_TO if source.get(kind) is not None), "")


def _place(attributes: Attributes, name: str) -> str:
    return quote(f"{attributes.namespace}/{name}")


def _later(told: str) -> ApiError:
    """What may be right in a moment is an error, not a refusal."""
    return ApiError(500, "", told)


async def _check_node(attributes: Attributes, spec: Json, reader: Reader) -> None:
    name = spec["nodeName"]
    found = await reader.get("", "nodes", "", name)
    if found is None:
        told = f"while retrieving node {quote(name)} named in the PodCertificateRequest"
        raise _later(f'{told}: node "{name}" not found')
    uid, said = found["metadata"]["uid"], spec.get("nodeUID", "")
    if uid != said:
        told = f"names node UID {quote(said)}, inconsistent with the running node ({quote(uid)})"
        raise _later(f"PodCertificateRequest for pod {_place(attributes, spec.get('podName', ''))} {told}")


async def _check_pod(attributes: Attributes, spec: Json, reader: Reader) -> Json:
    name = spec.get("podName", "")
    place = _place(attributes, name)
    pod = await reader.get("", "pods", attributes.namespace, name)
    if pod is None:
        told = f"while retrieving pod {place} named in the PodCertificateRequest"
        raise _later(f'{told}: pod "{name}" not found')
    uid, said = pod["metadata"]["uid"], spec.get("podUID", "")
    if uid != said:
        told = f"contains pod UID ({quote(said)}) which differs from running pod {quote(uid)}"
        raise _later(f"PodCertificateRequest for pod {place} {told}")
    if pod["spec"].get("nodeName") != spec["nodeName"]:
        told = f"is not running on node {quote(spec['nodeName'])} named in the PodCertificateRequest"
        raise refused(attributes, f"pod {place} {told}")
    if MIRROR in (pod["metadata"].get("annotations") or {}):
        raise refused(attributes, f"pod {place} is a mirror pod")
    return pod


async def _check_account(attributes: Attributes, spec: Json, pod: Json, reader: Reader) -> None:
    place, name = _place(attributes, spec["podName"]), spec.get("serviceAccountName", "")
    of_pod = pod["spec"].get("serviceAccountName", "")
    if name != of_pod:
        told = f"contains serviceAccountName ({quote(name)}) that differs from running pod ({quote(of_pod)})"
        raise refused(attributes, f"PodCertificateRequest for pod {place} {told}")
    account = await reader.get("", "serviceaccounts", attributes.namespace, name)
    if account is None:
        told = f"while retrieving service account {_place(attributes, name)} named in the PodCertificateRequest"
        raise _later(f'{told}: serviceaccount "{name}" not found')
    uid, said = account["metadata"]["uid"], spec.get("serviceAccountUID", "")
    if uid != said:
        told = f"names service account UID {quote(said)}, which differs from the running service account ({quote(uid)})"
        raise _later(f"PodCertificateRequest for pod {place} {told}")
