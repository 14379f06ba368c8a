"""The flags about auditing, with kube-apiserver's names: what `up` takes, and all that `apiserver` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hardpoint.cli.authentication import DURATION
from hardpoint.cli.collecting import collected
from hardpoint.cli.options import FILE

if TYPE_CHECKING:
    from hardpoint.apiserver.audit.options import AuditOptions, LogOptions
    from hardpoint.apiserver.audit.webhook import WebhookOptions

NONE = "none"
_MODES = click.Choice(["batch", "blocking", "blocking-strict"])
_COUNT = click.IntRange(min=0)
_SIZE = click.IntRange(min=1)


def _switch(flag: str, default: bool, about: str) -> Any:
    """A flag that takes `=true` and `=false` as well, as Go's do."""
    return click.option(flag, type=bool, is_flag=False, flag_value=True, default=default, metavar="BOOL", help=about)


_FILES = (
    click.option(
        "--audit-policy-file",
        type=FILE,
        metavar="FILE",
        help="What is audited, and how closely.  [default: every write and every refusal, without objects]",
    ),
    click.option("--audit-webhook-config-file", type=FILE, metavar="FILE", help="Who is told, in kubeconfig format."),
)
_OF_UP = (
    *_FILES,
    click.option(
        "--audit-log-path",
        default=None,
        metavar="FILE",
        show_default="audit/audit.log in the data directory",
        help="Where events are written; - is standard output, none is nowhere.",
    ),
)
_OF_APISERVER = (
    *_FILES,
    click.option(
        "--audit-log-path", default=None, metavar="FILE", help="Where events are written; - is standard output."
    ),
    click.option("--audit-log-format", type=click.Choice(["json", "legacy"]), default="json", show_default=True),
    click.option("--audit-log-mode", type=_MODES, default="blocking", show_default=True, help="Who waits for whom."),
    click.option("--audit-log-maxsize", type=_COUNT, default=100, show_default=True, help="Megabytes of a file."),
    click.option("--audit-log-maxbackup", type=_COUNT, default=100, show_default=True, help="How many old files stay."),
    click.option("--audit-log-maxage", type=_COUNT, default=366, show_default=True, help="Days an old file stays."),
    _switch("--audit-log-compress", False, "Whether old files are compressed."),
    click.option("--audit-log-batch-buffer-size", type=_SIZE, default=10_000, show_default=True),
    _switch("--audit-log-truncate-enabled", False, "Whether large events lose their objects."),
    click.option("--audit-log-truncate-max-event-size", type=_SIZE, default=100 * 1024, show_default=True),
    click.option("--audit-webhook-mode", type=_MODES, default="batch", show_default=True, help="Who waits for whom."),
    click.option("--audit-webhook-initial-backoff", type=DURATION, default="10s", show_default=True),
    click.option("--audit-webhook-batch-buffer-size", type=_SIZE, default=10_000, show_default=True),
    click.option("--audit-webhook-batch-max-size", type=_SIZE, default=400, show_default=True),
    click.option("--audit-webhook-batch-max-wait", type=DURATION, default="30s", show_default=True),
    click.option(
        "--audit-webhook-batch-throttle-qps", type=click.FloatRange(min=0.001), default=10.0, show_default=True
    ),
    click.option("--audit-webhook-batch-throttle-burst", type=_SIZE, default=15, show_default=True),
    _switch("--audit-webhook-truncate-enabled", False, "Whether large events lose their objects."),
    click.option("--audit-webhook-truncate-max-event-size", type=_SIZE, default=100 * 1024, show_default=True),
    click.option("--audit-webhook-truncate-max-batch-size", type=_SIZE, default=10 * 1024 * 1024, show_default=True),
)


def _of_up(given: dict[str, Any]) -> AuditOptions:
    from hardpoint.apiserver.audit.options import AuditOptions, LogOptions

    path, config_file, webhook = given["audit_log_path"], given["audit_webhook_config_file"], None
    if config_file is not None:
        from hardpoint.apiserver.audit.webhook import WebhookOptions

        webhook = WebhookOptions(config_file)
    return AuditOptions(
        policy_file=given["audit_policy_file"],
        log=LogOptions(path, mode="batch") if path not in (None, NONE) else None,
        webhook=webhook,
        is_log_in_data_dir=path is None,
    )


def _of_apiserver(given: dict[str, Any]) -> AuditOptions:
    from hardpoint.apiserver.audit.options import AuditOptions

    return AuditOptions(policy_file=given["audit_policy_file"], log=_log(given), webhook=_webhook(given))


def _log(given: dict[str, Any]) -> LogOptions | None:
    from hardpoint.apiserver.audit.options import LogOptions
    from hardpoint.apiserver.audit.rotation import Keeping

    if not given["audit_log_path"]:
        return None
    return LogOptions(
        given["audit_log_path"],
        form=given["audit_log_format"],
        mode=given["audit_log_mode"],
        keeping=Keeping(
            size_megabytes_max=given["audit_log_maxsize"],
            backups_max=given["audit_log_maxbackup"],
            age_days_max=given["audit_log_maxage"],
            compress=given["audit_log_compress"],
        ),
        buffer_max=given["audit_log_batch_buffer_size"],
        event_bytes_max=given["audit_log_truncate_max_event_size"] if given["audit_log_truncate_enabled"] else None,
    )


def _webhook(given: dict[str, Any]) -> WebhookOptions | None:
    from hardpoint.apiserver.audit.webhook import WebhookOptions
    from hardpoint.seams.audit.host import Sending

    if given["audit_webhook_config_file"] is None:
        return None
    is_truncated = given["audit_webhook_truncate_enabled"]
    return WebhookOptions(
        given["audit_webhook_config_file"],
        mode=given["audit_webhook_mode"],
        sending=Sending(
            buffer_max=given["audit_webhook_batch_buffer_size"],
            batch_max=given["audit_webhook_batch_max_size"],
            batch_bytes_max=given["audit_webhook_truncate_max_batch_size"],
            wait_seconds=given["audit_webhook_batch_max_wait"],
            per_second=given["audit_webhook_batch_throttle_qps"],
            burst=given["audit_webhook_batch_throttle_burst"],
            first_backoff_seconds=given["audit_webhook_initial_backoff"],
        ),
        event_bytes_max=given["audit_webhook_truncate_max_event_size"] if is_truncated else None,
    )


up_flags = collected(_OF_UP, "audit", _of_up)
"""Those of `up`. The command gets `audit`."""
apiserver_flags = collected(_OF_APISERVER, "audit", _of_apiserver)
"""All of them. The command gets `audit`."""
