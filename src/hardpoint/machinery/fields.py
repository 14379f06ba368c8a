"""Field selectors: `spec.nodeName=a,status.phase!=Failed`, and the fields that each kind offers to them.

Grammar, escapes and messages follow k8s.io/apimachinery/pkg/fields. A kind says in `Kind.selectable_fields` what may
be asked beyond its name and namespace; this module knows how those few are read whose value is not simply at the
place their name says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.kinds import Kind, by_kind
from hardpoint.machinery.labels import BadSelector

__all__ = ["BadSelector", "FieldSelector", "Term", "fields_of", "parse"]

Json = Mapping[str, Any]

_TERM = re.compile(r"((?:[^\\,]|\\.?)*+),?", re.DOTALL)
_SPLIT = re.compile(r"([^=!]*+(?:!(?!=)[^=!]*+)*+)(!=|==|=)(.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.?)|([,=])", re.DOTALL)

_ALIASES = {("", "Pod", "spec.host"): "spec.nodeName"}
# Where upstream leaves the namespace out of what may be selected.
_WITHOUT_NAMESPACE = frozenset(
    {
        ("", "Namespace"),
        ("", "Node"),
        ("certificates.k8s.io", "CertificateSigningRequest"),
        ("certificates.k8s.io", "ClusterTrustBundle"),
        ("certificates.k8s.io", "PodCertificateRequest"),
        ("resource.k8s.io", "ResourceSlice"),
    }
)


class Term(NamedTuple):
    """One field that must, or must not, have a value."""

    field: str
    value: str
    equal: bool

    def __str__(self) -> str:
        return f"{self.field}{'=' if self.equal else '!='}{escaped(self.value)}"


class FieldSelector(NamedTuple):
    """Terms of which all must hold."""

    terms: tuple[Term, ...] = ()

    def matches(self, values: Mapping[str, str]) -> bool:
        """A field that `values` does not have counts as empty."""
        return all((values.get(term.field, "") == term.value) is term.equal for term in self.terms)

    def exactly(self, field: str) -> str:
        """The value that `field` must have, or "" if there is none."""
        return next((term.value for term in self.terms if term.equal and term.field == field), "")

    def __str__(self) -> str:
        return ",".join(str(term) for term in self.terms)


def parse(text: str, kind: Kind | None = None) -> FieldSelector:
    """The selector a text stands for. With a kind, only fields it offers are taken. Raises BadSelector."""
    terms = (_term(part, text) for part in sorted(_parts(text)) if part)
    kept = (term for term in terms if term.field or term.value)
    return FieldSelector(tuple(kept if kind is None else (_known(term, kind) for term in kept)))


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")


def unescaped(text: str) -> str:
    """Raises BadSelector for a special character that is not escaped, and an escape of one that is not special."""
    return _ESCAPED.sub(_plain, text)


def _plain(found: re.Match[str]) -> str:
    escape, bare = found.groups()
    if bare:
        # Go prints the code point of the rune here, not the character.
        raise BadSelector(f"invalid field selector: unescaped character in value: {ord(bare)}")
    if not escape or escape not in "\\,=":
        raise BadSelector(f"invalid field selector: invalid escape sequence: {found[0]}")
    return str(escape)


def _parts(text: str) -> list[str]:
    return [found[1] for found in _TERM.finditer(text)]


def _term(part: str, whole: str) -> Term:
    split = _SPLIT.fullmatch(part)
    if split is None:
        raise BadSelector(f"invalid selector: '{whole}'; can't understand '{part}'")
    return Term(split[1], unescaped(split[3]), split[2] != "!=")


def _known(term: Term, kind: Kind) -> Term:
    if term.field == "metadata.name" or term.field in kind.selectable_fields:
        alias = _ALIASES.get((kind.group, kind.kind, term.field))
        return Term(alias, term.value, term.equal) if alias else term
    if term.field == "metadata.namespace" and _offers_namespace(kind):
        return term
    raise BadSelector(_unknown(term.field, kind))


def _offers_namespace(kind: Kind) -> bool:
    if (kind.group, kind.kind) in _WITHOUT_NAMESPACE:
        return False
    return kind.namespaced or by_kind(kind.api_version, kind.kind) is not None


def _unknown(field: str, kind: Kind) -> str:
    if (kind.group, kind.kind) == ("batch", "Job"):
        return f"field label {quote(field)} not supported for Job"
    if (kind.group, kind.kind) == ("resource.k8s.io", "ResourceSlice"):
        return f"field label not supported for {kind.api_version}, Kind={kind.kind}: {field}"
    if kind.selectable_fields or by_kind(kind.api_version, kind.kind) is None:
        return f"field label not supported: {field}"
    return f'{quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"'


class Fields(Mapping[str, str]):
    """The selectable fields of one object, read when asked for: a selector looks at one or two of them."""

    __slots__ = ("_kind", "_obj")

    def __init__(self, kind: Kind, obj: Json) -> None:
        self._kind = kind
        self._obj = obj

    def __getitem__(self, field: str) -> str:
        return _reader(self._kind.group, self._kind.kind, field)(self._obj)

    def __iter__(self) -> Iterator[str]:
        yield "metadata.name"
        if self._kind.namespaced:
            yield "metadata.namespace"
        yield from self._kind.selectable_fields

    def __len__(self) -> int:
        return len(list(iter(self)))


def fields_of(kind: Kind, obj: Json) -> Mapping[str, str]:
    """What field selectors see of an object. Any other field of it reads as upstream reads an unset one, empty."""
    return Fields(kind, obj)


@lru_cache(maxsize=1024)
def _reader(group: str, kind: str, field: str) -> Callable[[Json], str]:
    special = _SPECIAL.get((group, kind, field))
    if special is not None:
        return special
    path = tuple(field.split("."))
    return lambda obj: _text(obj, path)


def _at(obj: Json, path: str) -> str:
    return _text(obj, path.split("."))


def _text(value: Any, path: Sequence[str]) -> str:
    for name in path:
        if not isinstance(value, dict):
            return ""
        value = value.get(name)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else ""


def _flag(path: str) -> Callable[[Json], str]:
    return lambda obj: _at(obj, path) or "false"


def _count(path: str) -> Callable[[Json], str]:
    return lambda obj: _at(obj, path) or "0"


def _first_pod_ip(obj: Json) -> str:
    addresses = (obj.get("status") or {}).get("podIPs")
    return addresses[0].get("ip", "") if addresses else _at(obj, "status.podIP")


def _event_source(obj: Json) -> str:
    return _at(obj, "source.component") or _at(obj, "reportingComponent")


_SPECIAL: Mapping[tuple[str, str, str], Callable[[Json], str]] = {
    ("", "Pod", "spec.host"): lambda obj: _at(obj, "spec.nodeName"),
    ("", "Pod", "spec.hostNetwork"): _flag("spec.hostNetwork"),
    ("", "Pod", "status.podIP"): _first_pod_ip,
    # Upstream takes this one and then never fills it in.
    ("", "Pod", "status.podIPs"): lambda obj: "",
    ("", "Node", "spec.unschedulable"): _flag("spec.unschedulable"),
    ("", "ReplicationController", "status.replicas"): _count("status.replicas"),
    ("", "Event", "source"): _event_source,
    ("batch", "Job", "status.successful"): _count("status.succeeded"),
}
