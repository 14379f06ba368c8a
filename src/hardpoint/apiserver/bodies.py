"""From a request's bytes to an object of the kind that was asked for.

JSON, YAML and protobuf are read alike: into plain values first, then through the kind's shape, which refuses wrong
types, drops unknown fields and tells which they were. The words of every refusal are kube-apiserver's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from hardpoint.apiserver.call import Call
from hardpoint.apiserver.negotiation import JSON, OFFERED, PROTOBUF, YAML
from hardpoint.machinery import defaults, errors, fielderrors, jsontext, shapes
from hardpoint.machinery.shapes.refusals import cannot_be_handled, identify, unrecognized

if TYPE_CHECKING:
    from hardpoint.machinery.structural import Structure

Json = dict[str, Any]
Decoder: TypeAlias = "shapes.Shape | Structure"

_SCHEMES = {
    "apiextensions.k8s.io": "pkg/apiserver/apiserver.go:53",
    "apiregistration.k8s.io": "pkg/apiserver/scheme/scheme.go:33",
}
_OPTIONS_SCHEME = "pkg/runtime/scheme.go:111"
_SCHEME = "pkg/api/legacyscheme/scheme.go:30"


def media_type(content_type: str) -> str:
    """The media type of a Content-Type header; none means JSON. Raises 415 for parameters without a value."""
    media, *parameters = content_type.split(";")
    if any(parameter.strip() and "=" not in parameter for parameter in parameters):
        raise errors.unsupported_media_type(OFFERED)
    return media.strip().lower() or JSON


def read(call: Call, api_version: str, kind: str, *, field_validation: str = "Warn") -> Json:
    """The body as an object of `kind`, complete and canonical; unknown and duplicate fields become warnings or 400."""
    media = media_type(call.request.headers.get("content-type", ""))
    structure = _structure(call, kind)
    value, duplicates = _parse(call.request.body, media, api_version, kind, says_kind=structure is not None)
    got_version, got_kind = value["apiVersion"], value["kind"]
    call.given = value
    if structure is not None:
        check_custom(call, value)
    else:
        _check_registered(got_version, got_kind, kind)
    shape = structure or shapes.shape(got_version, got_kind)
    try:
        decoded = shape.decode(value)
    except shapes.TypeMismatch as wrong:
        raise errors.bad_request(cannot_be_handled(got_version, got_kind, kind, str(wrong))) from wrong
    problems = strict_problems(shape, value, decoded, duplicates)
    if problems and field_validation == "Strict":
        reason = f"strict decoding error: {', '.join(problems)}"
        raise errors.bad_request(cannot_be_handled(got_version, got_kind, kind, reason))
    if field_validation == "Warn":
        call.warnings += problems
    if got_version != api_version:
        raise _wrong_version(got_version, api_version)
    if got_kind != kind:
        reason = f"converting ({got_kind}) to ({kind}): unknown conversion"
        raise errors.bad_request(cannot_be_handled(got_version, got_kind, kind, reason))
    if call.record is not None:
        _record(call, decoded.object)
    return decoded.object


def _record(call: Call, obj: Json) -> None:
    """Tell the audit log what was sent: as kube-apiserver does, with defaults, before anything else touched it."""
    assert call.record is not None, "who calls this looked"
    if call.record.verdict.tells_requests:
        obj = orjson.loads(jsontext.encode(obj))
        if obj["kind"] == call.kind.kind:
            defaults.apply(call.kind, obj)
    call.record.sent(obj)


def decoder(call: Call, api_version: str, kind: str) -> Decoder:
    """What decodes a body of this kind: the structure of the call's own kind if that is custom, else a Go type."""
    return _structure(call, kind) or shapes.shape(api_version, kind)


def _structure(call: Call, kind: str) -> Structure | None:
    return call.kind.structure if kind == call.kind.kind else None


def check_custom(call: Call, value: Json) -> None:
    """Raise 400 or 422 if a body is of another version or kind than the custom resource it is sent to."""
    version, kind = value.get("apiVersion", ""), value["kind"]
    if version != call.kind.api_version:
        raise _wrong_version(version, call.kind.api_version)
    if kind != call.kind.kind:
        metadata = value.get("metadata")
        name = metadata.get("name", "") if isinstance(metadata, dict) else ""
        wrong = fielderrors.invalid("kind", kind, f"must be {call.kind.kind}")
        raise errors.invalid(f"{kind}.{call.kind.group}", name, [wrong])


