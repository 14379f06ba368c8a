"""An Ingress that names no class gets the default one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hardpoint.apiserver.admission.contract import Attributes, Mutates, Reader

Json = dict[str, Any]

DEFAULT_ANNOTATIONS = ("ingressclass.kubernetes.io/is-default-class",)
CLASS_ANNOTATION = "kubernetes.io/ingress.class"


class DefaultIngressClass:
    async def mutate(self, attributes: Attributes, reader: Reader) -> None:
        if attributes.kind.resource != "ingresses.networking.k8s.io" or attributes.subresource:
            return
        if attributes.operation != "CREATE" or attributes.object is None:
            return
        spec, annotations = attributes.object["spec"], attributes.object["metadata"].get("annotations") or {}
        if "ingressClassName" in spec or CLASS_ANNOTATION in annotations:
            return
        name = newest_default(await reader.list("networking.k8s.io", "ingressclasses"), DEFAULT_ANNOTATIONS)
        if name is not None:
            spec["ingressClassName"] = name


def newest_default(classes: Iterable[Json], annotations: tuple[str, ...]) -> str | None:
    """The name of the class that says it is the default: of several the newest, of those the first by name."""
    defaults = [
        each["metadata"]
        for each in classes
        if any((each["metadata"].get("annotations") or {}).get(key) == "true" for key in annotations)
    ]
    defaults.sort(key=lambda metadata: str(metadata["name"]))
    newest = max(defaults, key=lambda metadata: str(metadata.get("creationTimestamp", "")), default=None)
    return None if newest is None else str(newest["name"])


_conforms: type[Mutates] = DefaultIngressClass
