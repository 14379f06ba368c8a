"""The state of a world in a form in which two worlds can be compared: without what is new in each.

Uids, versions and times are nobody's doing, and neither are the ends of names that the server chose; what differs
between two runs that nobody disturbed is not looked at either.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

Json = dict[str, Any]

CHECK_PREFIX = "hardpoint-check/"
"""How annotations and labels begin that the check itself writes."""
_NEW_IN_EACH = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink", "generation")
_EMPTY_WITHOUT_OURS = ("annotations", "labels", "metadata")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)")
_OF_THE_CLUSTER = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}


class Key(NamedTuple):
    """Which object it is; of a name that the server chose, its beginning and a star."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


State = Mapping[Key, list[Json]]
"""What there is. A list has more than one object only where the server chose the names."""


def state_of(objects: Iterable[Json]) -> State:
    """The objects in comparable form."""
    there = [each for each in objects if not is_of_the_cluster(each)]
    replaced = dict(_replacements(there))
    found: dict[Key, list[Json]] = defaultdict(list)
    for each in there:
        found[key_of(each)].append(_comparable(each, replaced))
    return {key: sorted(values, key=_text) for key, values in found.items()}


def is_of_the_cluster(obj: Json) -> bool:
    """Whether every namespace has this object."""
    return (obj.get("kind", ""), obj["metadata"]["name"]) in _OF_THE_CLUSTER


def key_of(obj: Json) -> Key:
    metadata = obj["metadata"]
    generated = metadata.get("generateName")
    name = f"{generated}*" if generated and metadata["name"].startswith(generated) else metadata["name"]
    return Key(obj.get("kind", ""), metadata.get("namespace", ""), name)


def _replacements(objects: Iterable[Json]) -> Iterator[tuple[str, str]]:
    """What is new in each run, and what stands for it."""
    for each in objects:
        key = key_of(each)
        yield each["metadata"]["uid"], f"<uid of {key}>"
        if key.name.endswith("*"):
            yield each["metadata"]["name"], key.name


def _comparable(obj: Json, replaced: Mapping[str, str]) -> Json:
    metadata = {name: value for name, value in obj["metadata"].items() if name not in _NEW_IN_EACH}
    text = _text({**obj, "metadata": metadata})
    for new, stands_for in replaced.items():
        text = text.replace(new, stands_for)
    comparable: Json = _without_ours(orjson.loads(_TIME.sub("<time>", text)))
    return comparable


def _without_ours(value: Any) -> Any:
    """The value without what the check itself wrote; also inside of texts, where some keep whole objects."""
    if isinstance(value, dict):
        left = {name: _without_ours(each) for name, each in value.items() if not name.startswith(CHECK_PREFIX)}
        return {name: each for name, each in left.items() if each != {} or name not in _EMPTY_WITHOUT_OURS}
    if isinstance(value, list):
        return [_without_ours(each) for each in value]
    if isinstance(value, str) and value.startswith("{"):
        try:
            return _text(_without_ours(orjson.loads(value)))
        except orjson.JSONDecodeError:
            return value
    return value


def _text(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it should be."""

    key: Key
    words: str

    def __str__(self) -> str:
        return f"{self.key}: {self.words}"


@dataclass(frozen=True, slots=True)
class Expected:
    """What a run should end in, and what in it differs even between runs that nobody disturbed."""

    state: State
    volatile: frozenset[tuple[Key, str]] = frozenset()
    nameless: frozenset[str] = field(default_factory=frozenset)
    """Kinds whose objects have other names in each run; only their number counts."""

    @staticmethod
    def of(one: State, other: State) -> Expected:
        """What two undisturbed runs have in common."""
        volatile: set[tuple[Key, str]] = set()
        for key in one.keys() & other.keys():
            for first, second in zip(one[key], other[key], strict=False):
                volatile |= {(key, path) for path, _, _ in changes(first, second)}
        return Expected(one, frozenset(volatile), frozenset(key.kind for key in one.keys() ^ other.keys()))

    def differences(self, found: State, *, with_more: bool = False) -> Iterator[Difference]:
        """How what is found differs from what should be; `with_more` does not mind more than there should be."""
        for key in sorted(self.state.keys() | (found.keys() if not with_more else set())):
            if key.kind in self.nameless:
                continue
            wanted, there = self.state.get(key, []), found.get(key, [])
            if len(wanted) == len(there):
                for one, other in zip(wanted, there, strict=True):
                    yield from self._changed(key, one, other)
            elif len(wanted) > len(there) or not with_more:
                yield Difference(key, _counted(len(wanted), len(there)))
        if not with_more:
            yield from self._counted_kinds(found)

    def _changed(self, key: Key, wanted: Json, there: Json) -> Iterator[Difference]:
        for path, before, after in changes(wanted, there):
            if not any(key == other and path.startswith(known) for other, known in self.volatile):
                yield Difference(key, f"{path} is {_short(after)}, undisturbed it is {_short(before)}")

    def _counted_kinds(self, found: State) -> Iterator[Difference]:
        for kind in sorted(self.nameless):
            wanted, there = (
                sum(len(each) for key, each in one.items() if key.kind == kind) for one in (self.state, found)
            )
            if wanted != there:
                yield Difference(Key(kind, "", "(of any name)"), _counted(wanted, there))


def changes(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two values differ: the path, and both values there."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(one.keys() | other.keys()):
            yield from changes(one.get(name, _ABSENT), other.get(name, _ABSENT), f"{path}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from changes(first, second, f"{path}[{index}]")
    elif one != other:
        yield path or ".", one, other


_ABSENT = type("Absent", (), {"__repr__": lambda self: "absent"})()


def _counted(wanted: int, there: int) -> str:
    if not there:
        return "is missing"
    return "should not be there" if not wanted else f"is there {there} times, undisturbed {wanted}"


def _short(value: Any) -> str:
    text = repr(value) if value is _ABSENT else _text(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
