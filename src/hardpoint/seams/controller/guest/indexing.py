"""Indexes of an App: a function says under which keys an object is found, and `ctx.index` finds it.

    @app.index("v1 Pod")
    def by_node(pod: Object) -> str | None:
        return pod.spec.nodeName

    pods = await ctx.index(by_node, "node-1")

The informer's cache keeps the keys; what is found is read when it is asked for, so that an index holds no copies and
has at once what the App wrote itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

from hardpoint.runtime.authored import Authored
from hardpoint.runtime.informer import Informer
from hardpoint.seams.controller.guest.declared import Named, What, named
from hardpoint.seams.controller.guest.outcome import copied

Json = dict[str, Any]

IndexFunction = Callable[[Any], "Mapping[Any, Any] | Iterable[Any] | str | None"]
"""What an author writes: the keys of an object, or values by key, or None for an object that is under nothing."""


class IndexGuest:
    """A function with @app.index."""

    def __init__(self, app: str, function: IndexFunction, what: What) -> None:
        """Raises ConfigError, with the function's line."""
        self.raw = function
        self.function: Authored[Any] = Authored("@app.index", function)
        self.name = self.function.name.rpartition(".")[2]
        if self.function.is_async or not self.function.takes("object"):
            raise self.function.wrong(
                "must be a plain function of one argument, the object; it is called for each change"
            )
        try:
            self.resource: Named = named(what)
        except ValueError as wrong:
            raise self.function.wrong(f"cannot be an index: {wrong}") from wrong
        # A file that is loaded again has another function of the same name, over the same cache.
        self._title = f"{app} {self.name} {id(self):x}"
        # An informer knows an index by its function, and each look at a method is another one.
        self._bound = self._keys

    def install(self, informer: Informer) -> None:
        """Have the cache of an informer keep the keys."""
        informer.add_index(self._title, self._bound)

    def find(self, informer: Informer, key: Any) -> list[Any]:
        """What is under a key: the values that the function gave it, or where it gave keys alone, the objects."""
        return [value for found in informer.by_index(self._title, _text(key)) for value in self._values(found, key)]

    def _keys(self, found: Json) -> list[str]:
        answer = self.raw(self.resource.model.from_json(copied(found)))
        return [_text(key) for key in _each(answer)]

    def _values(self, found: Json, key: Any) -> Iterator[Any]:
        shown = self.resource.model.from_json(found)
        answer = self.raw(shown)
        if not isinstance(answer, Mapping):
            yield shown
        else:
            yield from (value for each, value in answer.items() if _text(each) == _text(key))


def _each(answer: Any) -> Iterable[Any]:
    if answer is None:
        return ()
    return (answer,) if isinstance(answer, str) else answer


def _text(key: Any) -> str:
    """A key as the cache has it. Texts, numbers and tuples of them are told apart."""
    return orjson.dumps(key, option=orjson.OPT_SORT_KEYS).decode()
