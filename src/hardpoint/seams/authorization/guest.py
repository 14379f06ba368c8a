"""The author's side: a function that decides, behind a webhook.

@app.authorizer
def no_secrets_at_night(request: AccessRequest) -> Verdict:
    asked = request.resourceAttributes
    if asked and asked.resource == "secrets" and is_night():
        return Denied("not at night")
    return NoOpinion()
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeAlias

from hardpoint.machinery import errors
from hardpoint.machinery.reviews import BadReview
from hardpoint.machinery.views import View
from hardpoint.runtime.authored import Authored, AuthorFailed
from hardpoint.seams.authorization.contract import (
    Allowed,
    Denied,
    NoOpinion,
    Verdict,
    answered,
    question,
)


class Requirement(View):
    """One part of a selector."""

    key: str
    operator: str
    values: list[str]


class Selector(View):
    """The selector of a list, watch or deletecollection."""

    requirements: list[Requirement]
    rawSelector: str


class ResourceAttributes(View):
    """What is asked of a resource. An empty namespace is all of them, or the cluster's scope."""

    namespace: str
    verb: str
    group: str
    version: str
    resource: str
    subresource: str
    name: str
    fieldSelector: Selector | None
    labelSelector: Selector | None


class NonResourceAttributes(View):
    """What is asked of a path that is no resource."""

    path: str
    verb: str


class AccessRequest(View):
    """Who wants to do what: exactly one of `resourceAttributes` and `nonResourceAttributes` is not None."""

    user: str
    groups: list[str]
    uid: str
    extra: dict[str, list[str]]
    resourceAttributes: ResourceAttributes | None
    nonResourceAttributes: NonResourceAttributes | None


Authorizer: TypeAlias = Callable[[AccessRequest], Verdict | Awaitable[Verdict]]
"""What an author writes."""


class AuthorizerGuest:
    """An author's function as a webhook that answers SubjectAccessReviews."""

    seam: ClassVar[str] = "authorization"
    flag: ClassVar[str] = "--authorization-webhook-config-file"
    """Where an API server is told of it."""
    admits_anyone: ClassVar[bool] = False
    body_bytes_max: ClassVar[int] = 1024 * 1024

    def __init__(self, function: Authorizer, *, path: str) -> None:
        self.path = path
        self.function: Authored[Verdict] = Authored("@app.authorizer", function)
        if not self.function.takes("request"):
            raise self.function.wrong("must take one argument, the request")

    async def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The review with its status. A function that fails is not answered for: the cluster decides what that means.

        Raises AuthorFailed, and 400 for what is no review.
        """
        try:
            version, spec = question(asked)
        except BadReview as wrong:
            raise errors.bad_request(str(wrong)) from wrong
        said = await self.function(AccessRequest(spec))
        if not isinstance(said, Allowed | Denied | NoOpinion):
            self.function.complain(f"returned a {type(said).__name__}; return Allowed(), Denied() or NoOpinion()")
            raise AuthorFailed(f"{self.function.name} gave no verdict")
        return dict(answered(version, said))
