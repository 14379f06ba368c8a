"""The same commands to the real kube-apiserver and to ours: kubectl must print the same, word by word.

Both run without controllers. Where the two are known to differ, the transcript says why, and the test holds it to
that: an excuse that is no longer needed fails too.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterator

import pytest

from tests.interop.conftest import built, running_cluster
from tests.interop.kube_apiserver import running_kube_apiserver
from tests.interop.kubectl import Kubectl
from tests.interop.transcripts import FOLDER, Step, steps

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    folder = tmp_path_factory.mktemp("real")
    with running_kube_apiserver(built("kube-apiserver"), folder) as kubeconfig:
        yield Kubectl(built("kubectl"), kubeconfig, folder / "home")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    folder = tmp_path_factory.mktemp("ours")
    with running_cluster(folder, "--components", "apiserver") as kubeconfig:
        yield Kubectl(built("kubectl"), kubeconfig, folder / "home")


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.txt")))
def test_side_by_side(name: str, real: Kubectl, ours: Kubectl) -> None:
    for kubectl in (real, ours):
        kubectl("create", "namespace", name)
        kubectl.inside(name)("create", "serviceaccount", "default")
    problems = [_problem(step, real.inside(name), ours.inside(name)) for step in steps(name)]
    assert not any(problems), "\n\n".join(filter(None, problems))


def _problem(step: Step, real: Kubectl, ours: Kubectl) -> str:
    """How the answers differ, or that they do not although there is an excuse."""
    theirs, mine = step.say(real), step.say(ours)
    command = shlex.join(step.words)
    if step.excuse:
        return "" if theirs != mine else f"{command}: the same on both sides; {step.excuse!r} is no excuse any more"
    if theirs == mine:
        return ""
    told = [f"status {said.status}\n{said.out}{said.err}".splitlines() for said in (theirs, mine)]
    return "\n".join([command, *difflib.unified_diff(*told, "real", "ours", lineterm="", n=1)])
