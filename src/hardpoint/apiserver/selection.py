"""Which objects a list or a watch is about: a namespace, a name, labels and fields.

What the key alone can answer (namespace, name) is asked of the key; only then is an object decoded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hardpoint.apiserver.call import Call
from hardpoint.apiserver.options import ListOptions
from hardpoint.machinery import errors, fields, selectors
from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Selection:
    """The objects under `prefix` that match. `labels` and `fields` are None where they select everything."""

    prefix: str
    key: str
    """The one key that can match, or empty."""
    kind: Kind
    labels: selectors.Selector | None
    fields: fields.FieldSelector | None

    @property
    def needs_object(self) -> bool:
        return self.labels is not None or self.fields is not None

    def has_key(self, key: str) -> bool:
        return key == self.key if self.key else key.startswith(self.prefix)

    def matches(self, obj: Json) -> bool:
        if self.labels is not None and not self.labels.matches(obj["metadata"].get("labels") or {}):
            return False
        return self.fields is None or self.fields.matches(fields.fields_of(self.kind, obj))


def select(call: Call, options: ListOptions) -> Selection:
    """The selection of a list, watch or deletecollection. Raises 400 for selectors that cannot be understood."""
    namespace = call.target.namespace if call.kind.namespaced else ""
    place = call.place
    name = call.target.name
    labels = _labels(options.label_selector) if options.label_selector else None
    by_field = None
    if options.field_selector:
        by_field = _fields(call.kind, options.field_selector)
        name = name or by_field.exactly("metadata.name")
        namespace = namespace or (by_field.exactly("metadata.namespace") if call.kind.namespaced else "")
    whole_key = place.key(namespace, name) if name and (namespace or not call.kind.namespaced) else ""
    return Selection(place.range_prefix(namespace), whole_key, call.kind, labels, by_field)


def _labels(text: str) -> selectors.Selector | None:
    try:
        return selectors.parse(text)
    except selectors.BadSelector as wrong:
        raise errors.bad_request(str(wrong)) from wrong


def _fields(kind: Kind, text: str) -> fields.FieldSelector:
    try:
        return fields.parse(text, kind)
    except fields.BadSelector as wrong:
        raise errors.bad_request(str(wrong)) from wrong
