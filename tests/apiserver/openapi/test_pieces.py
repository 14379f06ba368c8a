"""Compressed pieces behind each other are one gzip file, which everybody can read."""

from __future__ import annotations

import gzip
import subprocess

from hypothesis import given
from hypothesis import strategies as st

from hardpoint.apiserver.openapi.pieces import gzipped, piece

TEXTS = st.lists(st.binary(max_size=300) | st.integers(1, 5000).map(lambda size: b"paths" * size), max_size=6)


@given(TEXTS)
def test_what_is_put_together_is_what_was_taken_apart(texts: list[bytes]) -> None:
    # Checks length and checksum as well.
    assert gzip.decompress(gzipped(map(piece, texts))) == b"".join(texts)


def test_another_reader_agrees() -> None:
    content = gzipped(piece(f"part {number}\n".encode() * 1000) for number in range(50))
    subprocess.run(["gzip", "--test"], input=content, check=True)
