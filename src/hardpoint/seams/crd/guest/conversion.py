"""Converting between the versions of a kind: an author's functions, behind a webhook.

    @app.conversion(CronTabV1Beta1, CronTab)
    def newer(old: CronTabV1Beta1) -> CronTab: ...

A function goes from one version to one other. Where there is none between two versions, the shortest way over others is
taken: with functions to one version and back again from all the others, every version leads to every other. Who an
object is does not change: its metadata is carried over, but for labels and annotations that a function sets.
"""

from __future__ import annotations

import functools
import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar, overload

from hardpoint.machinery import errors
from hardpoint.machinery.reviews import BadReview
from hardpoint.machinery.structural import Converter
from hardpoint.runtime.authored import Authored, AuthorFailed
from hardpoint.seams.crd.contract import ConversionFailed, answered, refused, request_of
from hardpoint.seams.crd.guest.resource import Resource

Json = dict[str, Any]
Class: TypeAlias = type[Resource]
Function: TypeAlias = Callable[[Any], Resource | Awaitable[Resource]]
"""What an author writes."""

S = TypeVar("S", bound=Resource)
T = TypeVar("T", bound=Resource)

DECORATOR = "@app.conversion"
BODY_BYTES_MAX = 64 * 1024 * 1024
"""A whole list is converted in one call."""


class Converting(Protocol[S, T]):
    """Takes a function of the right types, and gives it back as it was."""

    @overload
    def __call__(self, function: Callable[[S], Awaitable[T]], /) -> Callable[[S], Awaitable[T]]: ...
    @overload
    def __call__(self, function: Callable[[S], T], /) -> Callable[[S], T]: ...


class _Step(NamedTuple):
    """A function from one version to another."""

    source: Class
    target: Class
    function: Authored[Resource]
    many: Authored[None]
    """Converts the objects of its first argument, and appends what they became to its second."""


class ConversionGuest:
    """The conversion functions of an App as a webhook that answers ConversionReviews."""

    seam: ClassVar[str] = "crd"
    flag: ClassVar[str] = ""
    """No flag: the CustomResourceDefinition says where it is."""
    body_bytes_max: ClassVar[int] = BODY_BYTES_MAX
    admits_anyone: ClassVar[bool] = True
    """API servers show no certificate to a converter, and it tells nobody anything they did not bring themselves."""

    def __init__(self, *, path: str) -> None:
        self.path = path
        self._steps: dict[tuple[Class, Class], _Step] = {}

    @property
    def function(self) -> Authored[object]:
        """The first of its functions, which stands for all where a place is named."""
        return next(iter(self._steps.values())).function

    def add(self, function: Function, source: Class, target: Class) -> None:
        """Raises ConfigError."""
        one: Authored[Resource] = Authored(DECORATOR, function)
        _check(one, source, target)
        if (source, target) in self._steps:
            there = self._steps[source, target].function.place
            raise one.wrong(f"converts {source.__name__} to {target.__name__}, as {there} does; keep one of them")
        self._steps[source, target] = _Step(source, target, one, Authored(DECORATOR, _many(function)))

    def converts(self, group: str, kind: str) -> bool:
        """Whether any function is about this kind."""
        return any(_names(source) == (group, kind) for source, _ in self._steps)

    def way(self, source: str, target: str, kind: str) -> Sequence[_Step] | None:
        """The functions that lead from one apiVersion to another, as few as possible; None if none do."""
        ways: deque[tuple[str, tuple[_Step, ...]]] = deque([(source, ())])
        seen = {source}
        while ways:
            version, so_far = ways.popleft()
            if version == target:
                return so_far
            for step in self._from(version, kind):
                if step.target.api_version not in seen:
                    seen.add(step.target.api_version)
                    ways.append((step.target.api_version, (*so_far, step)))
        return None

    def _from(self, version: str, kind: str) -> Iterator[_Step]:
        return (step for step in self._steps.values() if (step.source.api_version, step.source.kind) == (version, kind))

    async def answer(self, asked: Json) -> Json:
        """The review with the objects in the version that is wanted, or with why they cannot be had."""
        try:
            version, request = request_of(asked)
        except BadReview as wrong:
            raise errors.bad_request(str(wrong)) from wrong
        try:
            objects = await self.convert(request["objects"], request["desiredAPIVersion"])
        except ConversionFailed as failed:
            return dict(refused(version, request["uid"], str(failed)))
        return dict(answered(version, request["uid"], objects))

    async def convert(self, objects: Sequence[Json], api_version: str) -> list[Json]:
        """The same objects in that version, in the same order. Raises ConversionFailed."""
        converted: list[Json] = list(objects)
        together: dict[tuple[str, str], list[int]] = {}
        for index, found in enumerate(objects):
            together.setdefault((str(found.get("apiVersion", "")), str(found.get("kind", ""))), []).append(index)
        for (source, kind), indexes in together.items():
            steps = self.way(source, api_version, kind)
            if steps is None:
                raise ConversionFailed(f"nothing here converts {kind} from {source} to {api_version}")
            if steps:
                became = await _led([objects[index] for index in indexes], steps)
                for index, json in zip(indexes, became, strict=True):
                    converted[index] = json
        return converted


