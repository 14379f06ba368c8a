"""What a call may cost at least and at most, by what is known about the sizes of its operands, and the result's size.

A rule for each function that does not simply cost one unit. Which operands a rule looks at, and where it rounds, is
that of cel-go's and kube-apiserver's estimates; what the call costs in the end is in `costs.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from hardpoint.machinery.cel.costs import LIST, OBJECT
from hardpoint.machinery.cel.functions import Overload
from hardpoint.machinery.cel.library import addresses, authorization, formats, quantities, semver, urls
from hardpoint.machinery.cel.library.authorization import CHECK_COST
from hardpoint.machinery.cel.ranges import NOTHING, ONE, UNBOUNDED, UNKNOWN, Range, exactly
from hardpoint.machinery.cel.syntax import Literal, Node
from hardpoint.machinery.cel.types import BYTES, STRING, Kind, Type

TEXT = 0.1
"""Reading a character."""
PATTERN = 0.25
"""A character of a regular expression."""
_FORMAT_NAME_MAX = 64
_FORMAT_PATTERN_MAX = 128
_WORD = UNBOUNDED + 1
_TEXTS = (STRING, BYTES)


@dataclass(frozen=True)
class Operand:
    """An operand of a call: its type, and its size and that of its items, as far as they are known."""

    node: Node
    known: Range | None
    item: Range = UNKNOWN

    @property
    def size(self) -> Range:
        return UNKNOWN if self.known is None else self.known

    @property
    def text(self) -> Range:
        """Reading all of it once."""
        return self.size.scaled(TEXT)


class Estimate(NamedTuple):
    cost: Range
    size: Range | None = None
    """Of the result; None if the rule does not say."""


Rule = Callable[[Overload, list[Operand]], Estimate]


def estimated(overload: Overload, operands: list[Operand]) -> Estimate:
    """The call itself, without finding out its operands."""
    rule = _RULES.get(overload.name)
    return Estimate(ONE) if rule is None else rule(overload, operands)


def _fixed(cost: int) -> Rule:
    return lambda overload, operands: Estimate(exactly(cost))


def _reads(operand: int, times: int = 1) -> Rule:
    """Reads one operand; the result is of another type."""
    return lambda overload, operands: Estimate(operands[operand].size.scaled(times * TEXT))


def _copies(overload: Overload, operands: list[Operand]) -> Estimate:
    """Reads a text and gives one that is as long at most."""
    return Estimate(operands[0].text, operands[0].size)


def _bytes(overload: Overload, operands: list[Operand]) -> Estimate:
    if overload.parameters[0] != STRING:
        return Estimate(ONE)
    size = operands[0].size
    return Estimate(operands[0].text, Range(size.min, size.max * 4 % _WORD))


def _string(overload: Overload, operands: list[Operand]) -> Estimate:
    if overload.parameters[0] != BYTES:
        return Estimate(ONE)
    size = operands[0].size
    return Estimate(operands[0].text, Range(size.min // 4, size.max))


def _quote(overload: Overload, operands: list[Operand]) -> Estimate:
    size = operands[0].size
    return Estimate(operands[0].text, Range((size.min + 2) % _WORD, (size.max * 2 + 2) % _WORD))


def _is_in(overload: Overload, operands: list[Operand]) -> Estimate:
    return Estimate(operands[1].size.scaled(1) if overload.parameters[1].kind is Kind.LIST else ONE)


def _search(operands: list[Operand]) -> Range:
    return operands[0].size.plus(ONE).scaled(TEXT).times(operands[1].size.scaled(PATTERN))


def _matches(overload: Overload, operands: list[Operand]) -> Estimate:
    return Estimate(_search(operands))


def _find(overload: Overload, operands: list[Operand]) -> Estimate:
    return Estimate(_search(operands), Range(0, operands[0].size.max))


def _contains(overload: Overload, operands: list[Operand]) -> Estimate:
    return Estimate(operands[0].text.times(operands[1].text))


def _add(overload: Overload, operands: list[Operand]) -> Estimate:
    kind = overload.parameters[0]
    size = operands[0].size.plus(operands[1].size)
    if kind.kind is Kind.LIST:
        return Estimate(ONE, size)
    return Estimate(size.scaled(TEXT), size) if kind in _TEXTS else Estimate(ONE)


def _order(overload: Overload, operands: list[Operand]) -> Estimate:
    return (
        _compare(operands) if overload.parameters[0] in _TEXTS and overload.parameters[1] in _TEXTS else Estimate(ONE)
    )


def _compare(operands: list[Operand]) -> Estimate:
    """Two values are read as far as the shorter goes."""
    longest = min(operands[0].size.max, operands[1].size.max)
    return Estimate(Range(1 if longest else 0, longest).scaled(TEXT))


def _equals(overload: Overload, operands: list[Operand]) -> Estimate:
    left, right = operands[0].node.type, operands[1].node.type
    rule = _EQUALITIES.get(left) if left == right else None
    return _compare(operands) if rule is None else Estimate(rule(operands[1]))


def _equal_urls(other: Operand) -> Range:
    return Range(1, 1 if other.known is None else other.known.max).scaled(TEXT)


_EQUALITIES: dict[Type, Callable[[Operand], Range]] = {
    **dict.fromkeys(
        (
            addresses.IP,
            addresses.CIDR,
            quantities.QUANTITY,
            semver.SEMVER,
            authorization.AUTHORIZER,
            authorization.PATH_CHECK,
            authorization.GROUP_CHECK,
            authorization.RESOURCE_CHECK,
            authorization.DECISION,
        ),
        lambda other: ONE,
    ),
    formats.FORMAT: lambda other: Range(1, _FORMAT_NAME_MAX).scaled(TEXT),
    urls.URL: _equal_urls,
}
"""Values of types that Kubernetes adds."""


def _is_text(type: Type) -> bool:
    return type in _TEXTS


def _goes_through(overload: Overload, operands: list[Operand]) -> Estimate:
    """Goes through a list and the texts in it, or through a text."""
    target = operands[0]
    if not target.node.type.parameters:
        return Estimate(target.size.times(ONE) if overload.name == "includes" else target.text)
    each = ONE.plus(target.item.scaled(TEXT)) if _is_text(target.node.type.parameters[0]) else ONE
    return Estimate(target.size.times(each))


def _replace(overload: Overload, operands: list[Operand]) -> Estimate:
    text, old, new = (operand.size for operand in operands[:3])
    most = _replaced(text.max, old.min, is_kept=new.max <= old.min)
    least = _replaced(text.min, old.max, is_kept=old.max <= new.min)
    size = Range(least[0], most[0]).times(new).plus(Range(least[1], most[1]))
    return Estimate(text.scaled(2 * TEXT), size)


def _replaced(length: int, old: int, *, is_kept: bool) -> tuple[int, int]:
    """How often an old part is replaced, and how much of the text stays."""
    if not old:
        # Nothing is found around every character.
        return min(length + 1, UNBOUNDED), length
    return (0, length) if is_kept else (_whole(math.ceil(length / old)), 0)


def _whole(value: int) -> int:
    """Go's processors turn a number that is too big for its type into this one."""
    return value if value < _WORD else _WORD // 2


