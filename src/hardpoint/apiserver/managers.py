"""Who manages the fields of what is written: every write passes here, after its defaults and before its admission.

What apply must know about a kind is made when the kind is first written, and kept as long as the kind is served.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from hardpoint.apiserver.call import Call
from hardpoint.apiserver.options import WriteOptions
from hardpoint.apiserver.places import place
from hardpoint.apiserver.registry import Registry
from hardpoint.apiserver.resets import reset_fields
from hardpoint.apiserver.threads import beside
from hardpoint.machinery import conversion, shapes
from hardpoint.machinery.apply import BadItem, Tracker, Type, Updater, entries, fieldsets, of_schema, of_shape
from hardpoint.machinery.apply.updater import Keep, Versions
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.remembering import remembered
from hardpoint.machinery.sameness import is_same
from hardpoint.machinery.timestamps import format_time

if TYPE_CHECKING:
    from hardpoint.machinery.structural import Structure

Json = dict[str, Any]
_Result = TypeVar("_Result")

NAME_LENGTH_MAX = 128
SERVER = "kube-apiserver"
"""The manager of what the server writes by itself."""
_BUILT_IN = Registry(())
_ROLES = ("ClusterRole", "Role")


async def track(call: Call, new: Json, old: Json | None, options: WriteOptions) -> None:
    """Give an object that is about to be stored its managedFields."""
    said = new["metadata"].get("managedFields")
    # Of a custom resource an empty list is as good as none.
    if said is None and call.kind.structure is None and _forgets_all(call.given):
        new["metadata"]["managedFields"] = []
    manager, now = manager_of(call, options), format_time(call.services.now())

    def tracked(tracker: Tracker) -> None:
        seen = _seen(call, new)
        tracker.track(old, seen, manager, now)
        if seen is not new:
            _take_over(new, seen)

    try:
        if call.place.crossing is None and not call.is_large:
            tracked(tracker_of(call.services.registry, call.kind, call.target.subresource))
        else:
            await with_tracker(call, call.kind, tracked)
    except (BadItem, RecursionError, ApiError):
        # What cannot be told apart, lies too deep to be looked at, or cannot be converted to where somebody manages it,
        # has no new owners; validation has the last word.
        if kept := old["metadata"].get("managedFields") if old else said:
            new["metadata"]["managedFields"] = kept


def _seen(call: Call, new: Json) -> Json:
    """An object as Go sees it while it looks for managers, where that is not as it is stored."""
    if call.kind.known_as == "DaemonSet":
        return _with_generation(new)
    if call.place.crossing is not None:
        # It may take several attempts, each of which begins with what the client said.
        return {**new, "metadata": dict(new["metadata"])}
    if call.kind.kind in _ROLES and isinstance(call.given, dict) and call.given.get("rules") == []:
        # An empty list is somebody's. Only once it was stored it is null, and nobody's.
        return {**new, "metadata": dict(new["metadata"]), "rules": []}
    return new


def _with_generation(daemon_set: Json) -> Json:
    """A DaemonSet as Go converts it: the number of its templates is an annotation, whether said or not."""
    from hardpoint.machinery.strategies.workloads import TEMPLATE_GENERATION  # Only who writes one waits for it.

    metadata = daemon_set["metadata"]
    annotations = {TEMPLATE_GENERATION: "0"} | (metadata.get("annotations") or {})
    return {**daemon_set, "metadata": {**metadata, "annotations": annotations}}


def _take_over(new: Json, seen: Json) -> None:
    """Give an object the managers that were found for what was seen of it."""
    new["metadata"].pop("managedFields", None)
    if "managedFields" in seen["metadata"]:
        new["metadata"]["managedFields"] = seen["metadata"]["managedFields"]


def claim(kind: Kind, new: Json, old: Json | None, *, now: str, manager: str = SERVER, subresource: str = "") -> None:
    """Give an object of a built-in kind that the server stores by itself its managedFields."""
    tracker_of(_BUILT_IN, kind, subresource).track(old, new, manager, now)


def _forgets_all(given: Any) -> bool:
    """Whether a client sent an empty list of managers, of which decoding leaves nothing."""
    metadata = given.get("metadata") if isinstance(given, dict) else None
    return isinstance(metadata, dict) and metadata.get("managedFields") == []


def manager_of(call: Call, options: WriteOptions) -> str:
    """The name of who writes: as it says, or as its User-Agent begins."""
    return options.field_manager or _from_agent(call.request.headers.get("user-agent", ""))


@remembered(count=256)
def _from_agent(agent: str) -> str:
    name = "".join(letter for letter in agent.partition("/")[0] if letter.isprintable())
    return name.encode()[:NAME_LENGTH_MAX].decode(errors="ignore")


def changes_nothing(kind: Kind, new: Json, old: Json) -> bool:
    """Whether a write would change nothing, or nothing but when somebody last changed something."""
    ours, theirs = new["metadata"].get("managedFields"), old["metadata"].get("managedFields")
    if ours != theirs:
        if not ours or not theirs or not entries.differ_in_times_only(ours, theirs):
            return False
        new = {**new, "metadata": {**new["metadata"], "managedFields": theirs}}
    # What a custom resource holds may be anything, so it is looked at more closely.
    return new == old if kind.structure is None else is_same(new, old)


async def with_tracker(call: Call, kind: Kind, act: Callable[[Tracker], _Result]) -> _Result:
    """What `act` makes of the tracker of a kind. Where a webhook converts, it may be called several times.

    Whenever it misses an object in another version, that is converted and it is called again. Raises 500 if that fails.
    """
    registry, part = call.services.registry, call.target.subresource
    crossing = place(kind).crossing
    if crossing is None:
        return await _acted(call, act, tracker_of(registry, kind, part))
    versions = LearntVersions(registry, kind)
    tracker = _tracker(kind, part, versions)
    while True:
        try:
            return await _acted(call, act, tracker)
        except Missing as missing:
            versions.learn(missing, await crossing.between(missing.obj, missing.api_version))


async def _acted(call: Call, act: Callable[[Tracker], _Result], tracker: Tracker) -> _Result:
    return await beside(lambda: act(tracker)) if call.is_large else act(tracker)


_trackers: dict[tuple[str, str, str, str], tuple[Kind, Tracker]] = {}


def tracker_of(registry: Registry, kind: Kind, subresource: str) -> Tracker:
    """Follows the writes through one endpoint of a kind."""
    name = (kind.group, kind.version, kind.plural, subresource)
    known = _trackers.get(name)
    # A custom resource may come back under its old name with other properties.
    if known is None or known[0] is not kind:
        versions: Versions = BuiltInVersions(kind) if kind.structure is None else CustomVersions(registry, kind)
        known = _trackers[name] = kind, _tracker(kind, subresource, versions)
    return known[1]


def _tracker(kind: Kind, subresource: str, versions: Versions) -> Tracker:
    said: Json = {"apiVersion": kind.api_version, "kind": kind.kind}
    if kind.structure is None:
        empty = shapes.shape(kind.api_version, kind.kind).decode(said).object
    else:
        empty = said | {"metadata": {}}
    return Tracker(Updater(versions, kind.api_version, _keep(kind, subresource)), empty, subresource)


def _keep(kind: Kind, subresource: str) -> Keep:
    reset = reset_fields(kind, subresource)
    return lambda fields: fieldsets.without(fields, reset)


class BuiltInVersions:
    """The versions of a built-in kind; few have more than one."""

    may_change = False

    def __init__(self, kind: Kind) -> None:
        self._kind = kind.kind
        self._types: dict[str, Type | None] = {}

    def type_of(self, api_version: str) -> Type | None:
        if api_version not in self._types:
            shape = shapes.find(api_version, self._kind)
            self._types[api_version] = of_shape(shape) if shape is not None else None
        return self._types[api_version]

    def convert(self, obj: Json, api_version: str) -> Json:
        source, target = (_face(version, self._kind) for version in (obj["apiVersion"], api_version))
        convert = conversion.between(source, target)
        # Whatever Go converts has the zeros that the target writes.
        return shapes.shape(api_version, self._kind).decode(convert(obj)).object if convert is not None else obj


class CustomVersions:
    """The versions of a custom resource that are served now; they differ in nothing but their name."""

    may_change = True

    def __init__(self, registry: Registry, kind: Kind) -> None:
        self._registry = registry
        self._group, self._plural = kind.group, kind.plural

    def type_of(self, api_version: str) -> Type | None:
        group, _, version = api_version.rpartition("/")
        kind = self._registry.find(group, version, self._plural) if group == self._group else None
        return _custom_type(kind.structure) if kind is not None and kind.structure is not None else None

    def convert(self, obj: Json, api_version: str) -> Json:
        return obj if obj["apiVersion"] == api_version else {**obj, "apiVersion": api_version}


class Missing(Exception):
    """An object is needed in another version, and only a webhook can tell what it is there."""

    def __init__(self, obj: Json, api_version: str) -> None:
        super().__init__(api_version)
        self.obj = obj
        self.api_version = api_version


class LearntVersions(CustomVersions):
    """The versions of a custom resource that a webhook converts: what was not learnt yet is Missing."""

    def __init__(self, registry: Registry, kind: Kind) -> None:
        super().__init__(registry, kind)
        self._learnt: dict[tuple[bytes, str], Json] = {}

    def convert(self, obj: Json, api_version: str) -> Json:
        if obj["apiVersion"] == api_version:
            return obj
        found = self._learnt.get((encode(obj), api_version))
        if found is None:
            raise Missing(obj, api_version)
        return found

    def learn(self, missing: Missing, converted: Json) -> None:
        self._learnt[encode(missing.obj), missing.api_version] = converted


@lru_cache(maxsize=4096)
def _custom_type(structure: Structure) -> Type:
    return of_schema(structure.schema, preserves_unknown=structure.preserves_unknown)


def _face(api_version: str, kind: str) -> conversion.Face:
    group, _, version = api_version.rpartition("/")
    return group, version, kind
