"""A seed becomes a sequence: one object, written by several managers in every way there is.

A body may say `<version>` and `<uid>`, which each server replaces by those of the object it has then; a step on the
live object sends what the server has, changed by the body as by a merge patch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tools.writes.builtin import BUILTIN
from tools.writes.drawing import Dice, fields, many, named, odd, one
from tools.writes.kind import Written
from tools.writes.schemas import custom

Json = dict[str, Any]
SCHEMAS = 40
JSON, MERGE, STRATEGIC, JSON_PATCH, APPLY = (
    "application/json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/json-patch+json",
    "application/apply-patch+yaml",
)


@dataclass(frozen=True, slots=True)
class Step:
    """One write."""

    way: str
    method: str
    path: str
    body: Any
    query: dict[str, str] = field(default_factory=dict)
    media: str = JSON
    on_live: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    """The writes of one seed, to the object at `path`."""

    seed: int
    kind: Written
    path: str
    steps: tuple[Step, ...]


def sequence(seed: int, kinds: frozenset[str] = frozenset()) -> Sequence:
    """The sequence of this seed; of one of these kinds, if any are named (`custom` is all custom resources)."""
    dice = Dice(f"writes {seed}")
    kind = _kind(dice, kinds)
    dice.wild = dice.choice((0.0, 0.0, 0.005, 0.02, 0.06))
    name = f"o{seed}" if kind.plural != "customresourcedefinitions" else f"o{seed}s.crd{seed}.example.com"
    object_ = _Object(dice, kind, name, seed)
    steps = (object_.create(), object_.create(), *(object_.step() for _ in range(dice.randint(3, 12))))
    return Sequence(seed, kind, object_.path, steps)


def _kind(dice: Dice, kinds: frozenset[str]) -> Written:
    is_custom, number, builtin = dice.hits(0.4), dice.randrange(SCHEMAS), dice.choice(BUILTIN)
    if kinds:
        is_custom = "custom" in kinds and (is_custom or kinds == {"custom"})
        builtin = dice.choice([kind for kind in BUILTIN if kind.kind in kinds] or BUILTIN)
    return custom(number) if is_custom else builtin


class _Object:
    """Draws the writes of one object."""

    def __init__(self, dice: Dice, kind: Written, name: str, seed: int) -> None:
        self.dice, self.kind, self.name, self.seed = dice, kind, name, seed
        self.versions = list(kind.bodies)
        self.version = self.versions[0]

    @property
    def path(self) -> str:
        return f"{self.kind.collection(self.version)}/{self.name}"

    def create(self) -> Step:
        """How sequences begin: somebody makes the object, one way or the other, and if that is refused, another way."""
        self.version = self.dice.choice(self.versions)
        return self._applied(whole=True) if self.dice.hits(0.4) else self._posted()

    def step(self) -> Step:
        self.version = self.dice.choice(self.versions)
        ways = [way for way, weight in self._ways().items() for _ in range(weight)]
        return self.dice.choice(ways)()

    def _ways(self) -> dict[Callable[[], Step], int]:
        ways: dict[Callable[[], Step], int] = {
            self._applied: 8,
            self._put: 3,
            self._put_live: 3,
            self._merged: 3,
            self._json_patched: 3,
            self._strategically_patched: 3 if not self.kind.is_custom else 1,
            self._managers_cleared: 1,
            self._posted: 1,
            self._deleted: 1,
        }
        if self.kind.status:
            ways[self._status] = 4
        if self.kind.has_scale:
            ways[self._scale] = 2
        return ways

    def _posted(self) -> Step:
        body = self._body(whole=True)
        if self.dice.hits(0.05) and isinstance(body["metadata"], dict):
            body["metadata"]["generateName"] = f"{self.name}-"
            del body["metadata"]["name"]
        return Step("create", "POST", self.kind.collection(self.version), body, self._query())

    def _applied(self, whole: bool | None = None) -> Step:
        dice = self.dice
        body = self._body(whole=dice.hits(0.4) if whole is None else whole)
        query = self._query(required=True)
        if dice.hits(0.4):
            query["force"] = "true"
        return Step("apply", "PATCH", self.path, body, query, APPLY)

    def _put(self) -> Step:
        body = self._body(whole=True)
        if self.kind.is_custom or self.dice.hits(0.3):
            _metadata(body)["resourceVersion"] = "1" if self.dice.hits(0.05) else "<version>"
        return Step("update", "PUT", self.path, body, self._query())

    def _put_live(self) -> Step:
        return Step("update", "PUT", self.path, self._body(whole=False), self._query(), on_live=True)

    def _merged(self) -> Step:
        body = self._partial()
        return Step("merge", "PATCH", self.path, _with_nulls(self.dice, body), self._query(), MERGE)

    def _strategically_patched(self) -> Step:
        body = _with_directives(self.dice, _with_nulls(self.dice, self._partial()))
        return Step("strategic", "PATCH", self.path, body, self._query(), STRATEGIC)

    def _json_patched(self) -> Step:
        places = list(_places(self._body(whole=True), ""))
        operations = [_operation(self.dice, places) for _ in range(self.dice.randint(1, 3))]
        return Step("json", "PATCH", self.path, operations, self._query(), JSON_PATCH)

    def _managers_cleared(self) -> Step:
        value: Any = self.dice.choice(([{}], [], None, [{}]))
        body = {"metadata": {"managedFields": value}}
        if self.dice.hits(0.5):
            return Step("merge", "PATCH", self.path, body, self._query(), MERGE)
        return Step("update", "PUT", self.path, body, self._query(), on_live=True)

    def _deleted(self) -> Step:
        options: Json = {"gracePeriodSeconds": 0}
        if self.dice.hits(0.3):
            options["propagationPolicy"] = self.dice.choice(("Foreground", "Orphan", "Background"))
        if self.dice.hits(0.2):
            options["preconditions"] = {"resourceVersion": self.dice.choice(("<version>", "1"))}
        # How long a definition lingers is the server's business.
        if self.kind.kind == "CustomResourceDefinition" or self.dice.hits(0.4):
            options["dryRun"] = ["All"]
        return Step("delete", "DELETE", self.path, options)

    def _status(self) -> Step:
        dice, path = self.dice, f"{self.path}/status"
        dice.whole = dice.hits(0.5)
        body: Json = {"status": self.kind.status[self.version](dice)}
        if dice.hits(0.2):
            body = {**self._partial(), **body}
        if dice.hits(0.3):
            body["metadata"] = _metadata_fields(dice)
        way = dice.choice(("apply", "apply", "merge", "update", "strategic"))
        if way == "apply":
            body = {**self._head(), **body, "metadata": {"name": self.name, **_metadata(body)}}
            query = self._query(required=True) | ({"force": "true"} if dice.hits(0.4) else {})
            return Step("status", "PATCH", path, body, query, APPLY)
        if way == "update":
            return Step("status", "PUT", path, body, self._query(), on_live=True)
        return Step("status", "PATCH", path, body, self._query(), MERGE if way == "merge" else STRATEGIC)

    def _scale(self) -> Step:
        dice, path = self.dice, f"{self.path}/scale"
        body: Json = {"spec": {"replicas": one(dice.randint(4, 99))(dice)}}
        way = dice.choice(("apply", "merge", "update"))
        if way == "update":
            return Step("scale", "PUT", path, body, self._query(), on_live=True)
        if way == "merge":
            return Step("scale", "PATCH", path, body, self._query(), MERGE)
        body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": self.name}, **body}
        query = self._query(required=True) | ({"force": "true"} if dice.hits(0.4) else {})
        return Step("scale", "PATCH", path, body, query, APPLY)

    def _head(self) -> Json:
        return {"apiVersion": self.version, "kind": self.kind.kind}

    def _body(self, *, whole: bool) -> Json:
        """An object, or what somebody would apply of it."""
        body = self._partial(whole=whole)
        metadata = {"name": self.name, **_metadata(body)}
        if self.dice.hits(self.dice.wild):
            metadata.update(self.dice.choice(_ODD_METADATA))
        return {**self._head(), **body, "metadata": metadata}

    def _partial(self, *, whole: bool = False) -> Json:
        dice = self.dice
        dice.whole = whole
        body = self.kind.bodies[self.version](dice)
        body = _spelled(body if isinstance(body, dict) else {}, self.seed)
        if dice.hits(0.4):
            body["metadata"] = _metadata_fields(dice)
        if self.kind.status and dice.hits(0.1):
            body["status"] = self.kind.status[self.version](dice)
        return body

    def _query(self, *, required: bool = False) -> dict[str, str]:
        dice, query = self.dice, {}
        if required or dice.hits(0.9):
            query["fieldManager"] = dice.choice(_MANAGERS)
        if dice.hits(0.08):
            query["dryRun"] = "All"
        if dice.hits(0.15):
            query["fieldValidation"] = dice.choice(("Strict", "Warn", "Ignore"))
        return query


_MANAGERS = ("m1", "m1", "m1", "m2", "m2", "m3", "kubectl", "kubectl-client-side-apply", "before-first-apply")
_UIDS = ("11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222")
_ODD_METADATA: tuple[Json, ...] = (
    {"name": "other"},
    {"namespace": "other"},
    {"uid": _UIDS[0]},
    {"uid": "<uid>"},
    {"resourceVersion": "1"},
    {"resourceVersion": "<version>"},
    {"resourceVersion": "x"},
    {"managedFields": []},
    {"managedFields": [{}]},
    {"generation": 7},
    {"creationTimestamp": None},
    {"creationTimestamp": "2020-01-01T00:00:00Z"},
    {"labels": {"Bad Label!": "x"}},
    {"labels": {"l1": None}},
    {"annotations": {"n1": None}},
    {"deletionGracePeriodSeconds": 3},
    {"selfLink": "/x"},
)
_owner = fields(
    {"apiVersion": one("v1"), "kind": one("ConfigMap"), "name": one("own"), "uid": one(*_UIDS)},
    None,
    {"controller": one(True, False), "blockOwnerDeletion": one(True, False)},
)
_metadata_fields = fields(
    None,
    None,
    {
        "labels": named(("l1", "l2", "example.com/l3"), one("a", "b", "")),
        "annotations": named(("n1", "n2", "example.com/n3"), one("a", "b", "")),
        "finalizers": many(one("example.com/a", "example.com/b"), 2),
        "ownerReferences": many(_owner, 2, key=("uid",)),
    },
)


def _metadata(body: Json) -> Json:
    found = body.get("metadata")
    return found if isinstance(found, dict) else {}


def _spelled(body: Json, seed: int) -> Json:
    """The body with what belongs to the sequence in the place of `<group>` and the names of a definition."""
    text = json.dumps(body)
    for placeholder, value in (
        ("<group>", f"crd{seed}.example.com"),
        ("<plural>", f"o{seed}s"),
        ("<singular>", f"o{seed}"),
        ("<Kind>", f"O{seed}"),
    ):
        text = text.replace(placeholder, value)
    spelled: Json = json.loads(text)
    return spelled


def _with_nulls(dice: Dice, value: Any) -> Any:
    """A patch of which some fields go."""
    if not isinstance(value, dict):
        return value
    return {name: None if dice.hits(0.06) else _with_nulls(dice, below) for name, below in value.items()}


def _with_directives(dice: Dice, value: Any) -> Any:
    """A strategic merge patch that says now and then how it is to be merged."""
    if isinstance(value, list):
        items = [_with_directives(dice, item) for item in value]
        if items and all(isinstance(item, dict) for item in items) and dice.hits(0.15):
            dice.choice(items)["$patch"] = dice.choice(("delete", "delete", "replace", "merge", "other"))
        return items
    if not isinstance(value, dict):
        return value
    drawn = {name: _with_directives(dice, below) for name, below in value.items()}
    for name, below in value.items():
        if isinstance(below, list) and below and dice.hits(0.1):
            _add_list_directive(dice, drawn, name, below)
    if drawn and dice.hits(0.03):
        drawn["$patch"] = dice.choice(("replace", "delete", "merge"))
    if drawn and dice.hits(0.03):
        drawn["$retainKeys"] = [name for name in value if dice.hits(0.8)]
    return drawn


def _add_list_directive(dice: Dice, drawn: Json, name: str, items: list[Any]) -> None:
    if all(isinstance(item, str) for item in items) and dice.hits(0.5):
        drawn[f"$deleteFromPrimitiveList/{name}"] = dice.sample(items, 1)
    elif all(isinstance(item, str) for item in items):
        drawn[f"$setElementOrder/{name}"] = dice.sample(items, len(items))
    elif all(isinstance(item, dict) and "name" in item for item in items):
        drawn[f"$setElementOrder/{name}"] = [{"name": item["name"]} for item in dice.sample(items, len(items))]


def _places(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every place of an object, as JSON pointers."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for name, below in value.items():
            yield from _places(below, f"{path}/{str(name).replace('~', '~0').replace('/', '~1')}")
    if isinstance(value, list):
        for index, below in enumerate(value):
            yield from _places(below, f"{path}/{index}")


def _operation(dice: Dice, places: list[tuple[str, Any]]) -> Json:
    path, value = dice.choice(places)
    op = dice.choice(("add", "add", "add", "replace", "replace", "remove", "test", "copy", "move"))
    if dice.hits(0.05):
        value = odd(dice)
    if op == "remove":
        return {"op": op, "path": path}
    if op in ("copy", "move"):
        return {"op": op, "from": dice.choice(places)[0], "path": path}
    if op == "add" and path.rpartition("/")[2].isdigit() and dice.hits(0.5):
        path = f"{path.rpartition('/')[0]}/-"
    return {"op": op, "path": path, "value": value}
