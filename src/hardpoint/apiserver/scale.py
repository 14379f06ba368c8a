"""The `scale` of a workload: how many replicas it should have and has, in one shape for all kinds."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import orjson

from hardpoint.apiserver import answers, bodies, objectmeta
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.get import find
from hardpoint.apiserver.options import write_options
from hardpoint.apiserver.patch import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, apply_patch
from hardpoint.apiserver.update import replace_object
from hardpoint.machinery import errors, fielderrors, selectors
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.messages import Response

Json = dict[str, Any]

API_VERSION, KIND = "autoscaling/v1", "Scale"
SCALE = Kind("autoscaling", "v1", KIND, "scale", "scale", namespaced=True, verbs=())
_COPIED = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_of(obj: Json) -> Json:
    """The Scale of a workload."""
    status: Json = {"replicas": obj.get("status", {}).get("replicas", 0)}
    selector = obj["spec"].get("selector")
    if selector:
        status["selector"] = _selector_text(selector)
    return {
        "kind": KIND,
        "apiVersion": API_VERSION,
        "metadata": {name: obj["metadata"][name] for name in _COPIED if name in obj["metadata"]},
        "spec": {"replicas": obj["spec"]["replicas"]} if obj["spec"].get("replicas") else {},
        "status": status,
    }


def _selector_text(selector: Json) -> str:
    if all(isinstance(value, str) for value in selector.values()):
        return ",".join(f"{name}={value}" for name, value in sorted(selector.items()))
    return str(selectors.from_label_selector(selector))


async def get_scale(call: Call) -> Response:
    return _answer(call, call.place.found(await find(call)))


async def update_scale(call: Call) -> Response:
    options = write_options(call.request.query, kind="UpdateOptions")
    scale = bodies.read(call, API_VERSION, KIND, field_validation=options.field_validation)
    objectmeta.check_name(scale, call.target.name)

    async def successor(old: Json) -> Json:
        return _scaled(call, old, scale)

    written = await replace_object(call, successor, options, keeps_version=True)
    return _answer(call, orjson.loads(written))


async def patch_scale(call: Call) -> Response:
    media = bodies.media_type(call.request.headers.get("content-type", ""))
    if media not in (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH):
        raise errors.unsupported_media_type((JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH))
    options = write_options(call.request.query, kind="PatchOptions")

    async def successor(old: Json) -> Json:
        return _scaled(call, old, apply_patch(call, media, scale_of(old), API_VERSION, KIND, options))

    written = await replace_object(call, successor, options)
    return _answer(call, orjson.loads(written))


def _answer(call: Call, obj: Json) -> Response:
    return answers.one(call, encode(scale_of(obj)), kind=SCALE)


def _scaled(call: Call, old: Json, scale: Json) -> Json:
    replicas = scale["spec"].get("replicas", 0)
    if replicas < 0:
        wrong = fielderrors.invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise errors.invalid("Scale.autoscaling", call.target.name, [wrong])
    new = deepcopy(old)
    new["spec"]["replicas"] = replicas
    said = scale["metadata"]
    for name in ("resourceVersion", "uid"):
        if said.get(name):
            new["metadata"][name] = said[name]
        elif name == "resourceVersion":
            new["metadata"].pop(name)
    return new
