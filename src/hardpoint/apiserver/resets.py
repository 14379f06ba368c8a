"""Which fields each endpoint resets, whatever a client says: nobody comes to manage them through it.

The rows are the facts of kube-apiserver's registry strategies. The main endpoint resets status where that has an
endpoint of its own, and `/status` resets spec, and metadata where it keeps that; kinds that differ are named here.
"""

from __future__ import annotations

from collections.abc import Mapping

from hardpoint.apiserver.traits import has_status, keeps_metadata_on_status
from hardpoint.machinery.apply import fieldsets
from hardpoint.machinery.apply.fieldsets import FieldSet, Path
from hardpoint.machinery.kinds import Kind

_SPEC, _STATUS, _METADATA = ("f:spec",), ("f:status",), ("f:metadata",)
_REQUEST = "CertificateSigningRequest"

# By kind and subresource.
_RESETS: Mapping[tuple[str, str], tuple[Path, ...]] = {
    (_REQUEST, ""): (_SPEC, _STATUS),
    (_REQUEST, "approval"): (_SPEC, ("f:status", "f:certificate")),
    (_REQUEST, "status"): (_SPEC, ("f:status", "f:conditions")),
    ("Deployment", "status"): (_SPEC, ("f:metadata", "f:labels")),
    ("Namespace", "finalize"): (_STATUS,),
    ("Pod", "status"): (_SPEC, ("f:metadata", "f:deletionTimestamp"), ("f:metadata", "f:ownerReferences")),
}


def reset_fields(kind: Kind, subresource: str) -> FieldSet:
    """The fields that the endpoint resets."""
    return fieldsets.of_paths(_reset(kind, subresource))


def _reset(kind: Kind, subresource: str) -> tuple[Path, ...]:
    if (kind.known_as, subresource) in _RESETS:
        return _RESETS[kind.known_as, subresource]
    if subresource == "status":
        return (_SPEC, _METADATA) if keeps_metadata_on_status(kind) else (_SPEC,)
    return (_STATUS,) if not subresource and has_status(kind) else ()
