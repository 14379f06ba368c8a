"""Objects to Python and back: nothing is lost, nothing is added, and what does not fit is named."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from ipaddress import IPv4Address
from typing import Annotated, Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, SecretBytes, SecretStr

from hardpoint.crd import JsonName, Resource
from hardpoint.machinery.models import Model
from hardpoint.machinery.quantity import parse
from tests.seams.crd.crontabs import Color, CronTab, Plain, Port, Window

Json = dict[str, Any]
_conforms: type[Model] = CronTab

SPEC: Json = {"cronSpec": "* * * * *", "requiredOrNull": None}
UUID_TEXT = "12345678-1234-5678-1234-567812345678"


def tab(**spec: Any) -> Json:
    return {
        "apiVersion": "stable.example.com/v1",
        "kind": "CronTab",
        "metadata": {"name": "a", "namespace": "b", "uid": "u"},
        "spec": {**SPEC, **spec},
    }


@pytest.mark.parametrize(
    ("field", "json", "name", "value"),
    [
        ("replicas", 7, "replicas", 7),
        ("ratio", 1.5, "ratio", 1.5),
        ("ratio", 2, "ratio", 2.0),
        ("color", "blue", "color", Color.BLUE),
        ("policy", "Forbid", "policy", "Forbid"),
        ("nullable", None, "nullable", None),
        ("started", "2026-01-02T03:04:05Z", "started", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("started", "2026-01-02T05:04:05.25+02:00", "started", datetime(2026, 1, 2, 3, 4, 5, 250000, tzinfo=UTC)),
        ("precise", "2026-01-02T03:04:05.000006Z", "precise", datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("day", "2026-01-02", "day", date(2026, 1, 2)),
        ("every", "90m", "every", timedelta(minutes=90)),
        ("id", UUID_TEXT, "id", UUID(UUID_TEXT)),
        ("address", "10.0.0.1", "address", IPv4Address("10.0.0.1")),
        ("url", "https://example.com", "url", None),
        ("data", "aGVsbG8=", "data", b"hello"),
        ("price", "1.50", "price", Decimal("1.50")),
        ("tags", ["b", "a"], "tags", {"a", "b"}),
        ("pair", [1, 2], "pair", (1, 2)),
        ("limits", {"cpu": "1500m"}, "limits", None),
        ("port", "http", "port", "http"),
        ("port", 80, "port", 80),
        ("byName", {"x": {"name": "x", "number": 1}}, "by_name", {"x": Port(name="x", number=1)}),
        ("anything", [1, {"x": None}], "anything", [1, {"x": None}]),
        ("loose", {"x": {"y": None}}, "loose", {"x": {"y": None}}),
        ("EXPLICIT", "x", "explicit", "x"),
        ("unheardOf", {"x": [None]}, "", None),
        ("ports", [{"name": "x", "number": 1, "clusterIP": "::1", "strange": {"y": 1}}], "", None),
        ("windows", [{"fromHour": 1, "strange": 2}, {"fromHour": 2, "toHour": 24}], "", None),
    ],
)
def test_a_field_is_read_and_written_as_it_was(field: str, json: Any, name: str, value: Any) -> None:
    read = CronTab.from_json(tab(**{field: copy.deepcopy(json)}))
    if name and value is not None:
        assert getattr(read.spec, name) == value
    assert read.to_json() == tab(**{field: json})


def test_what_is_absent_is_its_default_and_is_not_written() -> None:
    read = CronTab.from_json(tab())
    assert (read.spec.replicas, read.spec.ports, read.spec.limits.burst, read.status.active) == (3, [], 2, [])
    assert read.to_json() == tab()


def test_only_what_changed_is_written_anew() -> None:
    was = tab(every="1h", tags=["b", "a"], started="2026-01-02T05:04:05+02:00", limits={"cpu": "0.5"}, new=1)
    read = CronTab.from_json(copy.deepcopy(was))
    read.spec.replicas = 5
    read.spec.limits.cpu = parse("2")
    read.status.last_run = datetime(2026, 1, 2, 3, 4, 5, 999999, tzinfo=UTC)
    assert read.to_json() == {
        **was,
        "spec": {**was["spec"], "replicas": 5, "limits": {"cpu": "2"}},
        "status": {"lastRun": "2026-01-02T03:04:05Z"},
    }


def test_none_takes_a_field_away_and_is_null_where_null_means_something() -> None:
    read = CronTab.from_json(tab(policy="Allow", nullable=3))
    read.spec.policy = read.spec.nullable = None
    assert read.to_json() == tab(nullable=None)


def test_a_value_that_goes_elsewhere_is_spelled_as_it_was() -> None:
    read = CronTab.from_json(tab(every="90s", started="2026-01-02T05:04:05.5+02:00", limits={"cpu": 2}))
    spec = read.spec
    moved = CronTab.Spec(
        cron_spec="* * * * *", required_or_null=1, every=spec.every, started=spec.started, limits=spec.limits
    )
    written = CronTab("b", spec=moved).to_json()["spec"]
    assert (written["every"], written["started"], written["limits"]) == (
        "90s",
        "2026-01-02T05:04:05.5+02:00",
        {"cpu": 2},
    )
    assert spec.started is not None
    assert spec.limits.cpu is not None
    spec.every, spec.started, spec.limits.cpu = spec.every * 2, spec.started + spec.every, spec.limits.cpu + parse("1")
    written = read.to_json()["spec"]
    assert (written["every"], written["started"], written["limits"]) == ("3m0s", "2026-01-02T03:05:35Z", {"cpu": "3"})


def test_who_changes_free_json_changes_no_more_than_that() -> None:
    read = CronTab.from_json(tab(loose={"x": {"y": [1]}}, anything={"x": [1]}, looseList=[{"x": 1}]))
    before = read.to_json()
    assert read.spec.loose is not None
    assert read.spec.loose_list is not None
    read.spec.loose["x"]["y"].append(2)
    read.spec.anything["x"].append(2)
    read.spec.loose_list[0]["x"] = 2
    assert before == tab(loose={"x": {"y": [1]}}, anything={"x": [1]}, looseList=[{"x": 1}])
    assert read.to_json() == tab(loose={"x": {"y": [1, 2]}}, anything={"x": [1, 2]}, looseList=[{"x": 2}])


def test_unknown_fields_go_where_their_item_goes() -> None:
    ports = [{"name": name, "number": 1, "strange": name} for name in "abc"]
    read = CronTab.from_json(tab(ports=ports, windows=[{"fromHour": hour, "strange": hour} for hour in (1, 2)]))
    read.spec.ports.reverse()
    read.spec.ports.insert(0, Port(name="new", number=2))
    del read.spec.windows[0]
    assert read.to_json()["spec"]["ports"] == [{"name": "new", "number": 2}, *reversed(ports)]
    assert read.to_json()["spec"]["windows"] == [{"fromHour": 2, "strange": 2}]


def test_dataclasses_keep_what_they_do_not_know_and_write_what_was_there() -> None:
    json = {"spec": {"image": "i", "replicas": 3, "x": None, "windows": [{"fromHour": 1, "y": 2}]}, "other": 1}
    read = Plain.from_json(copy.deepcopy(json))
    assert read.spec == Plain.Spec("i", 3, [Window(1)])
    assert read.to_json() == {**json, "metadata": {}}
    read.spec.windows[0].to_hour = 12
    assert read.to_json()["spec"]["windows"] == [{"fromHour": 1, "y": 2, "toHour": 12}]
    assert Plain("n", spec=Plain.Spec("i")).to_json()["spec"] == {"image": "i"}


@pytest.mark.parametrize(
    ("json", "words"),
    [
        pytest.param({}, r"^CronTab: spec: Field required$", id="no spec"),
        pytest.param(tab(replicas="3"), r"spec.replicas: .*valid integer", id="a text is no number"),
        pytest.param(tab(replicas=True), r"spec.replicas: .*valid integer", id="a bool is no number"),
        pytest.param(tab(color="green"), r"spec.color: ", id="not of the enum"),
        pytest.param(tab(ports=[{"name": "x", "number": 0}]), r"spec.ports\[0\].number: ", id="in a list"),
        pytest.param(tab(byName={"k": {"name": "x"}}), r"spec.byName.k.number: Field required", id="in a map"),
        pytest.param(tab(windows=[{}]), r"spec.windows\[0\].fromHour: ", id="in a dataclass"),
        pytest.param(tab(started="2026-01-02T03:04:05"), r"spec.started: .*timezone", id="a time without a zone"),
        pytest.param(tab(every="soon"), r"spec.every: ", id="no duration"),
        pytest.param(tab(data="?"), r"spec.data: .*base64", id="no base64"),
        pytest.param(tab(limits={"cpu": "lots"}), r"spec.limits.cpu: .*quantities must match", id="no quantity"),
        pytest.param({"spec": SPEC, "status": []}, r"status: ", id="status is a list"),
    ],
)
def test_what_does_not_fit_is_named(json: Json, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        CronTab.from_json(json)


def test_an_error_shows_no_value() -> None:
    with pytest.raises(ValueError) as told:
        CronTab.from_json(tab(cronSpec="hunter2", replicas="hunter2", color="hunter2", id="hunter2"))
    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("replicas", "many", "CronTab cannot be written: replicas holds a str, and should hold int$"),
        ("started", datetime(2026, 1, 2), "has no time zone"),
        ("limits", {"cpu": "1"}, "CronTab cannot be written"),
    ],
)
def test_what_cannot_be_written_is_told(name: str, value: Any, words: str) -> None:
    read = CronTab.from_json(tab())
    setattr(read.spec, name, value)
    with pytest.raises(ValueError, match=words):
        read.to_json()


def test_making_one() -> None:
    made = CronTab("a", namespace="b", labels={"x": "y"}, spec=CronTab.Spec(cron_spec="* * * * *", required_or_null=1))
    assert made.to_json() == {
        "apiVersion": CronTab.api_version,
        "kind": CronTab.kind,
        "metadata": {"name": "a", "namespace": "b", "labels": {"x": "y"}},
        "spec": {"cronSpec": "* * * * *", "requiredOrNull": 1},
    }
    assert made == copy.deepcopy(made)
    assert made != CronTab("c", spec=made.spec)
    assert repr(made).startswith("CronTab('a', namespace='b', spec=Spec(cron_spec='* * * * *'")
    with pytest.raises(TypeError, match="CronTab needs spec="):
        CronTab("a")
    with pytest.raises(TypeError, match="CronTab has no field 'spce'"):
        CronTab("a", spce=1)


def test_a_secret_is_written_and_not_shown() -> None:
    class Login(Resource):
        class Spec(BaseModel):
            password: SecretStr
            key: SecretBytes | None = None

    read = Login.from_json({"spec": {"password": "hunter2", "key": "aGk="}})
    assert "hunter2" not in repr(read)
    assert read.to_json()["spec"] == {"password": "hunter2", "key": "aGk="}
    read.spec.password = SecretStr("hunter3")
    assert read.to_json()["spec"] == {"password": "hunter3", "key": "aGk="}


def test_metadata_is_a_view() -> None:
    json = tab()
    json["metadata"] |= {"generation": 4, "managedFields": [{"x": 1}]}
    read = CronTab.from_json(json)
    metadata = read.metadata
    assert (metadata.name, metadata.namespace, metadata.uid, metadata.generation) == ("a", "b", "u", 4)
    assert (metadata.deletionTimestamp, metadata.labels, metadata.finalizers) == ("", {}, [])
    assert read.to_json()["metadata"] == {
        "name": "a",
        "namespace": "b",
        "uid": "u",
        "generation": 4,
        "managedFields": [{"x": 1}],
    }
    metadata.labels["x"] = "y"
    metadata.finalizers = ["f"]
    assert read.to_json()["metadata"]["labels"] == {"x": "y"}
    assert read.to_json()["metadata"]["finalizers"] == ["f"]


def test_a_class_inside_a_function_finds_its_neighbours() -> None:
    @dataclass
    class Near:
        x: int

    class Local(Resource):
        class Spec(BaseModel):
            a_b: int = 1

        spec: Spec
        near: Near | None = None

    assert Local.from_json({"spec": {}, "near": {"x": 1}}).near == Near(1)


_TEXT = st.text("abcde", max_size=3)
_JSON = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | _TEXT, lambda inner: st.lists(inner, max_size=3))
_UNKNOWN = st.dictionaries(st.text("xyz", min_size=1, max_size=3), _JSON, max_size=3)


def _with_unknown(known: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.builds(lambda known, unknown: {**unknown, **known}, known, _UNKNOWN)


_PORTS = _with_unknown(
    st.fixed_dictionaries({"name": _TEXT, "number": st.integers(1, 9)}, optional={"clusterIP": _TEXT})
)
_WINDOWS = _with_unknown(
    st.fixed_dictionaries({"fromHour": st.integers(0, 9)}, optional={"toHour": st.integers(0, 24)})
)
_OPTIONAL = {
    "replicas": st.integers(0, 3),
    "ports": st.lists(_PORTS, max_size=3),
    "windows": st.lists(_WINDOWS, max_size=3),
    "byName": st.dictionaries(_TEXT, _PORTS, max_size=2),
    "nullable": st.none() | st.integers(),
    "tags": st.lists(_TEXT, unique=True, max_size=3),
    "every": st.sampled_from(["1h", "60m", "0s", "1.5h", "90m0s"]),
    "limits": _with_unknown(st.fixed_dictionaries({}, optional={"cpu": st.sampled_from(["1", "1000m", "1e3"])})),
    "anything": _JSON,
}
_TABS = st.builds(
    lambda spec, unknown: {**unknown, "metadata": {"name": "a"}, "spec": {**SPEC, **spec}},
    _with_unknown(st.fixed_dictionaries({}, optional=_OPTIONAL)),
    _UNKNOWN,
)


@settings(deadline=None)
@given(_TABS)
def test_reading_and_writing_changes_nothing(json: Json) -> None:
    assert CronTab.from_json(copy.deepcopy(json)).to_json() == json


@settings(deadline=None)
@given(_TABS, st.integers(4, 9))
def test_a_change_changes_one_thing(json: Json, replicas: int) -> None:
    read = CronTab.from_json(copy.deepcopy(json))
    read.spec.replicas = replicas
    assert read.to_json() == {**json, "spec": {**json["spec"], "replicas": replicas}}


def test_a_name_may_be_spelled_out_in_a_dataclass() -> None:
    @dataclass
    class Host:
        host_ip: Annotated[str, JsonName("hostIP")]

    class Hosted(Resource):
        host: Host

    read = Hosted.from_json({"host": {"hostIP": "1"}})
    assert read.host.host_ip == "1"
    assert read.to_json()["host"] == {"hostIP": "1"}
