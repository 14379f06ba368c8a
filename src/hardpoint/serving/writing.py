"""From Responses to bytes. What is the same for many answers is made once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from http import HTTPStatus

import orjson

from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Response
from hardpoint.serving.reading import CLOSE, Manner, Refusal

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_BODILESS = frozenset({204, 304})


def whole_answer(response: Response, manner: Manner, *, with_body: bool) -> tuple[bytes, bytes]:
    """Head and body of an answer without a stream. `with_body` is False for HEAD, which still tells the length."""
    if response.status in _BODILESS:
        return _start(response.status, "", manner.header) + _lines(response.headers) + b"\r\n", b""
    body = response.body
    head = b"%bContent-Length: %d\r\n%b\r\n" % (
        _start(response.status, response.content_type, manner.header),
        len(body),
        _lines(response.headers),
    )
    return head, body if with_body else b""


def stream_head(response: Response, manner: Manner) -> bytes:
    """The head of an answer that comes in pieces: chunks, or for HTTP/1.0 whatever comes until the connection ends."""
    coding = b"Transfer-Encoding: chunked\r\n" if manner.chunks else b""
    return _start(response.status, response.content_type, manner.header) + coding + _lines(response.headers) + b"\r\n"


def refusal_answer(refusal: Refusal) -> bytes:
    if refusal.error is not None:
        response = status_response(refusal.error)
    else:
        words = f"{refusal.status} {_phrase(refusal.status)}".encode()
        response = Response(refusal.status, words, "text/plain; charset=utf-8")
    return b"".join(whole_answer(response, CLOSE, with_body=True))


def status_response(error: ApiError) -> Response:
    return Response(error.code, orjson.dumps(error.status()))


@lru_cache(maxsize=512)
def _start(status: int, content_type: str, connection: bytes) -> bytes:
    kind = f"Content-Type: {content_type}\r\n" if content_type else ""
    return f"HTTP/1.1 {status} {_phrase(status)}\r\n{kind}".encode("latin-1", "replace") + connection


def _lines(headers: Sequence[tuple[str, str]]) -> bytes:
    if not headers:
        return b""
    text = "".join([f"{name}: {value}\r\n" for name, value in headers])
    if text.count("\n") != len(headers) or text.count("\r") != len(headers):
        # A header's value can quote an object's; no object may end a header and begin another.
        text = "".join([f"{_one_line(name)}: {_one_line(value)}\r\n" for name, value in headers])
    return text.encode("utf-8", "replace")


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return f"status code {status}"
