"""What makes a StorageVersionMigration invalid."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, invalid, required
from hardpoint.machinery.validation import rules

Json = dict[str, Any]
Errors = list[FieldError]


def _migration(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    what = obj["spec"].get("resource") or {}
    resource, group = what.get("resource", ""), what.get("group", "")
    if not resource:
        errors.append(required("spec.resource.resource", "resource is required to be set"))
    elif wrong := names.dns_1035_label(resource):
        errors.append(invalid("spec.resource.resource", resource, ",".join(wrong)))
    if group and (wrong := names.dns_subdomain(group)):
        errors.append(invalid("spec.resource.group", group, ",".join(wrong)))
    if old is not None:
        shown = rules.as_go_struct(Resource={"group": group, "resource": resource})
        errors += rules.immutable("spec", obj["spec"], old["spec"], shown=shown)
    return errors


CREATE = {"StorageVersionMigration": _migration}
UPDATE = CREATE
