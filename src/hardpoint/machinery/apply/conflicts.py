"""Fields that somebody else manages, and the words in which kube-apiserver tells so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hardpoint.machinery.apply import fieldsets
from hardpoint.machinery.apply.entries import UPDATE, Managed, Who, sort_text
from hardpoint.machinery.apply.fieldsets import FieldSet
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.fielderrors import quote

Json = dict[str, Any]


class Conflicts(Exception):
    """Others manage fields that the configuration would change: which, by manager."""

    def __init__(self, fields: Mapping[Who, FieldSet], managed: Managed) -> None:
        super().__init__(f"conflicts with {len(fields)} managers")
        self.fields = fields
        self._managed = managed

    def besides(self, allowed: FieldSet) -> Conflicts:
        """Those that are not about allowed fields."""
        left = {identity: fieldsets.difference(fields, allowed) for identity, fields in self.fields.items()}
        return Conflicts({identity: fields for identity, fields in left.items() if fields}, self._managed)

    def error(self) -> ApiError:
        """The 409."""
        told = [
            (self._named(identity), [fieldsets.shown(path) for path in fieldsets.paths(self.fields[identity])])
            for identity in sorted(self.fields, key=sort_text)
        ]
        causes = [
            {"reason": "FieldManagerConflict", "message": f"conflict with {name}", "field": path}
            for name, paths in told
            for path in paths
        ]
        if len(causes) == 1:
            message = f"Apply failed with 1 conflict: {causes[0]['message']}: {causes[0]['field']}"
        else:
            lines = [line for name, paths in told for line in _lines(name, paths)]
            message = f"Apply failed with {len(causes)} conflicts: " + "\n".join(lines)
        return ApiError(409, "Conflict", message, details={"causes": causes})

    def _named(self, identity: Who) -> str:
        name = quote(identity.manager)
        if identity.subresource:
            name += f" with subresource {quote(identity.subresource)}"
        if identity.operation == UPDATE:
            name += f" using {self._managed[identity].api_version}"
        return name


def _lines(name: str, paths: list[str]) -> list[str]:
    return [f"conflicts with {name}:", *(f"- {path}" for path in paths)]
