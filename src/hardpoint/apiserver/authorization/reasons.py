"""How several things that went wrong are told in one text."""

from __future__ import annotations

from collections.abc import Sequence


def together(texts: Sequence[str]) -> str:
    """One text as it is, several in brackets, each once; nothing for none."""
    unique = list(dict.fromkeys(texts))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]" if unique else ""
