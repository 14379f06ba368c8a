"""What clients asked and were told, as JSON lines: the record that checkers judge, during a run or long after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

Outcome = Literal["done", "refused", "unknown"]


@dataclass(slots=True)
class Operation:
    """One request. `unknown` means that it may have happened: the answer did not arrive."""

    client: int
    verb: Literal["create", "update", "patch", "delete", "get"]
    name: str
    began: float
    stamp: str = ""
    """What it wrote, or for a get what it read; no two writes have the same."""
    expected: int = 0
    """The resourceVersion it insisted on, or 0."""
    ended: float = 0.0
    outcome: Outcome = "unknown"
    status: int = 0
    revision: int = 0
    """The resourceVersion in the answer, or 0 if it had none."""
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """An object as a list shows it."""

    uid: str
    revision: int
    stamp: str


@dataclass(frozen=True, slots=True)
class Change:
    """An event as a watch shows it."""

    type: str
    name: str
    uid: str
    revision: int
    stamp: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Every object at one revision."""

    revision: int
    objects: dict[str, Seen]


def listing(answer: dict[str, Any]) -> Listing:
    return Listing(
        int(answer["metadata"]["resourceVersion"]), {item["metadata"]["name"]: _seen(item) for item in answer["items"]}
    )


def change(event: dict[str, Any]) -> Change:
    seen = _seen(event["object"])
    return Change(event["type"], event["object"]["metadata"]["name"], seen.uid, seen.revision, seen.stamp)


def _seen(item: dict[str, Any]) -> Seen:
    metadata = item["metadata"]
    return Seen(metadata["uid"], int(metadata["resourceVersion"]), item.get("data", {}).get("stamp", ""))


def write(path: Path, operations: Iterable[Operation]) -> None:
    """Append to a record."""
    with path.open("ab") as record:
        for operation in operations:
            record.write(orjson.dumps(asdict(operation), option=orjson.OPT_APPEND_NEWLINE))


def read(path: Path) -> list[Operation]:
    """A record written earlier."""
    return [Operation(**orjson.loads(line)) for line in path.read_bytes().splitlines()]
