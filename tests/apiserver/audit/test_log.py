"""The log: who waits for it, in which form it is written, and what happens when it cannot be."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson
import pytest

from hardpoint.apiserver.audit.log import Format, LogBackend, Mode
from hardpoint.apiserver.audit.options import AuditOptions, LogOptions, make_auditor
from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery.errors import ConfigError
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api
from tests.apiserver.audit.auditing import Lines, audited, policy

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
FULL = OSError(28, "No space left on device")
EVENT = orjson.dumps(
    {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": "id-1",
        "stage": "ResponseComplete",
        "requestURI": '/a?b="c"',
        "verb": "get",
        "user": {"username": "jane", "groups": ["devs", "ops"]},
        "impersonatedUser": {"username": "joe", "groups": []},
        "sourceIPs": ["1.2.3.4", "127.0.0.1"],
        "objectRef": {"namespace": "default"},
        "responseStatus": {"metadata": {}, "code": 200},
        "responseObject": {"big": "x" * 900},
        "requestReceivedTimestamp": "2026-01-02T03:04:05.678900Z",
        "stageTimestamp": "2026-01-02T03:04:05.678901Z",
        "annotations": {"b": "2"},
    }
)


def backend(lines: Lines, form: Format = "json", mode: Mode = "blocking", size: int | None = None) -> LogBackend:
    return LogBackend(lines, form=form, mode=mode, buffer_max=2, event_bytes_max=size)


async def test_the_legacy_form_is_one_line_of_words() -> None:
    lines = Lines()
    backend(lines, "legacy").tell(EVENT)
    assert lines.lines == [
        b'2026-01-02T03:04:05.678900Z AUDIT: id="id-1" stage="ResponseComplete" ip="1.2.3.4" method="get" user="jane" '
        b'groups="\\"devs\\",\\"ops\\"" as="joe" asgroups="" user-agent="" namespace="default" uri="/a?b=\\"c\\"" '
        b'response="200"\n'
    ]


async def test_a_large_event_loses_its_objects() -> None:
    lines = Lines()
    log = backend(lines, size=700)
    log.tell(EVENT)
    (event,) = lines.events()
    assert "responseObject" not in event
    assert event["annotations"] == {"audit.k8s.io/truncated": "true", "b": "2"}
    assert log.lost() == 0


async def test_one_that_is_still_too_large_is_lost() -> None:
    lines = Lines()
    log = backend(lines, size=50)
    assert log.tell(EVENT) is True
    assert (lines.lines, log.lost()) == ([], 1)


async def test_in_batches_nobody_waits_and_nothing_is_lost_at_the_end() -> None:
    lines = Lines()
    log = backend(lines, mode="batch")
    async with log.running():
        assert [log.tell(EVENT) for _ in range(3)] == [True] * 3
        assert lines.lines == []
    assert (len(lines.lines), log.lost()) == (2, 1)


async def test_in_batches_a_line_is_written_within_a_second() -> None:
    lines = Lines()
    log = backend(lines, mode="batch")
    async with log.running(), asyncio.timeout(1.0):
        log.tell(EVENT)
        await lines.wait_until_attempted()
        assert lines.lines == [EVENT + b"\n"]


@pytest.mark.parametrize("mode", ["blocking", "batch"])
async def test_a_full_disk_costs_events_not_requests(mode: Mode, caplog: pytest.LogCaptureFixture) -> None:
    async with audited(policy("level: Metadata"), mode=mode) as (api, told):
        told.failure = FULL
        await api.ok("GET", CONFIG_MAPS)
        await told.wait_until_attempted()
        assert (await api.send("GET", "/readyz")).status == 500
        why = (await api.send("GET", "/readyz/audit-log")).body
        assert b"No space left on device" in why
        assert (await api.send("GET", "/livez")).status == 200
        await told.wait_until_attempted()
        told.failure = None
        await api.ok("GET", CONFIG_MAPS)
        await told.wait_until_attempted()
        assert (await api.send("GET", "/readyz")).status == 200
    assert caplog.messages.count("audit log cannot be written") == 1


async def test_strictly_no_record_is_no_answer() -> None:
    async with audited(policy("level: Metadata"), mode="blocking-strict") as (api, told):
        told.failure = FULL
        response = await api.send("GET", f"{CONFIG_MAPS}?a=b")
        told.failure = None
        metrics = (await api.send("GET", "/metrics")).body
    assert response.status == 500
    expected = f'Internal Server Error: "{CONFIG_MAPS}?a=b": failed to store audit event\n'
    assert (response.content_type, response.body.decode()) == ("text/plain; charset=utf-8", expected)
    assert b"apiserver_audit_requests_rejected_total 1" in metrics


async def test_a_file_is_written_as_the_server_runs(tmp_path: Path) -> None:
    auditor = make_auditor(AuditOptions(is_log_in_data_dir=True).with_log(tmp_path / "audit"))
    assert auditor is not None
    async with auditor.running(), ApiServer(MemoryStore(), auditor=auditor).running() as server:
        body = {"metadata": {"name": "one"}}
        await Api(server).ok("POST", CONFIG_MAPS, body, audit_id="one-write")
    written = (tmp_path / "audit" / "audit.log").read_bytes().splitlines()
    assert [orjson.loads(line)["verb"] for line in written if b"one-write" in line] == ["create"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"--audit-log-path .*file/audit.log cannot be written"):
        make_auditor(AuditOptions(log=LogOptions(str(tmp_path / "file" / "audit.log"))))


def test_without_a_log_and_a_webhook_nothing_is_audited(tmp_path: Path) -> None:
    assert make_auditor(AuditOptions(policy_file=tmp_path / "whatever")) is None
