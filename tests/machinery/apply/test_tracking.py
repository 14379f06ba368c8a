"""Who manages what through an object's life: what every apply promises, and the cases that are easy to get wrong."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.apply import Conflicts, fieldsets, of_shape
from hardpoint.machinery.apply.claims import claims
from hardpoint.machinery.apply.comparing import compare, said_first
from hardpoint.machinery.apply.fieldsets import FieldSet
from hardpoint.machinery.apply.lastapplied import ANNOTATION
from hardpoint.machinery.shapes import shape
from tests.machinery.apply.kinds import THING, thing, tracker

Json = dict[str, Any]

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
TRACKER = tracker()

LETTERS = st.sampled_from("abc")
# An empty set or list with keys claims nothing, and so is nobody's: these have at least one item.
PARTS = st.lists(
    st.fixed_dictionaries({"name": LETTERS}, optional={"kind": LETTERS, "weight": st.integers(0, 2), "note": LETTERS}),
    min_size=1,
    max_size=3,
    unique_by=lambda part: (part["name"], part.get("kind", "std")),
)
SPECS: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {"size": st.integers(0, 2)},
    optional={
        "mode": LETTERS,
        "tags": st.lists(LETTERS, min_size=1, unique=True),
        "raw": st.lists(st.integers(0, 2), max_size=2),
        "opts": st.dictionaries(LETTERS, LETTERS, max_size=2),
        "more": st.dictionaries(LETTERS, LETTERS, max_size=2),
        "parts": PARTS,
        "free": st.dictionaries(LETTERS, st.integers(0, 2) | st.dictionaries(LETTERS, LETTERS, max_size=2), max_size=2),
    },
)
LABELS = st.dictionaries(LETTERS, LETTERS, max_size=2)
CONFIGS: st.SearchStrategy[Json] = st.builds(
    lambda spec, labels: thing(spec, **({"labels": labels} if labels else {})), st.none() | SPECS, LABELS
)


FULL: dict[str, Json] = {
    "Pod": {
        "metadata": {"name": "p", "labels": {"a": "b"}, "finalizers": ["x.io/y"]},
        "spec": {
            "containers": [
                {"name": "c", "image": "i", "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]},
                {"name": "d", "env": [{"name": "A", "value": "1"}], "resources": {"limits": {"cpu": "1"}}},
            ],
            "volumes": [{"name": "v", "emptyDir": {}}],
            "nodeSelector": {"a": "b"},
            "securityContext": {"runAsUser": 1},
        },
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    },
    "Service": {
        "metadata": {},
        "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}},
        "status": {"loadBalancer": {}},
    },
    "ConfigMap": {"metadata": {"annotations": {}}, "data": {"a": "b"}, "immutable": False},
    "Node": {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}, "status": {"capacity": {"cpu": "1"}}},
    "PersistentVolumeClaim": {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    },
    "Secret": {"data": {"a": "Yg=="}, "type": "Opaque"},
}


def thinned(value: Any) -> st.SearchStrategy[Any]:
    """The value without some of what is in it."""
    if isinstance(value, dict) and value:
        return st.fixed_dictionaries({}, optional={name: thinned(each) for name, each in value.items()})
    if isinstance(value, list) and value:
        return st.lists(st.sampled_from(value), max_size=len(value), unique_by=repr)
    return st.just(value)


def stored(obj: Json) -> Json:
    """An object as it comes back from the store: a copy, with a uid."""
    copied: Json = orjson.loads(orjson.dumps(obj))
    copied["metadata"]["uid"] = "u"
    return copied


def apply(live: Json | None, config: Json, manager: str, *, force: bool = True, now: str = EARLY) -> Json:
    return stored(TRACKER.apply(live or TRACKER.empty, config, manager, now, force=force))


def update(live: Json | None, new: Json, manager: str, now: str = EARLY) -> Json:
    written: Json = orjson.loads(orjson.dumps(new))
    TRACKER.track(live, written, manager, now)
    return stored(written)


def owned(obj: Json) -> dict[str, FieldSet]:
    return {
        f"{entry['manager']} {entry['operation']}": entry["fieldsV1"]
        for entry in obj["metadata"].get("managedFields") or ()
    }


def without_managers(obj: Json) -> Json:
    metadata = {name: value for name, value in obj["metadata"].items() if name not in ("managedFields", "uid")}
    return {**obj, "metadata": metadata}


@given(CONFIGS, CONFIGS)
def test_apply_is_idempotent(first: Json, second: Json) -> None:
    live = apply(apply(None, first, "a"), second, "b")
    once = apply(live, first, "a")
    assert apply(once, first, "a", now=LATE) == once


@given(CONFIGS, CONFIGS)
def test_what_was_applied_is_there(first: Json, second: Json) -> None:
    """A configuration never goes lost: applying it on top of anything makes it so."""
    live = apply(apply(None, first, "a"), second, "b")
    claimed = claims(THING, {name: value for name, value in second.items() if name == "spec"})
    assert fieldsets.difference(claimed, owned(live).get("b Apply", {})) == {}


@given(SPECS, LABELS)
def test_disjoint_appliers_commute(spec: Json, labels: Json) -> None:
    one, other = thing(spec), thing(None, labels=labels)
    there = apply(apply(None, one, "a", force=False), other, "b", force=False)
    back = apply(apply(None, other, "b", force=False), one, "a", force=False)
    assert without_managers(there) == without_managers(back)
    assert owned(there) == owned(back)


@given(CONFIGS)
def test_what_its_last_owner_lets_go_is_gone(config: Json) -> None:
    """No field without an owner survives: whoever applies everything and then nothing leaves nothing behind."""
    empty = apply(apply(None, config, "a"), thing(), "a")
    assert owned(empty) == {}
    left = {name: value for name, value in without_managers(empty).items() if value not in (None, {}, [])}
    assert left == thing()


@given(CONFIGS, CONFIGS)
def test_what_somebody_else_owns_stays(first: Json, second: Json) -> None:
    live = apply(apply(None, first, "a"), second, "b")
    left = apply(live, thing(), "a")
    assert owned(left).get("b Apply") == owned(live).get("b Apply")
    assert fieldsets.difference(owned(live).get("b Apply", {}), claims(THING, left)) == {}


@given(CONFIGS, CONFIGS, CONFIGS)
def test_an_update_takes_what_it_changes_and_nothing_else(first: Json, second: Json, third: Json) -> None:
    live = apply(update(None, first, "a"), second, "b")
    after = update(live, {**third, "metadata": {**third["metadata"], "uid": "u"}}, "c")
    for manager, fields in owned(after).items():
        if manager != "c Update":
            assert fieldsets.difference(fields, owned(live).get(manager, {})) == {}
            assert fieldsets.intersection(fields, owned(after).get("c Update", {})) == {}


@given(CONFIGS, CONFIGS)
def test_managed_fields_are_canonical(first: Json, second: Json) -> None:
    for fields in owned(apply(update(None, first, "a"), second, "b")).values():
        assert orjson.dumps(fieldsets.parse(fields)) == orjson.dumps(fields)


@given(CONFIGS)
def test_the_short_way_to_a_creators_fields_leads_where_the_long_one_does(config: Json) -> None:
    assert said_first(THING, TRACKER.empty, config) == compare(THING, TRACKER.empty, config).written


@pytest.mark.parametrize("name", ["Pod", "Service", "ConfigMap", "Node", "PersistentVolumeClaim", "Secret"])
@given(st.data())
def test_and_so_it_does_for_built_in_kinds(name: str, data: st.DataObject) -> None:
    """Of whatever is left of a full object when some of its fields are taken out."""
    kind = shape("v1", name)
    empty = kind.decode({"apiVersion": "v1", "kind": name}).object
    obj = kind.decode(data.draw(thinned(FULL[name]))).object
    assert said_first(of_shape(kind), empty, obj) == compare(of_shape(kind), empty, obj).written


def test_the_same_value_is_shared() -> None:
    live = apply(apply(None, thing({"size": 1}), "a"), thing({"size": 1}), "b", force=False)
    assert owned(live) == {"a Apply": {"f:spec": {"f:size": {}}}, "b Apply": {"f:spec": {"f:size": {}}}}
    assert apply(live, thing({}), "a")["spec"] == {"size": 1}


def test_who_changes_nothing_has_no_time() -> None:
    live = apply(apply(None, thing({"size": 1}), "a"), thing({"size": 1}), "b", now=LATE)
    assert {entry["manager"]: entry.get("time") for entry in live["metadata"]["managedFields"]} == {
        "a": EARLY,
        "b": None,
    }


def test_another_value_is_a_conflict_unless_forced() -> None:
    live = update(None, thing({"size": 1, "mode": "x"}), "editor")
    with pytest.raises(Conflicts) as refused:
        apply(live, thing({"size": 2, "mode": "y"}), "a", force=False)
    error = refused.value.error()
    assert (error.code, error.reason) == (409, "Conflict")
    assert error.message == (
        'Apply failed with 2 conflicts: conflicts with "editor" using example.com/v1:\n- .spec.mode\n- .spec.size'
    )
    taken = apply(live, thing({"size": 2}), "a")
    assert owned(taken) == {"a Apply": {"f:spec": {"f:size": {}}}, "editor Update": {"f:spec": {".": {}, "f:mode": {}}}}


def test_one_conflict_is_told_in_one_line() -> None:
    live = apply(None, thing({"parts": [{"name": "x", "weight": 1}]}), "a")
    with pytest.raises(Conflicts) as refused:
        apply(live, thing({"parts": [{"name": "x", "weight": 2}]}), "b", force=False)
    error = refused.value.error()
    field = '.spec.parts[kind="std",name="x"].weight'
    assert error.message == f'Apply failed with 1 conflict: conflict with "a": {field}'
    cause = {"reason": "FieldManagerConflict", "message": 'conflict with "a"', "field": field}
    assert error.details == {"causes": [cause]}


def test_an_item_goes_when_its_applier_lets_go_and_others_stay() -> None:
    live = apply(None, thing({"tags": ["a", "b"]}), "one")
    live = apply(live, thing({"tags": ["b", "c"]}), "two")
    assert apply(live, thing({"tags": ["a"]}), "one")["spec"]["tags"] == ["a", "b", "c"]
    assert apply(live, thing({}), "one")["spec"]["tags"] == ["b", "c"]


def test_what_an_update_added_below_an_applied_item_keeps_the_item() -> None:
    """The item's own fields go, the item stays as long as somebody owns something in it."""
    live = apply(None, thing({"parts": [{"name": "x", "weight": 1}]}), "a")
    noted = thing({"parts": [{"name": "x", "weight": 1, "note": "n"}]}, uid="u")
    live = update(live, noted, "editor")
    live = apply(live, thing({"parts": [{"name": "y"}]}), "a")
    assert [part["name"] for part in live["spec"]["parts"]] == ["y"]


