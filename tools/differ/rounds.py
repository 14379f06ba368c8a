"""From a base to questions, one round for every way there is to write an object.

All but a few are dry runs on an object that was created before, so that no answer depends on another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tools.differ.bases import Base
from tools.differ.mutations import Mutation, mutations
from tools.differ.servers import VERSION, Question

DRY = {"dryRun": "All"}
_PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
_VIRTUAL_VERBS = ("create",)


def questions(base: Base, round_: str, *, values_each: int) -> Iterator[Question]:
    """The questions of one round about one base."""
    if round_ != "create" and base.kind.verbs == _VIRTUAL_VERBS:
        return
    yield from ROUNDS[round_](base, values_each)


def _create(base: Base, values_each: int) -> Iterator[Question]:
    yield _question(base, "create", "as it is", "POST", base.collection, base.body)
    for mutation in mutations(base.body, values_each=values_each, seed=_seed(base)):
        yield _question(base, "create", mutation.name, "POST", base.collection, mutation.applied(base.body))


def _update(base: Base, values_each: int) -> Iterator[Question]:
    body = {**base.body, "metadata": {**base.body["metadata"], "resourceVersion": VERSION}}
    yield _question(base, "update", "as it is", "PUT", base.path, body, version_of=base.path)
    for mutation in mutations(body, values_each=values_each, seed=_seed(base)):
        changed = mutation.applied(body)
        yield _question(base, "update", mutation.name, "PUT", base.path, changed, version_of=base.path)


def _patches(round_: str) -> Callable[[Base, int], Iterator[Question]]:
    def round_of(base: Base, values_each: int) -> Iterator[Question]:
        for mutation in mutations(base.body, values_each=values_each, seed=f"{_seed(base)}{round_}"):
            body = AS_PATCH[round_](mutation, base.body)
            if body is not None:
                media = _PATCHES[round_]
                yield _question(base, round_, mutation.name, "PATCH", base.path, body, content_type=media)

    return round_of


def _parts(base: Base, values_each: int) -> Iterator[Question]:
    for part, value in base.parts.items():
        path = f"{base.path}/{part}"
        body = {**base.body, "status": value} if part == "status" else value
        subresource = base.kind.subresource(part)
        method = "POST" if subresource is not None and "create" in subresource.verbs else "PUT"
        yield _question(base, part, "as it is", method, path, body)
        for mutation in mutations(value, values_each=values_each, seed=f"{_seed(base)}{part}"):
            changed = mutation.applied(value)
            whole = {**base.body, "status": changed} if part == "status" else changed
            yield _question(base, part, mutation.name, method, path, whole)
            if part == "status":
                merge = {"status": _as_merge(mutation, value)} if _as_merge(mutation, value) is not None else None
                if merge is not None:
                    media = _PATCHES["merge"]
                    yield _question(base, f"{part} merge", mutation.name, "PATCH", path, merge, content_type=media)


def _options(base: Base, _: int) -> Iterator[Question]:
    """What the query and the options can say, right and wrong."""
    broken = {**base.body, "unknown": 1}
    for query in _QUERIES:
        name = "&".join(f"{key}={value}" for key, value in query.items())
        whole = {"dryRun": "All", **query}
        yield Question("options", base.kind.kind, f"POST {name}", "POST", base.collection, broken, whole)
        yield Question("options", base.kind.kind, f"PUT {name}", "PUT", base.path, broken, whole)
        media = _PATCHES["merge"]
        patch = {"metadata": {"labels": {"differ": "yes"}}, "unknown": 1}
        yield Question("options", base.kind.kind, f"PATCH {name}", "PATCH", base.path, patch, whole, media)
        yield Question("options", base.kind.kind, f"DELETE {name}", "DELETE", base.path, None, whole)


def _deletes(base: Base, _: int) -> Iterator[Question]:
    for said in _DELETE_OPTIONS:
        # Where there is a body, the query is not looked at.
        body = {"dryRun": ["All"], **said} if isinstance(said, dict) else said
        yield _question(base, "delete", str(body)[:80], "DELETE", base.path, body)
        yield _question(base, "delete collection", str(body)[:80], "DELETE", base.collection, body)


def _question(base: Base, round_: str, name: str, method: str, path: str, body: Any, **more: Any) -> Question:
    return Question(
        round_, base.kind.kind, f"{base.body['metadata'].get('name')}: {name}", method, path, body, DRY, **more
    )


def _seed(base: Base) -> str:
    return f"{base.kind.kind}/{base.body['metadata'].get('name')}"


def _as_json_patch(mutation: Mutation, body: Any) -> Any:
    steps = list(mutation.path)
    if mutation.verb == "add" and steps[-1] != "unknown":
        steps[-1] = "-"
    path = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)
    if mutation.verb == "remove":
        return [{"op": "remove", "path": path}]
    return [{"op": "replace" if mutation.verb == "set" else "add", "path": path, "value": mutation.value}]


def _as_merge(mutation: Mutation, body: Any) -> Any:
    """None where the path leads through a list: a merge patch replaces lists as a whole."""
    if any(isinstance(step, int) for step in mutation.path):
        return None
    return _nested(mutation.path, None if mutation.verb == "remove" else mutation.value)


def _as_strategic(mutation: Mutation, body: Any) -> Any:
    """Through a list the patch carries the changed item alone, to be found by its merge key."""
    if mutation.verb == "remove" and isinstance(mutation.path[-1], int):
        return None
    changed = mutation.applied(body)
    return _carried(mutation.path, changed, mutation)


def _carried(path: tuple[str | int, ...], changed: Any, mutation: Mutation) -> Any:
    first, rest = path[0], path[1:]
    if isinstance(first, int):
        return [changed[first]]
    if not rest:
        return {first: None if mutation.verb == "remove" else changed[first]}
    return {first: _carried(rest, changed[first], mutation)}


def _nested(path: tuple[str | int, ...], value: Any) -> Any:
    for step in reversed(path):
        value = {step: value}
    return value


AS_PATCH = {"json": _as_json_patch, "merge": _as_merge, "strategic": _as_strategic}
_QUERIES: tuple[dict[str, str], ...] = (
    {},
    {"dryRun": "Some"},
    {"fieldValidation": "Strict"},
    {"fieldValidation": "Ignore"},
    {"fieldValidation": "Warn"},
    {"fieldValidation": "Maybe"},
    {"fieldManager": "someone"},
    {"fieldManager": "a" * 129},
    {"fieldManager": "tab\there"},
    {"force": "true"},
    {"force": "maybe"},
    {"pretty": "true"},
    {"gracePeriodSeconds": "-1"},
    {"gracePeriodSeconds": "x"},
    {"propagationPolicy": "Sideways"},
    {"orphanDependents": "true"},
    {"timeoutSeconds": "x"},
    {"unknown": "1"},
)
_DELETE_OPTIONS: tuple[Any, ...] = (
    None,
    {},
    [],
    {"kind": "DeleteOptions", "apiVersion": "v1"},
    {"kind": "Pod", "apiVersion": "v1"},
    {"gracePeriodSeconds": 0},
    {"gracePeriodSeconds": 5},
    {"gracePeriodSeconds": -1},
    {"gracePeriodSeconds": "x"},
    {"propagationPolicy": "Orphan"},
    {"propagationPolicy": "Foreground"},
    {"propagationPolicy": "Background"},
    {"propagationPolicy": "Sideways"},
    {"orphanDependents": True},
    {"orphanDependents": False},
    {"orphanDependents": True, "propagationPolicy": "Orphan"},
    {"preconditions": {"uid": "other"}},
    {"preconditions": {"resourceVersion": "1"}},
    {"dryRun": ["Some"]},
    {"unknown": 1},
    {"ignoreStoreReadErrorWithClusterBreakingPotential": True},
)
ROUNDS: dict[str, Callable[[Base, int], Iterator[Question]]] = {
    "create": _create,
    "update": _update,
    "json": _patches("json"),
    "merge": _patches("merge"),
    "strategic": _patches("strategic"),
    "parts": _parts,
    "options": _options,
    "delete": _deletes,
}
