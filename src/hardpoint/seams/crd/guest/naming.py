"""Names: how Python and JSON call the same field, and how a kind is called in the plural."""

from __future__ import annotations

import keyword
import re

_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SINGULARS = (
    *(("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")),
    *(("ss", "ss"), ("us", "us"), ("is", "is"), ("s", "")),
)
_HISSING = ("s", "x", "z", "ch", "sh")


def camel(name: str) -> str:
    """`cron_spec` is `cronSpec` in JSON; a trailing underscore, which keeps clear of a keyword, is not written."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def snake(name: str) -> str:
    """A Python name for a JSON field. Where `camel` does not lead back, the field needs its name spelled out."""
    words = _WORD_ENDS.sub("_", name).lower()
    word = re.sub(r"\W", "_", words, flags=re.ASCII).strip("_") or "field"
    word = f"field_{word}" if word[0].isdigit() else word
    return f"{word}_" if keyword.iskeyword(word) else word


def plural_of(kind: str) -> str:
    """`crontabs`, `policies`, `ingresses`: the usual English plural, in lower case."""
    word = kind.lower()
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(_HISSING) else f"{word}s"


def pascal(name: str) -> str:
    """A class name for a JSON field."""
    word = "".join(part[:1].upper() + part[1:] for part in snake(name).split("_"))
    return word if word.isidentifier() and not keyword.iskeyword(word) else f"Field{word}"


def singular_of(name: str) -> str:
    """What one item of a list is called."""
    for ending, instead in _SINGULARS:
        if name.endswith(ending) and len(name) > len(ending) + 1:
            return name[: -len(ending)] + instead
    return name