def test_an_object_from_before_the_first_apply_has_a_manager_for_it() -> None:
    live = apply(stored(thing({"size": 1})), thing({"mode": "x"}), "a", force=False)
    assert owned(live) == {
        "a Apply": {"f:spec": {"f:mode": {}}},
        "before-first-apply Update": {"f:spec": {".": {}, "f:size": {}}},
    }


def test_what_was_not_tracked_is_not_until_it_is_applied() -> None:
    live = stored(thing({"size": 1}))
    assert owned(update(live, thing({"size": 2}), "editor")) == {}


@pytest.mark.parametrize("said", [[], [{}]], ids=["an empty list", "one empty entry"])
def test_a_client_may_ask_to_forget_all_managers(said: list[Json]) -> None:
    live = apply(None, thing({"size": 1}), "a")
    assert owned(update(live, thing({"size": 2}, managedFields=said), "editor")) == {}


def test_managers_a_client_says_there_are_count_if_they_can_be_read() -> None:
    live = apply(None, thing({"size": 1, "mode": "x"}), "a")
    said = {
        "manager": "z",
        "operation": "Update",
        "apiVersion": "example.com/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:size": {}}},
    }
    good = thing({"size": 1, "mode": "x"}, uid="u", managedFields=[said])
    assert owned(update(live, good, "editor")) == {"z Update": {"f:spec": {"f:size": {}}}}
    bad = thing({"size": 1, "mode": "x"}, uid="u", managedFields=[{**said, "operation": "Steal"}])
    assert owned(update(live, bad, "editor")) == owned(live)


