"""Expressions that nobody wrote: well typed for the most part, over the variable `o` of the corpus."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import ClassVar

_HOLE = re.compile("<([a-z]+)>")
_STRINGS = ("'a'", "'web-0'", "''", "'hello world'", "'10.0.0.1'", "'1Gi'", "'x,y,z'")
_INTS = ("0", "1", "2", "3", "-1", "7", "100")
_DEPTH_MAX = 4


def expressions(count: int, *, seed: int) -> list[str]:
    """So many; the same for the same seed."""
    maker = _Maker(Random(seed))
    return [maker.make("bool" if number % 2 else maker.any_type(), _DEPTH_MAX) for number in range(count)]


class _Maker:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._names: dict[str, list[str]] = {}
        """Variables of loops, by type."""
        self._made = 0

    def any_type(self) -> str:
        return self._random.choice(("int", "string", "ints", "strings", "double"))

    def make(self, type: str, depth: int) -> str:
        leaves, forms = self._leaves(type), self._FORMS[type]
        if depth <= 0 or self._random.random() < 0.2:
            return self._random.choice(leaves)
        form = self._random.choice(forms)
        return form(self, depth - 1) if callable(form) else self._filled(form, depth - 1)

    def _leaves(self, type: str) -> list[str]:
        own = {
            "bool": ["o.on", "true", "false"],
            "int": ["o.count", "o.inner.x", *_INTS],
            "double": ["o.ratio", "1.5", "-0.25", "2.0"],
            "string": ["o.name", "o.labels.app", *_STRINGS],
            "ints": ["o.inner.ys", "[1, 2, 3]", "[5]"],
            "strings": ["o.tags", "['a', 'b']", "['c']"],
        }[type]
        return own + self._names.get(type, [])

    def _filled(self, form: str, depth: int) -> str:
        """A form whose `<type>`s are made up."""
        return _HOLE.sub(lambda hole: self.make(hole[1], depth), form)

    def _loop(self, form: str, over: str, item: str, depth: int) -> str:
        """A form with a variable `$`, which stands for the items of a list."""
        self._made += 1
        name = f"v{self._made}"
        whole = self.make(over, depth)
        names = self._names.setdefault(item, [])
        names.append(name)
        made = self._filled(form.replace("$", name), depth)
        names.pop()
        return f"{whole}.{made}"

    def _quantifier(self, depth: int) -> str:
        over, item = self._random.choice((("ints", "int"), ("strings", "string")))
        return self._loop(f"{self._random.choice(('all', 'exists', 'exists_one'))}($, <bool>)", over, item, depth)

    def _ints(self, depth: int) -> str:
        form = self._random.choice(("map($, <int>)", "filter($, <bool>)", "map($, <bool>, <int>)"))
        return self._loop(form, "ints", "int", depth)

    def _strings(self, depth: int) -> str:
        form = self._random.choice(("map($, <string>)", "filter($, <bool>)"))
        return self._loop(form, "strings", "string", depth)

    _FORMS: ClassVar[dict[str, list[str | Callable[[_Maker, int], str]]]] = {
        "bool": [
            "(<bool> && <bool>)",
            "(<bool> || <bool>)",
            "!(<bool>)",
            "(<bool> ? <bool> : <bool>)",
            "(<int> == <int>)",
            "(<int> < <int>)",
            "(<int> >= <double>)",
            "(<double> != <int>)",
            "(<string> == <string>)",
            "(<string> < <string>)",
            "(<ints> == <ints>)",
            "(<int> in <ints>)",
            "(<string> in <strings>)",
            "(<string> in o.labels)",
            "<string>.startsWith(<string>)",
            "<string>.endsWith(<string>)",
            "<string>.contains(<string>)",
            "<string>.matches('^[a-z]+')",
            "<ints>.isSorted()",
            "sets.contains(<ints>, <ints>)",
            "sets.intersects(<strings>, <strings>)",
            "isIP(<string>)",
            "isQuantity(<string>)",
            "has(o.labels.app)",
            "has(o.labels.zone)",
            "o.items.all(i, i.v > <int>)",
            "o.items.exists(i, i.k == <string>)",
            "o.labels.all(k, v, k != <string> || v == <string>)",
            "format.dns1123Label().validate(<string>).hasValue()",
            "<string>.indexOf(<string>) == <int>",
            _quantifier,
        ],
        "int": [
            "(<int> + <int>)",
            "(<int> - <int>)",
            "(<int> * <int>)",
            "(<int> / <int>)",
            "(<int> % <int>)",
            "(<bool> ? <int> : <int>)",
            "size(<string>)",
            "<strings>.size()",
            "<ints>.sum()",
            "<ints>.max()",
            "<ints>.min()",
            "<ints>[<int>]",
            "<ints>[?<int>].orValue(<int>)",
            "<ints>.first().orValue(<int>)",
            "<string>.indexOf(<string>)",
            "<strings>.lastIndexOf(<string>)",
            "int(<double>)",
            "int(string(<int>))",
            "o.items[<int>].v",
            "o.items.map(i, i.v).sum()",
        ],
        "double": [
            "(<double> + <double>)",
            "(<double> * <double>)",
            "(<double> / <double>)",
            "double(<int>)",
            "(<bool> ? <double> : <double>)",
        ],
        "string": [
            "(<string> + <string>)",
            "(<bool> ? <string> : <string>)",
            "string(<int>)",
            "<strings>[<int>]",
            "<strings>.join(<string>)",
            "<string>.lowerAscii()",
            "<string>.upperAscii()",
            "<string>.replace(<string>, <string>)",
            "<string>.substring(<int>)",
            "<string>.charAt(<int>)",
            "<string>.trim()",
            "<string>.find('[a-z]+')",
            "o.labels[<string>]",
            "o.labels.?zone.orValue(<string>)",
            "o.items[<int>].k",
            "strings.quote(<string>)",
        ],
        "ints": [
            "(<ints> + <ints>)",
            "[<int>, <int>]",
            "(<bool> ? <ints> : <ints>)",
            "<ints>.sort()",
            "<ints>.reverse()",
            "<ints>.distinct()",
            "<ints>.slice(<int>, <int>)",
            "lists.range(size(<ints>))",
            "o.items.map(i, i.v)",
            "<ints>.transformList(i, v, i + v)",
            _ints,
        ],
        "strings": [
            "(<strings> + <strings>)",
            "[<string>]",
            "<string>.split(',')",
            "<strings>.sort()",
            "<strings>.reverse()",
            "<strings>.distinct()",
            "<string>.findAll('[a-z]')",
            "o.items.map(i, i.k)",
            "o.labels.map(k, o.labels[k]).sort()",
            _strings,
        ],
    }
