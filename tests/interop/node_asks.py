"""What a node asks: reads, writes and credentials, its own and those of others."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.kinds import Kind, builtin
from tests.interop.sides import MERGE, NODE, Ask, admin
from tests.signing_requests import COLLECTION

Json = dict[str, Any]

PODS = "/api/v1/namespaces/default/pods"
FRESH = "system:node:fresh"


def pod(name: str, node: str, *, metadata: Json | None = None, **spec: Any) -> Json:
    metadata = {"name": name, **(metadata or {})}
    return {"metadata": metadata, "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}], **spec}}


OWNER = {"apiVersion": "v1", "kind": "Node", "name": "mine", "uid": "<uid:nodes/mine>", "controller": True}


def mirror(*owners: Json, **spec: Any) -> Json:
    node = spec.pop("nodeName", "mine")
    metadata = {"annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": list(owners)}
    return pod("mirror", node, metadata=metadata, **spec)


def volumes(**source: Any) -> Json:
    return {"volumes": [{"name": "v", **source}]}


USES = [
    {"name": "secret", "secret": {"secretName": "mine"}},
    {"name": "config", "configMap": {"name": "mine"}},
    {"name": "claim", "persistentVolumeClaim": {"claimName": "mine"}},
    {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "t", "audience": "vault"}}]}},
]
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
VOLUME = {
    "capacity": {"storage": "1Gi"},
    "accessModes": ["ReadWriteOnce"],
    "csi": {
        "driver": "d.example.com",
        "volumeHandle": "h",
        "nodeStageSecretRef": {"name": "stage", "namespace": "kube-system"},
        "controllerPublishSecretRef": {"name": "publish", "namespace": "kube-system"},
    },
    "claimRef": {"namespace": "default", "name": "mine"},
}
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
CSI_NODES = "/apis/storage.k8s.io/v1/csinodes"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments"
CERTIFICATES = "/apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests"
TOKEN = "/api/v1/namespaces/default/serviceaccounts/default/token"


def slice_(name: str, node: str) -> Json:
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    return {"metadata": {"name": name}, "spec": {"driver": "d.example.com", "nodeName": node, "pool": pool}}


def attachment(name: str, node: str) -> Json:
    spec = {"attacher": "d.example.com", "nodeName": node, "source": {"persistentVolumeName": "mine"}}
    return {"metadata": {"name": name}, "spec": spec}


SETUP = [
    admin("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}}),
    *(admin("POST", "/api/v1/nodes", {"metadata": {"name": name}}) for name in ("mine", "other")),
    *(
        admin("POST", f"/api/v1/namespaces/default/{plural}", {"metadata": {"name": name}})
        for plural in ("secrets", "configmaps")
        for name in ("mine", "other")
    ),
    *(
        admin("POST", "/api/v1/namespaces/default/persistentvolumeclaims", {"metadata": {"name": name}, "spec": CLAIM})
        for name in ("mine", "other")
    ),
    admin("POST", "/api/v1/persistentvolumes", {"metadata": {"name": "mine"}, "spec": VOLUME}),
    admin("POST", PODS, pod("mine", "mine", volumes=USES)),
    admin("POST", PODS, pod("other", "other", volumes=[{"name": "v", "secret": {"secretName": "other"}}])),
    admin("POST", ATTACHMENTS, attachment("mine", "mine")),
    admin("POST", ATTACHMENTS, attachment("other", "other")),
    admin("POST", SLICES, slice_("mine", "mine")),
    admin("POST", SLICES, slice_("other", "other")),
]

READS = [
    Ask("GET", f"/api/v1/namespaces/{namespace}/{plural}/{name}")
    for namespace, plural, name in (
        ("default", "secrets", "mine"),
        ("default", "secrets", "other"),
        ("default", "secrets", "none"),
        ("kube-system", "secrets", "mine"),
        ("kube-system", "secrets", "stage"),
        ("kube-system", "secrets", "publish"),
        ("default", "configmaps", "mine"),
        ("default", "configmaps", "other"),
        ("default", "persistentvolumeclaims", "mine"),
        ("default", "persistentvolumeclaims", "other"),
        ("default", "serviceaccounts", "default"),
        ("default", "serviceaccounts", "other"),
        ("default", "pods", "mine"),
        ("default", "pods", "other"),
        ("default", "services", "kubernetes"),
        ("default", "endpoints", "none"),
        ("default", "events", "none"),
        ("default", "limitranges", "none"),
        ("default", "pods/mine", "log"),
        ("default", "pods/mine", "status"),
        ("default", "persistentvolumeclaims/mine", "status"),
    )
] + [
    Ask("GET", path)
    for path in (
        "/api/v1/nodes",
        "/api/v1/nodes/mine",
        "/api/v1/nodes/other",
        "/api/v1/nodes?fieldSelector=metadata.name=mine",
        "/api/v1/nodes?fieldSelector=metadata.name=other",
        "/api/v1/pods",
        "/api/v1/pods?fieldSelector=spec.nodeName=mine",
        "/api/v1/pods?fieldSelector=spec.nodeName=other",
        "/api/v1/pods?fieldSelector=spec.nodeName!=mine",
        f"{PODS}?fieldSelector=metadata.name=mine",
        f"{PODS}?fieldSelector=metadata.name=other",
        "/api/v1/secrets",
        "/api/v1/namespaces/default/secrets",
        "/api/v1/namespaces/default/secrets?fieldSelector=metadata.name=mine",
        "/api/v1/namespaces/default/secrets?fieldSelector=metadata.name=other",
        "/api/v1/secrets?fieldSelector=metadata.name=mine",
        "/api/v1/namespaces/default/persistentvolumeclaims?fieldSelector=metadata.name=mine",
        "/api/v1/persistentvolumes",
        "/api/v1/persistentvolumes/mine",
        "/api/v1/persistentvolumes/none",
        f"{ATTACHMENTS}/mine",
        f"{ATTACHMENTS}/other",
        ATTACHMENTS,
        SLICES,
        f"{SLICES}/mine",
        f"{SLICES}/other",
        f"{SLICES}?fieldSelector=spec.nodeName=mine",
        f"{SLICES}?fieldSelector=spec.nodeName=other",
        f"{CSI_NODES}/mine",
        f"{CSI_NODES}/other",
        CSI_NODES,
        LEASES,
        f"{LEASES}/mine",
        f"{LEASES}/other",
        "/apis/coordination.k8s.io/v1/namespaces/default/leases/mine",
        CERTIFICATES,
        f"{CERTIFICATES}?fieldSelector=spec.nodeName=mine",
        f"{CERTIFICATES}/none",
        "/apis/storage.k8s.io/v1/csidrivers",
        "/apis/storage.k8s.io/v1/storageclasses",
        "/apis/node.k8s.io/v1/runtimeclasses",
        "/apis/certificates.k8s.io/v1/clustertrustbundles",
        COLLECTION,
        "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/none",
        "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
        "/apis/apps/v1/deployments",
        "/api/v1/namespaces",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        "/healthz",
        "/metrics",
    )
]

WRITES = [
    Ask("POST", PODS, pod("plain", "mine")),
    Ask("POST", PODS, mirror()),
    Ask("POST", PODS, mirror(OWNER, nodeName="other")),
    Ask("POST", PODS, mirror(OWNER, OWNER)),
    *(
        Ask("POST", PODS, mirror({**OWNER, **change}))
        for change in (
            {"uid": "no"},
            {"name": "other"},
            {"kind": "Pod"},
            {"controller": False},
            {"blockOwnerDeletion": True},
        )
    ),
    *(
        Ask("POST", PODS, mirror(OWNER, **spec))
        for spec in (
            {"serviceAccountName": "default"},
            {"resourceClaims": [{"name": "c", "resourceClaimName": "x"}]},
            volumes(configMap={"name": "x"}),
            volumes(secret={"secretName": "x"}),
            volumes(csi={"driver": "d.example.com"}),
            volumes(glusterfs={"endpoints": "e", "path": "p"}),
            volumes(persistentVolumeClaim={"claimName": "x"}),
            volumes(azureFile={"secretName": "x", "shareName": "y"}),
            volumes(ephemeral={"volumeClaimTemplate": {"spec": CLAIM}}),
            volumes(projected={"sources": [{"configMap": {"name": "x"}}]}),
            volumes(projected={"sources": [{"clusterTrustBundle": {"name": "x", "path": "p"}}]}),
            volumes(projected={"sources": [{"serviceAccountToken": {"path": "p"}}]}),
            volumes(),
        )
    ),
    Ask("POST", f"{PODS}?dryRun=All", mirror(OWNER, **volumes(hostPath={"path": "/"}))),
    Ask("DELETE", f"{PODS}/other"),
    Ask("DELETE", f"{PODS}/none"),
    Ask("DELETE", f"{PODS}/mine?dryRun=All"),
    Ask("DELETE", PODS),
    Ask("PATCH", f"{PODS}/mine", {}, media=MERGE),
    Ask("PATCH", f"{PODS}/mine/ephemeralcontainers", {}, media=MERGE),
    Ask("PATCH", f"{PODS}/mine/resize", {}, media=MERGE),
    *(
        Ask("PATCH", f"{PODS}/{name}/status?dryRun=All", body, media=MERGE)
        for name, body in (
            ("mine", {"status": {"message": "x"}}),
            ("other", {}),
            ("none", {}),
            ("mine", {"metadata": {"labels": {"a": "b"}}}),
            ("mine", {"status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "b"}]}}),
        )
    ),
    *(
        Ask("POST", f"{PODS}/{name}/eviction?dryRun=All", {"metadata": {"name": name}})
        for name in ("mine", "other", "none")
    ),
    Ask("POST", f"{PODS}/mine/binding", {"metadata": {"name": "mine"}, "target": {"name": "mine"}}),
    Ask("POST", "/api/v1/nodes", {"metadata": {"name": "new"}}),
    Ask("POST", "/api/v1/nodes", {"metadata": {"generateName": "mine"}}),
    Ask(
        "POST",
        "/api/v1/nodes",
        {"metadata": {"name": "fresh", "labels": {"node-role.kubernetes.io/x": ""}}},
        FRESH,
    ),
    Ask(
        "POST",
        "/api/v1/nodes",
        {"metadata": {"name": "fresh", "labels": {"a.node-restriction.kubernetes.io/x": "", "x.k8s.io/y": ""}}},
        FRESH,
    ),
    Ask(
        "POST",
        "/api/v1/nodes?dryRun=All",
        {"metadata": {"name": "fresh", "labels": {"kubernetes.io/os": "x", "a": "b"}}},
        FRESH,
    ),
    *(
        Ask("PATCH", f"/api/v1/nodes/{name}{part}?dryRun=All", body, media=MERGE)
        for part in ("", "/status")
        for name, body in (
            ("other", {}),
            ("none", {}),
            ("mine", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}),
            ("mine", {"metadata": {"ownerReferences": [{**OWNER, "name": "other"}]}}),
            ("mine", {"metadata": {"labels": {"kubernetes.io/x": ""}}}),
            ("mine", {"metadata": {"labels": {"kubernetes.io/hostname": "x", "a": "b"}}}),
            (
                "mine",
                {"spec": {"configSource": {"configMap": {"name": "a", "namespace": "b", "kubeletConfigKey": "c"}}}},
            ),
            ("mine", {"status": {"phase": "Running"}}),
        )
    ),
    Ask("DELETE", "/api/v1/nodes/mine"),
    Ask("PATCH", "/api/v1/namespaces/default/persistentvolumeclaims/mine", {}, media=MERGE),
    *(
        Ask("PATCH", f"/api/v1/namespaces/default/persistentvolumeclaims/{name}/status?dryRun=All", body, media=MERGE)
        for name, body in (("mine", {"status": {"capacity": {"storage": "2Gi"}}}), ("other", {}), ("none", {}))
    ),
    *(Ask("POST", f"{LEASES}?dryRun=All", {"metadata": {"name": name}, "spec": {}}) for name in ("mine", "other")),
    Ask("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", {"metadata": {"name": "mine"}, "spec": {}}),
    *(
        Ask("POST", f"{CSI_NODES}?dryRun=All", {"metadata": {"name": name}, "spec": {"drivers": []}})
        for name in ("mine", "other")
    ),
    Ask("PATCH", f"{CSI_NODES}/mine/status", {}, media=MERGE),
    *(Ask("POST", f"{SLICES}?dryRun=All", slice_("new", node)) for node in ("mine", "other")),
    Ask("DELETE", f"{SLICES}/other"),
    Ask("DELETE", SLICES),
    Ask("DELETE", f"{SLICES}?fieldSelector=spec.nodeName=other"),
    Ask("POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": "x"}}),
    Ask("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "x"}}),
    Ask("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "x"}}),
    Ask("PATCH", "/api/v1/namespaces/default/secrets/mine", {}, media=MERGE),
]


def bound(name: str = "mine", uid: str = "<uid:pods/mine>", kind: str = "Pod", **spec: Any) -> Json:
    return {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": name, "uid": uid}, **spec}}


def certificate(**spec: Any) -> Json:
    """What a node asks for a pod; the key is of no interest before the rest is right."""
    whole = {
        "signerName": "example.com/signer",
        "podName": "mine",
        "podUID": "<uid:pods/mine>",
        "serviceAccountName": "default",
        "serviceAccountUID": "<uid:serviceaccounts/default>",
        "nodeName": "mine",
        "nodeUID": "<uid:nodes/mine>",
        "maxExpirationSeconds": 3600,
        **spec,
    }
    return {"metadata": {"name": "a"}, "spec": whole}


CREDENTIALS = [
    *(
        Ask("POST", TOKEN, body)
        for body in (
            {"spec": {}},
            bound(kind="Node", name="mine", uid="<uid:nodes/mine>"),
            bound(uid=""),
            bound(uid="no"),
            bound(name="none", uid="x"),
            bound(name="other", uid="<uid:pods/other>"),
            bound(audiences=["a", "b"]),
            bound(audiences=["elsewhere"]),
            bound(),
            bound(audiences=["vault"]),
        )
    ),
    Ask("POST", TOKEN.replace("default/token", "none/token"), bound()),
    Ask("POST", TOKEN, bound(name="other", uid="<uid:pods/other>"), "system:node:none"),
    *(
        Ask("POST", CERTIFICATES, certificate(**spec))
        for spec in (
            {"nodeName": "other"},
            {"nodeUID": "no"},
            {"podName": "none"},
            {"podUID": "no"},
            {"podName": "other", "podUID": "<uid:pods/other>"},
            {"serviceAccountName": "none"},
            {"serviceAccountUID": "no"},
            {},
        )
    ),
    Ask("POST", CERTIFICATES, certificate(nodeName="gone"), "system:node:gone"),
]

VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "escalate")


def review(kind: Kind, part: str, verb: str, name: str) -> Ask:
    """May the node do this? Asked about every resource there is."""
    namespace = ("kube-node-lease" if kind.plural == "leases" else "default") if kind.namespaced else ""
    attributes = {"verb": verb, "group": kind.group, "version": kind.version, "resource": kind.plural}
    where = {"subresource": part, "namespace": namespace, "name": name}
    spec = {"user": NODE, "groups": ["system:nodes"], "resourceAttributes": attributes | where}
    return admin("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": spec})


QUESTIONS = [
    review(kind, part, verb, name)
    for kind in builtin()
    for part in ("", *(each.name for each in kind.subresources))
    for verb in VERBS
    for name in ("mine", "other")
]
