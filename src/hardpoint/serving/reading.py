"""From bytes to Requests.

llhttp, below httptools, decides what is HTTP; it refuses every ambiguous framing (two lengths, a length and chunks,
folded headers, bare line feeds). What remains here: limits, the few checks llhttp leaves to its caller, methods it
does not know, and the shape of a Request. No I/O: bytes go in by `feed`, requests come out by the `deliver` callback.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

import httptools

from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Peer, Request
from hardpoint.serving.limits import Limits


class Refusal(NamedTuple):
    """A request that reaches no handler. The connection ends with it.

    With an `error` it is answered by that Status, else by the words of its status line, as Go's server does.
    """

    status: int
    error: ApiError | None = None
    lingers: bool = False
    """Whether the client is probably still sending, and would lose the answer to a reset."""


BAD_REQUEST = Refusal(400)
BAD_FRAMING = Refusal(400, lingers=True)
TIMED_OUT = Refusal(408)
UNKNOWN_EXPECTATION = Refusal(417, lingers=True)
HEAD_TOO_LARGE = Refusal(431, lingers=True)
UNKNOWN_CODING = Refusal(501, lingers=True)
UNKNOWN_VERSION = Refusal(505)


class Manner(NamedTuple):
    """How an answer is given: what it says about the connection, whether that is kept, whether chunks will do."""

    header: bytes
    keeps: bool
    chunks: bool


KEEP = Manner(b"", keeps=True, chunks=True)
CLOSE = Manner(b"Connection: close\r\n", keeps=False, chunks=True)
KEEP_1_0 = Manner(b"Connection: keep-alive\r\n", keeps=True, chunks=False)
CLOSE_1_0 = Manner(b"Connection: close\r\n", keeps=False, chunks=False)

MANNERS = {("1.1", True): KEEP, ("1.1", False): CLOSE, ("1.0", True): KEEP_1_0, ("1.0", False): CLOSE_1_0}


class Phase(Enum):
    """Where in a message the peer is."""

    BETWEEN = "between messages"
    HEAD = "in the head"
    BODY = "in the body"


Deliver = Callable[[Request, Manner], None]

# A method llhttp does not know is still a method: the walk answers it with 405 in Kubernetes' words.
_FOREIGN_METHOD = re.compile(rb"(?:\r\n)*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) ")

WHOLE_VALUES = ("impersonate-", "x-remote-")
"""How headers begin whose values are taken one by one and may contain commas, so that a comma cannot join them."""


class Reader:
    """Reads one connection. After a refusal, or a request that ends the connection, it reads no further."""

    __slots__ = (
        "_body",
        "_body_wire_bytes",
        "_completed",
        "_deliver",
        "_foreign_method",
        "_head_bytes",
        "_header_count",
        "_headers",
        "_is_over",
        "_limits",
        "_parser",
        "_peer",
        "_refusal",
        "_url",
        "_whole_values",
        "body_bytes",
        "expects_continue",
        "messages",
        "phase",
    )

    def __init__(
        self, peer: Peer, deliver: Deliver, limits: Limits, whole_values: tuple[str, ...] = WHOLE_VALUES
    ) -> None:
        self.phase = Phase.BETWEEN
        self.messages = 0
        """How many messages have begun."""
        self.body_bytes = 0
        """How much of the current message's body has come."""
        self.expects_continue = False
        """Whether the client waits for a 100 before it sends the body. Whoever sends it sets this to False."""
        self._peer = peer
        self._deliver = deliver
        self._limits = limits
        self._whole_values = whole_values
        self._parser = httptools.HttpRequestParser(self)
        self._foreign_method = ""
        self._completed = 0
        self._refusal: Refusal | None = None
        self._is_over = False

    def feed(self, data: bytes) -> Refusal | None:
        """Read on. Returns the refusal, once, when there is one; the requests before it have been delivered then."""
        if self._is_over:
            return None
        refusal = self._feed(data)
        if refusal is not None:
            self._is_over = True
        return refusal

    def _feed(self, data: bytes) -> Refusal | None:
        was_between, completed, messages = self.phase is Phase.BETWEEN, self._completed, self.messages
        if self.phase is Phase.HEAD and self._head_grows_too_large(data):
            return HEAD_TOO_LARGE
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            return None  # Nobody here switches protocols: the request was delivered as one that ends the connection.
        except httptools.HttpParserInvalidMethodError:
            starts_here = was_between and self._completed == completed
            method = _FOREIGN_METHOD.match(data) if starts_here else None
            if method is None:
                return None if self._is_over else BAD_REQUEST
            self._foreign_method = method[1].decode()
            self._parser = httptools.HttpRequestParser(self)
            return self._feed(b"GET " + data[method.end() :])
        except httptools.HttpParserCallbackError:
            if self._refusal is None:
                raise
            return self._refusal
        except httptools.HttpParserError:
            return None if self._is_over else BAD_REQUEST
        if self.phase is Phase.BODY and self.messages == messages:
            return self._count_framing(len(data))
        if self.phase is Phase.HEAD and (self.messages == messages or (was_between and self._completed == completed)):
            # A head that began somewhere behind another message is not counted before the next read.
            self._head_bytes += len(data)
        return None

    def _count_framing(self, wire_bytes: int) -> Refusal | None:
        """Refuse a body that is mostly chunk sizes, chunk extensions and trailers: work for us, nothing for the API."""
        self._body_wire_bytes += wire_bytes
        framing_bytes = self._body_wire_bytes - self.body_bytes
        return BAD_FRAMING if framing_bytes > self.body_bytes + self._limits.framing_bytes_spare else None

    def _head_grows_too_large(self, data: bytes) -> bool:
        limit = self._limits.head_bytes_max
        if self._head_bytes + len(data) <= limit:
            return False
        end = data.find(b"\r\n\r\n")
        return self._head_bytes + (end if end >= 0 else len(data)) > limit

    # What follows is called by the parser, in this order. An exception stops it.

    def on_message_begin(self) -> None:
        self.phase = Phase.HEAD
        self.messages += 1
        self.body_bytes = 0
        self._url = b""
        self._headers: dict[str, str] = {}
        self._header_count = 0
        self._head_bytes = 0
        self._body: list[bytes] = []
        self._body_wire_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.phase is not Phase.HEAD:
            return  # A trailer. Nothing in the API reads one, and as a header it would come after the decisions.
        headers, key, text = self._headers, name.decode("latin-1").lower(), value.decode("latin-1").rstrip(" \t")
        if key not in headers:
            headers[key] = text
        elif key == "host":
            self._refuse(BAD_REQUEST)
        else:
            headers[key] += ("\n" if key.startswith(self._whole_values) else ", ") + text
        self._header_count += 1
        if self._header_count > self._limits.headers_max:
            self._refuse(HEAD_TOO_LARGE)

    def on_headers_complete(self) -> None:
        self.phase = Phase.BODY
        headers, version = self._headers, self._parser.get_http_version()
        if version not in ("1.1", "1.0"):
            self._refuse(UNKNOWN_VERSION)
        if version == "1.1" and "host" not in headers:
            self._refuse(BAD_REQUEST)
        if "transfer-encoding" in headers:
            self._check_coding(headers["transfer-encoding"], version)
        elif "content-length" in headers and int(headers["content-length"]) > self._limits.body_bytes_max:
            self._refuse_body()
        if "expect" in headers:
            if headers["expect"].lower() != "100-continue":
                self._refuse(UNKNOWN_EXPECTATION)
            self.expects_continue = True

    def _check_coding(self, coding: str, version: str) -> None:
        if version == "1.0":
            self._refuse(BAD_REQUEST)
        if coding.lower() != "chunked":
            self._refuse(UNKNOWN_CODING)

    def on_body(self, chunk: bytes) -> None:
        self.body_bytes += len(chunk)
        if self.body_bytes > self._limits.body_bytes_max:
            self._refuse_body()
        self._body.append(chunk)

    def on_message_complete(self) -> None:
        self.phase = Phase.BETWEEN
        self.expects_continue = False
        self._completed += 1
        parser = self._parser
        path, _, query = _target(self._url).partition("?")
        method = self._foreign_method or parser.get_method().decode()
        self._foreign_method = ""
        keeps = parser.should_keep_alive() and not parser.should_upgrade()
        if not keeps:
            self._is_over = True
        request = Request(method, path, query, self._headers, b"".join(self._body), self._peer)
        self._deliver(request, MANNERS[parser.get_http_version(), keeps])

    def _refuse_body(self) -> None:
        self._body.clear()
        self._refuse(Refusal(413, errors.too_large(self._limits.body_bytes_max), lingers=True))

    def _refuse(self, refusal: Refusal) -> None:
        self._refusal = refusal
        raise _Refused


class _Refused(Exception):
    """Stops the parser; `feed` returns the refusal."""


def _target(url: bytes) -> str:
    """The path and query, also of a request in absolute form, as sent to a proxy. llhttp lets only ASCII pass."""
    text = url.decode("ascii")
    if text.startswith("/") or "://" not in text:
        return text
    _, slash, rest = text.partition("://")[2].partition("/")
    return slash + rest or "/"
