"""YAML as kube-apiserver reads and writes it: YAML 1.1 as Go resolves it, turned into JSON values, within bounds.

libyaml parses, and the events are put together here without recursion: at most 10,000 levels, 3 MiB of text, 64 MiB
after aliases were expanded, and no more aliasing than Go allows. Tags beyond the core ones are refused, only the first
document is read, dates stay strings and keys become strings.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import yaml

from hardpoint.machinery import jsontext, yamlscalars
from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.jsonexact import HugeNumber, Parsed

SIZE_MAX: Final = 3 * 1024 * 1024
EXPANDED_SIZE_MAX: Final = 64 * 1024 * 1024
DEPTH_MAX: Final = 10_000
_DUPLICATES_MAX: Final = 100
_LINE_WIDTH: Final = 80
_COLLECTION_TAGS: Final = (None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")

__all__ = ["BadYaml", "Parsed", "encode", "parse", "parse_all"]


class BadYaml(HardpointError):
    """A text that is no YAML we read; the message names the line where there is one."""


def parse(data: bytes) -> Parsed:
    """The value of the first document, and the paths of its duplicate keys, of which the last one counts.

    Raises BadYaml. An empty text is None.
    """
    if len(data) > SIZE_MAX:
        raise BadYaml(f"yaml: the text has {len(data)} bytes, {SIZE_MAX} are allowed")
    return next(_documents(data), Parsed(None, []))


def parse_all(data: bytes) -> list[Any]:
    """The values of all documents of a file, however long it is. Raises BadYaml."""
    return [document.value for document in _documents(data)]


def _documents(data: bytes) -> Iterator[Parsed]:
    builder = _Builder()
    try:
        for event in yaml.parse(data, Loader=yaml.CSafeLoader):
            builder.take(event)
            if isinstance(event, yaml.DocumentEndEvent):
                yield Parsed(builder.root, list(builder.duplicates))
                builder = _Builder()
    except yaml.YAMLError as error:
        raise BadYaml(_words(error)) from None
    except yamlscalars.BadScalar as bad:
        raise BadYaml(f"yaml: {bad}") from None


def encode(value: Any) -> bytes:
    """The value as a YAML document: keys sorted, blocks indented like Go does, strings that Go would misread quoted."""
    try:
        text = yaml.dump(value, Dumper=_dumper(), encoding="utf-8", allow_unicode=True, width=_LINE_WIDTH)
    except RecursionError:
        # What is too deep for libyaml's wrapper is written as JSON, which is YAML too.
        return jsontext.encode(value) + b"\n"
    return bytes(text)


def _words(error: yaml.YAMLError) -> str:
    """Go's words: it counts lines from one in its scanner, and from zero in its parser."""
    problem = (
        getattr(error, "problem", None) or getattr(error, "reason", None) or "unknown problem parsing YAML content"
    )
    for mark in (getattr(error, "problem_mark", None), getattr(error, "context_mark", None)):
        if mark is not None and mark.line:
            line = mark.line + isinstance(error, yaml.scanner.ScannerError)
            return f"yaml: line {line}: {problem}"
    return f"yaml: {problem}"


class _Open:
    """A collection whose end has not come yet."""

    __slots__ = ("anchor", "bytes_before", "container", "count_before", "key", "wants_key")

    def __init__(self, container: dict[str, Any] | list[Any], anchor: str | None, count: int, size: int) -> None:
        self.container = container
        self.anchor = anchor
        self.count_before = count
        self.bytes_before = size
        self.key: Any = None
        self.wants_key = isinstance(container, dict)


class _Anchored:
    """A value that aliases may repeat, with what it costs: values and bytes, aliases inside it expanded."""

    __slots__ = ("bytes", "count", "value")

    def __init__(self, value: Any, count: int, size: int) -> None:
        self.value = value
        self.count = count
        self.bytes = size


