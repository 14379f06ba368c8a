"""In which form an answer leaves: which media type, as the object itself, a Table or its metadata only.

Answers are JSON or YAML. A client that accepts protobuf always accepts JSON too, so protobuf is read but never
written; see docs/decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.remembering import remembered

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
OFFERED = (JSON, YAML, PROTOBUF)
WATCH_OFFERED = (f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")

Transform = Literal["", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"]
_TRANSFORMS = frozenset(("Table", "PartialObjectMetadata", "PartialObjectMetadataList"))


class Form(NamedTuple):
    """The chosen form. `version` is that of meta.k8s.io a transform was asked in."""

    media: str = JSON
    transform: Transform = ""
    version: str = "v1"
    pretty: bool = False


_PLAIN = Form()


@remembered(count=1024)
def choose(accept: str, *, watch: bool = False, transforms: bool = True) -> Form:
    """The best form for an Accept header; without `transforms` what asks for one does not count. Raises 406."""
    if not accept or accept == "*/*" or accept == JSON:
        return _PLAIN
    for media, parameters in clauses(accept):
        form = _form(media, parameters, watch=watch)
        if form is not None and (transforms or not form.transform):
            return form
    raise errors.not_acceptable(WATCH_OFFERED if watch else OFFERED)


@remembered(count=1024)
def check(accept: str, produced: Sequence[str]) -> None:
    """Raise 406 unless a route that produces these media types has one for the Accept header.

    This comes before the forms are looked at, and is stricter: a route knows its media types by their names only.
    """
    wanted = {clause.partition(";")[0].strip() for clause in accept.split(",")}
    if accept and "*/*" not in wanted and wanted.isdisjoint(produced):
        message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(produced)}"
        raise ApiError(406, "NotAcceptable", message, details={})


def clauses(accept: str) -> Sequence[tuple[str, dict[str, str]]]:
    """The clauses, best first; equal weights keep their order."""
    weighted = []
    for clause in accept.split(","):
        media, *rest = (part.strip() for part in clause.split(";"))
        parameters = dict(part.partition("=")[::2] for part in rest if "=" in part)
        weighted.append((_weight(parameters.pop("q", "1")), media, parameters))
    # What weighs nothing comes last, but is not refused: so does the reference.
    weighted.sort(key=lambda clause: -clause[0])
    return [(media, parameters) for _, media, parameters in weighted]


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _form(media: str, parameters: dict[str, str], *, watch: bool) -> Form | None:
    if media in ("*/*", "*", "application/*"):
        media = JSON
    if media not in (JSON, YAML) or (watch and media == YAML):
        return None
    transform = parameters.get("as", "")
    if transform:
        if transform not in _TRANSFORMS or parameters.get("g") != "meta.k8s.io":
            return None
        if parameters.get("v") not in ("v1", "v1beta1"):
            return None
    return Form(media, transform, parameters.get("v", "v1"), parameters.get("pretty") == "1")  # type: ignore[arg-type] # checked against _TRANSFORMS
