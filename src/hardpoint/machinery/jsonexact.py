"""JSON read and written one token at a time, without recursion: slower than `jsontext`, and exact.

Reading follows Go's encoding/json as kube-apiserver uses it: 10,000 levels, U+FFFD for what is no Unicode, its words
for syntax errors, and paths of duplicate keys as its strict decoder prints them.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, Final, NamedTuple

import orjson

from hardpoint.machinery.errors import HardpointError

DEPTH_MAX: Final = 10_000
ONE_MARK_A_BYTE: Final = "hardpoint.one-mark-a-byte"
"""The error handler that decodes bytes as Go does: each byte that is no UTF-8 becomes U+FFFD."""
_DUPLICATES_MAX: Final = 100
_WHOLE_NUMBER_LENGTH_MAX: Final = 20
_INFINITIES: Final = (float("inf"), float("-inf"))

_SPACE: Final = r"[ \t\r\n]*+"
_TEXT: Final = r'"((?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)"'
_KEY = re.compile(f"{_SPACE}{_TEXT}{_SPACE}:")
# A string, a number, a word, or a bracket with its counterpart if nothing is between; then what follows.
_VALUE = re.compile(
    rf"{_SPACE}(?:{_TEXT}|(-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)|(true|false|null)"
    rf"|(\[{_SPACE}\]|\{{{_SPACE}\}}|[\[{{])){_SPACE}([,\]}}])?"
)
_FOLLOWING = re.compile(rf"{_SPACE}([,\]}}])?")
_OPENING: Final = frozenset("[{")
_OPEN_BRACKET: Final = 4
_CLOSING: Final = {dict: "}", list: "]"}
_WORDS: Final = {"true": True, "false": False, "null": None}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

# For the wording of errors only.
_SPACES = re.compile(_SPACE)
_TEXT_START = re.compile(_TEXT.removesuffix('"'))
_NUMBER_START = re.compile(r"-?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?(?:[eE][+-]?[0-9]*+)?)?")
_HEXADECIMAL: Final = frozenset("0123456789abcdefABCDEF")
_AFTER: Final = {dict: "after object key:value pair", list: "after array element"}
_VALUE_EXPECTED: Final = "looking for beginning of value"
_KEY_EXPECTED: Final = "looking for beginning of object key string"

_Container = dict[str, Any] | list[Any]


class BadJson(HardpointError):
    """A text that is no JSON; the message is Go's."""


class Parsed(NamedTuple):
    """A JSON or YAML text as a value."""

    value: Any
    duplicates: list[str]
    """Paths such as `spec.containers[0].name` of keys that came more than once; the last one counts."""