def _split(overload: Overload, operands: list[Operand]) -> Estimate:
    text = operands[0].size
    count_max = text.max
    if len(operands) > 2 and isinstance(count := operands[2].node, Literal):
        count_max = int(count.value) % _WORD
    return Estimate(text.scaled(2 * TEXT), Range(0, count_max))


def _join(overload: Overload, operands: list[Operand]) -> Estimate:
    count = operands[0].size
    size = count.times(operands[0].item) if operands[0].node.type.parameters else NOTHING
    if len(operands) > 1:
        size = size.plus(operands[1].size.times(Range(max(count.min - 1, 0), max(count.max - 1, 0))))
    return Estimate(size.scaled(TEXT), size)


def _validate(overload: Overload, operands: list[Operand]) -> Estimate:
    return Estimate(operands[1].text.scaled(_FORMAT_PATTERN_MAX * PATTERN))


def _ip(overload: Overload, operands: list[Operand]) -> Estimate:
    return Estimate(ONE if overload.is_member else operands[0].text)


_ADDRESS = Range(4, 16)
"""Bytes of an address."""


def _contains_ip(overload: Overload, operands: list[Operand]) -> Estimate:
    return Estimate(_ADDRESS.plus(_ADDRESS).scaled(TEXT).plus(_parsing(overload, operands)))


