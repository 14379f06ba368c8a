"""PATCH: a change of an object, told in one of three languages.

The patch is applied to the object as clients see it, the result is decoded like a PUT's body, and then takes the way
of every update. A resourceVersion inside the patch is a precondition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hardpoint.apiserver import bodies, objectmeta
from hardpoint.apiserver.apply import apply
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.options import WriteOptions, write_options
from hardpoint.apiserver.patchtypes import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, offered
from hardpoint.apiserver.update import Successor, replace
from hardpoint.machinery import errors, fielderrors, jsonpatch, jsontext, mergepatch, shapes, strategicmerge
from hardpoint.machinery.fielderrors import json_as_go
from hardpoint.machinery.messages import Response
from hardpoint.machinery.shapes import restored
from hardpoint.machinery.shapes.refusals import identify, json_type
from hardpoint.machinery.strategiclists import go_text

Json = dict[str, Any]

OPERATIONS_MAX = 10_000


async def patch(call: Call) -> Response:
    media = bodies.media_type(call.request.headers.get("content-type", ""))
    if media not in offered(call.kind):
        raise errors.unsupported_media_type(offered(call.kind))
    if media == APPLY_PATCH:
        return await apply(call)
    options = patch_options(call)
    return await replace(call, successor(call, media, options), options, has_version=True)


def patch_options(call: Call) -> WriteOptions:
    """The options of a patch that is not applied. Raises 422 if it wants to force its way."""
    options = write_options(call.request.query, kind="PatchOptions")
    if options.force is not None:
        wrong = fielderrors.forbidden("force", "may not be specified for non-apply patch")
        raise errors.invalid("PatchOptions.meta.k8s.io", "", [wrong])
    return options


def successor(call: Call, media: str, options: WriteOptions) -> Successor:
    """From an object to the same object patched."""

    async def patched(old: Json) -> Json:
        new = apply_patch(call, media, old, call.kind.api_version, call.kind.kind, options)
        objectmeta.check_name(new, call.target.name)
        objectmeta.check_uid_kept(call.kind, new, old)
        return new

    return patched


def apply_patch(call: Call, media: str, old: Json, api_version: str, kind: str, options: WriteOptions) -> Json:
    """`old` with the call's patch applied, decoded as `kind`."""
    parsed = _parsed(call.request.body)
    shape = bodies.decoder(call, api_version, kind)
    value = _applied(media, parsed.value, old, shape)
    call.given = value
    try:
        _keep_kind(call, media, value, {"apiVersion": api_version, "kind": kind})
        decoded = shape.decode(value)
    except shapes.TypeMismatch as wrong:
        why = restored.refusal(shape, value) if isinstance(shape, shapes.Shape) and media == STRATEGIC_PATCH else ""
        raise _refused(media, parsed.value, value, why or str(wrong)) from wrong
    problems = _unknown_members(media, parsed.value)
    problems += bodies.strict_problems(shape, value, decoded, parsed.duplicates)
    if media == STRATEGIC_PATCH:
        problems.sort()
    if problems and options.field_validation == "Strict":
        raise _refused(media, parsed.value, value, f"strict decoding error: {', '.join(problems)}")
    if options.field_validation == "Warn":
        call.warnings += [problem for problem in problems if problem not in call.warnings]
    return decoded.object


def _keep_kind(call: Call, media: str, value: Json, identity: Mapping[str, str]) -> None:
    """A patch may take the kind away, and it stays. Raises TypeMismatch for another one, and 400 without a version.

    Without a version kube-apiserver reads the object as its internal type, which has no field in common with it: first
    it warns about all of them, and then it misses the name. What a strategic patch says here is of no interest. Custom
    resources must say what they are.
    """
    version, kind = identify(value)
    if call.kind.structure is not None and identity["kind"] == call.kind.kind:
        if not kind:
            raise shapes.TypeMismatch(f"Object 'Kind' is missing in '{json_as_go(value)}'")
        bodies.check_custom(call, value)
        return
    if media == STRATEGIC_PATCH:
        value.update(identity)
        return
    if not version:
        call.warnings += [f'unknown field "{field}"' for field in sorted(value) if field not in identity]
        told = f"the name of the object ({call.target.name} based on URL) was undeterminable: name must be provided"
        raise errors.bad_request(told)
    if version != identity["apiVersion"] or kind not in ("", identity["kind"]):
        raise shapes.TypeMismatch(bodies.not_registered(version, kind or identity["kind"]))
    value.update(identity)


def _unknown_members(media: str, change: Any) -> list[str]:
    if media != JSON_PATCH:
        return []
    return [f'json patch unknown field "{name}"' for name in jsonpatch.unknown_fields(change)]


def _parsed(body: bytes) -> jsontext.Parsed:
    try:
        return jsontext.parse(body)
    except jsontext.BadJson as wrong:
        raise errors.bad_request(f"error decoding patch: {wrong}") from wrong


def _applied(media: str, change: Any, old: Json, shape: bodies.Decoder) -> Json:
    if media == JSON_PATCH:
        return _json_patched(change, old)
    if not isinstance(change, dict):
        where = "error decoding patch: " if media == MERGE_PATCH else ""
        why = f"json: cannot unmarshal {json_type(change)} into Go value of type map[string]interface {{}}"
        raise errors.bad_request(where + why)
    if media == MERGE_PATCH:
        merged: Json = mergepatch.merge(old, change)
        return merged
    assert isinstance(shape, shapes.Shape), "custom resources take no strategic patches"
    try:
        return strategicmerge.merge(old, change, shape)
    except strategicmerge.Unmergeable as wrong:
        raise errors.unprocessable() from wrong
    except strategicmerge.BadPatch as wrong:
        # kube-apiserver answers 500 to most of these; but it is the client who made a mistake.
        raise errors.bad_request(str(wrong)) from wrong


def _json_patched(change: Any, old: Json) -> Json:
    if isinstance(change, list) and len(change) > OPERATIONS_MAX:
        raise errors.ApiError(
            413,
            "RequestEntityTooLarge",
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{OPERATIONS_MAX}, got {len(change)}",
        )
    try:
        patched = jsonpatch.apply(old, change)
    except jsonpatch.BadPatch as wrong:
        raise errors.bad_request(f"error decoding patch: {wrong}") from wrong
    except jsonpatch.PatchFailed as wrong:
        raise errors.unprocessable() from wrong
    if not isinstance(patched, dict):
        raise errors.unprocessable()
    return patched


def _refused(media: str, change: Any, patched: Json, why: str) -> errors.ApiError:
    """422 about the result, or about a strategic patch itself. It names no object, as upstream's does not."""
    text = go_text(change) if media == STRATEGIC_PATCH else json_as_go(patched)
    return errors.invalid("", "", [fielderrors.invalid("patch", text, why)])
