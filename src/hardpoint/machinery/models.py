"""What a class promises whose instances are objects of one resource.

An author's own resources are such classes, and so are the typed views of built-in ones: whoever follows objects of a
resource knows nothing else of them.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self

Json = dict[str, Any]


class Model(Protocol):
    """An object of one resource, typed."""

    api_version: ClassVar[str]
    kind: ClassVar[str]

    @classmethod
    def from_json(cls, json: Json) -> Self:
        """The object that `json` is. It may keep `json`, and change it. Raises ValueError if it does not fit."""
        ...

    def to_json(self) -> Json:
        """The whole object as it is now. What nobody changed is as `json` had it, to the letter, known or not."""
        ...
