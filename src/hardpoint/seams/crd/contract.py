"""What both sides of a conversion promise: objects of one version go out, the same objects in another come back.

On the wire that is one POST of a `ConversionReview` of apiextensions.k8s.io. Its `request` names the version wanted and
holds objects of any other; the `response` holds the same objects, as many and in the same order, in that version. A
converter changes what the versions say differently, and of the metadata at most labels and annotations: who an object
is stays what it was. It neither fills in defaults nor refuses what it finds odd, and it may be asked any number of
times: going there and back again must lose nothing.

Here are the review's shapes and the checks of an answer, in kube-apiserver's words; who asks and who answers is in
`host` and `guest`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, NotRequired, TypedDict

from hardpoint.machinery import reviews
from hardpoint.machinery.fielderrors import FieldError, quote
from hardpoint.machinery.reviews import BadReview
from hardpoint.machinery.structural import ConversionFailed as ConversionFailed
from hardpoint.machinery.structural import Converter as Converter
from hardpoint.machinery.validation.labelselectors import labels as check_labels
from hardpoint.machinery.validation.metadata import check_annotations

Json = dict[str, Any]

GROUP: Final = "apiextensions.k8s.io"
KIND: Final = "ConversionReview"
VERSIONS: Final = ("v1", "v1beta1")
SUCCESS: Final = "Success"

Version = Literal["v1", "v1beta1"]
Failure = Literal["call", "malformed_response", "partial_response", "invalid_converted_object"]
"""In what way a conversion failed, as metrics tell them apart."""


class ConversionRequest(TypedDict):
    uid: str
    """To be sent back, so that an answer cannot be taken for another's."""
    desiredAPIVersion: str
    objects: list[Json]


class ConversionResult(TypedDict):
    """A `Status`: Success, or Failure with a message for whoever asked for the object."""

    status: str
    message: NotRequired[str]


class ConversionResponse(TypedDict):
    uid: str
    convertedObjects: NotRequired[list[Json]]
    result: ConversionResult


class ConversionReview(TypedDict):
    """Asked with a `request`, answered with a `response`."""

    apiVersion: str
    kind: Literal["ConversionReview"]
    request: NotRequired[ConversionRequest]
    response: NotRequired[ConversionResponse]


class BadAnswer(ValueError):
    """An answer that is no conversion of what was asked about. The text goes on after `conversion webhook for X `."""

    def __init__(self, told: str, failure: Failure) -> None:
        super().__init__(told)
        self.failure = failure


def version_among(versions: Sequence[str]) -> Version:
    """The first version of a review that both sides know. Raises ConversionFailed if there is none."""
    known: dict[str, Version] = {"v1": "v1", "v1beta1": "v1beta1"}
    for version in versions:
        if version in known:
            return known[version]
    raise ConversionFailed("no supported conversion review versions")


def asked(version: Version, uid: str, objects: Sequence[Any], api_version: str) -> ConversionReview:
    """The question for these objects, written already or not, in that version."""
    request: ConversionRequest = {"uid": uid, "desiredAPIVersion": api_version, "objects": list(objects)}
    return {"kind": KIND, "apiVersion": f"{GROUP}/{version}", "request": request}


def request_of(review: Any) -> tuple[Version, ConversionRequest]:
    """The version of a question and what it asks. Raises BadReview."""
    version: Version = "v1" if reviews.version_of(review, GROUP, KIND, VERSIONS) == "v1" else "v1beta1"
    request = review.get("request")
    if not isinstance(request, dict):
        raise BadReview("request is missing")
    for field in ("uid", "desiredAPIVersion"):
        if not isinstance(request.get(field), str):
            raise BadReview(f"request.{field} must be a text")
    objects = request.get("objects")
    if not isinstance(objects, list) or not all(isinstance(obj, dict) for obj in objects):
        raise BadReview("request.objects must be a list of objects")
    return version, {"uid": request["uid"], "desiredAPIVersion": request["desiredAPIVersion"], "objects": objects}


def answered(version: Version, uid: str, objects: Sequence[Json]) -> ConversionReview:
    """The answer with what became of the objects."""
    result: ConversionResult = {"status": SUCCESS}
    response: ConversionResponse = {"uid": uid, "convertedObjects": list(objects), "result": result}
    return {"kind": KIND, "apiVersion": f"{GROUP}/{version}", "response": response}


def refused(version: Version, uid: str, message: str) -> ConversionReview:
    """The answer that says why the objects cannot be converted; `message` is shown to whoever asked for them."""
    result: ConversionResult = {"status": "Failure", "message": message}
    return {"kind": KIND, "apiVersion": f"{GROUP}/{version}", "response": {"uid": uid, "result": result}}


def converted(answer: Any, version: Version, uid: str, originals: Sequence[Json], api_version: str) -> list[Json]:
    """The objects of an answer, with the metadata that no converter may change. Raises BadAnswer."""
    objects = _objects(answer, version, uid)
    if len(objects) != len(originals):
        raise BadAnswer(f"returned {len(objects)} objects, expected {len(originals)}", "partial_response")
    is_list = len(originals) > 1
    found = []
    for index, (original, obj) in enumerate(zip(originals, objects, strict=True)):
        try:
            found.append(_checked(original, obj, api_version))
        except _Wrong as wrong:
            raise BadAnswer(wrong.told(index if is_list else None), "invalid_converted_object") from None
    return found


