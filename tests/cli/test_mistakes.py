"""Whatever a user gets wrong is told in a sentence, with the right exit status, and never in a traceback."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hardpoint.cli import COMMANDS
from tests.cli.conftest import Home

MISUSE = {
    "no such command": (["fly"], "No such command 'fly'"),
    "no such option": (["up", "--fast"], "No such option"),
    "a port that is none": (["up", "--port", "99999"], "is not in the range 0<=x<=65535"),
    "a store that is none": (["up", "--store", "mysql"], "write sqlite, memory or etcd://HOST:PORT"),
    "a name that is none": (["up", "--name", "A b"], "use up to 63 lower-case letters, digits and dashes"),
    "a component that is none": (["up", "--components", "apiserver,warp"], "there is no 'warp'; choose from apiserver"),
    "a backup for another store": (["up", "--store", "memory", "--from-backup", "x"], "needs --store sqlite"),
    "an address that is none": (["apiserver", "--bind-address", "here"], "'here' is not an IP address"),
    "half of the certificates": (["apiserver", "--tls-cert-file", "x"], "go together"),
    "certificates that are not there": (
        ["apiserver", "--tls-cert-file", "x", "--tls-private-key-file", "x", "--client-ca-file", "x"],
        "x cannot be read: No such file",
    ),
    "an address of another machine": (["apiserver", "--bind-address", "192.0.2.1"], "cannot listen on 192.0.2.1"),
    "an authorizer that is none": (
        ["apiserver", "--authorization-mode", "RBAC,Chance"],
        "--authorization-mode: there is no 'Chance'; choose from Node, RBAC, Webhook, ABAC, AlwaysAllow, AlwaysDeny",
    ),
    "an authorizer twice": (["apiserver", "--authorization-mode", "RBAC,RBAC"], "names a mode twice"),
    "nothing to back up": (["backup", "file"], "holds no store to back up"),
    "a form that is none": (["status", "-o", "xml"], "'xml' is not one of"),
}


@pytest.mark.parametrize(("arguments", "words"), MISUSE.values(), ids=MISUSE.keys())
def test_misuse(home: Home, arguments: list[str], words: str) -> None:
    done = home.run(*arguments)
    assert done.status == 2
    assert words in done.err
    assert done.out == ""


def a_file(data: Path) -> None:
    data.parent.mkdir(parents=True)
    data.write_text("")


def open_to_all(data: Path) -> None:
    data.mkdir(parents=True)
    data.chmod(0o777)


def open_keys(data: Path) -> None:
    (data / "pki").mkdir(parents=True)
    (data / "pki").chmod(0o755)


def of_the_future(data: Path) -> None:
    import apsw

    (data / "store").mkdir(parents=True, mode=0o700)
    database = apsw.Connection(str(data / "store" / "store.db"))
    database.execute("PRAGMA application_id = 1; PRAGMA user_version = 9999; CREATE TABLE t (x)")
    database.close()
    (data / "store" / "store.db").chmod(0o600)


def no_database(data: Path) -> None:
    (data / "store").mkdir(parents=True, mode=0o700)
    (data / "store" / "store.db").write_bytes(b"this is not a database" * 1000)
    (data / "store" / "store.db").chmod(0o600)


def broken_kubeconfig(data: Path) -> None:
    kubeconfig = data.parents[2] / ".kube" / "config"
    kubeconfig.parent.mkdir()
    kubeconfig.write_text("{ not: [yaml")


BAD_PLACES = {
    a_file: (2, "cannot be used as data directory"),
    open_to_all: (2, r"can be changed by other users \(mode 0777\); run: chmod 700"),
    open_keys: (2, r"is open to other users \(mode 0755\); run: chmod 700"),
    of_the_future: (1, r"store\.db"),
    no_database: (1, r"store\.db"),
    broken_kubeconfig: (2, r"\.kube/config"),
}


@pytest.mark.parametrize("detach", [[], ["--detach"]], ids=["here", "detached"])
@pytest.mark.parametrize(("prepare", "expected"), BAD_PLACES.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_bad_places(home: Home, prepare: Callable[[Path], None], expected: tuple[int, str], detach: list[str]) -> None:
    prepare(home.data)
    status, words = expected
    done = home.run("up", "--port", "0", *detach)
    assert re.search(words, done.err), done.err
    assert done.status == status
    assert done.out == ""


def test_a_place_where_nothing_can_be_written(home: Home) -> None:
    done = home.run("up", "--data-dir", "/proc/hardpoint")
    assert done.status == 2
    assert "/proc/hardpoint cannot be used as data directory" in done.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk(home: Home) -> None:
    small = home.path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "none", small], check=False)
    if mounted.returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    try:
        done = home.run("up", "--port", "0", "--data-dir", str(small))
    finally:
        subprocess.run(["umount", "-l", small], check=True)
    assert done.status in (1, 2)
    assert re.search("full|No space left", done.err), done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_by_example(home: Home, command: str) -> None:
    done = home.run(command, "--help")
    assert done.status == 0
    assert re.search(rf"Examples?:\n +hardpoint {command}", done.out)


def test_help_of_all(home: Home) -> None:
    done = home.run("--help")
    assert all(re.search(rf"^  {command} +[A-Z]", done.out, re.MULTILINE) for command in COMMANDS)


def test_version(home: Home) -> None:
    done = home.run("--version")
    assert re.fullmatch(r"hardpoint \d+\.\d+\.\d+\n", done.out)


def test_output_nobody_reads_is_no_error_message(home: Home) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with home.start("--help") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
    os.close(writing)
    assert "Error" not in err
    assert "Traceback" not in err
