"""What both sides of the authorization seam promise: somebody is asked whether a user may do something.

On the wire that is one POST of a `SubjectAccessReview` of authorization.k8s.io, whose `spec` names the user and either
`resourceAttributes` or `nonResourceAttributes`. The same kind comes back with a `status`: `allowed`, or `denied`, or
neither, which is no opinion and leaves the decision to the next authorizer. Denied is final: nobody else is asked.
Any review may be asked again, and answers may be kept for minutes.

A guest that fails must not answer at all (500): which way its failure counts is the cluster's decision, and an answer
that says neither would let the next authorizer allow what this one might have denied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NotRequired, Protocol, TypeAlias, TypedDict

from hardpoint.machinery import reviews
from hardpoint.machinery.reviews import BadReview

GROUP = "authorization.k8s.io"
KIND: Final = "SubjectAccessReview"
VERSIONS = ("v1", "v1beta1")

Version = Literal["v1", "v1beta1"]


class Requirement(TypedDict):
    """One part of a selector. Operators are In, NotIn, Exists and DoesNotExist."""

    key: str
    operator: str
    values: NotRequired[list[str]]


class SelectorAttributes(TypedDict, total=False):
    """The selector of a list, watch or deletecollection: parsed, or as it came where it could not be parsed."""

    requirements: list[Requirement]
    rawSelector: str


class ResourceAttributes(TypedDict, total=False):
    namespace: str
    verb: str
    group: str
    version: str
    resource: str
    subresource: str
    name: str
    fieldSelector: SelectorAttributes
    labelSelector: SelectorAttributes


class NonResourceAttributes(TypedDict, total=False):
    path: str
    verb: str


class SubjectAccessReviewSpec(TypedDict, total=False):
    """Who, and what. In v1beta1 the groups are called `group`."""

    resourceAttributes: ResourceAttributes
    nonResourceAttributes: NonResourceAttributes
    user: str
    groups: list[str]
    extra: dict[str, list[str]]
    uid: str


class SubjectAccessReviewStatus(TypedDict, total=False):
    allowed: bool
    denied: bool
    reason: str
    evaluationError: str


class SubjectAccessReview(TypedDict):
    """Asked with a `spec`, answered with a `status`; a guest need not send the spec back."""

    apiVersion: str
    kind: Literal["SubjectAccessReview"]
    metadata: NotRequired[dict[str, Any]]
    spec: NotRequired[SubjectAccessReviewSpec]
    status: NotRequired[SubjectAccessReviewStatus]


@dataclass(frozen=True, slots=True)
class Allowed:
    """Yes."""

    reason: str = ""
    """For people: it is shown with a refusal, and in the audit log."""
    error: str = ""
    """What went wrong while deciding, if something did and the decision stands all the same."""


@dataclass(frozen=True, slots=True)
class Denied:
    """No, and nobody else is asked."""

    reason: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class NoOpinion:
    """Let the next authorizer decide; if there is none, that is a no."""

    reason: str = ""
    error: str = ""


Verdict: TypeAlias = Allowed | Denied | NoOpinion


class AccessReviewer(Protocol):
    """Decides. Calls overlap, and any may be repeated."""

    async def review(self, spec: SubjectAccessReviewSpec) -> Verdict:
        """Whether the user of `spec` may do what it says. Raises GuestError if there is no answer to be had."""
        ...


_TEXTS = {
    "resourceAttributes": ("namespace", "verb", "group", "version", "resource", "subresource", "name"),
    "nonResourceAttributes": ("path", "verb"),
}
"""What of a request is text."""

CONTRADICTION = "webhook subject access review returned both allow and deny response"


def question(review: Any) -> tuple[Version, SubjectAccessReviewSpec]:
    """The version and the spec of a review that is asked, with its groups under their v1 name. Raises BadReview."""
    version = version_of(review)
    spec = review.get("spec")
    if not isinstance(spec, dict):
        raise BadReview("spec must be an object")
    if version == "v1beta1" and "group" in spec:
        spec = {("groups" if key == "group" else key): value for key, value in spec.items()}
    _check_subject(spec)
    _check_attributes(spec)
    return version, spec  # type: ignore[return-value]  # what decides was looked at


def _check_subject(spec: dict[str, Any]) -> None:
    for field in ("user", "uid"):
        if not isinstance(spec.get(field, ""), str):
            raise BadReview(f"spec.{field} must be text")
    groups = spec.get("groups")
    if groups is not None and not _is_texts(groups):
        raise BadReview("spec.groups must be a list of texts")
    if not (spec.get("user") or groups):
        raise BadReview("spec must name a user or groups")
    extra = spec.get("extra")
    if extra is not None and not (isinstance(extra, dict) and all(_is_texts(values) for values in extra.values())):
        raise BadReview("spec.extra must be an object of lists of texts")


def _check_attributes(spec: dict[str, Any]) -> None:
    given = {name: spec[name] for name in _TEXTS if spec.get(name) is not None}
    if len(given) != 1:
        raise BadReview("spec must have either resourceAttributes or nonResourceAttributes")
    ((name, attributes),) = given.items()
    if not isinstance(attributes, dict):
        raise BadReview(f"spec.{name} must be an object")
    for field in _TEXTS[name]:
        if not isinstance(attributes.get(field, ""), str):
            raise BadReview(f"spec.{name}.{field} must be text")
    for field in ("fieldSelector", "labelSelector"):
        if not isinstance(attributes.get(field) or {}, dict):
            raise BadReview(f"spec.{name}.{field} must be an object")


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def verdict(review: Any, version: Version) -> Verdict:
    """What a review says that was answered in the version it was asked in. Raises BadReview."""
    if version_of(review) != version:
        raise BadReview(f"apiVersion must be {GROUP}/{version}, as it was asked")
    status = review.get("status", {})
    if not isinstance(status, dict):
        raise BadReview("status must be an object")
    for field in ("allowed", "denied"):
        if not isinstance(status.get(field, False), bool):
            raise BadReview(f"status.{field} must be true or false")
    for field in ("reason", "evaluationError"):
        if not isinstance(status.get(field, ""), str):
            raise BadReview(f"status.{field} must be text")
    reason, error = status.get("reason", ""), status.get("evaluationError", "")
    if status.get("denied"):
        return Denied(reason, CONTRADICTION if status.get("allowed") else error)
    return Allowed(reason, error) if status.get("allowed") else NoOpinion(reason, error)


def version_of(review: Any) -> Version:
    """Raises BadReview for what is no SubjectAccessReview of a version we know."""
    return reviews.version_of(review, GROUP, KIND, VERSIONS)  # type: ignore[return-value]  # it is one of VERSIONS


def asked(version: Version, spec: SubjectAccessReviewSpec) -> SubjectAccessReview:
    """A review as it is asked."""
    if version == "v1beta1" and "groups" in spec:
        renamed = {("group" if key == "groups" else key): value for key, value in spec.items()}
        spec = renamed  # type: ignore[assignment]  # v1beta1's spelling of the same thing
    return {"apiVersion": f"{GROUP}/{version}", "kind": KIND, "spec": spec}


def answered(version: Version, said: Verdict) -> SubjectAccessReview:
    """A review as it is answered."""
    status: SubjectAccessReviewStatus = {"allowed": isinstance(said, Allowed)}
    if isinstance(said, Denied):
        status["denied"] = True
    if said.reason:
        status["reason"] = said.reason
    if said.error:
        status["evaluationError"] = said.error
    return {"apiVersion": f"{GROUP}/{version}", "kind": KIND, "status": status}
