"""Paths from a variable to the values in it, as those write them who ask for sizes."""

from __future__ import annotations

Path = tuple[str, ...]
"""A variable, then names of fields, `@items` or `@indices` of a list, `@keys` or `@values` of a map."""


class Trail:
    """A path that is still being walked, with the memory of a Go slice.

    cel-go adds names to paths in place where there is room. Then two paths with the same beginning share their last
    name, and the one written first changes under its owner: estimates come out other than meant, and clusters hold
    rules to them. There is room in a path of three names, or of five to seven, and so on.
    """

    __slots__ = ("_length", "_places")

    def __init__(self, places: list[str], length: int) -> None:
        self._places = places
        self._length = length

    def then(self, name: str) -> Trail:
        places = self._places
        if self._length == len(places):
            places = [*places, *[""] * max(1, len(places))]
        places[self._length] = name
        return Trail(places, self._length + 1)

    @property
    def path(self) -> Path:
        return tuple(self._places[: self._length])


NOWHERE = Trail([], 0)
