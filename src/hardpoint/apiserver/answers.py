"""From an object, or its stored bytes, to an answer in the form the client asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from hardpoint.apiserver.call import Call
from hardpoint.apiserver.negotiation import YAML, Form, choose
from hardpoint.apiserver.options import first
from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.messages import Request, Response
from hardpoint.machinery.partial import partial_metadata

Json = dict[str, Any]

_PRETTY_AGENTS = ("curl/", "Wget/", "Mozilla/5.0")


def form_of(call: Call, *, watch: bool = False) -> Form:
    return choose(call.request.headers.get("accept", ""), watch=watch)


def is_pretty(request: Request, form: Form) -> bool:
    """Whether to indent: asked for, or by the look of it read by a person."""
    if form.pretty:
        return True
    if "pretty=" in request.query:
        wish = request.query.partition("pretty=")[2].partition("&")[0]
        return wish != "0" and wish.lower() != "false"
    return request.headers.get("user-agent", "").startswith(_PRETTY_AGENTS)


def plain(request: Request, form: Form, wire: bytes, *, status: int = 200) -> Response:
    """JSON bytes as they are, indented or as YAML."""
    if form.media == YAML:
        from hardpoint.machinery import yamltext  # Not before somebody wants YAML: start-up does not wait for it.

        return Response(status, yamltext.encode(orjson.loads(wire)), YAML)
    if is_pretty(request, form):
        wire = orjson.dumps(orjson.loads(wire), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    return Response(status, wire)


def one(call: Call, wire: bytes, *, status: int = 200, kind: Kind | None = None) -> Response:
    """One object, of the call's kind unless another one is named."""
    form = form_of(call)
    if form.transform:
        check_transform(call, form, is_list=False)
        wire = encode(transformed(call, form, [orjson.loads(wire)], {}, single=True, kind=kind))
    return plain(call.request, form, wire, status=status)


def value(call: Call, obj: Json, *, status: int = 200) -> Response:
    """An object that has no other forms: a Status, a review."""
    accept = call.request.headers.get("accept", "")
    return plain(call.request, choose(accept), encode(obj), status=status)


def check_transform(call: Call, form: Form, *, is_list: bool) -> None:
    """Raise 406 if one object's metadata is asked of a list, or a list's of one object."""
    if is_list and form.transform == "PartialObjectMetadata":
        what = f"is a list (*{_go_type(call.kind)}List)"
    elif not is_list and form.transform == "PartialObjectMetadataList":
        what = f"is not a list (*{_go_type(call.kind)})"
    else:
        return
    raise ApiError(406, "NotAcceptable", f"you requested {form.transform}, but the requested object {what}")


def _go_type(kind: Kind) -> str:
    if kind.structure is not None:
        return "unstructured.Unstructured"
    package = "core" if kind.group in ("", "events.k8s.io") else kind.group.partition(".")[0]
    return f"{package}.{kind.kind}"


def transformed(
    call: Call,
    form: Form,
    objects: Sequence[Json],
    list_meta: Json,
    *,
    single: bool = False,
    kind: Kind | None = None,
) -> Json:
    """Objects as a Table, or reduced to their metadata."""
    from hardpoint.machinery import tables  # Not before somebody wants a Table: start-up does not wait for it.

    convert = call.place.convert_to_print
    inner = [convert(obj) for obj in objects] if convert else objects
    if form.transform == "Table":
        include = first(call.query, "includeObject") or "Metadata"
        if include not in ("None", "Metadata", "Object"):
            raise errors.bad_request(f'unrecognized includeObject value: "{include}"')
        if single and objects:
            list_meta = {"resourceVersion": objects[0]["metadata"].get("resourceVersion", "")}
        now = call.services.now()
        table = tables.table(
            kind or call.kind,
            inner,
            now=now,
            include_object=include,
            list_meta=list_meta,
            single=single,
            version=form.version,
        )
        if include == "Object" and inner is not objects:
            for row, obj in zip(table["rows"], objects, strict=True):
                row["object"] = obj
        return table
    if single:
        return partial_metadata(inner[0], form.version)
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": f"meta.k8s.io/{form.version}",
        "metadata": list_meta,
        "items": [partial_metadata(obj, form.version) for obj in inner] or None,
    }


def success(**details: Any) -> Json:
    """A `Status` that says yes."""
    status: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details:
        status["details"] = details
    return status


def created(call: Call) -> Response:
    """201 with a `Status` that says so, for what is POSTed and leaves no object of its own."""
    return value(call, success() | {"code": 201}, status=201)
