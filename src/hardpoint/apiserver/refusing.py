"""Answers that say no."""

from __future__ import annotations

from hardpoint.apiserver import answers
from hardpoint.apiserver.flow.contract import Overloaded
from hardpoint.apiserver.negotiation import Form, choose
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.messages import Request, Response
from hardpoint.serving.health import TEXT

_NO_SNIFFING = ("X-Content-Type-Options", "nosniff")


def refusal(request: Request, refused: ApiError) -> Response:
    """A Status in the form the client takes; in JSON if it takes none of ours."""
    try:
        form = choose(request.headers.get("accept", ""), transforms=False)
    except ApiError:
        form = Form()
    response = answers.plain(request, form, encode(refused.status()), status=refused.code)
    headers = [_NO_SNIFFING] if refused.code == 403 else []
    if refused.retry_after_seconds > 0:
        headers.append(("Retry-After", str(refused.retry_after_seconds)))
    response.headers = headers
    return response


def too_many(full: Overloaded) -> Response:
    """There is no room; kube-apiserver says so in plain text."""
    headers = (("Retry-After", str(full.retry_after_seconds)), _NO_SNIFFING, *full.headers)
    return Response(429, b"Too many requests, please try again later.\n", TEXT, headers)


def unrecorded(request: Request) -> Response:
    """The request could not be audited, and may not go on without."""
    uri = f"{request.path}?{request.query}" if request.query else request.path
    text = f"Internal Server Error: {quote(uri)}: failed to store audit event\n"
    return Response(500, text.encode("utf-8", "replace"), TEXT, (_NO_SNIFFING,))
