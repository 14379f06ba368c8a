"""The author's side: a function that knows tokens, behind a webhook.

    @app.authenticator
    def by_badge(token: str) -> User | None:
        return BADGES.get(token)

A function that takes a second argument is told the audiences that were asked for, and may return `Identified` to say
which of them the token is good for; a `User` then is good for all of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, TypeAlias

from hardpoint.machinery import errors
from hardpoint.machinery.messages import User
from hardpoint.machinery.reviews import BadReview
from hardpoint.runtime.authored import Authored, AuthorFailed
from hardpoint.seams.authentication.contract import (
    Identified,
    TokenReviewStatus,
    question,
    review,
    user_info,
)

Found: TypeAlias = User | Identified | None
Authenticator: TypeAlias = (
    Callable[[str], Found | Awaitable[Found]] | Callable[[str, Sequence[str]], Found | Awaitable[Found]]
)
"""What an author writes."""

NOT_CHECKED = "the authenticator failed; its log says why"


class AuthenticatorGuest:
    """An author's function as a webhook that answers TokenReviews."""

    seam: ClassVar[str] = "authentication"
    flag: ClassVar[str] = "--authentication-token-webhook-config-file"
    """Where an API server is told of it."""
    admits_anyone: ClassVar[bool] = False
    body_bytes_max: ClassVar[int] = 1024 * 1024

    def __init__(self, function: Authenticator, *, path: str) -> None:
        self.path = path
        self.function: Authored[Found] = Authored("@app.authenticator", function)
        self._knows_audiences = self.function.takes("token", "audiences")
        if not self._knows_audiences and not self.function.takes("token"):
            raise self.function.wrong("must take (token), or (token, audiences)")

    async def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The review with its status. A function that fails says so in the status, and lets nobody in."""
        try:
            version, token, audiences = question(asked)
        except BadReview as wrong:
            raise errors.bad_request(str(wrong)) from wrong
        return dict(review(version, status=await self._status(token, audiences)))

    async def _status(self, token: str, audiences: tuple[str, ...]) -> TokenReviewStatus:
        if not token:
            return {"authenticated": False}
        arguments: tuple[Any, ...] = (token, audiences) if self._knows_audiences else (token,)
        try:
            found = await self.function(*arguments, secrets=(token,))
        except AuthorFailed:
            return {"authenticated": False, "error": NOT_CHECKED}
        if found is None:
            return {"authenticated": False}
        return self._good(found, audiences)

    def _good(self, found: User | Identified, audiences: tuple[str, ...]) -> TokenReviewStatus:
        if isinstance(found, User):
            found = Identified(found, audiences if self._knows_audiences else ())
        problem = _problem(found)
        if problem:
            self.function.complain(problem)
            return {"authenticated": False, "error": NOT_CHECKED}
        good_for = [audience for audience in audiences if audience in found.audiences]
        if self._knows_audiences and audiences and not good_for:
            return {"authenticated": False}
        status: TokenReviewStatus = {"authenticated": True, "user": user_info(found.user)}
        if good_for:
            status["audiences"] = good_for
        return status


def _problem(found: Any) -> str:
    """What is wrong with what a function returned; "" if nothing is."""
    if not isinstance(found, Identified) or not isinstance(found.user, User):
        return f"returned a {type(found).__name__}; return a User, or None for a token it does not know"
    user = found.user
    if not isinstance(user.name, str) or not user.name:
        return "returned a User without a name"
    texts = [user.groups, found.audiences, *user.extra.values()]
    if not isinstance(user.uid, str) or any(isinstance(each, str) for each in texts):
        return "returned a User whose uid is no text, or whose groups or extra are no lists of texts"
    if not all(isinstance(text, str) for each in texts for text in each):
        return "returned a User whose groups, audiences or extra hold something other than texts"
    return ""
