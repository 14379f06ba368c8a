"""Many flags that end up in one parameter of a command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def collected(
    flags: Sequence[Callable[..., Any]], parameter: str, make: Callable[[dict[str, Any]], Any]
) -> Callable[[F], F]:
    """A decorator: the command gets these flags, and `parameter`, which is what `make` makes of their values."""

    def decorate(command: F) -> F:
        names: set[str] = set()

        @wraps(command)
        def collecting(**given: Any) -> Any:
            ours = {name: given.pop(name) for name in names}
            return command(**{parameter: make(ours)}, **given)

        decorated: Any = collecting
        for flag in reversed(flags):
            decorated = flag(decorated)
        names.update(each.name for each in decorated.__click_params__[-len(flags) :])
        return decorated  # type: ignore[no-any-return]  # what click makes of a function is called like it

    return decorate
