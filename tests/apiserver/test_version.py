"""What `kubectl version`, helm and the conformance suite read from /version."""

from __future__ import annotations

import re
from collections.abc import Callable

import orjson
import pytest

from hardpoint.apiserver import version
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request

SEMVER = r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"


def test_the_answer_has_every_field(request_for: Callable[..., Request]) -> None:
    answer = version.respond(request_for("/version"))
    assert answer is not None
    fields = orjson.loads(answer.body)
    assert list(fields) == [
        *("major", "minor", "emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"),
        *("gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"),
    ]
    assert re.fullmatch(SEMVER, fields["gitVersion"])
    assert (fields["major"], fields["minor"], fields["minCompatibilityMinor"]) == ("1", "37", "36")


def test_the_answer_is_indented(request_for: Callable[..., Request]) -> None:
    answer = version.respond(request_for("/version/"))
    assert answer is not None
    assert answer.body.startswith(b'{\n  "major": "1",\n')


def test_other_paths_are_left_to_others(request_for: Callable[..., Request]) -> None:
    assert version.respond(request_for("/versions")) is None


def test_the_version_cannot_be_written(request_for: Callable[..., Request]) -> None:
    with pytest.raises(ApiError) as refused:
        version.respond(request_for("/version", method="PUT"))
    assert refused.value.code == 405