def test_a_version_that_is_gone_takes_its_managers_along() -> None:
    live = apply(None, thing({"size": 1}), "a")
    live["metadata"]["managedFields"][0]["apiVersion"] = "example.com/v0"
    assert owned(apply(live, thing({"size": 2}), "b", force=False)) == {"b Apply": {"f:spec": {"f:size": {}}}}


def test_what_became_atomic_is_owned_as_a_whole() -> None:
    live = apply(None, thing({"size": 1}), "a")
    live["spec"]["opts"] = {"x": "1"}
    live["metadata"]["managedFields"][0]["fieldsV1"] = {"f:spec": {"f:opts": {"f:x": {}}, "f:size": {}}}
    after = apply(live, thing({"mode": "m"}), "b", force=False)
    assert owned(after)["a Apply"] == {"f:spec": {"f:opts": {}, "f:size": {}}}


def client_side(spec: Json) -> Json:
    """An object as `kubectl apply` without --server-side makes it."""
    annotation = orjson.dumps(thing(spec)).decode()
    return update(None, thing(spec, annotations={ANNOTATION: annotation}), "kubectl-client-side-apply")


def test_kubectl_takes_over_what_it_applied_on_the_client() -> None:
    live = client_side({"size": 1, "mode": "x"})
    after = apply(live, thing({"size": 2, "mode": "x"}), "kubectl", force=False)
    assert after["spec"] == {"size": 2, "mode": "x"}
    assert orjson.loads(after["metadata"]["annotations"][ANNOTATION]) == thing({"size": 2, "mode": "x"})
    with pytest.raises(Conflicts):
        apply(live, thing({"size": 2}), "somebody-else", force=False)


def test_kubectl_does_not_take_over_what_others_changed_since() -> None:
    live = client_side({"size": 1, "mode": "x"})
    live = update(live, {**live, "spec": {"size": 5, "mode": "x"}}, "editor")
    with pytest.raises(Conflicts) as refused:
        apply(live, thing({"size": 2, "mode": "y"}), "kubectl", force=False)
    assert refused.value.error().message.endswith('conflict with "editor" using example.com/v1: .spec.size')


def test_an_annotation_that_would_not_fit_is_left_out() -> None:
    live = client_side({"mode": "x"})
    after = apply(live, thing({"mode": "x" * 300_000}), "kubectl")
    assert ANNOTATION not in after["metadata"]["annotations"]
