"""The data directory of a cluster: where it is, that it is private, who runs in it.

lock           held by the running cluster; the kernel lets go of it however that ends
cluster.json   what the running cluster says of itself, for `status` and `down`
store/ pki/    the store's and the certificates' own business
audit/         who asked for what
hardpoint.log  what a detached cluster has to say
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import orjson

from hardpoint.machinery.errors import ConfigError, HardpointError

LOCK = "lock"
STATE = "cluster.json"
LOG = "hardpoint.log"
PKI = "pki"
AUDIT = "audit"


class AlreadyRunning(HardpointError):
    """Another process runs a cluster in this data directory."""


class State(NamedTuple):
    """What a running cluster says of itself."""

    name: str
    pid: int
    address: str
    kubeconfig: str
    context: str
    store: str
    components: str
    """As the flag writes them, with commas."""


def default_data_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """$XDG_DATA_HOME/hardpoint/default: one cluster per user, unless they say otherwise."""
    home = environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "hardpoint" / "default"


def prepare(directory: Path) -> None:
    """Create the directory if need be. Raises ConfigError if it cannot be used, or if others could change it.

    The folders of the store and of certificates are looked at by those who keep them.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_what_others_can_change(directory)
        if (directory / AUDIT).exists():
            _refuse_what_others_can_change(directory / AUDIT)
    except OSError as cause:
        raise _unusable(directory, cause) from cause


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """Hold the directory, which is prepared first. Raises AlreadyRunning, or ConfigError."""
    prepare(directory)
    try:
        lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as cause:
        raise _unusable(directory, cause) from cause
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(_who_runs(directory)) from None
        yield
    finally:
        os.close(lock)


def is_held(directory: Path) -> bool:
    """Whether a cluster runs in this directory, by the lock rather than by a process id that may be another's now."""
    try:
        lock = os.open(directory / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(lock)


def write_state(directory: Path, state: State) -> None:
    fresh = directory / f".{STATE}.{state.pid}"
    fresh.write_bytes(orjson.dumps(state._asdict(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    fresh.chmod(0o600)
    os.replace(fresh, directory / STATE)


def remove_state(directory: Path) -> None:
    (directory / STATE).unlink(missing_ok=True)


def read_state(directory: Path) -> State | None:
    """What the cluster that runs in this directory says of itself; None if none does, or if it is still starting."""
    if not is_held(directory):
        return None
    try:
        return State(**orjson.loads((directory / STATE).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def _who_runs(directory: Path) -> str:
    state = read_state(directory)
    if state is None:
        return f"another process is starting or stopping a cluster in {directory}; try again in a moment"
    return (
        f"cluster {state.name!r} already runs in {directory}: process {state.pid} at {state.address}; "
        f"stop it with `hardpoint down --data-dir {directory}`, or choose another --data-dir"
    )


def _unusable(directory: Path, cause: OSError) -> ConfigError:
    return ConfigError(
        f"{directory} cannot be used as data directory: {cause.strerror}; choose one you own with --data-dir"
    )


def _refuse_what_others_can_change(directory: Path) -> None:
    status = directory.stat()
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o022:
        raise ConfigError(f"{directory} can be changed by other users (mode {mode:04o}); run: chmod 700 {directory}")
    if status.st_uid != os.geteuid():
        raise ConfigError(f"{directory} belongs to user {status.st_uid}, not to you; choose another with --data-dir")
