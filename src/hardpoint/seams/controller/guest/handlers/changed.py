"""What a handler is told of a change, if it takes three arguments: the object, the change, and the context."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from hardpoint.runtime.changes import ChangeType


@dataclass(frozen=True, slots=True)
class Changed:
    """From what to what. Several changes that nobody was there to handle are one, from the first to the last."""

    field: str = ""
    """The field that the handler asked for, such as `spec.image`; "" for the whole object."""
    # An object may hold secrets, so neither value is printed.
    old: Any = dataclasses.field(default=None, repr=False)
    """Its value when it was last handled; None where it had none."""
    new: Any = dataclasses.field(default=None, repr=False)
    type: ChangeType = "MODIFIED"
    is_old_known: bool = True
    """False where the old value was too large, or too secret, to be remembered; then `old` is None."""
