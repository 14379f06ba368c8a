"""Claims and ingresses without a class get the default one."""

from __future__ import annotations

from tests.apiserver.asking import Api, Json

STORAGE = "/apis/storage.k8s.io/v1/storageclasses"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
INGRESS_CLASSES = "/apis/networking.k8s.io/v1/ingressclasses"
INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"


def storage_class(name: str, **annotations: str) -> Json:
    return {"metadata": {"name": name, "annotations": annotations}, "provisioner": "p.example.com"}


def claim(name: str, **spec: str) -> Json:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": name}, "spec": {**wanted, **spec}}


async def test_a_claim_without_a_class(api: Api) -> None:
    assert "storageClassName" not in (await api.ok("POST", CLAIMS, claim("early")))["spec"]
    await api.ok("POST", STORAGE, storage_class("plain"))
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    await api.ok("POST", STORAGE, storage_class("z-default", **default))
    await api.ok("POST", STORAGE, storage_class("a-default", **default))
    answer = await api.ok("POST", CLAIMS, claim("late"))
    assert answer["spec"]["storageClassName"] == "a-default", "of the newest, the first by name"


async def test_a_claim_that_wants_no_class_gets_none(api: Api) -> None:
    await api.ok("POST", STORAGE, storage_class("d", **{"storageclass.kubernetes.io/is-default-class": "true"}))
    answer = await api.ok("POST", CLAIMS, claim("c", storageClassName=""))
    assert answer["spec"]["storageClassName"] == ""


async def test_an_ingress_without_a_class(api: Api) -> None:
    annotations = {"ingressclass.kubernetes.io/is-default-class": "true"}
    ingress_class = {"metadata": {"name": "front", "annotations": annotations}, "spec": {"controller": "example.com/c"}}
    await api.ok("POST", INGRESS_CLASSES, ingress_class)
    spec = {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}
    answer = await api.ok("POST", INGRESSES, {"metadata": {"name": "i"}, "spec": spec})
    assert answer["spec"]["ingressClassName"] == "front"
    annotated = {"name": "j", "annotations": {"kubernetes.io/ingress.class": "old"}}
    answer = await api.ok("POST", INGRESSES, {"metadata": annotated, "spec": spec})
    assert "ingressClassName" not in answer["spec"]
