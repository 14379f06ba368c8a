"""The flags about auditing and limits: what becomes of them, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from hardpoint.apiserver.audit.options import AuditOptions
from hardpoint.apiserver.flow.options import FlowOptions
from hardpoint.cli import audit, flow

taken: dict[str, Any] = {}


@click.command()
@audit.up_flags
def up(*, audit: AuditOptions) -> None:
    taken["audit"] = audit


@click.command()
@audit.apiserver_flags
@flow.flags
def apiserver(*, audit: AuditOptions, flow: FlowOptions) -> None:
    taken.update(audit=audit, flow=flow)


def run(command: click.Command, *arguments: str) -> Result:
    taken.clear()
    return CliRunner().invoke(command, arguments)


@pytest.mark.parametrize(
    ("arguments", "path"),
    [((), "audit.log"), (("--audit-log-path", "none"), None), (("--audit-log-path", "-"), "-")],
)
def test_up_keeps_a_log_beside_its_data_unless_told_otherwise(arguments: tuple[str, ...], path: str | None) -> None:
    assert run(up, *arguments).exit_code == 0
    log = taken["audit"].with_log(Path("folder")).log
    assert (log and Path(log.path).name) == path
    assert log is None or log.mode == "batch"


def test_apiserver_audits_nothing_unless_told() -> None:
    assert run(apiserver).exit_code == 0
    assert taken["audit"] == AuditOptions()
    assert taken["flow"] == FlowOptions()


def test_every_number_arrives() -> None:
    done = run(
        apiserver,
        *(
            "--audit-policy-file",
            "p",
            "--audit-log-path",
            "l",
            "--audit-log-mode",
            "batch",
            "--audit-log-format",
            "legacy",
        ),
        *("--audit-log-maxsize", "1", "--audit-log-maxbackup", "2", "--audit-log-maxage", "3", "--audit-log-compress"),
        *("--audit-log-batch-buffer-size", "4", "--audit-log-truncate-enabled=true"),
        *("--audit-log-truncate-max-event-size", "5", "--audit-webhook-config-file", "w"),
        *("--audit-webhook-mode", "blocking", "--audit-webhook-initial-backoff", "6s"),
        *("--audit-webhook-batch-buffer-size", "7", "--audit-webhook-batch-max-size", "8"),
        *("--audit-webhook-batch-max-wait", "9s", "--audit-webhook-batch-throttle-qps", "10.5"),
        *("--audit-webhook-batch-throttle-burst", "11", "--audit-webhook-truncate-enabled"),
        *("--audit-webhook-truncate-max-event-size", "12", "--audit-webhook-truncate-max-batch-size", "13"),
        *("--enable-priority-and-fairness=false", "--max-requests-inflight", "14"),
        *("--max-mutating-requests-inflight", "15", "--request-timeout", "16s"),
    )
    assert done.exit_code == 0, done.output
    log, webhook = taken["audit"].log, taken["audit"].webhook
    keeping, sending = log.keeping, webhook.sending
    assert (log.path, log.mode, log.form, log.buffer_max, log.event_bytes_max) == ("l", "batch", "legacy", 4, 5)
    assert (keeping.size_megabytes_max, keeping.backups_max, keeping.age_days_max, keeping.compress) == (1, 2, 3, True)
    assert (webhook.config_file, webhook.mode, webhook.event_bytes_max) == (Path("w"), "blocking", 12)
    assert (sending.first_backoff_seconds, sending.buffer_max, sending.batch_max, sending.wait_seconds) == (6, 7, 8, 9)
    assert (sending.per_second, sending.burst, sending.batch_bytes_max) == (10.5, 11, 13)
    assert taken["flow"] == FlowOptions(is_fair=False, reads_max=14, writes_max=15, request_seconds_max=16)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--audit-log-mode", "never"), "'never' is not one of"),
        (("--audit-log-maxage", "-1"), "-1 is not in the range"),
        (("--request-timeout", "0s"), "--request-timeout must be more than 0s"),
        (("--request-timeout", "soon"), "'soon' is not a duration"),
        (("--max-requests-inflight", "0", "--max-mutating-requests-inflight", "0"), "cannot both be 0"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], complaint: str) -> None:
    done = run(apiserver, *arguments)
    assert done.exit_code == 2
    assert complaint in done.output