_conforms: type[Converter] = ConversionGuest


async def _led(objects: Sequence[Json], steps: Sequence[_Step]) -> list[Json]:
    """What becomes of objects of one version on the way."""
    held = [_read(steps[0].source, json) for json in objects]
    for step in steps:
        became: list[Any] = []
        try:
            await step.many(held, became)
        except AuthorFailed:
            failed = objects[len(became)]
            raise ConversionFailed(f"{step.function.name} failed on {_told(failed)}; its log says why") from None
        for json, found in zip(objects, became, strict=True):
            if type(found) is not step.target:
                step.function.complain(f"returned a {type(found).__name__}; return a {step.target.__name__}")
                raise ConversionFailed(f"{step.function.name} returned no {step.target.__name__} for {_told(json)}")
        held = became
    return [_written(found, json) for found, json in zip(held, objects, strict=True)]


def _read(source: Class, json: Json) -> Resource:
    try:
        return source.from_json(json)
    except ValueError as wrong:
        raise ConversionFailed(f"{_told(json)} does not fit {source.api_version}: {wrong}") from None


def _written(found: Resource, original: Json) -> Json:
    """The object in its new version, still the one it was."""
    try:
        json = found.to_json()
    except ValueError as wrong:
        raise ConversionFailed(f"{_told(original)} does not fit {found.api_version}: {wrong}") from None
    said = {key: json["metadata"][key] for key in ("labels", "annotations") if key in json["metadata"]}
    metadata = {**original.get("metadata", {}), **said}
    return {**json, "apiVersion": found.api_version, "kind": found.kind, "metadata": metadata}


def _told(json: Json) -> str:
    metadata = json.get("metadata") or {}
    place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{json.get('kind')} {place}{metadata.get('name', '')}"


def _many(function: Function) -> Callable[..., Any]:
    """A function that converts a batch: plain ones then need one thread a batch, and not one an object."""

    @functools.wraps(function)
    def plain(objects: Sequence[Resource], became: list[Any]) -> None:
        for found in objects:
            became.append(function(found))

    @functools.wraps(function)
    async def waiting(objects: Sequence[Resource], became: list[Any]) -> None:
        for found in objects:
            returned = function(found)
            became.append(await returned if inspect.isawaitable(returned) else returned)

    return waiting if inspect.iscoroutinefunction(function) else plain


def _names(cls: Class) -> tuple[str, str]:
    return cls.api_version.rpartition("/")[0], cls.kind


def _check(function: Authored[Resource], source: Class, target: Class) -> None:
    for cls in (source, target):
        if not (isinstance(cls, type) and issubclass(cls, Resource) and cls.api_version):
            raise function.wrong(f"converts {cls!r}, which is no resource; put @app.resource on that class first")
    if _names(source) != _names(target) or source.api_version == target.api_version:
        raise function.wrong("must convert between two versions of one kind; a class says its kind with kind=")
    if not function.takes("resource"):
        raise function.wrong(f"must take one argument, the {source.__name__}")