class HugeNumber(float):
    """A number beyond any float: it fits no typed field, and where it is passed through it keeps its text."""

    def __new__(cls, text: str) -> HugeNumber:
        return super().__new__(cls, text)

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def _one_mark_a_byte(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "\N{REPLACEMENT CHARACTER}" * (error.end - error.start), error.end


codecs.register_error(ONE_MARK_A_BYTE, _one_mark_a_byte)


def parse(data: bytes) -> Parsed:
    """The value of a JSON text, and the paths of its duplicate keys. Raises BadJson."""
    # One character a byte: Go looks at bytes, and so do its messages.
    return _Reader(data.decode("latin-1")).read()


class _Reader:
    """A text, and the containers that are open around the innermost one, each with the key it is at."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.around: list[tuple[_Container | None, str]] = []
        self.duplicates: dict[str, None] = {}

    def read(self) -> Parsed:
        """Read the whole text. One long loop: a hostile text has a million values, and each call costs."""
        text, around = self.text, self.around
        at, key = 0, ""
        container: Any = None
        while True:
            if container.__class__ is dict:
                match = _KEY.match(text, at)
                if match is None:
                    raise _bad_key(text, at)
                key, at = _unquoted(match[1]), match.end()
                if key in container:
                    self._note_duplicate(container, key)
            match = _VALUE.match(text, at)
            if match is None:
                raise _bad_value(text, at)
            string, number, word, bracket, following = match.groups()
            at = match.end()
            item: Any
            if string is not None:
                item = _unquoted(string)
            elif number is not None:
                item = _number(number)
            elif word is not None:
                item = _WORDS[word]
            else:
                item = {} if bracket[0] == "{" else []
                if len(around) >= DEPTH_MAX:
                    raise BadJson("exceeded max depth")
                if bracket in _OPENING:
                    around.append((container, key))
                    container, at = item, match.end(_OPEN_BRACKET)
                    continue
            while container is not None:
                if container.__class__ is dict:
                    container[key] = item
                else:
                    container.append(item)
                if following == ",":
                    break
                if following != _CLOSING[container.__class__]:
                    raise _bad_following(text, match, container)
                item = container
                container, key = around.pop()
                match = _FOLLOWING.match(text, at)
                assert match is not None, "nothing may follow, too"
                following, at = match[1], match.end()
            else:
                if following or at < len(text):
                    raise _bad_following(text, match, None)
                return Parsed(item, list(self.duplicates))

    def _note_duplicate(self, container: _Container, key: str) -> None:
        if len(self.duplicates) < _DUPLICATES_MAX:
            places = [*self.around[1:], (container, key)]
            steps = (f".{key}" if isinstance(place, dict) else f"[{len(place or ())}]" for place, key in places)
            self.duplicates["".join(steps).removeprefix(".")] = None


def _unquoted(text: str) -> str:
    if not text.isascii():
        text = text.encode("latin-1").decode("utf-8", ONE_MARK_A_BYTE)
    if "\\" not in text:
        return text
    return _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", json.loads(f'"{text}"'))


def _number(text: str) -> int | float:
    if len(text) <= _WHOLE_NUMBER_LENGTH_MAX and text.lstrip("-").isdigit():
        number = int(text)
        if -(2**63) <= number < 2**64:
            return number
    approximate = float(text)
    return HugeNumber(text) if approximate in _INFINITIES else approximate


def _bad_key(text: str, at: int) -> BadJson:
    at = _past(_SPACES, text, at)
    if not text.startswith('"', at):
        return _unexpected(text, at, _KEY_EXPECTED)
    end = _past(_TEXT_START, text, at)
    if not text.startswith('"', end):
        return _bad_string(text, end)
    return _unexpected(text, _past(_SPACES, text, end + 1), "after object key")


def _bad_value(text: str, at: int) -> BadJson:
    at = _past(_SPACES, text, at)
    if text.startswith('"', at):
        return _bad_string(text, _past(_TEXT_START, text, at))
    if text.startswith("-", at):
        return _unexpected(text, at + 1, "in numeric literal")
    for word in _WORDS:
        if text.startswith(word[0], at):
            same = next(length for length in range(1, len(word)) if not text.startswith(word[length], at + length))
            return _unexpected(text, at + same, f"in literal {word} (expecting '{word[same]}')")
    return _unexpected(text, at, _VALUE_EXPECTED)


def _bad_string(text: str, at: int) -> BadJson:
    """`at` is where the string stops being one."""
    if not text.startswith("\\", at):
        return _unexpected(text, at, "in string literal")
    at += 1
    if not text.startswith("u", at):
        return _unexpected(text, at, "in string escape code")
    at += 1
    while text[at : at + 1] in _HEXADECIMAL:
        at += 1
    return _unexpected(text, at, "in \\u hexadecimal character escape")


def _bad_following(text: str, match: re.Match[str], container: _Container | None) -> BadJson:
    """What follows a value does not belong there; it may be the rest of a number that has no digits."""
    if match.re is _VALUE and match[2] is not None:
        end = _past(_NUMBER_START, text, match.start(2))
        if end > match.end(2):
            is_exponent = any(mark in text[match.end(2) : end] for mark in "eE")
            where = "in exponent of" if is_exponent else "after decimal point in"
            return _unexpected(text, end, f"{where} numeric literal")
    at = match.end() - bool(match[match.re.groups])
    return _unexpected(text, at, _AFTER[type(container)] if container is not None else "after top-level value")


def _past(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _unexpected(text: str, at: int, where: str) -> BadJson:
    if at >= len(text):
        return BadJson("unexpected end of JSON input")
    return BadJson(f"invalid character {_quoted(text[at])} {where}")


_QUOTED = {"'": r"'\''", '"': "'\"'", "\\": r"'\\'", "\n": r"'\n'", "\r": r"'\r'", "\t": r"'\t'"}
_QUOTED |= {"\a": r"'\a'", "\b": r"'\b'", "\f": r"'\f'", "\v": r"'\v'"}


def _quoted(character: str) -> str:
    if character in _QUOTED:
        return _QUOTED[character]
    if character.isprintable():
        return f"'{character}'"
    return f"'\\x{ord(character):02x}'" if ord(character) < 0x80 else f"'\\u{ord(character):04x}'"


def encode(value: Any) -> bytes:
    """The value as compact JSON, however deep."""
    written: list[bytes] = []
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _Written):
            written.append(item)
        elif isinstance(item, dict):
            waiting.append(_Written(b"}"))
            waiting += _entries(item)
        elif isinstance(item, list):
            waiting.append(_Written(b"]"))
            waiting += _items(item)
        elif isinstance(item, HugeNumber):
            written.append(str(item).encode())
        else:
            written.append(orjson.dumps(item))
    return b"".join(written)


class _Written(bytes):
    """A piece of the text that is ready, waiting for its turn."""


def _entries(item: dict[str, Any]) -> list[Any]:
    """What is left to write of an object, last piece first."""
    pieces: list[Any] = []
    for key, value in reversed(item.items()):
        pieces += [value, _Written(b"," + orjson.dumps(key) + b":")]
    return _opened(pieces, b"{")


def _items(item: list[Any]) -> list[Any]:
    pieces: list[Any] = []
    for value in reversed(item):
        pieces += [value, _Written(b",")]
    return _opened(pieces, b"[")


def _opened(pieces: list[Any], bracket: bytes) -> list[Any]:
    """The first piece opens the container in place of its comma."""
    first = pieces.pop() if pieces else b""
    return [*pieces, _Written(bracket + first[1:])]
