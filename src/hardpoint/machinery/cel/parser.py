"""Tokens to the parts of an expression, macros expanded.

Recursive descent after the rules of cel-go's CEL.g4, operators by their strength. It stops at the first syntax error,
where cel-go recovers and may find more. Depth and length are bounded, so that no text is too much for the stack of
whoever evaluates it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from hardpoint.machinery.cel.errors import CompileError, Mistake
from hardpoint.machinery.cel.lexer import END, Token, bytes_value, string_value, tokens
from hardpoint.machinery.cel.macros import BadMacro, has, member_macro
from hardpoint.machinery.cel.syntax import (
    Call,
    Entry,
    Ident,
    ListOf,
    Literal,
    MapOf,
    Node,
    ObjectOf,
    Select,
    descendants,
)
from hardpoint.machinery.cel.values import INT_MAX, INT_MIN, UINT_MAX, UInt

LENGTH_MAX = 100_000
TOO_DEEP = "max recursion depth exceeded"
BRACKETS_MAX = 60
"""How deep brackets nest."""
DEPTH_MAX = 150
"""How deep an expression is; operators and dots in a row make it deeper, a row of && or || does not."""

_RESERVED = frozenset(
    (
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package"),
        *("namespace", "return", "var", "void", "while"),
    )
)
_LOGIC = frozenset(("||", "&&"))
_STRENGTHS = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("<", "<=", ">=", ">", "==", "!=", "in"), 3),
    **dict.fromkeys("+-", 4),
    **dict.fromkeys("*/%", 5),
}
"""How strongly operators bind; those of one strength from left to right."""
_OPERATORS = {sign: f"_{sign}_" for sign in _STRENGTHS} | {"in": "@in"}
_FOLLOWING = frozenset(("?", ".", "[", *_OPERATORS))
"""What may come after any operand."""
_STARTING = frozenset(
    ("[", "{", "(", ".", "-", "!", "true", "false", "null", "float", "int", "uint", "string", "bytes", "name")
)
_VALUES = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
_STARTS = {
    "call": f"'[', '{{', '(', ')', '.', '-', '!', {_VALUES}",
    "index": f"'[', '{{', '(', '.', '-', '!', '?', {_VALUES}",
    "list": f"'[', ']', '{{', '(', '.', ',', '-', '!', '?', {_VALUES}",
    "map": f"'[', '{{', '}}', '(', '.', ',', '-', '!', '?', {_VALUES}",
}
"""What may come first in brackets, as mistakes tell it."""
_START = f"'[', '{{', '(', '.', '-', '!', {_VALUES}"
_ENCLOSING = {
    "": (END,),
    "call": (")", ","),
    "group": (")",),
    "index": ("]",),
    "list": ("]", ","),
    "map": ("}", ",", ":"),
    "choice": (":",),
}
"""What may come after an operand in brackets, or before the colon of a choice."""


def parse(expression: str) -> Node:
    """The parts of an expression. Raises CompileError."""
    if len(expression) > LENGTH_MAX:
        message = f"expression code point size exceeds limit: size: {len(expression)}, limit {LENGTH_MAX}"
        raise CompileError(expression, [Mistake(-1, message)])
    parser = _Parser(expression)
    node = parser.whole()
    if parser.mistakes:
        raise CompileError(expression, parser.mistakes)
    if any(depth > DEPTH_MAX for _, depth in descendants(node)):
        raise CompileError(expression, [Mistake(-1, TOO_DEEP)])
    return node


class _Parser:
    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens, self.mistakes = tokens(expression)
        self._index = 0
        self._depth = 0
        self._is_quiet = False
        self._open: list[str] = [""]
        """Which brackets, and choices before their colon, are open here."""

    def whole(self) -> Node:
        node = self._expression_rule()
        if self._token.kind != END:
            if self._tokens[self._index + 1].kind != END:
                raise self._wrong(self._token, f"Syntax error: mismatched input '{self._token.text}' expecting {END}")
            self._skip(f"expecting {END}")
        return node

    @property
    def _token(self) -> Token:
        return self._tokens[self._index]

    def _take(self) -> Token:
        token = self._token
        self._index += 1
        self._is_quiet = False
        return token

    def _took(self, kind: str) -> bool:
        if self._token.kind != kind:
            return False
        self._take()
        return True

    def _expect(self, kind: str, following: Collection[str]) -> Token:
        """A token of this kind. As ANTLR does, one that is in the way is left out, and a missing one thought of."""
        token = self._token
        if token.kind == kind:
            return self._take()
        if token.kind != END and self._tokens[self._index + 1].kind == kind:
            self._skip(f"expecting '{kind}'")
            return self._take()
        if token.kind in following:
            self._note(token, f"Syntax error: missing '{kind}' at '{token.text}'")
            self._is_quiet = True
            return token
        raise self._wrong(token, f"Syntax error: mismatched input '{token.text}' expecting '{kind}'")

    def _skip(self, expected: str) -> None:
        self._note(self._token, f"Syntax error: extraneous input '{self._token.text}' {expected}")
        self._take()

    def _note(self, token: Token, message: str) -> None:
        """A mistake after which there is a way to go on. Of two without any progress between them, one is told."""
        if not self._is_quiet:
            self.mistakes.append(Mistake(token.position, message))

    def _close(self, kind: str) -> None:
        self._open.pop()
        self._expect(kind, {*_FOLLOWING, *_ENCLOSING[self._open[-1]]})

    def _comma_or_close(self, kind: str) -> bool:
        """Is there more, in a list or map? A last comma may have nothing after it."""
        if self._took(","):
            if self._token.kind in _STARTING or self._token.kind in ("?", "escaped"):
                return True
        elif self._token.kind != kind:
            if self._token.kind == END or self._tokens[self._index + 1].kind not in (kind, ","):
                message = f"Syntax error: mismatched input '{self._token.text}' expecting {{'{kind}', ','}}"
                raise self._wrong(self._token, message)
            self._skip(f"expecting {{'{kind}', ','}}")
            return self._comma_or_close(kind)
        self._close(kind)
        return False

    def _wrong(self, token: Token, message: str) -> CompileError:
        return CompileError(self._expression, [*self.mistakes, Mistake(token.position, message)])

    def _expression_rule(self) -> Node:
        self._depth += 1
        if self._depth > BRACKETS_MAX:
            raise CompileError(self._expression, [Mistake(-1, f"expression recursion limit exceeded: {BRACKETS_MAX}")])
        node = self._operators()
        if self._token.kind == "?":
            position = self._take().position
            self._open.append("choice")
            chosen = self._operators()
            self._open.pop()
            self._expect(":", _STARTING)
            node = Call(position, "_?_:_", None, [node, chosen, self._expression_rule()])
        self._depth -= 1
        return node

    def _operators(self, weakest: int = 1) -> Node:
        """Operands and the operators between them, as far as these bind at least so strongly."""
        node = self._unary()
        count = 0
        while (strength := _STRENGTHS.get(self._token.kind, 0)) >= weakest:
            sign = self._take()
            right = self._operators(strength + 1)
            if sign.kind in _LOGIC and isinstance(node, Call) and count and node.function == _OPERATORS[sign.kind]:
                # All terms of a row of && or || are one call: how many they are says nothing about how deep it is.
                node.arguments.append(right)
                continue
            count += 1
            self._check_chain(count)
            node = Call(sign.position, _OPERATORS[sign.kind], None, [node, right])
        return node

    def _check_chain(self, count: int) -> None:
        if count > DEPTH_MAX:
            raise CompileError(self._expression, [Mistake(-1, TOO_DEEP)])

    def _unary(self) -> Node:
        sign = self._token
        if sign.kind == "-" and self._tokens[self._index + 1].kind in ("int", "float"):
            self._take()
            return self._members(self._number(self._take(), is_negative=True, position=sign.position))
        if sign.kind not in ("!", "-"):
            return self._members(self._primary())
        count = 0
        while self._took(sign.kind):
            count += 1
        operand = self._members(self._primary())
        return Call(sign.position, f"{sign.kind}_", None, [operand]) if count % 2 else operand

    def _members(self, node: Node) -> Node:
        count = 0
        while True:
            count += 1
            self._check_chain(count)
            if self._token.kind == ".":
                node = self._dot(node, self._take().position)
            elif self._token.kind == "[":
                node = self._bracket(node, self._take().position)
            else:
                return node

    def _dot(self, node: Node, position: int) -> Node:
        if self._took("?"):
            name = self._field_name()
            return Call(position, "_?._", None, [node, Literal(name.position, name.text)])
        name = self._field_name()
        if self._token.kind != "(" or name.kind == "escaped":
            return Select(position, node, name.text)
        position = self._take().position
        arguments = self._arguments()
        macro = member_macro(name.text, len(arguments))
        if macro is None:
            return Call(position, name.text, node, arguments)
        return self._expanded(lambda: macro(position, node, arguments))

    def _expanded(self, macro: Callable[[], Node]) -> Node:
        try:
            return macro()
        except BadMacro as wrong:
            raise CompileError(self._expression, [*self.mistakes, Mistake(wrong.position, str(wrong))]) from None

    def _field_name(self) -> Token:
        token = self._token
        if token.kind == "escaped":
            return self._take()._replace(text=token.text[1:-1])
        if token.kind != "name":
            raise self._no_name()
        return self._take()

    def _no_name(self) -> CompileError:
        shown = "" if self._token.kind == END else self._token.text
        return self._wrong(self._token, f"Syntax error: no viable alternative at input '.{shown}'")

    def _bracket(self, node: Node, position: int) -> Node:
        self._open.append("index")
        function = "_[?_]" if self._took("?") else "_[_]"
        index = self._expression_rule()
        self._close("]")
        return Call(position, function, None, [node, index])

    def _arguments(self) -> list[Node]:
        arguments: list[Node] = []
        if self._took(")"):
            return arguments
        self._open.append("call")
        arguments.append(self._expression_rule())
        while self._took(","):
            arguments.append(self._expression_rule())
        self._close(")")
        return arguments

    def _primary(self) -> Node:
        token = self._take()
        match token.kind:
            case "name" | ".":
                return self._named(token)
            case "(":
                self._open.append("group")
                node = self._expression_rule()
                self._close(")")
                return node
            case "[":
                return self._list(token)
            case "{":
                return MapOf(token.position, self._entries(self._expression_rule))
            case _:
                return self._literal(token)

    def _named(self, token: Token) -> Node:
        """A variable, a call, or an object: `a`, `f(a)`, `a.b.C{d: e}`."""
        is_absolute = token.kind == "."
        name = self._expect_name() if is_absolute else token
        if name.text in _RESERVED:
            self.mistakes.append(Mistake(token.position, f"reserved identifier: {name.text}"))
        dot = "." if is_absolute else ""
        if self._token.kind == "(":
            position = self._take().position
            arguments = self._arguments()
            if name.text == "has" and len(arguments) == 1:
                return self._expanded(lambda: has(position, arguments))
            return Call(position, f"{dot}{name.text}", None, arguments)
        if (found := self._object_name(name.text)) is not None:
            position = self._take().position
            return ObjectOf(position, f"{dot}{found}", self._entries(self._entry_name))
        return Ident(name.position, f"{dot}{name.text}")

    def _expect_name(self) -> Token:
        if self._token.kind != "name":
            raise self._no_name()
        return self._take()

    def _object_name(self, first: str) -> str | None:
        """The dotted name, if an opening brace follows it; then only the brace is left to be read."""
        names, index = [first], self._index
        while self._tokens[index].kind == "." and self._tokens[index + 1].kind == "name":
            names.append(self._tokens[index + 1].text)
            index += 2
        if self._tokens[index].kind != "{":
            return None
        self._index = index
        return ".".join(names)

    def _entry_name(self) -> Node:
        name = self._field_name()
        return Literal(name.position, name.text)

    def _entries(self, key: Callable[[], Node]) -> list[Entry]:
        entries: list[Entry] = []
        if self._took("}"):
            return entries
        self._open.append("map")
        is_more = True
        while is_more:
            is_optional = self._took("?")
            name = key()
            position = self._expect(":", _STARTING).position
            entries.append(Entry(position, name, self._expression_rule(), is_optional))
            is_more = self._comma_or_close("}")
        return entries

    def _list(self, opening: Token) -> Node:
        items: list[Node] = []
        optionals: set[int] = set()
        self._open.append("list")
        if self._token.kind == "," and self._tokens[self._index + 1].kind == "]":
            self._take()
        is_more = self._token.kind != "]"
        if not is_more:
            self._close("]")
        while is_more:
            if self._took("?"):
                optionals.add(len(items))
            items.append(self._expression_rule())
            is_more = self._comma_or_close("]")
        return ListOf(opening.position, items, frozenset(optionals))

    def _literal(self, token: Token) -> Node:
        match token.kind:
            case "true" | "false":
                return Literal(token.position, token.kind == "true")
            case "null":
                return Literal(token.position, None)
            case "string" | "bytes":
                return self._text(token)
            case "int" | "uint" | "float":
                return self._number(token)
        self._index -= 1
        is_first = self._index > 0 and self._tokens[self._index - 1].kind in ("(", "[", "{")
        expected = _STARTS.get(self._open[-1], _START) if is_first else _START
        if token.kind != END and self._tokens[self._index + 1].kind in _STARTING:
            self._skip(f"expecting {{{expected}}}")
            return self._primary()
        raise self._wrong(token, f"Syntax error: mismatched input '{token.text}' expecting {{{expected}}}")

    def _text(self, token: Token) -> Node:
        try:
            read = string_value if token.kind == "string" else bytes_value
            return Literal(token.position, read(token.text))
        except ValueError as wrong:
            raise self._wrong(token, str(wrong)) from None

    def _number(self, token: Token, *, is_negative: bool = False, position: int | None = None) -> Node:
        place = token.position if position is None else position
        if token.kind == "float":
            number = float(token.text)
            if number == float("inf"):
                raise self._wrong(token, "invalid double literal")
            return Literal(place, -number if is_negative else number)
        digits = token.text.rstrip("uU")
        whole = int(digits, 16) if digits.startswith("0x") else int(digits)
        if token.kind == "uint":
            if whole > UINT_MAX:
                raise self._wrong(token, "invalid uint literal")
            return Literal(place, UInt(whole))
        whole = -whole if is_negative else whole
        if not INT_MIN <= whole <= INT_MAX:
            raise self._wrong(token, "invalid int literal")
        return Literal(place, whole)
