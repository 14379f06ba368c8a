"""The reader alone: bytes in, requests and refusals out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.messages import Peer, Request
from hardpoint.serving.limits import Limits
from hardpoint.serving.reading import CLOSE, CLOSE_1_0, KEEP, KEEP_1_0, Manner, Phase, Reader

PEER = Peer("test")
SMALL = Limits(body_bytes_max=10, head_bytes_max=300, headers_max=5, framing_bytes_spare=200)


class Inbox:
    def __init__(self, limits: Limits = SMALL) -> None:
        self.requests: list[Request] = []
        self.manners: list[Manner] = []
        self.reader = Reader(PEER, self._deliver, limits)

    def _deliver(self, request: Request, manner: Manner) -> None:
        self.requests.append(request)
        self.manners.append(manner)

    def feed(self, data: bytes) -> int:
        """The status of the refusal, 0 if there is none."""
        refusal = self.reader.feed(data)
        return refusal.status if refusal else 0


def test_a_request_is_what_was_sent() -> None:
    inbox = Inbox()
    assert not inbox.feed(b"PUT /a%2Fb?c=%20d HTTP/1.1\r\nHost: h\r\nX-Y: Z \r\nContent-Length: 3\r\n\r\nabc")
    expected = Request("PUT", "/a%2Fb", "c=%20d", {"host": "h", "x-y": "Z", "content-length": "3"}, b"abc", PEER)
    assert inbox.requests == [expected]
    assert inbox.reader.phase is Phase.BETWEEN


HEAD = b"POST / HTTP/1.1\r\nHost: h\r\n"
REFUSED = {
    "length and chunks": (HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "chunks and length": (HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400),
    "two equal lengths": (HEAD + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
    "two lengths": (HEAD + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400),
    "a list of lengths": (HEAD + b"Content-Length: 3, 3\r\n\r\nabc", 400),
    "a signed length": (HEAD + b"Content-Length: +3\r\n\r\nabc", 400),
    "a negative length": (HEAD + b"Content-Length: -3\r\n\r\nabc", 400),
    "a hexadecimal length": (HEAD + b"Content-Length: 0x3\r\n\r\nabc", 400),
    "a length beyond counting": (HEAD + b"Content-Length: 99999999999999999999999\r\n\r\n", 400),
    "a folded header": (HEAD + b"X: a\r\n b\r\n\r\n", 400),
    "a fold at the start": (b"GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400),
    "bare line feeds": (b"GET / HTTP/1.1\nHost: h\n\n", 400),
    "one bare line feed": (HEAD + b"X: y\nZ: a\r\n\r\n", 400),
    "a bare carriage return": (HEAD + b"X: y\rZ: a\r\n\r\n", 400),
    "space before a colon": (HEAD + b"X : y\r\n\r\n", 400),
    "a header without a name": (HEAD + b": y\r\n\r\n", 400),
    "NUL in a header": (HEAD + b"X: a\x00b\r\n\r\n", 400),
    "a chunk size that is none": (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    "a chunk size too many": (HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", 400),
    "a chunk longer than it says": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", 400),
    "a chunk ended by a line feed": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", 400),
    "a space after a chunk size": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n", 400),
    "chunks that are not last": (HEAD + b"Transfer-Encoding: chunked, gzip\r\n\r\n", 400),
    "chunks twice": (HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "a coding we do not do": (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    "chunks in HTTP/1.0": (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two hosts": (HEAD + b"Host: h\r\n\r\n", 400),
    "a path beyond ASCII": (b"GET /\xff HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    "a control character in the path": (b"GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    "a relative path": (b"GET a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    "a version to come": (b"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505),
    "a version that never was": (b"GET / HTTP/1.5\r\nHost: h\r\n\r\n", 400),
    "HTTP/2 with prior knowledge": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "a TLS hello in TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    "a body too long by its length": (HEAD + b"Content-Length: 11\r\n\r\n", 413),
    "a body too long by its chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\nb\r\n0123456789a\r\n", 413),
    "an expectation we do not know": (HEAD + b"Expect: miracles\r\n\r\n", 417),
    "too many headers": (HEAD + b"A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\n\r\n", 431),
}


@pytest.mark.parametrize(("data", "status"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused(data: bytes, status: int) -> None:
    inbox = Inbox()
    assert inbox.feed(data) == status
    assert inbox.requests == []
    assert not inbox.feed(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"), "it reads no further"
    assert inbox.requests == []


@pytest.mark.parametrize(("data", "status"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_at_once_is_refused_byte_by_byte(data: bytes, status: int) -> None:
    inbox = Inbox()
    statuses = [inbox.feed(data[i : i + 1]) for i in range(len(data))]
    assert [found for found in statuses if found] in ([status], [400])
    assert inbox.requests == []


def test_requests_before_a_bad_one_are_delivered() -> None:
    inbox = Inbox()
    assert inbox.feed(b"GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\nHost: h\n\n") == 400
    assert [request.path for request in inbox.requests] == ["/a"]


def test_a_body_of_exactly_the_limit_is_fine() -> None:
    inbox = Inbox()
    assert not inbox.feed(HEAD + b"Content-Length: 10\r\n\r\n0123456789")
    assert not inbox.feed(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n5;x=y\r\n56789\r\n0\r\n\r\n")
    assert [request.body for request in inbox.requests] == [b"0123456789"] * 2


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("framing", "status"),
    [
        pytest.param([b"1\r\nx\r\n"] * 9 + [b"0\r\n\r\n"], 0, id="small chunks are fine"),
        pytest.param([b"1;a=b", b"c" * 300], 400, id="an endless extension"),
        pytest.param(
            [b"0\r\n", b"X: " + b"y" * 100 + b"\r\n", b"Z: " + b"y" * 100 + b"\r\n"], 400, id="endless trailers"
        ),
    ],
)
def test_a_body_that_is_mostly_framing(framing: list[bytes], status: int) -> None:
    inbox = Inbox()
    inbox.feed(CHUNKED)
    assert max(inbox.feed(part) for part in framing) == status


@pytest.mark.parametrize(("size", "status"), [(250, 0), (310, 431)])
def test_the_limit_of_the_head_counts_the_head_only(size: int, status: int) -> None:
    head = b"GET / HTTP/1.1\r\nHost: h\r\nX: "
    data = head + b"x" * (size - len(head) - 4) + b"\r\n\r\n" + b"GET /next HTTP/1.1\r\nHost: h\r\n\r\n" * 20
    inbox = Inbox()
    statuses = [inbox.feed(data[i : i + 100]) for i in range(0, len(data), 100)]
    assert max(statuses) == status
    assert len(inbox.requests) == (0 if status else 21)


def test_a_trailer_is_not_a_header() -> None:
    inbox = Inbox()
    inbox.feed(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX-Remote-User: root\r\n\r\n")
    assert "x-remote-user" not in inbox.requests[0].headers


@pytest.mark.parametrize(
    ("name", "joined"), [("Accept", "a, b,c"), ("Impersonate-Group", "a\nb,c"), ("X-Remote-Group", "a\nb,c")]
)
def test_repeated_headers(name: str, joined: str) -> None:
    inbox = Inbox()
    inbox.feed(HEAD + f"{name}: a\r\n{name}: b,c\r\n\r\n".encode())
    assert inbox.requests[0].headers[name.lower()] == joined


@pytest.mark.parametrize("method", ["FOO", "get", "M-SEARCH", "a" * 64])
def test_methods_nobody_knows_are_delivered(method: str) -> None:
    inbox = Inbox()
    assert not inbox.feed(f"{method} /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n".encode())
    assert not inbox.feed(f"{method} /c HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx".encode())
    found = [(request.method, request.path, request.body) for request in inbox.requests]
    assert found == [(method, "/a", b""), ("GET", "/b", b""), (method, "/c", b"x")]


def test_a_request_before_an_unknown_method_is_delivered_once() -> None:
    inbox = Inbox()
    assert inbox.feed(b"GET /a HTTP/1.1\r\nHost: h\r\n\r\nFOO /b HTTP/1.1\r\nHost: h\r\n\r\n") == 400
    assert [request.path for request in inbox.requests] == ["/a"]


@pytest.mark.parametrize(
    ("start", "more", "manner"),
    [
        ("GET / HTTP/1.1", "", KEEP),
        ("GET / HTTP/1.1", "Connection: close\r\n", CLOSE),
        ("GET / HTTP/1.0", "", CLOSE_1_0),
        ("GET / HTTP/1.0", "Connection: keep-alive\r\n", KEEP_1_0),
        ("GET / HTTP/1.1", "Connection: Upgrade\r\nUpgrade: websocket\r\n", CLOSE),
        ("CONNECT a:1 HTTP/1.1", "", CLOSE),
    ],
)
def test_what_becomes_of_the_connection(start: str, more: str, manner: Manner) -> None:
    inbox = Inbox()
    assert not inbox.feed(f"{start}\r\nHost: h\r\n{more}\r\n".encode())
    assert inbox.manners == [manner]


def test_nothing_is_read_after_the_last_request() -> None:
    inbox = Inbox()
    assert not inbox.feed(
        b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"
    )
    assert not inbox.feed(b"more")
    assert len(inbox.requests) == 1


def test_bytes_after_an_upgrade_are_not_a_request() -> None:
    inbox = Inbox()
    upgrade = b"GET /exec HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n"
    assert not inbox.feed(upgrade + b"GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
    assert [request.path for request in inbox.requests] == ["/exec"]


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("http://host:1/p?q", "/p", "q"),
        ("https://host", "/", ""),
        ("*", "*", ""),
        ("/p?a?b#c", "/p", "a?b#c"),
        ("/p://q", "/p://q", ""),
    ],
)
def test_forms_of_the_target(target: str, path: str, query: str) -> None:
    inbox = Inbox()
    inbox.feed(f"OPTIONS {target} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
    assert (inbox.requests[0].path, inbox.requests[0].query) == (path, query)


def test_expect_is_noticed_until_the_body_has_come() -> None:
    inbox = Inbox()
    inbox.feed(HEAD + b"Content-Length: 1\r\nExpect: 100-Continue\r\n\r\n")
    assert inbox.reader.expects_continue
    inbox.feed(b"x")
    assert not inbox.reader.expects_continue


paths = st.text("abc/%2", min_size=0, max_size=8).map(lambda text: "/" + text)
bodies = st.binary(max_size=10)


@st.composite
def messages(draw: st.DrawFn) -> tuple[str, str, bytes, bytes]:
    """Method, path, body, and one way to write them down."""
    method = draw(st.sampled_from(["GET", "POST", "PATCH", "DELETE"]))
    path, body = draw(paths), draw(bodies)
    head = f"{method} {path} HTTP/1.1\r\nHost: h\r\n".encode()
    if draw(st.booleans()):
        return method, path, body, head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    cut = draw(st.integers(0, len(body)))
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:cut], body[cut:]) if part)
    return method, path, body, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


@given(st.lists(messages(), max_size=5), st.lists(st.integers(0, 600)))
def test_requests_come_out_the_same_however_the_bytes_arrive(
    sent: list[tuple[str, str, bytes, bytes]], cuts: list[int]
) -> None:
    data = b"".join(written for *_, written in sent)
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    inbox = Inbox()
    for start, end in pairwise(edges):
        assert not inbox.feed(data[start:end])
    got = [(request.method, request.path, request.body) for request in inbox.requests]
    assert got == [(method, path, body) for method, path, body, _ in sent]
    assert inbox.reader.phase is Phase.BETWEEN


@given(st.binary(max_size=400))
def test_whatever_comes_is_read_or_refused(data: bytes) -> None:
    Inbox().feed(data)


@given(messages(), st.integers(0, 200), st.binary(min_size=1, max_size=3))
def test_a_damaged_request_is_read_or_refused(sent: tuple[str, str, bytes, bytes], at: int, damage: bytes) -> None:
    written = sent[3]
    Inbox().feed(written[:at] + damage + written[at + len(damage) :])
