"""One version of a custom resource, as its definition describes it: what to do where built-in kinds have code.

A Structure hangs on its Kind. `areas.rule` finds a custom kind's rules in it, `bodies` decodes with it, `tables` takes
its columns. Everything is compiled when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from hardpoint.machinery.errors import too_large
from hardpoint.machinery.fielderrors import FieldError
from hardpoint.machinery.lazily import lazily
from hardpoint.machinery.shapes.refusals import TypeMismatch
from hardpoint.machinery.shapes.shape import Decoded
from hardpoint.machinery.structural import checked, defaulted, embedded, explained, finalizers, lists, pruned, unknown
from hardpoint.machinery.structural.before import Before
from hardpoint.machinery.structural.keywords import PRESERVE
from hardpoint.machinery.structural.scale import Scale
from hardpoint.machinery.structural.spine import has_embedded, has_rules
from hardpoint.machinery.structural.values import NOWHERE
from hardpoint.machinery.structural.versions import Converter

if TYPE_CHECKING:
    from hardpoint.machinery.structural.judged import Judge

Json = dict[str, Any]

LARGE_BYTES = 64 * 1024
"""A schema of which more than that is written takes a while to be made ready."""
NEVER = 1 << 62
"""A revision that no store reaches."""
# With one of these a rule might see values of another type than its schema says.
_BLOCKING = frozenset(
    ("FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid")
)
_NOT_JUDGED = FieldError(
    "FieldValueInvalid",
    NOWHERE,
    "null",
    "some validation rules were not checked because the object was invalid;"
    " correct the existing errors to complete validation",
)
_OPEN: Json = {"type": "object", PRESERVE: True}


class Stored(NamedTuple):
    """The version of a custom resource in which objects are stored."""

    api_version: str
    structure: Structure


class Structure:
    """What a definition says about one version. It is shared by everybody who serves the kind."""

    def __init__(
        self,
        schema: Json | bytes | None,
        *,
        preserves_unknown: bool = False,
        columns: Sequence[Mapping[str, Any]] = (),
        scale: Scale | None = None,
        list_kind: str = "",
        deprecation: str = "",
        stored_as: Stored | None = None,
        is_terminating: bool = False,
        converter: Converter | None = None,
    ) -> None:
        self.said = schema
        """The version's `openAPIV3Schema` as it came; its JSON takes a tenth of the memory until it is needed."""
        self.columns = columns
        """Its `additionalPrinterColumns`."""
        self.scale = scale
        self.list_kind = list_kind
        self.deprecation = deprecation
        """What whoever uses this version is told, or ""."""
        self.stored_as = stored_as
        """The version in which objects are stored, or None if it is this one."""
        self.versions: Mapping[str, Structure] = {}
        """Every version of the resource by its apiVersion, served or not: objects may be stored in any of them."""
        self.is_terminating = is_terminating
        """Whether the definition is going away: nothing new may be made."""
        self.converter = converter
        """Who converts between the versions, or None if nothing but their name changes."""
        self.settled_from = NEVER
        """What was stored at this revision or later is complete and pruned by this very schema."""
        self.preserves_unknown = preserves_unknown
        """Whether nothing is ever pruned, as definitions of old may still say."""
        self.is_prepared = not isinstance(schema, bytes) or len(schema) <= LARGE_BYTES
        """Whether its first use takes no longer than any other; if not, `prepare` it where nobody waits."""

    def prepare(self) -> None:
        """Work out all that is worked out but once and looks at the whole schema."""
        for part in (self._default, self._fits, self._is_unique, self._embeds, self._rules):
            del part
        # Pruners of fields are made when the first value comes by.
        self.prune({name: {} for name in self.schema.get("properties") or ()})
        self.is_prepared = True

    @lazily
    def schema(self) -> Json:
        """The version's `openAPIV3Schema` as it is stored, not to be changed; empty if it has none."""
        found: Json = orjson.loads(self.said) if isinstance(self.said, bytes) else self.said or {}
        return found

    @lazily
    def _prunes_by(self) -> Json:
        return _OPEN if self.preserves_unknown else self.schema

    def decode(self, value: Json) -> Decoded:
        """The object of a body: unknown fields dropped, metadata as Go writes it. Raises TypeMismatch."""
        strange: list[str] = []
        try:
            obj = self._pruner(value, strange)
            metadata = embedded.object_meta().decode(value.get("metadata"))
        except TypeMismatch as wrong:
            raise TypeMismatch(embedded.refusal(self.schema, value) or str(wrong)) from None
        except RecursionError:
            raise TypeMismatch(pruned.TOO_DEEP) from None
        obj["metadata"] = metadata.object
        return Decoded(obj, self.unknown_fields(value) if strange or metadata.unknown else [])

    def unknown_fields(self, value: Json) -> list[str]:
        """The paths of the fields that `decode` drops."""
        return unknown.fields(self._prunes_by, value)

    def strict_errors(self, value: Json, duplicates: Iterable[str] = ()) -> list[str]:
        """What strict decoding complains about: what was said twice, then what is unknown."""
        said_twice = [f'duplicate field "{path}"' for path in duplicates]
        return said_twice + [f'unknown field "{path}"' for path in self.unknown_fields(value)]

    def settle(self, obj: Json) -> Json:
        """An object of another time or version as it would be had it been written now."""
        settled = self.prune(obj)
        if self._default is not None:
            # Whoever reads cannot help it if that is too much: they see what fits.
            with suppress(defaulted.TooMuch):
                self._default(settled)
        return settled

    def prune(self, obj: Json) -> Json:
        """A stored object without the fields that this version does not have."""
        try:
            left: Json = self._pruner(obj, [])
        except (TypeMismatch, RecursionError):
            # It was stored under other rules. Better it is seen as it is than that no list can be had.
            return dict(obj)
        return left

    @lazily
    def has_defaults(self) -> bool:
        return self._default is not None

    @lazily
    def keeps_what_is_written(self) -> bool:
        """Whether an object that was pruned and completed is read as it was written."""
        status = (self.schema.get("properties") or {}).get("status") or {}
        return self.stored_as is None and status.get("default") is None

    def complete(self, obj: Json) -> None:
        """Fill in the defaults, in place. Raises 413 if they are too much."""
        if self._default is None:
            return
        try:
            self._default(obj)
        except defaulted.TooMuch:
            raise too_large(defaulted.BYTES_MAX) from None

    @lazily
    def rules(self) -> Mapping[tuple[str, str], Any]:
        """What this kind has in the tables that `areas.rule` looks into."""
        return {
            ("defaults", "DEFAULTS"): self.complete,
            ("validation", "CREATE"): self._on_create,
            ("validation", "UPDATE"): self._on_update,
            ("validation", "SUBRESOURCES"): {"status": self._on_status_update},
            ("strategies", "WARN_CREATE"): finalizers.warnings,
            ("strategies", "WARN_UPDATE"): finalizers.warnings,
        }

    def _on_create(self, obj: Json) -> list[FieldError]:
        return self._problems(obj, None) + self._repeated(obj)

    def _on_update(self, obj: Json, old: Json) -> list[FieldError]:
        found = self._problems(obj, Before(obj, old, self.schema))
        return found + (self._repeated(obj) if not self._repeated(old) else [])

    def _on_status_update(self, obj: Json, old: Json) -> list[FieldError]:
        found: list[FieldError] = []
        schema = (self.schema.get("properties") or {}).get("status")
        if schema is not None and "status" in obj and not self._status_fits(obj["status"]):
            before = Before(obj, old, self.schema).field("status")
            found += explained.problems("status", obj["status"], schema, before)
        if self.scale is not None:
            found += self.scale.problems(obj, status_only=True)
        return found + (self._repeated(obj) if not self._repeated(old) else [])

    def judge(
        self, obj: Json, old: Json | None, found: Sequence[FieldError], *, is_patient: bool = False
    ) -> list[FieldError]:
        """What the rules say of an object, and of its change from `old`, after `found` was found wrong with it.

        Raises Costly if that takes a while, unless `is_patient`.
        """
        if self._rules is None:
            return []
        if found and any(each.reason in _BLOCKING for each in found):
            return [_NOT_JUDGED]
        return self._rules(obj, old, is_patient)

    def _problems(self, obj: Json, before: Before | None) -> list[FieldError]:
        found = [] if self._fits(obj) else explained.problems("", obj, self.schema, before)
        if self.scale is not None:
            found += self.scale.problems(obj)
        if self._embeds:
            found += embedded.problems(self.schema, obj)
        return found

    def _repeated(self, obj: Json) -> list[FieldError]:
        if self._is_unique is None or self._is_unique(obj):
            return []
        return list(lists.problems(self.schema, obj))

    @lazily
    def _pruner(self) -> pruned.Pruner:
        return pruned.pruner(self._prunes_by, resource=True)

    @lazily
    def _default(self) -> defaulted.Complete | None:
        return defaulted.defaulter(self.schema)

    @lazily
    def _fits(self) -> checked.Check:
        return checked.check(self.schema)

    @lazily
    def _status_fits(self) -> checked.Check:
        return checked.check(self.schema["properties"]["status"])

    @lazily
    def _is_unique(self) -> lists.Unique | None:
        return lists.uniqueness(self.schema)

    @lazily
    def _embeds(self) -> bool:
        return has_embedded(self.schema)

    @lazily
    def _rules(self) -> Judge | None:
        if not has_rules(self.schema):
            return None
        from hardpoint.machinery.structural.judged import judge_of  # Few schemas have rules, and CEL is large.

        return judge_of(self.schema)
