"""What a stateful set adds to its template: a claim for each pod and volume, kept or deleted with the pod."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.fielderrors import FieldError, not_supported
from hardpoint.machinery.validation.volumes_claims import claim_spec

Json = dict[str, Any]

_RETENTION = ("Retain", "Delete")


def retention(errors: list[FieldError], spec: Json) -> None:
    """How long claims live."""
    policy = spec.get("persistentVolumeClaimRetentionPolicy")
    if policy is not None:
        for field in ("whenDeleted", "whenScaled"):
            value = policy.get(field, "")
            if value not in _RETENTION:
                place = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
                errors.append(not_supported(place, value, _RETENTION))


def claims(errors: list[FieldError], spec: Json) -> None:
    """What claims ask for."""
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        claim_spec(errors, f"spec.volumeClaimTemplates[{index}].spec", claim.get("spec") or {})


def template_with_claims(spec: Json) -> Json:
    """The template as its pods will be: with the volumes of their claims, and with names of the controller's choice."""
    template = spec.get("template") or {}
    pod = {
        field: value for field, value in (template.get("spec") or {}).items() if field not in ("hostname", "subdomain")
    }
    names = {claim.get("metadata", {}).get("name", "") for claim in spec.get("volumeClaimTemplates") or ()}
    if names:
        claimed = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in sorted(names)]
        others = [volume for volume in pod.get("volumes") or () if volume.get("name", "") not in names]
        pod["volumes"] = [*claimed, *others]
    return {**template, "spec": pod}