def _wrong_version(said: str, expected: str) -> errors.ApiError:
    return errors.bad_request(
        f"the API version in the data ({said}) does not match the expected API version ({expected})"
    )


def read_options(call: Call) -> Json | None:
    """The body as DeleteOptions of whatever group, or None if there is no body."""
    body = call.request.body
    if not body.strip():
        return None
    media = media_type(call.request.headers.get("content-type", ""))
    value, _ = _parse(body, media, "v1", "DeleteOptions", tells_body=False)
    if value["kind"] != "DeleteOptions":
        raise errors.bad_request(not_registered(value["apiVersion"], value["kind"], _OPTIONS_SCHEME))
    value["apiVersion"] = "v1"
    try:
        options = shapes.shape("v1", "DeleteOptions").decode(value).object
    except shapes.TypeMismatch as wrong:
        raise errors.bad_request(str(wrong)) from wrong
    if call.record is not None:
        call.record.sent_as(options | {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal"})
    return options


def strict_problems(shape: Decoder, value: Json, decoded: shapes.Decoded, duplicates: list[str]) -> list[str]:
    """One sentence a field that the kind does not have, or that was said twice, in the body's order."""
    return shape.strict_errors(value, duplicates) if decoded.unknown or duplicates else []


def _parse(
    body: bytes, media: str, api_version: str, kind: str, *, tells_body: bool = True, says_kind: bool = False
) -> tuple[Json, list[str]]:
    """The body as a JSON object that says which kind it is, and the fields it says twice.

    A refusal repeats how the body begins if it `tells_body`. Who does not say a kind means `kind`, unless it must be
    said, as custom resources must.
    """
    if media == PROTOBUF and not says_kind:
        return _parse_protobuf(body, api_version, kind), []
    if media not in (JSON, YAML):
        raise errors.unsupported_media_type(OFFERED)
    try:
        parsed = jsontext.parse(body) if media == JSON else _parse_yaml(body)
        said_version, said_kind = identify(parsed.value)
    except jsontext.BadJson as wrong:
        reason = f"couldn't get version/kind; json parse error: {wrong}"
        raise errors.bad_request(unrecognized(body, kind, reason) if tells_body else reason) from wrong
    except shapes.TypeMismatch as wrong:
        reason = str(wrong)
        raise errors.bad_request(unrecognized(body, kind, reason) if tells_body else reason) from wrong
    if says_kind and not said_kind:
        reason = f"Object 'Kind' is missing in '{body.decode(errors='replace')}'"
        raise errors.bad_request(unrecognized(body, kind, reason))
    value = parsed.value or {}
    if says_kind:
        api_version = said_version
    value["apiVersion"], value["kind"] = said_version or api_version, said_kind or kind
    return value, parsed.duplicates


def _parse_yaml(body: bytes) -> jsontext.Parsed:
    from hardpoint.machinery import yamltext  # Not before somebody writes YAML: start-up does not wait for it.

    try:
        return yamltext.parse(body)
    except yamltext.BadYaml as wrong:
        raise jsontext.BadJson(str(wrong)) from wrong


def _parse_protobuf(body: bytes, api_version: str, kind: str) -> Json:
    from hardpoint.machinery import protobuf  # Not before a Go client comes: start-up does not wait for it.

    try:
        return protobuf.decode(body, api_version, kind)
    except protobuf.BadProtobuf as wrong:
        raise errors.bad_request(f"the object provided is unrecognized (must be of type {kind}): {wrong}") from wrong


def not_registered(api_version: str, kind: str, scheme: str = _SCHEME) -> str:
    """The words for a kind that nobody knows. `scheme` is where kube-apiserver's code keeps those it knows."""
    return f'no kind "{kind}" is registered for version "{api_version}" in scheme "{scheme}"'


def _check_registered(api_version: str, kind: str, expected: str) -> None:
    if shapes.find(api_version, kind) is not None:
        return
    reason = not_registered(api_version, kind, _SCHEMES.get(api_version.rpartition("/")[0], _SCHEME))
    raise errors.bad_request(cannot_be_handled(api_version, kind, expected, reason))