def _objects(answer: Any, version: Version, uid: str) -> list[Any]:
    """The converted objects of an answer that says Success."""
    said = answer if isinstance(answer, dict) else {}
    # kube-apiserver has never looked at version and uid in v1beta1, and there are converters that count on it.
    if version == "v1" or _text(said, "kind") not in ("", KIND):
        _check_kind(said, version)
    response = said.get("response")
    if not isinstance(response, dict):
        raise _malformed("no response provided")
    if version == "v1" and response.get("uid", "") != uid:
        raise _malformed(f"expected response.uid={quote(uid)}, got {quote(str(response.get('uid', '')))}")
    result = response.get("result")
    status, message = (_text(result, field) for field in ("status", "message"))
    if status != SUCCESS:
        raise _malformed(message or f"response.result.status was '{status}', not '{SUCCESS}'")
    objects = response.get("convertedObjects")
    return objects if isinstance(objects, list) else []


def _check_kind(review: Json, version: Version) -> None:
    wanted, got = _gvk(f"{GROUP}/{version}", KIND), _gvk(_text(review, "apiVersion"), _text(review, "kind"))
    if got != wanted:
        raise _malformed(f"expected webhook response of {wanted}, got {got}")


def _malformed(told: str) -> BadAnswer:
    return BadAnswer(f"failed: {told}", "malformed_response")


class _Wrong(Exception):
    """What is wrong with one converted object, and which part of it that is."""

    def __init__(self, why: str, part: Literal["identity", "object", "metadata"] = "object") -> None:
        super().__init__(why)
        self.part = part

    def told(self, index: int | None) -> str:
        """In a sentence that names the object by its index, if there are several."""
        if index is not None:
            what = "metadata in object" if self.part == "metadata" else "converted object"
            return f"returned invalid {what} at index {index}: {self}"
        what = {"identity": "object at index 0", "object": "object", "metadata": "metadata"}[self.part]
        return f"returned invalid {what}: {self}"


def _checked(original: Json, obj: Any, api_version: str) -> Json:
    """A converted object that is the original one in another version."""
    if not isinstance(obj, dict) or not _text(obj, "kind"):
        # kube-apiserver shows the whole object here; an error is no place for what is in it.
        raise _Wrong("Object 'Kind' is missing in what it returned", "identity")
    if _text(obj, "apiVersion") != api_version:
        told = f"expected {api_version}, received {_text(obj, 'apiVersion')}"
        raise _Wrong(f"invalid groupVersion ({told})", "identity")
    if obj["kind"] != original["kind"]:
        raise _Wrong(f"invalid kind (expected {original['kind']}, received {obj['kind']})", "identity")
    for field, called in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        before, after = _text(original.get("metadata"), field), _text(obj.get("metadata"), field)
        if before != after:
            raise _Wrong(f"must have the same {called}: {before} != {after}")
    return {**obj, "metadata": _metadata(original.get("metadata") or {}, obj)}


def _metadata(original: Json, obj: Json) -> Json:
    """The original metadata with the labels and annotations of the converted object."""
    if "metadata" not in obj:
        raise _Wrong("missing metadata in converted object", "metadata")
    said = obj["metadata"]
    if not isinstance(said, dict):
        raise _Wrong(f"invalid metadata of type {_go_type(said)} in converted object", "metadata")
    metadata = {name: value for name, value in original.items() if name not in ("labels", "annotations")}
    for field in ("labels", "annotations"):
        values = said.get(field)
        if values is not None:
            _check_texts(field, values, original.get(field) or {})
            metadata[field] = values
    return metadata


def _check_texts(field: str, values: Any, before: Json) -> None:
    """Labels or annotations that are new must be well formed; what stays as it was need not be."""
    if not isinstance(values, dict):
        raise _Wrong(f"invalid metadata.{field} of type {_go_type(values)} in converted object", "metadata")
    for key, value in values.items():
        if not isinstance(value, str):
            why = f"metadata.{field}[{key}] must be a string, but is {_go_type(value)} in converted object"
            raise _Wrong(why, "metadata")
    if values == before:
        return
    wrong: list[FieldError] = []
    if field == "labels":
        check_labels(wrong, "metadata.labels", values)
    else:
        check_annotations(wrong, "metadata.annotation", values)
    if wrong:
        told = [str(each) for each in dict.fromkeys(wrong)]
        raise _Wrong(told[0] if len(told) == 1 else f"[{', '.join(told)}]", "metadata")


def _gvk(api_version: str, kind: str) -> str:
    """A version and a kind as Go prints them together."""
    return f"{api_version if '/' in api_version else f'/{api_version}'}, Kind={kind}"


def told_as(obj: Json) -> str:
    """What errors call an object's kind in its version."""
    return _gvk(_text(obj, "apiVersion"), _text(obj, "kind"))


def _text(holder: Any, field: str) -> str:
    """A field that is a text, or nothing."""
    value = holder.get(field) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else ""


def _go_type(value: Any) -> str:
    """What Go calls the type of a decoded JSON value."""
    if value is None:
        return "<nil>"
    named = {bool: "bool", str: "string", int: "int64", float: "float64", list: "[]interface {}"}
    return named.get(type(value), "map[string]interface {}")
