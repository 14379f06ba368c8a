"""What each endpoint of an object may change of it. The rest stays as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from hardpoint.apiserver.traits import KEEPS_LABELS_ON_STATUS, has_status, keeps_metadata_on_status
from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]


def keep_to_endpoint(kind: Kind, subresource: str, new: Json, old: Json) -> None:
    """Undo in `new` what may not be changed through this endpoint."""
    if subresource:
        _RULES[subresource](kind, new, old)
    elif has_status(kind):
        _keep(new, old, "status")


def _keep(new: Json, old: Json, name: str) -> None:
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)


def _only_status(kind: Kind, new: Json, old: Json) -> None:
    # Upstream means to keep a definition's as well, but keeps the new one: its finalizers go by this door.
    if keeps_metadata_on_status(kind) and kind.known_as != "CustomResourceDefinition":
        _keep_metadata(new, old)
    for name in (new.keys() | old.keys()) - {"status", "metadata"}:
        _keep(new, old, name)
    if kind.known_as == "Pod":
        _keep(new["metadata"], old["metadata"], "ownerReferences")
    if kind.known_as in KEEPS_LABELS_ON_STATUS:
        _keep(new["metadata"], old["metadata"], "labels")


def _status(kind: Kind, new: Json, old: Json) -> None:
    _only_status(kind, new, old)
    if kind.known_as == "CertificateSigningRequest":
        _keep_decisions(new, old)
    elif kind.known_as == "Node" and "config" not in (old.get("status") or {}):
        # Kubelets no longer take their configuration from the API; what is left of it may stay.
        (new.get("status") or {}).pop("config", None)


def _keep_decisions(new: Json, old: Json) -> None:
    """Whether a request was approved is not its signer's to say; what is added or missing, validation refuses."""
    conditions, before = ((each.get("status") or {}).get("conditions") or [] for each in (new, old))
    for kind in ("Approved", "Denied"):
        places = [index for index, condition in enumerate(conditions) if condition.get("type") == kind]
        decided = [condition for condition in before if condition.get("type") == kind]
        if len(places) == len(decided):
            for index, condition in zip(places, decided, strict=True):
                conditions[index] = condition


def _keep_metadata(new: Json, old: Json) -> None:
    """All but who manages which field: that is told anew."""
    managed = new["metadata"].get("managedFields")
    new["metadata"] = {name: value for name, value in old["metadata"].items() if name != "managedFields"}
    if managed is not None:
        new["metadata"]["managedFields"] = managed


def _all_but_status(kind: Kind, new: Json, old: Json) -> None:
    """A namespace's finalize: what else the client says about the namespace is taken at its word."""
    _keep(new, old, "status")


def _only_conditions(kind: Kind, new: Json, old: Json) -> None:
    """A signing request's approval: its conditions, whatever they become; the rest of status is the signer's."""
    said = new.get("status") or {}
    _only_status(kind, new, old)
    new["status"] = dict(old.get("status") or {})
    _keep(new["status"], said, "conditions")


def _only_spec(*fields: str) -> Callable[[Kind, Json, Json], None]:
    def keep(_: Kind, new: Json, old: Json) -> None:
        asked = new.get("spec") or {}
        _keep_metadata(new, old)
        for name in (new.keys() | old.keys()) - {"metadata"}:
            _keep(new, old, name)
        new["spec"] = dict(old.get("spec") or {})
        for name in fields:
            _keep(new["spec"], asked, name)

    return keep


def _only_replicas(kind: Kind, new: Json, old: Json) -> None:
    """A scale: nothing but how many there should be. A custom resource keeps that where its definition says."""
    if kind.structure is None or kind.structure.scale is None:
        _only_spec("replicas")(kind, new, old)
        return
    wanted = kind.structure.scale.wanted(new)
    kept = deepcopy(old)
    _keep_metadata(new, kept)
    for name in (new.keys() | kept.keys()) - {"metadata"}:
        _keep(new, kept, name)
    if wanted is not None:
        kind.structure.scale.set_wanted(new, wanted)


def _only_resources(kind: Kind, new: Json, old: Json) -> None:
    """A pod's resize: the resources of its containers, matched by name, and of the pod as a whole.

    A container that the pod does not have is left for validation to refuse, as is one that is missing.
    """
    asked = new.get("spec") or {}
    _only_spec("resources")(kind, new, old)
    for listed in ("containers", "initContainers"):
        known = {each["name"]: each for each in (old.get("spec") or {}).get(listed) or []}
        if asked.get(listed) or known:
            wanted = asked.get(listed) or []
            new["spec"][listed] = [_resized(known.get(each.get("name", "")), each) for each in wanted]


def _resized(container: Json | None, wanted: Json) -> Json:
    if container is None:
        return wanted
    resized = dict(container)
    resized["resources"] = wanted.get("resources") or {}
    if "resizePolicy" in wanted:
        resized["resizePolicy"] = wanted["resizePolicy"]
    return resized


_RULES: Mapping[str, Callable[[Kind, Json, Json], None]] = {
    "status": _status,
    "approval": _only_conditions,
    "ephemeralcontainers": _only_spec("ephemeralContainers"),
    "finalize": _all_but_status,
    "resize": _only_resources,
    "scale": _only_replicas,
}
