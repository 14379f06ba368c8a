"""The `scale` of a workload: how many replicas it should have and has, in one shape for all kinds."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import orjson

from hardpoint.apiserver import answers, bodies, objectmeta, scale_managers
from hardpoint.apiserver.apply import Configuration, apply_options
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.get import find
from hardpoint.apiserver.managers import tracker_of
from hardpoint.apiserver.options import write_options
from hardpoint.apiserver.patch import apply_patch, patch_options
from hardpoint.apiserver.patchtypes import APPLY_PATCH, offered
from hardpoint.apiserver.scale_managers import SCALE
from hardpoint.apiserver.update import replace_object
from hardpoint.machinery import errors, fielderrors, selectors
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.messages import Response
from hardpoint.machinery.structural.scale import Misplaced, Scale

Json = dict[str, Any]

API_VERSION, KIND = SCALE.api_version, SCALE.kind
_COPIED = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_of(obj: Json) -> Json:
    """The Scale of a workload."""
    selector = obj["spec"].get("selector")
    text = _selector_text(selector) if selector else ""
    return _scale(obj, obj["spec"].get("replicas"), obj.get("status", {}).get("replicas", 0), text)


def _scale(obj: Json, wanted: int | None, present: int, selector: str) -> Json:
    return {
        "kind": KIND,
        "apiVersion": API_VERSION,
        "metadata": {name: obj["metadata"][name] for name in _COPIED if name in obj["metadata"]},
        "spec": {"replicas": wanted} if wanted else {},
        "status": {"replicas": present, "selector": selector} if selector else {"replicas": present},
    }


def _scale_in(call: Call, obj: Json) -> Json:
    """The Scale of the call's object, from wherever its kind keeps its replicas. Raises 500 if they are none."""
    paths = _paths(call)
    if paths is None:
        return scale_of(obj)
    try:
        return _scale(obj, paths.wanted(obj), paths.present(obj), paths.selector_text(obj))
    except Misplaced as wrong:
        raise errors.ApiError(500, "", str(wrong)) from wrong


def _paths(call: Call) -> Scale | None:
    """Where a custom resource keeps its replicas; None for built-in kinds, which all have the same fields for it."""
    return call.kind.structure.scale if call.kind.structure is not None else None


def _selector_text(selector: Json) -> str:
    if all(isinstance(value, str) for value in selector.values()):
        return ",".join(f"{name}={value}" for name, value in sorted(selector.items()))
    return str(selectors.from_label_selector(selector))


async def get_scale(call: Call) -> Response:
    obj = call.place.found(await find(call))
    answer = _answer(call, obj)
    paths = _paths(call)
    if paths is not None and paths.wanted(obj) is None:
        raise errors.internal_error(f"the spec replicas field {quote(paths.replicas)} does not exist")
    return answer


async def update_scale(call: Call) -> Response:
    options = write_options(call.request.query, kind="UpdateOptions")
    scale = bodies.read(call, API_VERSION, KIND, field_validation=options.field_validation)
    objectmeta.check_name(scale, call.target.name)

    async def successor(old: Json) -> Json:
        before = scale_managers.lend(call, old, _scale_in(call, old))
        return _scaled(call, old, scale_managers.track(call, before, scale, options))

    written = await replace_object(call, successor, options, keeps_version=True, is_tracked=True)
    return _answer(call, orjson.loads(written))


async def patch_scale(call: Call) -> Response:
    media = bodies.media_type(call.request.headers.get("content-type", ""))
    if media not in offered(call.kind):
        raise errors.unsupported_media_type(offered(call.kind))
    change = _applied(call) if media == APPLY_PATCH else _patched(call, media)

    async def successor(old: Json) -> Json:
        scale = change(scale_managers.lend(call, old, _scale_in(call, old)))
        _check_said(call, scale, old)
        return _scaled(call, old, scale)

    options = write_options(call.request.query, kind="PatchOptions")
    written = await replace_object(call, successor, options, is_tracked=True)
    return _answer(call, orjson.loads(written))


def _applied(call: Call) -> Callable[[Json], Json]:
    """From a Scale to the same Scale after a configuration was applied to it."""
    config = Configuration.read(call, apply_options(call), SCALE)
    tracker = tracker_of(call.services.registry, SCALE, call.target.subresource)
    return lambda scale: config.applied(scale, tracker)


def _patched(call: Call, media: str) -> Callable[[Json], Json]:
    """From a Scale to the same Scale patched."""
    options = patch_options(call)

    def patched(scale: Json) -> Json:
        new = apply_patch(call, media, scale, API_VERSION, KIND, options)
        return scale_managers.track(call, scale, new, options)

    return patched


def _answer(call: Call, obj: Json) -> Response:
    return answers.one(call, encode(_scale_in(call, obj)), kind=SCALE)


def _check_said(call: Call, scale: Json, old: Json) -> None:
    """Raise 400 if neither a custom resource nor the patch of its scale says how many replicas there should be."""
    paths = _paths(call)
    if paths is not None and paths.wanted(old) is None and not _says_replicas(call, scale):
        raise errors.bad_request(f"the spec replicas field {quote(paths.replicas)} cannot be empty")


def _says_replicas(call: Call, scale: Json) -> bool:
    """Whether there is a number of replicas: of a decoded Scale, zero is the same as none."""
    given = call.given.get("spec") if isinstance(call.given, dict) else None
    return "replicas" in scale["spec"] or (isinstance(given, dict) and given.get("replicas") is not None)


def _scaled(call: Call, old: Json, scale: Json) -> Json:
    new = deepcopy(old)
    _set_replicas(call, new, scale["spec"].get("replicas", 0))
    scale_managers.give_back(call, new, scale)
    said = scale["metadata"]
    for name in ("resourceVersion", "uid"):
        if said.get(name):
            new["metadata"][name] = said[name]
        elif name == "resourceVersion":
            new["metadata"].pop(name)
    return new


def _set_replicas(call: Call, obj: Json, replicas: int) -> None:
    """Ask for so many replicas, wherever the kind keeps that. A custom resource's own validation says how many."""
    paths = _paths(call)
    if paths is not None:
        paths.set_wanted(obj, replicas)
        return
    if replicas < 0:
        wrong = fielderrors.invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise errors.invalid("Scale.autoscaling", call.target.name, [wrong])
    obj["spec"]["replicas"] = replicas
