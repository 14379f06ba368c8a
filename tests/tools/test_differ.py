"""The differential tool: how objects are broken, what is taken out of answers, and what is told about the rest."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from hardpoint.client.transport import Answer
from hardpoint.machinery import kinds
from tools.differ import bases, rounds
from tools.differ.bases import Base
from tools.differ.causes import causes, changes
from tools.differ.mutations import VALUES, Mutation, mutations
from tools.differ.normal import normalized

BODY = {"spec": {"replicas": 2, "ports": [{"port": 80}]}}


def test_every_place_of_an_object_is_broken() -> None:
    names = {mutation.name for mutation in mutations(BODY, values_each=len(VALUES))}
    assert {"-spec", "-spec.replicas", "-spec.ports.0.port", "spec+unknown", "spec.ports+dup"} <= names
    assert 'spec.replicas="10x"' in names
    assert "spec.ports=[]" in names


def test_two_runs_ask_the_same() -> None:
    first, second = (list(mutations(BODY, values_each=2, seed="x")) for _ in range(2))
    assert first == second
    assert first != list(mutations(BODY, values_each=2, seed="y"))


def test_mutations_leave_the_base_alone() -> None:
    before = orjson.dumps(BODY)
    for mutation in mutations(BODY, values_each=3):
        assert mutation.applied(BODY) != BODY, mutation.name
    assert orjson.dumps(BODY) == before


@pytest.mark.parametrize(
    ("round_", "mutation", "patch"),
    [
        ("json", Mutation("remove", ("spec", "replicas")), [{"op": "remove", "path": "/spec/replicas"}]),
        (
            "json",
            Mutation("add", ("spec", "ports", 1), {"port": 80}),
            [{"op": "add", "path": "/spec/ports/-", "value": {"port": 80}}],
        ),
        ("merge", Mutation("remove", ("spec", "replicas")), {"spec": {"replicas": None}}),
        ("merge", Mutation("set", ("spec", "ports", 0, "port"), ""), None),
        ("strategic", Mutation("set", ("spec", "ports", 0, "port"), ""), {"spec": {"ports": [{"port": ""}]}}),
        ("strategic", Mutation("remove", ("spec", "ports", 0)), None),
    ],
)
def test_a_mutation_as_a_patch(round_: str, mutation: Mutation, patch: Any) -> None:
    assert rounds.AS_PATCH[round_](mutation, BODY) == patch


def answer(status: int, body: Any, **headers: str) -> Answer:
    return Answer(status, headers, orjson.dumps(body))


def test_what_no_two_servers_share_is_taken_out() -> None:
    one, other = (
        {
            "kind": "Service",
            "metadata": {
                "name": "a",
                "uid": uid,
                "resourceVersion": uid,
                "creationTimestamp": uid,
                "managedFields": [],
            },
            "spec": {"clusterIP": address, "ports": [{"port": 1, "nodePort": node_port}]},
        }
        for uid, address, node_port in (("x", "10.0.0.1", 30001), ("y", "10.0.0.2", 30002))
    )
    assert normalized(answer(201, one)) == normalized(answer(201, other))


def test_empty_and_absent_stay_different() -> None:
    assert normalized(answer(200, {"spec": {"a": []}})) != normalized(answer(200, {"spec": {}}))


def test_a_refused_patch_is_told_without_the_object() -> None:
    def refused(shown: str) -> list[Any]:
        text = f'patch: Invalid value: "{shown}": json: cannot unmarshal'
        cause = {"reason": "FieldValueInvalid", "field": "patch", "message": text.removeprefix("patch: ")}
        body = {
            "kind": "Status",
            "reason": "Invalid",
            "message": f' "" is invalid: {text}',
            "details": {"causes": [cause]},
        }
        return normalized(answer(422, body))

    assert refused('{\\"a\\":1}') == refused('{\\"b\\":2}')
    assert "cannot unmarshal" in str(refused("x"))


def test_warnings_count_and_their_order_does_not() -> None:
    first = normalized(answer(200, {}, warning='299 - "a", 299 - "b"'))
    assert first == normalized(answer(200, {}, warning='299 - "b", 299 - "a"'))
    assert first != normalized(answer(200, {}, warning='299 - "b"'))


def test_the_place_of_a_difference_has_no_index() -> None:
    wanted, got = {"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1}, {"b": "2"}]}
    assert list(changes(wanted, got, "")) == [("a.*.b", "2 became 2")]


def test_causes_name_what_is_missing_and_what_is_extra() -> None:
    wanted = [422, "Invalid", "x", [{}, ["R", "spec.a[3]", 'Invalid value: "y": bad']], []]
    got = [422, "Invalid", "z", [{}, ["R", "spec.b", "Required value"]], []]
    assert causes(wanted, got) == [
        'cause missing: spec.a[*]: Invalid value: "…": bad (R)',
        "cause extra: spec.b: Required value (R)",
    ]


def test_there_are_bases_of_every_kind_that_can_be_written() -> None:
    covered = {(base.kind.group, base.kind.kind) for base in bases.read()}
    written = {(kind.group, kind.kind) for kind in kinds.builtin() if "create" in kind.verbs}
    assert written == covered


def test_names_are_unique_where_objects_meet() -> None:
    paths = [base.path for base in bases.read() if base.kind.verbs != ("create",)]
    assert len(paths) == len(set(paths))


def test_only_dry_runs_are_asked() -> None:
    for base in bases.read():
        for question in _some_questions(base):
            dry = question.query.get("dryRun") or (isinstance(question.body, dict) and question.body.get("dryRun"))
            assert dry, question


def _some_questions(base: Base) -> list[Any]:
    return [
        question for round_ in rounds.ROUNDS for question in list(rounds.questions(base, round_, values_each=1))[:5]
    ]
