"""Failpoints do what they are armed with, and nothing otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from hardpoint.machinery.errors import ConfigError
from hardpoint.store import failpoints
from hardpoint.store.failpoints import Action


@pytest.mark.parametrize(
    ("specification", "actions"),
    [
        ("", {}),
        ("a=panic", {"a": Action("panic")}),
        ("a=panic:0.1", {"a": Action("panic", probability=0.1)}),
        ("a.b=error; c=sleep:20", {"a.b": Action("error"), "c": Action("sleep", 20.0)}),
        ("c=sleep:20:0.5;", {"c": Action("sleep", 20.0, 0.5)}),
    ],
)
def test_parse(specification: str, actions: dict[str, Action]) -> None:
    assert failpoints.parse(specification) == actions


@pytest.mark.parametrize(
    "wrong", ["a", "a=", "=panic", "a=explode", "a=panic:2", "a=sleep", "a=sleep:x", "a=error:1:1"]
)
def test_what_cannot_be_read_is_named(wrong: str) -> None:
    with pytest.raises(ConfigError, match=f"HARDPOINT_FAILPOINTS: cannot read '{wrong}'"):
        failpoints.parse(wrong)


def test_points_act_only_inside_the_block() -> None:
    with failpoints.armed("here=error;slow=sleep:30;never=error:0"):
        with pytest.raises(failpoints.Failure, match="failpoint here"):
            failpoints.hit("here")
        failpoints.hit("elsewhere")
        failpoints.hit("never")
        began = time.monotonic()
        failpoints.hit("slow")
        assert time.monotonic() - began >= 0.03
    failpoints.hit("here")


def test_the_environment_arms_and_a_panic_is_a_crash() -> None:
    program = "import atexit; from hardpoint.store import failpoints; atexit.register(print, 'no'); failpoints.hit('a')"
    environment = {**os.environ, failpoints.VARIABLE: "a=panic"}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)
    assert (run.returncode, run.stdout) == (failpoints.EXIT_CODE, b"")
