"""The checker alone: small histories, each with one thing wrong with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.chaos import history
from tests.chaos.checker import Round, broken_promises
from tests.chaos.history import Change, Listing, Operation, Seen

CREATED = Operation(0, "create", "a", began=1, ended=2, stamp="0-0", outcome="done", status=201, revision=11, uid="u")
UPDATED = Operation(
    0, "update", "a", began=3, ended=4, stamp="0-1", expected=11, outcome="done", status=200, revision=12, uid="u"
)
READ = Operation(1, "get", "a", began=5, ended=6, stamp="0-1", outcome="done", status=200, revision=12, uid="u")
LOST = Operation(1, "create", "b", began=5, stamp="1-0")
REFUSED = Operation(2, "create", "a", began=3, ended=4, stamp="2-0", outcome="refused", status=409)
DELETED = Operation(0, "delete", "c", began=1, ended=2, outcome="done", status=200, uid="w")

ADDED_A = Change("ADDED", "a", "u", 11, "0-0")
MODIFIED_A = Change("MODIFIED", "a", "u", 12, "0-1")
DELETED_C = Change("DELETED", "c", "w", 13, "")
ADDED_B = Change("ADDED", "b", "v", 14, "1-0")

GOOD = Round(
    before=Listing(10, {"c": Seen("w", 9, "0-9")}),
    operations=(CREATED, UPDATED, READ, LOST, REFUSED, DELETED),
    live=(ADDED_A, MODIFIED_A),
    after=Listing(13, {"a": Seen("u", 12, "0-1")}),
    replay=(ADDED_A, MODIFIED_A, DELETED_C),
)


def test_a_kept_promise() -> None:
    assert broken_promises(GOOD) == []


def test_what_was_never_answered_may_have_happened() -> None:
    happened = replace(
        GOOD, replay=(*GOOD.replay, ADDED_B), after=Listing(14, {**GOOD.after.objects, "b": Seen("v", 14, "1-0")})
    )
    assert broken_promises(happened) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(
            {"replay": (ADDED_A, DELETED_C), "after": Listing(13, {"a": Seen("u", 11, "0-0")}), "live": ()},
            "acknowledged update of a at 12",
            id="an update is lost",
        ),
        pytest.param(
            {
                "replay": (ADDED_A, MODIFIED_A),
                "after": Listing(13, {"a": Seen("u", 12, "0-1"), "c": Seen("w", 9, "0-9")}),
            },
            "acknowledged delete of c",
            id="a delete is lost",
        ),
        pytest.param({"after": Listing(13, {"a": Seen("u", 11, "0-0")})}, "the list has", id="the list is behind"),
        pytest.param({"replay": (ADDED_A, ADDED_A, MODIFIED_A, DELETED_C)}, "from 11 to 11", id="delivered twice"),
        pytest.param({"replay": (MODIFIED_A, ADDED_A, DELETED_C)}, "from 12 to 11", id="out of order"),
        pytest.param({"after": Listing(11, GOOD.after.objects)}, "went back to 11", id="the revision goes back"),
        pytest.param({"live": (MODIFIED_A,)}, "as it happened", id="the live watch missed one"),
        pytest.param({"live": (*GOOD.replay, ADDED_B)}, "does not have", id="the live watch saw what never happened"),
        pytest.param(
            {"replay": (*GOOD.replay, Change("ADDED", "z", "x", 14, "2-0"))},
            "anybody was granted",
            id="refused, but done",
        ),
        pytest.param({"replay": (*GOOD.replay, Change("DELETED", "a", "u", 14, ""))}, "nobody asked for", id="deleted"),
        pytest.param(
            {"replay": (ADDED_A, replace(MODIFIED_A, type="ADDED"), DELETED_C)},
            "ADDED a at 12",
            id="added when present",
        ),
        pytest.param(
            {"operations": (CREATED, replace(UPDATED, expected=7), DELETED)}, "insisted on a at 7", id="swapped unseen"
        ),
        pytest.param(
            {"operations": (replace(CREATED, began=5, ended=6), UPDATED, DELETED)},
            "got revision 11 after 12",
            id="time",
        ),
        pytest.param(
            {"operations": (CREATED, UPDATED, replace(READ, revision=11, stamp="0-0"), DELETED)},
            "a read of a got 11 after 12",
            id="a stale read",
        ),
        pytest.param(
            {"operations": (CREATED, UPDATED, replace(READ, stamp="0-7"), DELETED)}, "read of a", id="a read of nothing"
        ),
    ],
)
def test_a_broken_promise_is_named(change: dict[str, object], words: str) -> None:
    assert words in "\n".join(broken_promises(replace(GOOD, **change)))  # type: ignore[arg-type]


def test_a_record_can_be_judged_later(tmp_path: Path) -> None:
    history.write(tmp_path / "record", GOOD.operations)
    assert history.read(tmp_path / "record") == list(GOOD.operations)
