"""PEM as Go reads it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import pem
from hardpoint.machinery.pem import Block

A = pem.encoded("A", b"hello")
B = pem.encoded("B THING", b"x" * 100)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"hello", [], id="no block"),
        pytest.param(A, [Block("A", False, b"hello")], id="a block"),
        pytest.param(A.strip(), [Block("A", False, b"hello")], id="without a last line feed"),
        pytest.param(A.replace(b"\n", b"\r\n"), [Block("A", False, b"hello")], id="lines as Windows ends them"),
        pytest.param(b"words\n" + A + b"and\n" + B, [Block("A", False, b"hello"), Block("B THING", False, b"x" * 100)]),
        pytest.param(b" " + A, [], id="indented"),
        pytest.param(A.replace(b"-----\n", b"-----\nK: v\n\n", 1), [Block("A", True, b"hello")], id="with headers"),
        pytest.param(b"-----BEGIN A-----\n-----END A-----\n", [Block("A", False, b"")], id="empty"),
        pytest.param(b"-----BEGIN A-----\n!!!!\n-----END A-----\n", [], id="no Base64"),
        pytest.param(b"-----BEGIN A-----\naGVsbG8=\n-----END B-----\n", [], id="another end"),
        pytest.param(b"-----BEGIN A-----\n" + A, [Block("A", False, b"hello")], id="begun twice"),
        pytest.param(A[:-5], [], id="cut off"),
    ],
)
def test_blocks(text: bytes, found: list[Block]) -> None:
    assert list(pem.blocks(text)) == found


@given(st.text("ABC ", min_size=1).map(str.strip).filter(bool), st.binary(max_size=300))
def test_what_is_written_is_read(kind: str, der: bytes) -> None:
    assert list(pem.blocks(pem.encoded(kind, der))) == [Block(kind, False, der)]


@pytest.mark.parametrize(
    "line", [b"-----BEGIN A-----\n", b"-----END A-----\n", b"-----BEGIN -----", b"-----BEGIN A----- \t"]
)
def test_a_megabyte_of_beginnings_takes_no_time(line: bytes) -> None:
    started = time.process_time()
    assert list(pem.blocks(line * (1_000_000 // len(line)))) == []
    assert time.process_time() - started < 1
