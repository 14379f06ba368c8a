"""Keys in order: where the keys under a prefix begin and end.

Python compares text by code points, SQLite and etcd compare UTF-8 bytes; for valid text the two orders are one.
"""

from __future__ import annotations

_LAST = 0x10FFFF
_SURROGATES_FIRST, _SURROGATES_LAST = 0xD800, 0xDFFF


def end_of(prefix: str) -> str | None:
    """The first text after everything that starts with `prefix`; None if there is no such text."""
    kept = prefix.rstrip(chr(_LAST))
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    # Surrogates are no characters of UTF-8: the text after U+D7FF is U+E000.
    if following == _SURROGATES_FIRST:
        following = _SURROGATES_LAST + 1
    return kept[:-1] + chr(following)
