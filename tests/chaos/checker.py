"""Judges one round: what clients were told against what the store says it did.

The store's own account, a watch from before the round to its end, gives every write its place in one order. Against
that order everything else is checked: nothing acknowledged is missing, nothing refused happened, nothing happened
that nobody asked for, compare-and-swap compared with what was there, and the order respects real time. A write whose
answer was lost may be in the account or not; both are right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.chaos.history import Change, Listing, Operation, Seen


@dataclass(frozen=True, slots=True)
class Round:
    """Everything known about one round."""

    before: Listing
    operations: Sequence[Operation]
    live: Sequence[Change]
    """What a watch from `before` saw until it was cut off."""
    after: Listing
    replay: Sequence[Change]
    """What a watch from `before` sees now, up to `after`."""


def broken_promises(found: Round) -> list[str]:
    """What the store did wrong, one sentence each; none if it kept its word."""
    checks = (_order, _lives, _present, _acknowledged, _reasons, _compared, _real_time, _live)
    return [broken for check in checks for broken in check(found)]


def _order(found: Round) -> Iterator[str]:
    last = found.before.revision
    for change in found.replay:
        if change.revision <= last:
            yield f"the watch goes from {last} to {change.revision}, at {change.name}"
        last = change.revision
    newest = max((each.revision for each in found.operations if each.outcome == "done"), default=last)
    if found.after.revision < max(last, newest):
        yield f"the newest revision went back to {found.after.revision}; {max(last, newest)} was seen before"


def _lives(found: Round) -> Iterator[str]:
    """An object is added when absent, and modified and deleted when present."""
    alive = {name: seen.uid for name, seen in found.before.objects.items()}
    for change in found.replay:
        wanted = None if change.type == "ADDED" else change.uid
        if alive.get(change.name) != wanted:
            yield f"{change.type} {change.name} at {change.revision}, which was {alive.get(change.name) or 'absent'}"
        if change.type == "DELETED":
            alive.pop(change.name, None)
        else:
            alive[change.name] = change.uid


def _present(found: Round) -> Iterator[str]:
    """The list is what the watch leads to."""
    expected = dict(found.before.objects)
    for change in found.replay:
        if change.type == "DELETED":
            expected.pop(change.name, None)
        else:
            expected[change.name] = Seen(change.uid, change.revision, change.stamp)
    for name in sorted(expected.keys() | found.after.objects.keys()):
        if expected.get(name) != found.after.objects.get(name):
            yield f"the watch leads to {name} as {expected.get(name)}, the list has {found.after.objects.get(name)}"


def _acknowledged(found: Round) -> Iterator[str]:
    """What a client was told, or shown, has happened."""
    written = {(change.name, change.revision, change.stamp) for change in found.replay if change.type != "DELETED"}
    written |= {(name, seen.revision, seen.stamp) for name, seen in found.before.objects.items()}
    deleted = {change.uid for change in found.replay if change.type == "DELETED"}
    for each in _done(found.operations):
        if each.verb == "delete":
            if each.uid not in deleted:
                yield f"the acknowledged delete of {each.name} ({each.uid}) is lost"
        elif (each.name, each.revision, each.stamp) not in written:
            what = "what was read of" if each.verb == "get" else f"the acknowledged {each.verb} of"
            yield f"{what} {each.name} at {each.revision} ({each.stamp}) is lost"


def _reasons(found: Round) -> Iterator[str]:
    """Whatever happened was asked for once, and was not refused."""
    asked = {each.stamp: each for each in found.operations if each.verb not in ("get", "delete")}
    deletes = Counter(each.name for each in found.operations if each.verb == "delete" and each.outcome != "refused")
    happened: set[str] = set()
    for change in found.replay:
        if change.type == "DELETED":
            deletes[change.name] -= 1
            if deletes[change.name] < 0:
                yield f"{change.name} was deleted at {change.revision}, which nobody asked for"
            continue
        operation = asked.get(change.stamp)
        if operation is None or operation.outcome == "refused":
            yield f"{change.name} at {change.revision} ({change.stamp}) is nothing that anybody was granted"
        if change.stamp in happened:
            yield f"{change.stamp} happened to {change.name} twice, again at {change.revision}"
        happened.add(change.stamp)


def _compared(found: Round) -> Iterator[str]:
    """A write that insisted on a revision replaced exactly that one."""
    insisted = {each.stamp: each.expected for each in found.operations if each.expected and each.verb != "delete"}
    held = {name: seen.revision for name, seen in found.before.objects.items()}
    for change in found.replay:
        expected = insisted.get(change.stamp) if change.type == "MODIFIED" else None
        if expected is not None and expected != held.get(change.name):
            yield f"{change.stamp} insisted on {change.name} at {expected} and replaced {held.get(change.name)}"
        held[change.name] = change.revision


def _real_time(found: Round) -> Iterator[str]:
    """Who began after another had ended comes after it; a read sees what was acknowledged before it began."""
    done = [each for each in _done(found.operations) if each.revision]
    by_end = sorted(done, key=lambda each: each.ended)
    newest, newest_of, ended = 0, dict[str, int](), 0
    for each in sorted(done, key=lambda each: each.began):
        while ended < len(by_end) and by_end[ended].ended < each.began:
            past = by_end[ended]
            newest = max(newest, past.revision if past.verb != "get" else 0)
            newest_of[past.name] = max(newest_of.get(past.name, 0), past.revision)
            ended += 1
        if each.verb == "get":
            if each.revision < newest_of.get(each.name, 0):
                yield f"a read of {each.name} got {each.revision} after {newest_of[each.name]} had been acknowledged"
        elif each.revision <= newest:
            yield f"{each.stamp} got revision {each.revision} after {newest} had been acknowledged"


def _live(found: Round) -> Iterator[str]:
    """What was seen as it happened is what the replay begins with."""
    for now, then in zip(found.live, found.replay, strict=False):
        if now != then:
            yield f"a watch saw {now} as it happened, the replay has {then}"
            return
    if len(found.live) > len(found.replay):
        yield f"a watch saw {found.live[len(found.replay)]}, which the replay does not have"


def _done(operations: Iterable[Operation]) -> Iterator[Operation]:
    return (each for each in operations if each.outcome == "done")
