"""What can be said about auditing, with kube-apiserver's numbers, and the auditor that does it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hardpoint.apiserver.audit.auditor import Auditor, Backend
from hardpoint.apiserver.audit.log import Format, LogBackend, Mode, StandardOutput
from hardpoint.apiserver.audit.policy import WRITES_ONLY, Policy
from hardpoint.apiserver.audit.rotation import Keeping, RotatingFile
from hardpoint.machinery.errors import ConfigError

if TYPE_CHECKING:
    from hardpoint.apiserver.audit.webhook import WebhookOptions
    from hardpoint.seams.audit.host import Teller

STANDARD_OUTPUT = "-"
BUFFER_MAX = 10_000
EVENT_BYTES_MAX = 100 * 1024


class LogOptions(NamedTuple):
    """The log."""

    path: str
    """A file, or `-` for standard output."""
    form: Format = "json"
    mode: Mode = "blocking"
    keeping: Keeping = Keeping()
    buffer_max: int = BUFFER_MAX
    event_bytes_max: int | None = None


class AuditOptions(NamedTuple):
    """Everything about auditing. Without a log and a webhook nothing is audited."""

    policy_file: Path | None = None
    """None: one event for each write, and for each refusal."""
    log: LogOptions | None = None
    webhook: WebhookOptions | None = None
    is_log_in_data_dir: bool = False
    """Whether a cluster that has no other log keeps one beside its data."""

    def with_log(self, folder: Path) -> AuditOptions:
        """The same, with the log that was left to the cluster."""
        if not self.is_log_in_data_dir:
            return self
        return self._replace(log=LogOptions(str(folder / "audit.log"), mode="batch", keeping=_BESIDE_DATA))


_BESIDE_DATA = Keeping(size_megabytes_max=50, backups_max=4, age_days_max=30)


def make_auditor(options: AuditOptions, webhook: Teller | None = None) -> Auditor | None:
    """The auditor; None if nothing is to be audited. Raises ConfigError."""
    backends: list[Backend] = []
    if options.log is not None:
        backends.append(_log(options.log))
    if options.webhook is not None:
        assert webhook is not None, "who asks for a webhook brings it"
        from hardpoint.apiserver.audit.webhook import make_backend  # Few have one: start-up does not wait for it.

        backends.append(make_backend(options.webhook, webhook))
    if not backends:
        return None
    return Auditor(_policy(options), backends, tells_refusals=options.policy_file is None)


def _policy(options: AuditOptions) -> Policy:
    if options.policy_file is None:
        return WRITES_ONLY
    from hardpoint.apiserver.audit.policyfile import load_policy  # YAML is only loaded for those who wrote some.

    return load_policy(options.policy_file)


def _log(options: LogOptions) -> LogBackend:
    try:
        output = (
            StandardOutput() if options.path == STANDARD_OUTPUT else RotatingFile(Path(options.path), options.keeping)
        )
    except OSError as cause:
        raise ConfigError(f"--audit-log-path {options.path} cannot be written: {cause.strerror}") from cause
    return LogBackend(
        output,
        form=options.form,
        mode=options.mode,
        buffer_max=options.buffer_max,
        event_bytes_max=options.event_bytes_max,
    )
