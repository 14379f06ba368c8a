"""PATCH with an applied configuration: server-side apply, to an object that is there or is made by it.

What is merged, who may and who manages what then is `machinery.apply`'s to say; here a body becomes a configuration,
and the merged object takes the way of every create or update.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from hardpoint.apiserver import objectmeta
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.create import check_may_create, create_object
from hardpoint.apiserver.managers import with_tracker
from hardpoint.apiserver.options import WriteOptions, write_options
from hardpoint.apiserver.update import replace
from hardpoint.machinery import errors, fielderrors, jsontext, shapes
from hardpoint.machinery.apply import BadItem, Conflicts, Tracker, Unfit
from hardpoint.machinery.jsonnumbers import numbers
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.messages import Response
from hardpoint.machinery.shapes import restored
from hardpoint.machinery.shapes.refusals import json_type
from hardpoint.machinery.timestamps import format_time

Json = dict[str, Any]

LEVELS_MAX = 150
_ATTEMPTS_MAX = 8
_FRACTION = re.compile(rb"\d(?:\.\d|[eE])")
_OBJECT_META = "apimachinery.pkg.apis.meta.v1.ObjectMeta"


async def apply(call: Call) -> Response:
    """PATCH an object, or a part of it that has an endpoint of its own, with a configuration."""
    options = apply_options(call)
    config = Configuration.read(call, options)
    for _ in range(_ATTEMPTS_MAX):
        if call.subresource or await call.services.store.get(call.key) is not None:
            return await replace(call, config.applied_to, options, is_tracked=True)
        try:
            return await _create(call, config, options)
        except errors.ApiError as refused:
            if refused.reason != "AlreadyExists":
                raise
    raise errors.conflict(call.kind.resource, call.target.name)


def apply_options(call: Call) -> WriteOptions:
    """The options of an apply. Raises 422 if it does not say who applies."""
    options = write_options(call.request.query, kind="PatchOptions")
    if not options.field_manager:
        wrong = fielderrors.required("fieldManager", "is required for apply patch")
        raise errors.invalid("PatchOptions.meta.k8s.io", "", [wrong])
    return options


async def _create(call: Call, config: Configuration, options: WriteOptions) -> Response:
    await check_may_create(call)
    new = await with_tracker(call, config.kind, lambda tracker: config.applied(tracker.empty, tracker))
    if uid := new["metadata"].get("uid"):
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise errors.conflict(call.kind.resource, call.target.name, why)
    new["metadata"].setdefault("name", call.target.name)
    objectmeta.check_name(new, call.target.name)
    new["metadata"].pop("resourceVersion", None)
    return await create_object(call, new, options, is_tracked=True)


class Configuration(NamedTuple):
    """What somebody applies."""

    call: Call
    options: WriteOptions
    kind: Kind
    value: Json
    may_repeat: bool
    """Whether its body may say something twice."""

    @staticmethod
    def read(call: Call, options: WriteOptions, kind: Kind | None = None) -> Configuration:
        """The configuration in a request's body, of the call's kind unless another one is named. Raises 400."""
        kind = kind or call.kind
        value, may_repeat = _read(call.request.body)
        version, said = value.get("apiVersion"), value.get("kind")
        if (version, said) != (kind.api_version, kind.kind):
            raise errors.bad_request(f"invalid object type: {_told(version, said)}")
        metadata = value.get("metadata")
        if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
            raise errors.bad_request("metadata.managedFields must be nil")
        return Configuration(call, options, kind, value, may_repeat)

    async def applied_to(self, old: Json) -> Json:
        """The object after the configuration was applied to `old`."""
        new = await with_tracker(self.call, self.kind, lambda tracker: self.applied(old, tracker))
        objectmeta.check_uid_kept(self.call.kind, new, old)
        return new

    def applied(self, old: Json, tracker: Tracker) -> Json:
        """As `applied_to`, but whatever the uid. Raises 409 if others mind, and refuses what does not fit the kind."""
        now = format_time(self.call.services.now())
        manager, force = self.options.field_manager, bool(self.options.force)
        try:
            new = tracker.apply(old, self.value, manager, now, force=force)
        except Conflicts as conflicts:
            raise conflicts.error() from conflicts
        except Unfit as wrong:
            raise self._failed(f"create typed patch object ({self._named()})", str(wrong)) from wrong
        except BadItem as wrong:
            # What was stored before its list had keys cannot be told apart now.
            raise self._failed(f"create typed live object ({self._named()})", str(wrong)) from wrong
        except RecursionError as deep:
            raise _too_deep() from deep
        self._warn_of_duplicates()
        return self._decoded(new)

    def _decoded(self, new: Json) -> Json:
        """The merged object as its kind holds it, sharing nothing with what it was merged from."""
        value: Json = jsontext.parse(jsontext.encode(new)).value
        self.call.given = value
        if self.kind.structure is not None:
            # Nothing is pruned: a list of which nothing is left is null, and validation has a word to say about it.
            return {**value, "metadata": shapes.named(_OBJECT_META).decode(value["metadata"]).object}
        shape = shapes.shape(self.kind.api_version, self.kind.kind)
        try:
            return shape.decode(value).object
        except shapes.TypeMismatch as wrong:
            told = _told(self.kind.api_version, self.kind.kind)
            why = f"unable to convert unstructured object to {told}: {restored.refusal(shape, value) or wrong}"
            raise self._failed(f"convert new object ({self._named()}) to proper version", why) from wrong

    def _warn_of_duplicates(self) -> None:
        """Tell of what the body says twice, or refuse it if the client is strict."""
        if self.options.field_validation == "Ignore" or not self.may_repeat:
            return
        from hardpoint.machinery.yamlduplicates import duplicates  # Not before somebody repeats himself.

        repeated = duplicates(self.call.request.body)
        if repeated and self.options.field_validation == "Strict":
            lines = "".join(f"\n  {each}" for each in repeated)
            told = f"error converting YAML to JSON: yaml: unmarshal errors:{lines}"
            raise errors.bad_request(f"error strict decoding patch: {told}")
        self.call.warnings += [each for each in repeated if each not in self.call.warnings]

    def _named(self) -> str:
        metadata = self.value.get("metadata")
        said = metadata if isinstance(metadata, dict) else {}
        namespace, name = (each if isinstance(each := said.get(field), str) else "" for field in ("namespace", "name"))
        return f"{namespace}/{name}; {_told(self.kind.api_version, self.kind.kind)}"

    def _failed(self, what: str, why: str) -> errors.ApiError:
        return errors.ApiError(500, "", f"failed to {what}: {why}")


def _told(api_version: Any, kind: Any) -> str:
    """A version and a kind as Go prints them together."""
    version, kind = (each if isinstance(each, str) else "" for each in (api_version, kind))
    return f"{version if '/' in version else f'/{version}'}, Kind={kind}"


def _read(body: bytes) -> tuple[Json, bool]:
    """The configuration in a body, and whether it may say something twice. Raises 400."""
    value, may_repeat = _parsed(body)
    if value is None:
        return {}, may_repeat
    if not isinstance(value, dict):
        why = f"json: cannot unmarshal {json_type(value)} into Go value of type map[string]interface {{}}"
        raise errors.bad_request(f"error decoding patch: error unmarshaling JSON: while decoding JSON: {why}")
    _check_depth(value)
    # It becomes YAML and JSON again before it is read, and a float that is whole does not survive that.
    return numbers(value) if _FRACTION.search(body) else value, may_repeat


def _parsed(body: bytes) -> tuple[Any, bool]:
    try:
        parsed = jsontext.parse(body)
        return parsed.value, bool(parsed.duplicates)
    except jsontext.BadJson:
        pass
    from hardpoint.machinery import yamltext  # Most clients write JSON here, which is YAML too and faster to read.

    try:
        return yamltext.parse(body).value, True
    except yamltext.BadYaml as wrong:
        # What looks like JSON is not looked into before it is decoded.
        is_json = body.lstrip().startswith(b"{")
        what = "error decoding patch: error converting YAML to JSON" if is_json else "error encoding patch"
        raise errors.bad_request(f"{what}: {wrong}") from wrong


def _check_depth(value: Json) -> None:
    """Raise 400 for what lies deeper than anybody could look into later."""
    level: list[Any] = [value]
    for _ in range(LEVELS_MAX):
        maps = [child for each in level if isinstance(each, dict) for child in each.values()]
        lists = [child for each in level if isinstance(each, list) for child in each]
        level = [child for child in maps + lists if isinstance(child, dict | list)]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> errors.ApiError:
    return errors.bad_request("error decoding patch: exceeded max depth")
