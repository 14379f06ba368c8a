"""Resource: the base of an author's class whose instances are objects of one custom resource.

    class CronTab(Resource):
        class Spec(BaseModel):
            cron_spec: str
            replicas: int = 3
        spec: Spec

`spec` and `status` follow from the classes Spec and Status; annotate them so that type checkers know them too. Any
other annotated attribute is a field of the object's top level. What an object has and its class does not know stays
with the part it was read into: with the object, with a model, with an item of a list. A part that is replaced by a new
one takes its unknown fields with it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from hardpoint.seams.crd.guest.metadata import Metadata, written

if TYPE_CHECKING:
    from hardpoint.seams.crd.guest.codec import Codec
    from hardpoint.seams.crd.guest.markers import Rule

Json = dict[str, Any]


class Resource:
    """An object of a custom resource. `@app.resource` says which."""

    api_version: ClassVar[str] = ""
    """`stable.example.com/v1`."""
    kind: ClassVar[str] = ""
    rules: ClassVar[Sequence[Rule]] = ()
    """What must hold for the whole object; models may have `rules: ClassVar = [...]` too."""
    json_schema_extra: ClassVar[Mapping[str, Any]] = {}
    """More keywords for the schema of the whole object."""

    metadata: Metadata
    if TYPE_CHECKING:
        spec: Any
        status: Any

    _codec: ClassVar[Codec | None] = None
    _defined_in: ClassVar[Mapping[str, Any]] = {}
    _json: Json

    def __init_subclass__(cls) -> None:
        cls._codec = None
        frame = sys._getframe(1)
        # A class inside a function may name others that only the function knows.
        cls._defined_in = {} if frame.f_locals is frame.f_globals else frame.f_locals

    def __init__(
        self,
        name: str = "",
        *,
        namespace: str = "",
        labels: dict[str, str] | None = None,
        annotations: dict[str, str] | None = None,
        **fields: Any,
    ) -> None:
        """A new object; `fields` are its spec, and whatever else the class declares. Raises TypeError."""
        said = {"name": name, "namespace": namespace, "labels": labels, "annotations": annotations}
        self._json = {"apiVersion": self.api_version, "kind": self.kind}
        self.metadata = Metadata({field: value for field, value in said.items() if value})
        self.__dict__.update(self.codec().filled_in(fields))

    @classmethod
    def codec(cls) -> Codec:
        """How the class is read and written: worked out once, when it is first needed. Raises NotStructural."""
        if cls._codec is None:
            # Here and not above: pydantic is not imported for those who only hand objects on.
            from hardpoint.seams.crd.guest.codec import Codec

            cls._codec = Codec(cls)
        return cls._codec

    @classmethod
    def from_json(cls, json: Json) -> Self:
        """The object that `json` is, which it keeps. Raises ValueError, which names each field that does not fit."""
        self = cls.__new__(cls)
        self.__dict__.update(cls.codec().read(json))
        self._json = json
        self.metadata = Metadata(json.get("metadata") or {})
        return self

    def to_json(self) -> Json:
        """The whole object: what was set, and what was there. Raises ValueError if a field holds what does not fit."""
        json = {**self._json, "metadata": written(self.metadata.json)}
        self.codec().write(self.__dict__, json)
        return json

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Resource) and other.to_json() == self.to_json()

    __hash__ = None  # type: ignore[assignment]  # It changes.

    def __repr__(self) -> str:
        place = f", namespace={self.metadata.namespace!r}" if self.metadata.namespace else ""
        fields = "".join(f", {name}={self.__dict__[name]!r}" for name in self.codec().names if name in self.__dict__)
        return f"{type(self).__name__}({self.metadata.name!r}{place}{fields})"
