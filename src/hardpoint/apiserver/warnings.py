"""What a client should know about a request that was granted, as Warning headers."""

from __future__ import annotations

from collections.abc import Sequence

_TOTAL_MAX = 4096
_EACH_MAX = 256
_QUOTED = str.maketrans({"\\": "\\\\", '"': '\\"'})


def warning_headers(warnings: Sequence[str]) -> list[tuple[str, str]]:
    """One header a warning, each told once; when they grow too long, each is cut, and the last are left out."""
    texts = [_printable(text) for text in dict.fromkeys(warnings)]
    if sum(map(len, texts)) > _TOTAL_MAX:
        texts = [text[:_EACH_MAX] for text in texts]
    headers, total = [], 0
    for text in texts:
        total += len(text)
        if total > _TOTAL_MAX:
            break
        headers.append(("Warning", f'299 - "{text.translate(_QUOTED)}"'))
    return headers


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
