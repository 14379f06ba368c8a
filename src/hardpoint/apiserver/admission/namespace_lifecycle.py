"""Nothing is created in a namespace that is absent or going, and a few namespaces are there to stay."""

from __future__ import annotations

from hardpoint.apiserver.admission.contract import Attributes, Reader
from hardpoint.machinery import errors

_IMMORTAL = frozenset(("default", "kube-system", "kube-public"))
_REVIEWS = frozenset(("LocalSubjectAccessReview",))


class NamespaceLifecycle:
    async def mutate(self, attributes: Attributes, reader: Reader) -> None:
        kind, namespace = attributes.kind, attributes.namespace
        if kind.known_as == "Namespace":
            if attributes.operation == "DELETE" and attributes.name in _IMMORTAL:
                raise errors.forbidden("namespaces", attributes.name, "this namespace may not be deleted")
            return
        if attributes.operation != "CREATE" or not kind.namespaced or kind.known_as in _REVIEWS:
            return
        found = await reader.get("", "namespaces", "", namespace)
        if found is None:
            raise errors.not_found("namespaces", namespace)
        if "deletionTimestamp" in found["metadata"]:
            raise _terminating(attributes)


def _terminating(attributes: Attributes) -> errors.ApiError:
    namespace = attributes.namespace
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    refused = errors.forbidden(attributes.kind.resource, attributes.name, why)
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    refused.details = {**(refused.details or {}), "causes": [cause]}
    return refused
