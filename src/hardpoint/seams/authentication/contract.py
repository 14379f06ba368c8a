"""What both sides of the authentication seam promise: somebody is asked whose bearer token it is.

On the wire that is one POST of a `TokenReview` of authentication.k8s.io, whose `spec` holds the token and, where only
some audiences will do, these. The same kind comes back with a `status`: `authenticated` and a `user`, or not. A token
nobody knows is an ordinary answer, not an error; `error` says that the token could not be checked. `audiences` are
those asked for that the token is good for; a guest that knows of no audiences leaves them out, and then the token is
good for the cluster's own. Any review may be asked again, and answers may be kept for minutes.

Tokens are secrets. Neither side writes one down, and no status, error or log line holds one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple, NotRequired, Protocol, TypedDict

from hardpoint.machinery import reviews
from hardpoint.machinery.messages import User
from hardpoint.machinery.reviews import BadReview

GROUP = "authentication.k8s.io"
KIND: Final = "TokenReview"
VERSIONS = ("v1", "v1beta1")

Version = Literal["v1", "v1beta1"]


class UserInfo(TypedDict, total=False):
    username: str
    uid: str
    groups: list[str]
    extra: dict[str, list[str]]


class TokenReviewSpec(TypedDict):
    token: str
    audiences: NotRequired[list[str]]


class TokenReviewStatus(TypedDict, total=False):
    authenticated: bool
    user: UserInfo
    audiences: list[str]
    error: str


class TokenReview(TypedDict):
    """Asked with a `spec`, answered with a `status`; a guest need not send the spec back."""

    apiVersion: str
    kind: Literal["TokenReview"]
    metadata: NotRequired[dict[str, Any]]
    spec: NotRequired[TokenReviewSpec]
    status: NotRequired[TokenReviewStatus]


class Identified(NamedTuple):
    """Whose token it is, and for which of the audiences that were asked for it is good."""

    user: User
    audiences: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    """Keys of what this identity ends with, where that is known: whoever remembers it forgets it when one changes."""


class RefusedCredential(Exception):
    """A credential of the right kind that is not good. The text is for the log and never holds the credential."""


class TokenAuthenticator(Protocol):
    """Knows one kind of bearer token. Calls overlap."""

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
        """Whose token this is; None if it is not of this kind. Raises RefusedCredential if it is, and is not good."""
        ...


def question(review: Any) -> tuple[Version, str, tuple[str, ...]]:
    """The version, the token and the audiences of a review that is asked. Raises BadReview."""
    version = version_of(review)
    spec = review.get("spec")
    if not isinstance(spec, dict) or not isinstance(spec.get("token"), str):
        raise BadReview("spec.token must be text")
    audiences = _texts(spec.get("audiences"), "spec.audiences")
    return version, spec["token"], audiences


def verdict(review: Any, version: Version) -> TokenReviewStatus:
    """The status of a review that was answered in the version it was asked in. Raises BadReview."""
    if version_of(review) != version:
        raise BadReview(f"apiVersion must be {GROUP}/{version}, as it was asked")
    status = review.get("status", {})
    if not isinstance(status, dict) or not isinstance(status.get("authenticated", False), bool):
        raise BadReview("status.authenticated must be true or false")
    if not isinstance(status.get("error", ""), str):
        raise BadReview("status.error must be text")
    _texts(status.get("audiences"), "status.audiences")
    user_of(status)
    return status  # type: ignore[return-value]  # every field was looked at


def version_of(review: Any) -> Version:
    """Raises BadReview for what is no TokenReview of a version we know."""
    return reviews.version_of(review, GROUP, KIND, VERSIONS)  # type: ignore[return-value]  # it is one of VERSIONS


def user_of(status: Any) -> User:
    """The user a status names. Raises BadReview if it cannot be one."""
    user = status.get("user") or {}
    if not isinstance(user, dict):
        raise BadReview("status.user must be an object")
    for field in ("username", "uid"):
        if not isinstance(user.get(field, ""), str):
            raise BadReview(f"status.user.{field} must be text")
    extra = user.get("extra") or {}
    if not isinstance(extra, dict):
        raise BadReview("status.user.extra must be an object")
    return User(
        user.get("username", ""),
        _texts(user.get("groups"), "status.user.groups"),
        user.get("uid", ""),
        {key: _texts(values, "status.user.extra") for key, values in extra.items()},
    )


def user_info(user: User) -> UserInfo:
    """A user as a status names them."""
    info: UserInfo = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    if user.groups:
        info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
    return info


def review(
    version: Version, *, spec: TokenReviewSpec | None = None, status: TokenReviewStatus | None = None
) -> TokenReview:
    """A review as it is asked, or as it is answered."""
    written: TokenReview = {"apiVersion": f"{GROUP}/{version}", "kind": KIND}
    if spec is not None:
        written["spec"] = spec
    if status is not None:
        written["status"] = status
    return written


def _texts(value: Any, field: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise BadReview(f"{field} must be a list of texts")
    return tuple(value)
