"""Admission of what is not stored itself: evictions, bindings, token requests."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.admission.contract import Attributes
from hardpoint.apiserver.call import Call

Json = dict[str, Any]


async def admit_part(call: Call, obj: Json, *, dry_run: bool) -> None:
    """Ask every plugin about what is POSTed to a subresource; `obj` may be changed. Raises what they raise."""
    attributes = Attributes(
        kind=call.kind,
        operation="CREATE",
        namespace=call.target.namespace,
        name=call.target.name,
        object=obj,
        old=None,
        user=call.user,
        subresource=call.target.subresource,
        dry_run=dry_run,
        warnings=call.warnings,
    )
    await call.services.admission.mutate(attributes)
    await call.services.admission.validate(attributes)
