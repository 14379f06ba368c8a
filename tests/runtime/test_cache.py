"""What was written is seen over what was watched, and no longer than until the watch has come as far."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.runtime.cache import Cache, version_number
from hardpoint.runtime.changes import Change, Key
from hardpoint.runtime.indexes import by_label

Json = dict[str, Any]


def toy(name: str, version: int, colour: str = "red", namespace: str = "one") -> Json:
    labels = {"colour": colour}
    metadata = {"name": name, "namespace": namespace, "resourceVersion": str(version), "labels": labels}
    return {"metadata": metadata}


def colours(cache: Cache) -> dict[str, str]:
    return {each["metadata"]["name"]: each["metadata"]["labels"]["colour"] for each in cache.read_all()}


@pytest.mark.parametrize(
    ("resource_version", "number"), [("12", 12), ("", 0), ("v12", 0), ("-1", 0), ("٣", 0), ("1" * 30, int("1" * 30))]
)
def test_versions_are_numbers(resource_version: str, number: int) -> None:
    assert version_number(resource_version) == number


def test_a_write_is_seen_until_the_watch_has_come_as_far() -> None:
    cache = Cache()
    cache.put(Key("one", "a"), toy("a", 1))
    cache.reach(1)
    cache.note_written(toy("a", 3, "green"))
    cache.note_written(toy("b", 4, "green"))
    assert (colours(cache), len(cache)) == ({"a": "green", "b": "green"}, 2)
    cache.put(Key("one", "a"), toy("a", 2, "blue"))
    cache.reach(2)
    assert colours(cache)["a"] == "green", "the watch is still behind"
    cache.put(Key("one", "a"), toy("a", 3, "green"))
    cache.reach(3)
    assert set(cache._ahead) == {Key("one", "b")}
    cache.reach(5)
    assert colours(cache) == {"a": "green"}, "the watch has passed it, and told nothing of it: it is gone"


def test_a_write_that_comes_late_is_no_news() -> None:
    cache = Cache()
    cache.put(Key("one", "a"), toy("a", 5, "blue"))
    cache.note_written(toy("a", 4, "green"))
    assert colours(cache) == {"a": "blue"}
    cache.reach(9)
    cache.note_written(toy("deleted", 8))
    assert len(cache) == 1


def test_a_server_that_went_back_takes_its_writes_with_it() -> None:
    cache = Cache()
    cache.reach(100)
    cache.note_written(toy("a", 101))
    cache.reach(50)
    assert colours(cache) == {}
    cache.note_written(toy("a", 51))
    assert colours(cache) == {"a": "red"}


steps = st.lists(
    st.tuples(
        st.sampled_from(["watch", "watch", "delete", "write"]),
        st.sampled_from("abc"),
        st.sampled_from(["red", "green"]),
        st.sampled_from(["one", "two"]),
    ),
    max_size=30,
)


@given(steps)
def test_every_way_to_read_sees_the_same(acts: list[tuple[str, str, str, str]]) -> None:
    cache = Cache()
    cache.add_index("colour", by_label("colour"))
    for version, (what, name, colour, namespace) in enumerate(acts, start=1):
        key, found = Key(namespace, name), toy(name, version, colour, namespace)
        if what == "write":
            cache.note_written(found)
        elif what == "watch":
            cache.put(key, found)
        else:
            cache.pop(key, found)
    everything = cache.read_all()
    keys = [Key.of(each) for each in everything]
    assert len(cache) == len(keys) == len(set(keys))
    assert sorted(cache.keys()) == sorted(keys)
    assert [cache.read(key) for key in keys] == everything
    for namespace in ("one", "two"):
        assert _sorted(cache.read_all(namespace)) == _sorted(
            [each for each in everything if each["metadata"]["namespace"] == namespace]
        )
    for colour in ("red", "green"):
        expected = [each for each in everything if each["metadata"]["labels"]["colour"] == colour]
        assert _sorted(cache.by_index("colour", colour)) == _sorted(expected)
        assert _sorted(cache.read_all(selector=f"colour={colour}")) == _sorted(expected)


def _sorted(found: list[Json]) -> list[bytes]:
    return sorted(map(orjson.dumps, found))


def test_a_change_decodes_what_somebody_looks_at() -> None:
    key, old, new = Key("", "a"), orjson.dumps(toy("a", 1)), orjson.dumps(toy("a", 2))
    change = Change("MODIFIED", key, new, old)
    assert (change.old, change.new, change.is_resync) == (toy("a", 1), toy("a", 2), False)
    assert change.new is change.new is change.object, "once is enough"
    assert Change("MODIFIED", key, new, new).is_resync
    gone = Change("DELETED", key, None, toy("a", 1))
    assert (gone.new, gone.object, gone.is_resync) == (None, toy("a", 1), False)
    assert (repr(gone), str(Key("ns", "a"))) == ("Change(DELETED a)", "ns/a")
