"""Operators of kopf, unmodified, work with our server: on custom resources, with what kopf's own examples show."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.definitions import definition
from tests.interop.kubectl import Kubectl
from tests.interop.samples import config_map

pytest.importorskip("kopf", reason="make interop installs it")
pytest.importorskip("kubernetes", reason="make interop installs it")

Json = dict[str, Any]

OPERATORS = Path(__file__).with_name("operators")
DEFINITION = definition("Note", group="interop.example.com")


class Operator:
    """A kopf operator at work."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self._stdout = process.stdout

    def hear(self, *lines: str) -> None:
        """Wait until it has said all of that, in whichever order."""
        missing = set(lines)
        while missing:
            line = self._stdout.readline()
            assert line, f"it ended without saying {sorted(missing)}"
            missing.discard(line.strip())


@contextmanager
def running_operator(name: str, kubectl: Kubectl, folder: Path) -> Iterator[Operator]:
    """It works in kubectl's namespace, and ends well."""
    command = [sys.executable, "-m", "kopf", "run", "--standalone", "--namespace", kubectl.namespace]
    environment = {**os.environ, "KUBECONFIG": str(kubectl.kubeconfig)}
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            [*command, str(OPERATORS / name)], env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            yield Operator(process)
        finally:
            process.terminate()
            status = process.wait(timeout=30)
    told = (folder / "log").read_text()
    assert status == 0, told
    assert "Traceback" not in told, told


@pytest.fixture(scope="module")
def served(admin: Kubectl) -> None:
    """Notes are a resource."""
    admin.create(DEFINITION)
    admin("wait", "crd/notes.interop.example.com", "--for=condition=Established", "--timeout=30s")


@pytest.fixture
def run(served: None, kubectl: Kubectl, tmp_path: Path) -> Iterator[Callable[[str], Operator]]:
    """Runs one of the operators until the end of the test."""
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(running_operator(name, kubectl, tmp_path))


def note(name: str, text: str, **metadata: Any) -> Json:
    body = {"apiVersion": "interop.example.com/v1", "kind": "Note", "metadata": {"name": name, **metadata}}
    return {**body, "spec": {"text": text}}


def wait(kubectl: Kubectl, what: str, path: str, value: str) -> None:
    kubectl("wait", what, f"--for=jsonpath={{{path}}}={value}", "--timeout=30s")


def test_what_is_returned_is_in_the_status(run: Callable[[str], Operator], kubectl: Kubectl) -> None:
    kubectl.create(note("before", "you"))
    run("returning.py")
    kubectl.create(note("after", "me"))
    wait(kubectl, "note/before", ".status.welcome.message", "hello you")
    wait(kubectl, "note/after", ".status.welcome.message", "hello me")


def test_children_are_adopted_and_go_with_their_parents(run: Callable[[str], Operator], kubectl: Kubectl) -> None:
    run("children.py")
    kubectl.create(note("read", "me"))
    kubectl("wait", "note/read", "--for=jsonpath={.status.make_pod.pod}", "--timeout=30s")
    made = kubectl.json("get", "note", "read")
    pod = kubectl.json("get", "pod", made["status"]["make_pod"]["pod"])
    (owner,) = pod["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("Note", made["metadata"]["uid"])

    name = pod["metadata"]["name"]
    kubectl("label", "pod", name, "follow=read")
    kubectl("patch", "pod", name, "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Running"}}')
    wait(kubectl, "note/read", ".status.phase", "Running")

    kubectl("delete", "note", "read", "--timeout=30s")
    kubectl("wait", f"pod/{name}", "--for=delete", "--timeout=30s")


def test_filters_choose_the_handlers(run: Callable[[str], Operator], kubectl: Kubectl) -> None:
    run("filtering.py")
    letter = note("letter", "hi", labels={"kind": "letter"}, annotations={"voice": "LOUD"})
    kubectl.create(letter, note("other", "never mind", labels={"kind": "other"}, annotations={"secret": "very"}))
    wait(kubectl, "note/letter", r".status.is_short/spec\.text", "yes")
    wait(kubectl, "note/other", ".status.has_a_kind", "yes")
    called = set(kubectl.json("get", "note", "letter")["status"])
    assert called == {"is_a_letter", "has_a_kind", "is_public", "is_shouted", "is_short/spec.text"}
    assert set(kubectl.json("get", "note", "other")["status"]) == {"has_a_kind"}

    kubectl("patch", "note", "letter", "--type=merge", "-p", '{"spec":{"text":"ho"}}')
    wait(kubectl, "note/letter", r".status.has_changed/spec\.text", "yes")


def test_daemons_live_and_die_with_their_objects(run: Callable[[str], Operator], kubectl: Kubectl) -> None:
    operator = run("daemons.py")
    kubectl.create(note("a", "hi"), note("b", "hi"))
    operator.hear("with a", "with b", "at work for a", "at work for b")
    wait(kubectl, "note/a", ".status.tries", "2")
    kubectl("delete", "note", "a", "--timeout=30s")
    operator.hear("without a", "no work for a")
    assert kubectl.json("get", "note", "b")["metadata"]["finalizers"] == ["kopf.zalando.org/KopfFinalizerMarker"]
    kubectl("delete", "note", "b", "--timeout=30s")


def test_indexes_follow_what_there_is(run: Callable[[str], Operator], kubectl: Kubectl) -> None:
    kubectl.create(config_map("one", labels={"about": "cats"}), note("cats", "cats"))
    run("indexing.py")
    wait(kubectl, "note/cats", ".status.about", "one")
    kubectl.create(config_map("two", labels={"about": "cats"}))
    wait(kubectl, "note/cats", ".status.about", "one two")
    kubectl("label", "configmap", "one", "about=dogs", "--overwrite")
    wait(kubectl, "note/cats", ".status.about", "two")