class _Builder:
    """Puts a value together from events."""

    def __init__(self) -> None:
        self.root: Any = None
        self.duplicates: dict[str, None] = {}
        self._open: list[_Open] = []
        self._anchored: dict[str, _Anchored] = {}
        self._count = 0
        self._count_from_aliases = 0
        self._bytes = 0

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(str(event.anchor))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._spend(1, len(event.value))
        value = yamlscalars.resolved(event.value, event.tag, is_plain=event.implicit[0])
        if event.anchor is not None:
            self._anchored[event.anchor] = _Anchored(value, 1, len(event.value))
        is_merge = event.value == "<<" and event.implicit[0]
        self._add(yamlscalars.MERGE if is_merge and self._wants_key() else value)

    def _begin(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 0
        if event.tag not in _COLLECTION_TAGS:
            raise BadYaml(f"yaml: line {line}: only the tags !!map and !!seq are supported for collections")
        if len(self._open) >= DEPTH_MAX:
            raise BadYaml(f"yaml: line {line}: exceeded max depth of {DEPTH_MAX}")
        if self._wants_key():
            raise BadYaml(f"yaml: line {line}: a key must be a scalar")
        container: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._open.append(_Open(container, event.anchor, self._count, self._bytes))
        self._spend(1, 0)

    def _end(self) -> None:
        ended = self._open.pop()
        if ended.anchor is not None:
            count, size = self._count - ended.count_before, self._bytes - ended.bytes_before
            self._anchored[ended.anchor] = _Anchored(ended.container, count, size)
        self._add(ended.container)

    def _alias(self, anchor: str) -> None:
        if any(opened.anchor == anchor for opened in self._open):
            raise BadYaml(f"yaml: anchor '{anchor}' value contains itself")
        anchored = self._anchored.get(anchor)
        if anchored is None:
            raise BadYaml(f"yaml: unknown anchor '{anchor}' referenced")
        self._count_from_aliases += anchored.count
        self._spend(anchored.count, anchored.bytes)
        value = anchored.value
        # A copy: what grows from one body must not be connected behind its back.
        self._add(jsontext.parse(jsontext.encode(value)).value if isinstance(value, dict | list) else value)

    def _spend(self, count: int, size: int) -> None:
        self._count += count
        self._bytes += size
        if self._bytes > EXPANDED_SIZE_MAX or _is_excessive(self._count_from_aliases, self._count):
            raise BadYaml("yaml: document contains excessive aliasing")

    def _wants_key(self) -> bool:
        return bool(self._open) and self._open[-1].wants_key

    def _add(self, value: Any) -> None:
        if not self._open:
            self.root = value
            return
        opened = self._open[-1]
        container = opened.container
        if isinstance(container, list):
            container.append(value)
        elif opened.wants_key:
            opened.key = value if value is yamlscalars.MERGE else yamlscalars.key(value)
            opened.wants_key = False
            if opened.key in container:
                self._note_duplicate()
        else:
            opened.wants_key = True
            if opened.key is yamlscalars.MERGE:
                _merge(container, value)
            else:
                container[opened.key] = value

    def _note_duplicate(self) -> None:
        if len(self.duplicates) < _DUPLICATES_MAX:
            steps = (
                f".{opened.key}" if isinstance(opened.container, dict) else f"[{len(opened.container)}]"
                for opened in self._open
            )
            self.duplicates["".join(steps).removeprefix(".")] = None


def _merge(container: dict[str, Any], value: Any) -> None:
    """Take over the entries of a mapping or of a list of mappings, of which the first wins."""
    sources = value if isinstance(value, list) else [value]
    if not all(isinstance(source, dict) for source in sources):
        raise BadYaml("yaml: map merge requires map or sequence of maps as the value")
    for source in reversed(sources):
        container.update(source)


def _is_excessive(from_aliases: int, count: int) -> bool:
    """Go's measure: small documents may come from aliases nearly whole, very large ones by a tenth."""
    if from_aliases <= 100 or count <= 1000:
        return False
    if count <= 400_000:
        allowed = 0.99
    elif count >= 4_000_000:
        allowed = 0.10
    else:
        allowed = 0.99 - 0.89 * (count - 400_000) / 3_600_000
    return from_aliases / count > allowed


@cache
def _dumper() -> type[yaml.CSafeDumper]:
    class Dumper(yaml.CSafeDumper):
        """Writes strings so that Go reads strings, and nothing by reference."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    def represent_text(dumper: Any, text: str) -> yaml.ScalarNode:
        style = None
        if "\n" in text:
            style = "|"
        elif not yamlscalars.is_read_as_text(text):
            style = '"'
        node: yaml.ScalarNode = dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)
        return node

    def represent_huge_number(dumper: Any, number: HugeNumber) -> yaml.ScalarNode:
        # Neither Go nor libyaml reads such a number: on the way through YAML it becomes a text.
        return represent_text(dumper, str(number))

    Dumper.add_representer(str, represent_text)
    Dumper.add_representer(HugeNumber, represent_huge_number)
    return Dumper
