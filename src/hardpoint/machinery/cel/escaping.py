"""Names of fields as expressions write them: what is no identifier is spelled with underscores.

`a.b-c/d` is `a__dot__b__dash__c__slash__d`, `a__b` is `a__underscores__b`, and `in` is `__in__`.
"""

from __future__ import annotations

import re

RESERVED = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if"),
        *("import", "let", "loop", "package", "namespace", "return", "var", "void", "while"),
    )
)
"""Words of the language, which no identifier may be."""

_SPELLED = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_MEANT = {spelled: meant for meant, spelled in _SPELLED.items()}
_CAN_BE_SPELLED = re.compile(r"[a-zA-Z_./-][a-zA-Z0-9_./-]*")
_SPECIAL = re.compile(r"__|[./-]")
_ESCAPED = re.compile(r"__[^_]+__")


def escape(name: str) -> str | None:
    """The identifier of a field; None if it has none, because its name begins with a digit or has other signs."""
    if name in RESERVED:
        return f"__{name}__"
    if name.isidentifier() and name.isascii() and "__" not in name:
        return name
    if not _CAN_BE_SPELLED.fullmatch(name):
        return None
    return _SPECIAL.sub(lambda found: _SPELLED[found[0]], name)


def unescape(identifier: str) -> str | None:
    """The name of the field with this identifier; None if no field has it."""
    if identifier[2:-2] in RESERVED and identifier == f"__{identifier[2:-2]}__":
        return identifier[2:-2]
    if any(found not in _MEANT for found in _ESCAPED.findall(identifier)):
        return None
    return _ESCAPED.sub(lambda found: _MEANT[found[0]], identifier)
