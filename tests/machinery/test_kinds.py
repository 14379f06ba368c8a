from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hardpoint.machinery import areas, kinds, shapes

ROOT = Path(__file__).parents[2]
REFERENCE = Path(os.environ.get("HARDPOINT_REFERENCE") or ROOT.parent / "shared/reference")


def test_core_comes_first_and_a_preferred_version_before_the_others() -> None:
    builtin = kinds.builtin()
    assert builtin[0].group == ""
    versions = [kind.version for kind in builtin if kind.group == "autoscaling"]
    assert versions == ["v2", "v1"]
    assert kinds.builtin() is builtin


def test_a_pod_is_described_as_discovery_does() -> None:
    pod = kinds.by_kind("v1", "Pod")
    assert pod is not None
    assert (pod.plural, pod.singular, pod.namespaced, pod.short_names, pod.categories) == (
        "pods",
        "pod",
        True,
        ("po",),
        ("all",),
    )
    assert "deletecollection" in pod.verbs
    assert "spec.nodeName" in pod.selectable_fields
    assert pod.storage_version_hash == "xPOwRZ+Yhw8="


@pytest.mark.parametrize(
    ("group", "plural", "name", "body"),
    [
        ("", "pods", "status", ("", "v1", "Pod")),
        ("", "pods", "eviction", ("policy", "v1", "Eviction")),
        ("", "serviceaccounts", "token", ("authentication.k8s.io", "v1", "TokenRequest")),
        ("apps", "deployments", "scale", ("autoscaling", "v1", "Scale")),
    ],
)
def test_a_subresource_has_the_kind_of_its_body(group: str, plural: str, name: str, body: tuple[str, str, str]) -> None:
    kind = kinds.by_plural(group, "v1", plural)
    assert kind is not None
    subresource = kind.subresource(name)
    assert subresource is not None
    assert (subresource.group, subresource.version, subresource.kind) == body
    assert shapes.find(f"{body[0]}/{body[1]}".lstrip("/"), body[2]) is not None


def test_names_in_messages() -> None:
    deployment = kinds.by_kind("apps/v1", "Deployment")
    assert deployment is not None
    assert (deployment.api_version, deployment.resource, deployment.qualified) == (
        "apps/v1",
        "deployments.apps",
        "Deployment.apps",
    )


def test_strangers_are_not_found() -> None:
    assert kinds.by_kind("v1", "Deployment") is None
    assert kinds.by_plural("apps", "v1", "pods") is None
    pod = kinds.by_kind("v1", "Pod")
    assert pod is not None
    assert pod.subresource("nope") is None


@pytest.mark.parametrize("kind", kinds.builtin(), ids=lambda kind: kind.resource)
def test_every_kind_has_a_shape_with_metadata(kind: kinds.Kind) -> None:
    shape = shapes.shape(kind.api_version, kind.kind)
    assert {"kind", "apiVersion", "metadata"} <= set(shape.fields)
    assert dataclasses.replace(kind, plural="x").resource.startswith("x")


def test_rules_are_looked_for_under_kinds_that_exist() -> None:
    assert set(areas.AREAS) <= {(kind.group, kind.kind) for kind in kinds.builtin()}


def test_the_tables_are_those_that_the_recording_gives() -> None:
    if not REFERENCE.exists():
        pytest.skip("no recorded API server is here; HARDPOINT_REFERENCE names its folder")
    command = [sys.executable, ROOT / "tools/make_tables.py", REFERENCE, "--check"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stderr) == (0, "")


def test_the_tables_hold_no_prose_and_are_small() -> None:
    tables = list((ROOT / "src/hardpoint/machinery/data").glob("*.json"))
    assert sum(path.stat().st_size for path in tables) < 500_000
    words = [word for path in tables for word in re.findall(r'"([^"]*)"', path.read_text())]
    assert max(word.count(" ") for word in words) <= 2