def _contains_cidr(overload: Overload, operands: list[Operand]) -> Estimate:
    comparing = _ADDRESS.plus(_ADDRESS).scaled(TEXT).plus(_ADDRESS.scaled(TEXT)).plus(ONE)
    return Estimate(comparing.plus(_parsing(overload, operands)))


def _parsing(overload: Overload, operands: list[Operand]) -> Range:
    return operands[1].text if overload.parameters[1] == STRING else NOTHING


def _selector(overload: Overload, operands: list[Operand]) -> Estimate:
    """A requirement has two characters at least, and becomes an object with a list."""
    size = operands[1].size
    return Estimate(exactly(LIST).plus(operands[1].text).plus(size.scaled(0.5).scaled(LIST + OBJECT)))


def _makes_list(size: Range, factor: float = 1) -> Estimate:
    return Estimate(size.scaled(factor).plus(ONE).plus(exactly(LIST)), size)


def _number(operand: Operand, otherwise: int) -> int:
    """The value of an operand that is written out."""
    node = operand.node
    return max(node.value, 0) if isinstance(node, Literal) and type(node.value) is int else otherwise


def _slice(overload: Overload, operands: list[Operand]) -> Estimate:
    start, end = _number(operands[1], 0), _number(operands[2], operands[0].size.max)
    return _makes_list(exactly((end - start) % _WORD))


def _range(overload: Overload, operands: list[Operand]) -> Estimate:
    return _makes_list(exactly(_number(operands[0], UNBOUNDED)))


def _reverse(overload: Overload, operands: list[Operand]) -> Estimate:
    return _makes_list(operands[0].size)


def _flatten(overload: Overload, operands: list[Operand]) -> Estimate:
    return _makes_list(operands[0].size, float(_number(operands[1], UNBOUNDED)) if len(operands) > 1 else 1.0)


def _distinct(overload: Overload, operands: list[Operand]) -> Estimate:
    return _makes_list(operands[0].size.times(operands[0].size), 2)


def _sort(overload: Overload, operands: list[Operand]) -> Estimate:
    """Every key is compared with every other; the keys are the last operand."""
    size = operands[-1].size
    is_text = _is_text(overload.parameters[-1].parameters[0])
    return _makes_list(size.times(size), 2 + TEXT if is_text else 2)


def _sets(times: int) -> Rule:
    return lambda overload, operands: Estimate(operands[0].size.times(operands[1].size).scaled(times).plus(ONE))


_RULES: dict[str, Rule] = {
    "format": _reads(0),
    "bytes": _bytes,
    "string": _string,
    "strings.quote": _quote,
    "startsWith": _reads(1),
    "endsWith": _reads(1),
    "@in": _is_in,
    "matches": _matches,
    "find": _find,
    "findAll": _find,
    "contains": _contains,
    "_+_": _add,
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _order),
    "_==_": _equals,
    "_!=_": lambda overload, operands: _compare(operands),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"), _goes_through),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _copies),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _reads(0)),
    "ip": _ip,
    "ip.isCanonical": _reads(0, times=2),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    "lists.range": _range,
    "slice": _slice,
    "reverse": _reverse,
    "flatten": _flatten,
    "distinct": _distinct,
    "sort": _sort,
    "@sortByAssociatedKeys": _sort,
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
    "check": _fixed(CHECK_COST),
    "fieldSelector": _selector,
    "labelSelector": _selector,
}
