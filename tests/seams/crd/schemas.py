"""Random definitions, and what two schemas have in common that say the same."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from hardpoint.machinery.structural.defaulted import defaulter

Json = dict[str, Any]
TOP = ("apiVersion", "kind", "metadata")
PRESERVE = "x-kubernetes-preserve-unknown-fields"
CHOICES = [{"type": "integer"}, {"type": "string"}]

_NAMES = st.sampled_from(
    (
        *(
            "name",
            "isCA",
            "clusterIP",
            "x",
            "class",
            "copy",
            "rules",
            "date",
            "a-b",
            "$ref",
            "1st",
            "modelConfig",
            "URL",
        ),
        *("fieldName", "list", "model_dump_it", "str", "from", "Items", "__x", "a_b", "aB"),
    )
)
_WORDS = st.text("abc", min_size=1, max_size=4)
_DESCRIPTIONS = st.sampled_from(
    ["", "Words.", "Two\n\nparagraphs.", ' "Quoted" ', "back\\slash", "it's", "x" * 100, "ü"]
)
_RULE: Json = {"rule": "self == self", "message": "it's itself"}


def _maybe(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({}, optional=keywords)


def _joined(*parts: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.tuples(*parts).map(lambda found: {key: value for part in found for key, value in part.items()})


_SAID = _maybe(description=_DESCRIPTIONS.filter(bool), nullable=st.just(True))
_RULED = _maybe(**{"x-kubernetes-validations": st.just([_RULE])})
_STRINGS = st.one_of(
    _maybe(minLength=st.just(0), maxLength=st.just(99), pattern=st.sampled_from(["^[a-c]*$", r"^\S*$"])),
    _maybe(default=_WORDS),
    st.fixed_dictionaries({"enum": st.lists(_WORDS, min_size=1, max_size=9, unique=True)}),
    st.sampled_from(["date-time", "date", "byte", "uuid", "ipv4", "duration", "hostname"]).map(lambda f: {"format": f}),
)
_INTEGERS = st.one_of(
    _maybe(
        minimum=st.integers(-9, 0), maximum=st.integers(9, 99), exclusiveMinimum=st.just(True), format=st.just("int32")
    ),
    _maybe(default=st.integers(0, 9), format=st.sampled_from(["int32", "int64"])),
    st.just({"enum": [1, 2]}),
    st.just({"multipleOf": 5}),
)


def _typed(name: str, *parts: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return _joined(st.just({"type": name}), _SAID, *parts)


_SCALARS = st.one_of(
    _typed("string", _STRINGS, _RULED),
    _typed("integer", _INTEGERS, _RULED),
    _typed("number", _maybe(minimum=st.sampled_from([0, 0.5]), default=st.sampled_from([1, 1.5]))),
    _typed("boolean", _maybe(default=st.booleans())),
    st.just({"x-kubernetes-int-or-string": True, "anyOf": CHOICES}),
    st.just({"x-kubernetes-preserve-unknown-fields": True}),
    _typed("object", st.just({"x-kubernetes-preserve-unknown-fields": True})),
)


def _objects(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.builds(_object, _SAID, st.dictionaries(_NAMES, st.tuples(inner, st.booleans()), min_size=1, max_size=4))


def _object(said: Json, fields: dict[str, tuple[Json, bool]]) -> Json:
    required = [name for name, (_, is_required) in fields.items() if is_required]
    schema = {"type": "object", **said, "properties": {name: child for name, (child, _) in fields.items()}}
    return {**schema, "required": required} if required else schema


def _nested(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    # What is inside of a list or a map has no default that could ever be taken.
    items = inner.map(lambda schema: {key: value for key, value in schema.items() if key != "default"})
    kinds = st.sampled_from([{}, {"x-kubernetes-list-type": "atomic"}])
    return st.one_of(
        _objects(inner),
        _typed("array", st.fixed_dictionaries({"items": items}, optional={"maxItems": st.just(5)}), kinds),
        _typed(
            "object", st.fixed_dictionaries({"additionalProperties": items}, optional={"maxProperties": st.just(5)})
        ),
    )


def specs() -> st.SearchStrategy[Json]:
    """The schema of a spec."""
    return _objects(st.recursive(_SCALARS, _nested, max_leaves=12))


def definition(spec: Json, *, kind: str = "Thing", group: str = "stable.example.com", **more: Any) -> Json:
    plural = f"{kind.lower()}s"
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": {"spec": spec}}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [version | more],
        },
    }


def essence(schema: Json, *, is_root: bool = False) -> Json:
    """A schema without what goes without saying, so that two that mean the same are equal."""
    left = {key: value for key, value in schema.items() if key != "title" and value not in (False, None, "")}
    if left.get("anyOf") == CHOICES:
        del left["anyOf"]
    if left.get("additionalProperties") in (True, {PRESERVE: True}):
        left[PRESERVE] = bool(left.pop("additionalProperties"))
    if left.get("x-kubernetes-map-type") == "granular":
        del left["x-kubernetes-map-type"]
    if (complete := defaulter(schema)) and "default" in left:
        left["default"] = copy.deepcopy(left["default"])
        complete(left["default"])
    properties = left.pop("properties", {})
    defaulted = [name for name, child in properties.items() if child.get("default") is not None]
    # What has a default is there before anybody looks whether it is.
    required = sorted(set(left.pop("required", ())) - set(defaulted))
    kept = {name: essence(child) for name, child in properties.items() if not is_root or not _goes_without(name, child)}
    left |= {name: value for name, value in (("properties", kept), ("required", required)) if value}
    for name in ("items", "additionalProperties"):
        if isinstance(left.get(name), dict):
            left[name] = essence(left[name])
    return left


def _goes_without(name: str, schema: Json) -> bool:
    return name in TOP and not set(schema) - {"type", "description"}
