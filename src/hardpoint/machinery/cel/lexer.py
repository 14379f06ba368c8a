"""Text to tokens, after the grammar of CEL (cel-go's CEL.g4)."""

from __future__ import annotations

import re
from typing import NamedTuple

from hardpoint.machinery.cel.errors import Mistake

_ESCAPE = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_QUOTED = (
    rf"\"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\"|'''(?:{_ESCAPE}|[^\\])*?'''"
    rf"|\"(?:{_ESCAPE}|[^\\\"\n\r])*+\"|'(?:{_ESCAPE}|[^\\'\n\r])*+'"
)
_RAW = r"[rR](?:\"\"\"(?:.|\n)*?\"\"\"|'''(?:.|\n)*?'''|\"[^\"\n\r]*+\"|'[^'\n\r]*+')"
_TOKEN = re.compile(
    rf"""
      (?P<space>[\t\ \r\n\f]++ | //[^\n]*+)
    | (?P<bytes>[bB](?:{_RAW}|{_QUOTED}))
    | (?P<string>{_RAW}|{_QUOTED})
    | (?P<float>[0-9]++\.[0-9]++(?:[eE][+-]?[0-9]++)? | [0-9]++[eE][+-]?[0-9]++ | \.[0-9]++(?:[eE][+-]?[0-9]++)?)
    | (?P<uint>0x[0-9a-fA-F]++[uU] | [0-9]++[uU])
    | (?P<int>0x[0-9a-fA-F]++ | [0-9]++)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*+)
    | (?P<escaped>`[A-Za-z0-9_.\-/\ ]++`)
    | (?P<sign>== | != | <= | >= | && | \|\| | [\[\]{{}}().,\-!?:+*/%<>])
    """,
    re.VERBOSE,
)
_SIMPLE_ESCAPES = dict(zip("abfnrtv\"'\\?`", "\a\b\f\n\r\t\v\"'\\?`", strict=True))
_ESCAPED = re.compile(_ESCAPE)
# A quoted text that goes wrong: up to the end of its line, or to what is no escape.
_HALF_SIGN = re.compile("[=&|].?", re.DOTALL)
"""The beginning of `==`, `&&` or `||`, together with what comes instead of the rest."""
_UNFINISHED = re.compile(rf"[bBrR]{{0,2}}(?:\"(?:{_ESCAPE}|[^\\\"\n\r])*+|'(?:{_ESCAPE}|[^\\'\n\r])*+)(?:\\.)?")
KEYWORDS = frozenset(("true", "false", "null", "in"))
END = "<EOF>"


class Token(NamedTuple):
    """`kind` is the sign itself for signs and keywords, else what it is: name, int, string, ..."""

    kind: str
    text: str
    position: int


def tokens(expression: str) -> tuple[list[Token], list[Mistake]]:
    """All tokens, the last one `<EOF>`, and what was skipped because it is none."""
    found: list[Token] = []
    mistakes: list[Mistake] = []
    position = 0
    while position < len(expression):
        match = _TOKEN.match(expression, position)
        if match is None:
            wrong = _UNFINISHED.match(expression, position) or _HALF_SIGN.match(expression, position)
            text = wrong.group() if wrong else expression[position]
            mistakes.append(Mistake(position, f"Syntax error: token recognition error at: '{text}'"))
            position += len(text)
            continue
        kind, text = match.lastgroup or "", match.group()
        if kind != "space":
            is_sign = kind == "sign" or text in KEYWORDS
            found.append(Token(text if is_sign else kind, text, position))
        position = match.end()
    found.append(Token(END, END, len(expression)))
    return found, mistakes


def string_value(text: str) -> str:
    """What a string token stands for. Raises ValueError for what is no character."""
    body, is_raw = _body(text)
    return body if is_raw else _ESCAPED.sub(_character, body)


def bytes_value(text: str) -> bytes:
    """What a bytes token stands for: its escapes are bytes, its other characters their UTF-8."""
    body, is_raw = _body(text[1:])
    if is_raw:
        return body.encode()
    parts: list[bytes] = []
    end = 0
    for match in _ESCAPED.finditer(body):
        parts += (body[end : match.start()].encode(), _byte(match.group()))
        end = match.end()
    return b"".join((*parts, body[end:].encode()))


def _body(text: str) -> tuple[str, bool]:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    is_raw = text[0] in "rR"
    quoted = text[1:] if is_raw else text
    width = 3 if len(quoted) >= 6 and quoted[:3] in ('"""', "'''") else 1
    return quoted[width:-width], is_raw


def _character(match: re.Match[str]) -> str:
    code = _code(match.group())
    if isinstance(code, str):
        return code
    if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        raise ValueError("invalid unicode code point")
    return chr(code)


def _byte(escape: str) -> bytes:
    if escape[1] in "uU":
        raise ValueError("unable to unescape string")
    code = _code(escape)
    return code.encode() if isinstance(code, str) else bytes((code,))


def _code(escape: str) -> str | int:
    letter = escape[1]
    if simple := _SIMPLE_ESCAPES.get(letter):
        return simple
    return int(escape[2:], 16) if letter in "xXuU" else int(escape[1:], 8)
