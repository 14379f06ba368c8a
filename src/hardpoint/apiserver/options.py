"""What a request's query asks for, checked with kube-apiserver's words.

Each options class is made from the decoded query; wrong values raise 400, contradictions 422.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from hardpoint.machinery import errors, fielderrors
from hardpoint.machinery.fielderrors import FieldError, quote
from hardpoint.machinery.remembering import remembered
from hardpoint.machinery.validation.metadata import field_manager

Query = Mapping[str, Sequence[str]]

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_INTEGER_LENGTH_MAX = 20
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_NOT_FOR_COLLECTIONS = "ignoreStoreReadErrorWithClusterBreakingPotential"


@remembered(count=4096)
def parse_query(query: str) -> Query:
    """The parameters of a query string, each with all its values; what is written wrongly is left out, as Go does."""
    if ";" in query or "%" in query:
        query = "&".join(part for part in query.split("&") if ";" not in part and not _BAD_ESCAPE.search(part))
    return parse_qs(query, keep_blank_values=True)


def first(query: Query, name: str) -> str:
    values = query.get(name)
    return values[0] if values else ""


def is_watch(query_text: str) -> bool:
    """Whether `?watch` is on."""
    return "watch" in query_text and bool(_boolean(parse_query(query_text), "watch"))


def _boolean(query: Query, name: str) -> bool | None:
    values = query.get(name)
    if not values:
        return None
    # Kubernetes reads booleans of a query leniently: whatever is not clearly false is true.
    return values[0] != "0" and values[0].lower() != "false"


def _integer(query: Query, name: str) -> int | None:
    if name not in query:
        return None
    text = first(query, name)
    if not _INTEGER.fullmatch(text):
        why = "invalid syntax"
    elif len(text) > _INTEGER_LENGTH_MAX or not -(2**63) <= int(text) < 2**63:
        why = "value out of range"
    else:
        return int(text)
    raise errors.bad_request(f"strconv.ParseInt: parsing {quote(text)}: {why}")


class ListOptions(NamedTuple):
    """How to list or watch."""

    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    token: str = ""
    resource_version: str = ""
    match: str = ""
    timeout_seconds: int | None = None
    bookmarks: bool = False
    initial_events: bool | None = None


_PLAIN_LIST = ListOptions()


@remembered(count=1024)
def list_options(query_text: str, *, watch: bool) -> ListOptions:
    """The options of a list, a watch or a deletecollection."""
    if not query_text:
        return _PLAIN_LIST
    query = parse_query(query_text)
    options = ListOptions(
        label_selector=first(query, "labelSelector"),
        field_selector=first(query, "fieldSelector"),
        limit=max(_integer(query, "limit") or 0, 0),
        token=first(query, "continue"),
        resource_version=first(query, "resourceVersion"),
        match=first(query, "resourceVersionMatch"),
        timeout_seconds=_integer(query, "timeoutSeconds"),
        bookmarks=bool(_boolean(query, "allowWatchBookmarks")),
        initial_events=_boolean(query, "sendInitialEvents"),
    )
    wrong = _watch_contradictions(options) if watch else _list_contradictions(options)
    if wrong:
        raise errors.invalid("ListOptions.meta.k8s.io", "", wrong)
    return options


_MATCHES = ("", "Exact", "NotOlderThan")


def _list_contradictions(options: ListOptions) -> list[FieldError]:
    wrong = []
    match = options.match
    if match:
        field = "resourceVersionMatch"
        if not options.resource_version:
            text = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            wrong.append(fielderrors.forbidden(field, text))
        if options.token:
            wrong.append(fielderrors.forbidden(field, "resourceVersionMatch is forbidden when continue is provided"))
        if match not in _MATCHES:
            wrong.append(fielderrors.not_supported(field, match, ("Exact", "NotOlderThan", "")))
        if match == "Exact" and options.resource_version == "0":
            text = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            wrong.append(fielderrors.forbidden(field, text))
    if options.initial_events is not None:
        wrong.append(fielderrors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return wrong


def _watch_contradictions(options: ListOptions) -> list[FieldError]:
    wrong = []
    field, match = "resourceVersionMatch", options.match
    if options.initial_events is not None and match != "NotOlderThan":
        text = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        wrong.append(fielderrors.forbidden(field, text))
    if match and options.initial_events is None:
        text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        wrong.append(fielderrors.forbidden(field, text))
    if match not in ("", "NotOlderThan"):
        wrong.append(fielderrors.not_supported(field, match, ("NotOlderThan",)))
    if options.token:
        # Upstream says so whether there is a match or not.
        wrong.append(fielderrors.forbidden(field, "resourceVersionMatch is forbidden when continue is provided"))
    return wrong


_REVISION_MAX = 2**64 - 1


def resource_version(text: str, about: str = "") -> int:
    """A resourceVersion as a number; empty is 0. Raises 400, whose message begins with what it is `about`."""
    if text in ("", "0"):
        return 0
    if not (text.isascii() and text.isdigit()):
        why = "invalid syntax"
    elif len(text) > len(str(_REVISION_MAX)) or int(text) > _REVISION_MAX:
        why = "value out of range"
    else:
        return int(text)
    wrong = f"Invalid value: {quote(text)}: strconv.ParseUint: parsing {quote(text)}: {why}"
    raise errors.bad_request(f"{about}resourceVersion: {wrong}")


class WriteOptions(NamedTuple):
    """How to create, update or patch."""

    dry_run: bool = False
    field_manager: str = ""
    field_validation: str = "Warn"
    force: bool | None = None


_PLAIN_WRITE = WriteOptions()


@remembered(count=1024)
def write_options(query_text: str, *, kind: str) -> WriteOptions:
    """The options of a write; `kind` is CreateOptions, UpdateOptions or PatchOptions, for messages."""
    if not query_text:
        return _PLAIN_WRITE
    query = parse_query(query_text)
    dry_run = [value for value in query.get("dryRun", ()) if value]
    manager = first(query, "fieldManager")
    validation = first(query, "fieldValidation")
    force = _boolean(query, "force") if kind == "PatchOptions" else None
    wrong = dry_run_errors(dry_run) + field_manager("fieldManager", manager)
    if validation not in _VALIDATIONS:
        wrong.append(fielderrors.not_supported("fieldValidation", validation, _VALIDATIONS))
    if wrong:
        raise errors.invalid(f"{kind}.meta.k8s.io", "", wrong)
    return WriteOptions(bool(dry_run), manager, validation or "Warn", force)


def dry_run_errors(values: Sequence[str]) -> list[FieldError]:
    """`dryRun` may only be All."""
    if all(value == "All" for value in values):
        return []
    return [fielderrors.not_supported("dryRun", list(values), ("All",))]


class DeleteOptions(NamedTuple):
    """How to delete."""

    grace_seconds: int | None = None
    uid: str | None = None
    resource_version: str | None = None
    orphan: bool | None = None
    propagation: str | None = None
    dry_run: bool = False


_POLICIES = ("Background", "Foreground", "Orphan")


def check_collection_options(body: Mapping[str, Any] | None) -> None:
    """One option is about a single object that cannot be read. Raises 422."""
    if body and body.get(_NOT_FOR_COLLECTIONS):
        told = "is not allowed with DELETECOLLECTION, try again after removing the option"
        raise errors.invalid("DeleteOptions.meta.k8s.io", "", [fielderrors.invalid(_NOT_FOR_COLLECTIONS, True, told)])


def delete_options(body: Mapping[str, Any] | None, query: Query) -> DeleteOptions:
    """The options of a delete: from its body, or where there is none from its query."""
    if body is None:
        dry_run: Sequence[str] = [value for value in query.get("dryRun", ()) if value]
        options = DeleteOptions(
            grace_seconds=_integer(query, "gracePeriodSeconds"),
            orphan=_boolean(query, "orphanDependents"),
            propagation=first(query, "propagationPolicy") or None,
            dry_run=bool(dry_run),
        )
    else:
        preconditions = body.get("preconditions") or {}
        dry_run = body.get("dryRun") or []
        options = DeleteOptions(
            body.get("gracePeriodSeconds"),
            preconditions.get("uid"),
            preconditions.get("resourceVersion"),
            body.get("orphanDependents"),
            body.get("propagationPolicy"),
            bool(dry_run),
        )
    wrong = dry_run_errors(dry_run)
    if options.orphan is not None and options.propagation is not None:
        text = "orphanDependents and deletionPropagation cannot be both set"
        wrong.append(fielderrors.invalid("propagationPolicy", options.propagation, text))
    elif options.propagation is not None and options.propagation not in _POLICIES:
        supported = ("Foreground", "Background", "Orphan", "nil")
        wrong.append(fielderrors.not_supported("propagationPolicy", options.propagation, supported))
    if wrong:
        raise errors.invalid("DeleteOptions.meta.k8s.io", "", wrong)
    return options
