"""What a server tells of the requests it gets, stage by stage."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from typing import Any, cast

import orjson
import pytest

from hardpoint.machinery.messages import User
from tests.apiserver.audit.auditing import Json, audited, policy

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"a": "b"}}
EVERYTHING = policy("level: RequestResponse")
AT_THE_END = policy("level: RequestResponse", head="omitStages: [RequestReceived, ResponseStarted]\n")


async def test_a_request_is_told_as_it_comes_and_as_it_is_answered() -> None:
    async with audited(EVERYTHING) as (api, told):
        await api.ok("POST", f"{CONFIG_MAPS}?fieldManager=me", CONFIG_MAP, user_agent="tests/1", audit_id="mine")
    came, answered = told.events()
    assert list(came) == [
        *("kind", "apiVersion", "level", "auditID", "stage", "requestURI", "verb", "user", "sourceIPs", "userAgent"),
        *("objectRef", "requestReceivedTimestamp", "stageTimestamp"),
    ]
    assert list(answered) == [
        *("kind", "apiVersion", "level", "auditID", "stage", "requestURI", "verb", "user", "sourceIPs", "userAgent"),
        *("objectRef", "responseStatus", "requestObject", "responseObject"),
        *("requestReceivedTimestamp", "stageTimestamp", "annotations"),
    ]
    assert (came["stage"], answered["stage"]) == ("RequestReceived", "ResponseComplete")
    assert came["auditID"] == answered["auditID"] == "mine"
    assert answered["requestURI"] == f"{CONFIG_MAPS}?fieldManager=me"
    assert answered["verb"] == "create"
    assert answered["user"] == {"username": "admin", "groups": ["system:masters", "system:authenticated"]}
    assert answered["sourceIPs"] == ["127.0.0.1"]
    assert came["objectRef"] == {"resource": "configmaps", "namespace": "default", "apiVersion": "v1"}
    assert answered["objectRef"]["name"] == "one"
    assert answered["responseStatus"] == {"metadata": {}, "code": 201}
    assert answered["requestObject"]["data"] == {"a": "b"}
    assert answered["responseObject"]["metadata"]["uid"]
    assert answered["annotations"] == {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", answered["stageTimestamp"])
    assert came["stageTimestamp"] == came["requestReceivedTimestamp"] == answered["requestReceivedTimestamp"]


async def test_characters_are_escaped_as_go_does() -> None:
    async with audited(EVERYTHING) as (api, told):
        await api.send("GET", "/nope?a=1&b=<2>", user_agent="é\u2028&")
    assert all(rb"/nope?a=1\u0026b=\u003c2\u003e" in line for line in told.lines)
    assert all(rb"\u2028\u0026" in line for line in told.lines)


@pytest.mark.parametrize(
    ("level", "fields"),
    [("Metadata", set()), ("Request", {"requestObject"}), ("RequestResponse", {"requestObject", "responseObject"})],
)
async def test_a_level_says_how_much_is_told(level: str, fields: set[str]) -> None:
    async with audited(policy(f"level: {level}")) as (api, told):
        await api.ok("POST", CONFIG_MAPS, CONFIG_MAP)
    answered = told.events()[-1]
    assert {"requestObject", "responseObject"} & set(answered) == fields
    assert answered["level"] == level
    assert answered["objectRef"]["name"] == "one"


async def test_a_refusal_is_told_with_its_reasons() -> None:
    async with audited(policy("level: Metadata")) as (api, told):
        await api.send("GET", f"{CONFIG_MAPS}/none")
        await api.as_user(User("jane")).send("GET", f"{CONFIG_MAPS}/one")
    missing, forbidden = told.events()[1], told.events()[3]
    assert missing["responseStatus"] == {
        "metadata": {},
        "status": "Failure",
        "message": 'configmaps "none" not found',
        "reason": "NotFound",
        "details": {"name": "none", "kind": "configmaps"},
        "code": 404,
    }
    assert forbidden["annotations"]["authorization.k8s.io/decision"] == "forbid"
    assert forbidden["responseStatus"]["code"] == 403


async def test_bad_credentials_are_one_event_without_a_user() -> None:
    async with audited(EVERYTHING) as (api, told):
        response = await api.as_user(None).send("GET", CONFIG_MAPS, authorization="Bearer canary-token")
    assert response.status == 401
    (event,) = told.events()
    assert (event["stage"], event["user"]) == ("ResponseStarted", {})
    assert event["responseStatus"]["code"] == 401
    assert b"canary" not in told.lines[0]


async def test_who_acts_as_somebody_else_is_told_with_them() -> None:
    async with audited(EVERYTHING) as (api, told):
        await api.send("GET", CONFIG_MAPS, impersonate_user="system:admin", impersonate_group="system:masters")
    answered = told.events()[-1]
    assert answered["user"]["username"] == "admin"
    assert answered["impersonatedUser"] == {
        "username": "system:admin",
        "groups": ["system:masters", "system:authenticated"],
    }


async def test_a_watch_is_told_as_it_begins_and_as_it_ends() -> None:
    async with audited(policy("level: RequestResponse, verbs: [watch]")) as (api, told):
        await api.ok("POST", CONFIG_MAPS, CONFIG_MAP)
        response = await api.send("GET", f"{CONFIG_MAPS}?watch=true&resourceVersion=0")
        assert [event["stage"] for event in told.events()] == ["RequestReceived", "ResponseStarted"]
        stream = cast("AsyncGenerator[bytes, None]", response.stream)
        await anext(stream)
        await stream.aclose()
    assert [event["stage"] for event in told.events()] == ["RequestReceived", "ResponseStarted", "ResponseComplete"]
    assert "responseObject" not in told.events()[-1]


@pytest.mark.parametrize(
    ("method", "url", "body", "content_type", "sent"),
    [
        pytest.param(
            *("PATCH", f"{CONFIG_MAPS}/one", b'{"data":{"z":"y"}}', "application/merge-patch+json"),
            {"data": {"z": "y"}},
            id="a patch is told as it is",
        ),
        pytest.param(
            *("DELETE", f"{CONFIG_MAPS}/one", {"propagationPolicy": "Background"}, "application/json"),
            {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal", "propagationPolicy": "Background"},
            id="options are told as kube-apiserver tells them",
        ),
        pytest.param("DELETE", f"{CONFIG_MAPS}/one", None, "application/json", None, id="nothing sent, nothing told"),
        pytest.param(
            *("POST", CONFIG_MAPS, b"{no json", "application/json"), None, id="what cannot be read is not told"
        ),
    ],
)
async def test_what_was_sent(method: str, url: str, body: Any, content_type: str, sent: Any) -> None:
    async with audited(AT_THE_END) as (api, told):
        await api.ok("POST", CONFIG_MAPS, CONFIG_MAP)
        await api.send(method, url, body, content_type=content_type)
    assert told.events()[-1].get("requestObject") == sent


async def test_an_object_is_told_with_its_defaults_but_before_anything_else_touched_it() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    async with audited(AT_THE_END) as (api, told):
        await api.send("POST", "/api/v1/namespaces/default/pods", pod)
    sent = told.events()[-1]["requestObject"]
    assert sent["spec"]["restartPolicy"] == "Always"
    assert "tolerations" not in sent["spec"]
    assert "uid" not in sent["metadata"]


async def test_managed_fields_can_be_left_out() -> None:
    rules = policy("level: RequestResponse", head="omitManagedFields: true\nomitStages: [RequestReceived]\n")
    async with audited(rules) as (api, told):
        await api.ok("POST", CONFIG_MAPS, CONFIG_MAP)
        await api.ok("GET", CONFIG_MAPS)
        await api.ok("GET", f"{CONFIG_MAPS}/one")
    assert b"managedFields" not in b"".join(told.lines)
    assert told.events()[1]["responseObject"]["items"][0]["metadata"]["name"] == "one"


async def test_a_defect_of_the_server_is_a_panic(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_call: object) -> None:
        raise ValueError("canary-secret")

    async with audited(policy("level: Metadata", head="omitStages: [RequestReceived]\n")) as (api, told):
        monkeypatch.setattr("hardpoint.apiserver.verbs.find", lambda *_: broken)
        assert (await api.send("GET", f"{CONFIG_MAPS}/one")).status == 500
    (event,) = told.events()
    assert event["stage"] == "Panic"
    assert event["responseStatus"]["message"] == "APIServer panic'd: ValueError"
    assert b"canary" not in told.lines[0]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"metadata": {"name": "s"}, "stringData": {"a": "canary"}}, id="good"),
        pytest.param({"metadata": {"name": "s"}, "data": {"a": "canary%"}}, id="no base64"),
        pytest.param(b'{"stringData": {"a": "canary"', id="no JSON"),
        pytest.param({"metadata": {"name": "s"}, "type": "canary", "stringData": {"/": "canary"}}, id="not valid"),
    ],
)
async def test_no_secret_is_written_down(body: Json | bytes) -> None:
    async with audited(policy("level: RequestResponse, resources: [{resources: [secrets]}]")) as (api, told):
        await api.send("POST", "/api/v1/namespaces/default/secrets", body)
        await api.send(
            "PATCH", "/api/v1/namespaces/default/secrets/s", body, content_type="application/merge-patch+json"
        )
        await api.send("GET", "/api/v1/namespaces/default/secrets")
    assert len(told.lines) == 6
    assert b"canary" not in b"".join(told.lines)


@pytest.mark.parametrize(
    ("headers", "sources"),
    [
        ({}, ["127.0.0.1"]),
        ({"x_forwarded_for": "1.2.3.4, nonsense, 5.6.7.8"}, ["1.2.3.4", "5.6.7.8", "127.0.0.1"]),
        ({"x_forwarded_for": "1.2.3.4", "x_real_ip": "9.9.9.9"}, ["1.2.3.4", "9.9.9.9", "127.0.0.1"]),
        ({"x_forwarded_for": "1.2.3.4", "x_real_ip": "1.2.3.4"}, ["1.2.3.4", "127.0.0.1"]),
        ({"x_forwarded_for": "127.0.0.1"}, ["127.0.0.1"]),
    ],
)
async def test_where_a_request_comes_from(headers: dict[str, str], sources: list[str]) -> None:
    async with audited(AT_THE_END) as (api, told):
        await api.ok("GET", CONFIG_MAPS)
        await api.ok("GET", CONFIG_MAPS, **headers)
    assert told.events()[-1]["sourceIPs"] == sources


async def test_who_lists_one_name_asks_for_that_name() -> None:
    async with audited(AT_THE_END) as (api, told):
        await api.ok("GET", f"{CONFIG_MAPS}?fieldSelector=metadata.name%3Da")
        await api.ok("GET", f"{CONFIG_MAPS}?fieldSelector=metadata.name%3Db")
    assert [event["objectRef"]["name"] for event in told.events()] == ["a", "b"]


async def test_a_long_name_of_a_program_is_cut() -> None:
    async with audited(AT_THE_END) as (api, told):
        await api.ok("GET", CONFIG_MAPS, user_agent="u" * 1100)
    assert told.events()[0]["userAgent"] == "u" * 1024 + "...TRUNCATED"


async def test_unless_told_otherwise_each_write_and_each_refusal_is_one_event() -> None:
    async with audited(tells_refusals=True) as (api, told):
        await api.ok("POST", CONFIG_MAPS, CONFIG_MAP)
        await api.ok("GET", CONFIG_MAPS)
        await api.ok("DELETE", f"{CONFIG_MAPS}/one")
        await api.as_user(User("jane")).send("GET", CONFIG_MAPS)
        await api.as_user(User("jane")).send("DELETE", CONFIG_MAPS)
        await api.as_user(None).send("GET", CONFIG_MAPS, authorization="Bearer nonsense")
        await api.as_user(None).send("DELETE", CONFIG_MAPS, authorization="Bearer nonsense")
    assert [(event["verb"], event["responseStatus"]["code"], event["stage"]) for event in told.events()] == [
        ("create", 201, "ResponseComplete"),
        ("delete", 200, "ResponseComplete"),
        ("list", 403, "ResponseComplete"),
        ("deletecollection", 403, "ResponseComplete"),
        ("list", 401, "ResponseComplete"),
        ("deletecollection", 401, "ResponseComplete"),
    ]


async def test_a_slow_request_says_how_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hardpoint.apiserver.audit.events.SLOW_NANOSECONDS", 0)
    async with audited(AT_THE_END) as (api, told):
        await api.ok("GET", CONFIG_MAPS)
    assert re.fullmatch(r"[\d.]+(µs|ms)", told.events()[0]["annotations"]["apiserver.latency.k8s.io/total"])


async def test_many_at_once_are_not_mixed_up() -> None:
    async with audited(AT_THE_END) as (api, told):
        await asyncio.gather(
            *(
                api.ok("POST", CONFIG_MAPS, CONFIG_MAP | {"metadata": {"name": f"c{number}"}}, audit_id=f"id-{number}")
                for number in range(50)
            )
        )
    assert sorted((event["auditID"], event["requestObject"]["metadata"]["name"]) for event in told.events()) == sorted(
        (f"id-{number}", f"c{number}") for number in range(50)
    )


async def test_what_is_counted() -> None:
    async with audited(policy("level: Metadata, verbs: [create]")) as (api, _):
        await api.ok("POST", CONFIG_MAPS, CONFIG_MAP)
        metrics = (await api.send("GET", "/metrics")).body.decode()
    assert re.search(r"^apiserver_audit_event_total \d+$", metrics, re.MULTILINE)
    assert 'apiserver_audit_error_total{plugin="log"} 0' in metrics
    assert re.search(r'^apiserver_audit_level_total\{level="Metadata"\} \d+$', metrics, re.MULTILINE)
    assert "apiserver_audit_requests_rejected_total 0" in metrics


async def test_an_event_survives_a_round_trip() -> None:
    async with audited(EVERYTHING) as (api, told):
        await api.send("GET", "/api/v1/namespaces/a%2Fb/pods/x%20y?q=%ff", user_agent='"\\\t')
    assert all(orjson.loads(line)["userAgent"] == '"\\\t' for line in told.lines)
