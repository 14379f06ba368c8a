"""Volumes, claims and attribute classes stay until nobody uses them: a finalizer each, which a controller removes."""

from __future__ import annotations

from hardpoint.apiserver.admission.contract import Attributes, Mutates, Reader

FINALIZERS = {
    "persistentvolumes": "kubernetes.io/pv-protection",
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "volumeattributesclasses.storage.k8s.io": "kubernetes.io/vac-protection",
}


class StorageObjectInUseProtection:
    async def mutate(self, attributes: Attributes, reader: Reader) -> None:
        finalizer = FINALIZERS.get(attributes.kind.resource)
        if finalizer is None or attributes.subresource or attributes.operation != "CREATE":
            return
        assert attributes.object is not None
        finalizers = attributes.object["metadata"].setdefault("finalizers", [])
        if finalizer not in finalizers:
            finalizers.append(finalizer)


_conforms: type[Mutates] = StorageObjectInUseProtection
