"""A claim that names no storage class, not even none, gets the default one."""

from __future__ import annotations

from hardpoint.apiserver.admission.contract import Attributes, Mutates, Reader
from hardpoint.apiserver.admission.default_ingress_class import newest_default

DEFAULT_ANNOTATIONS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


class DefaultStorageClass:
    async def mutate(self, attributes: Attributes, reader: Reader) -> None:
        if attributes.kind.resource != "persistentvolumeclaims" or attributes.subresource:
            return
        if attributes.operation != "CREATE" or attributes.object is None:
            return
        spec, annotations = attributes.object["spec"], attributes.object["metadata"].get("annotations") or {}
        if "storageClassName" in spec or CLASS_ANNOTATION in annotations:
            return
        name = newest_default(await reader.list("storage.k8s.io", "storageclasses"), DEFAULT_ANNOTATIONS)
        if name is not None:
            spec["storageClassName"] = name


_conforms: type[Mutates] = DefaultStorageClass
