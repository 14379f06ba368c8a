"""Answers as bytes."""

from __future__ import annotations

import orjson
import pytest

from hardpoint.machinery import errors
from hardpoint.machinery.messages import Response
from hardpoint.serving import writing
from hardpoint.serving.reading import CLOSE, KEEP, KEEP_1_0, Refusal


def test_a_whole_answer() -> None:
    response = Response(201, b"{}", headers=[("Audit-Id", "1"), ("Warning", '299 - "x"')])
    assert writing.whole_answer(response, KEEP, with_body=True) == (
        b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
        b'Audit-Id: 1\r\nWarning: 299 - "x"\r\n\r\n',
        b"{}",
    )


def test_head_tells_the_length_of_what_it_leaves_out() -> None:
    head, body = writing.whole_answer(Response(200, b"abc"), KEEP, with_body=False)
    assert b"Content-Length: 3\r\n" in head
    assert body == b""


@pytest.mark.parametrize("status", [204, 304])
def test_answers_without_a_body(status: int) -> None:
    head, body = writing.whole_answer(Response(status, b"ignored"), KEEP, with_body=True)
    assert b"Content-" not in head
    assert body == b""


@pytest.mark.parametrize(("manner", "said"), [(KEEP, None), (CLOSE, b"close"), (KEEP_1_0, b"keep-alive")])
def test_what_is_said_of_the_connection(manner: object, said: bytes | None) -> None:
    head, _ = writing.whole_answer(Response(200), manner, with_body=True)  # type: ignore[arg-type]
    assert (b"Connection: %b\r\n" % said in head) if said else (b"Connection" not in head)


@pytest.mark.parametrize("evil", ["a\r\nSet-Cookie: x=y", "a\nb", "a\rb", "\r\n\r\n<html>"])
def test_a_value_cannot_end_its_header(evil: str) -> None:
    head, _ = writing.whole_answer(Response(200, headers=[("Warning", evil), ("X", "y")]), KEEP, with_body=True)
    lines = head.split(b"\r\n")
    assert len(lines) == 7
    assert not any(b"\n" in line or b"\r" in line for line in lines)


def test_text_beyond_latin_is_sent_as_utf_8() -> None:
    head, _ = writing.whole_answer(Response(200, headers=[("Warning", "é→\ud800")]), KEEP, with_body=True)
    assert "Warning: é→?\r\n".encode() in head


def test_a_refusal_speaks_like_go() -> None:
    head, body = writing.refusal_answer(Refusal(431)).split(b"\r\n\r\n")
    assert head.startswith(
        b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\n"
    )
    assert b"Connection: close" in head
    assert body == b"431 Request Header Fields Too Large"


def test_a_refusal_with_an_error_is_a_status() -> None:
    head, body = writing.refusal_answer(Refusal(413, errors.too_large(3))).split(b"\r\n\r\n")
    assert b"application/json" in head
    assert orjson.loads(body) == errors.too_large(3).status()


def test_a_status_nobody_knows() -> None:
    head, _ = writing.whole_answer(Response(799), KEEP, with_body=True)
    assert head.startswith(b"HTTP/1.1 799 status code 799\r\n")
