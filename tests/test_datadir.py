"""Who runs in a data directory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hardpoint import datadir
from hardpoint.datadir import AlreadyRunning, State
from hardpoint.machinery.errors import ConfigError

STATE = State("dev", 7, "https://127.0.0.1:1", "/config", "hardpoint-dev", "sqlite", "apiserver")


def test_the_default_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert datadir.default_data_dir({"XDG_DATA_HOME": "/x"}) == Path("/x/hardpoint/default")
    monkeypatch.setenv("HOME", "/home/me")
    assert datadir.default_data_dir({}) == Path("/home/me/.local/share/hardpoint/default")


def test_a_state_is_read_only_while_somebody_holds_the_directory(tmp_path: Path) -> None:
    with datadir.held(tmp_path / "d"):
        assert datadir.read_state(tmp_path / "d") is None
        datadir.write_state(tmp_path / "d", STATE)
        assert datadir.read_state(tmp_path / "d") == STATE
    assert datadir.read_state(tmp_path / "d") is None, "what a crash left behind says nothing"


@pytest.mark.parametrize("damage", [b"", b"[]", b"{}", b'{"name": "x", "more": 1}'])
def test_a_damaged_state_is_no_state(tmp_path: Path, damage: bytes) -> None:
    with datadir.held(tmp_path / "d"):
        (tmp_path / "d" / datadir.STATE).write_bytes(damage)
        assert datadir.read_state(tmp_path / "d") is None


def test_only_one_holds_it(tmp_path: Path) -> None:
    with datadir.held(tmp_path / "d"):
        with pytest.raises(AlreadyRunning, match="starting or stopping"), datadir.held(tmp_path / "d"):
            pass
        datadir.write_state(tmp_path / "d", STATE)
        with pytest.raises(AlreadyRunning, match=r"cluster 'dev' already runs in .*: process 7 at https://127.0.0.1:1"):
            datadir.held(tmp_path / "d").__enter__()
    with datadir.held(tmp_path / "d"):
        pass


def test_a_process_that_is_killed_lets_go(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from hardpoint import datadir\n"
        "with datadir.held(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "d")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert datadir.is_held(tmp_path / "d")
        process.kill()
        process.wait()
    assert not datadir.is_held(tmp_path / "d")


def test_nothing_is_held_where_nothing_is(tmp_path: Path) -> None:
    assert not datadir.is_held(tmp_path / "nowhere")


def test_a_directory_others_can_change_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d").chmod(0o770)
    with pytest.raises(ConfigError, match=r"can be changed by other users \(mode 0770\); run: chmod 700"):
        datadir.prepare(tmp_path / "d")


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    datadir.prepare(tmp_path / "d")
    (tmp_path / "d" / datadir.LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="cannot be used as data directory"):
        datadir.held(tmp_path / "d").__enter__()
    assert not (tmp_path / "elsewhere").exists()
