"""kubectl and custom resources: a definition is made, and from then on its kind is like any other."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.interop.kubectl import Kubectl, documents

Json = dict[str, Any]

_numbers = itertools.count(1)


class Shop:
    """A definition whose names nobody else uses: kubectl remembers the names it has seen for a while."""

    def __init__(self, kubectl: Kubectl) -> None:
        self.kubectl = kubectl
        number = next(_numbers)
        self.group = f"shop{number}.example.com"
        self.kind, self.short = f"CronTab{number}", f"ct{number}"
        self.singular, self.plural = f"crontab{number}", f"crontab{number}s"
        self.name = f"{self.plural}.{self.group}"
        kubectl.create(self.definition())
        kubectl("wait", f"crd/{self.name}", "--for", "condition=Established", "--timeout", "30s")

    def definition(self) -> Json:
        spec = {
            "type": "object",
            "description": "What is wanted.",
            "required": ["cronSpec"],
            "properties": {
                "cronSpec": {"type": "string", "description": "When to run.", "pattern": r"^(\S+\s+){4}\S+$"},
                "replicas": {"type": "integer", "minimum": 1, "default": 1},
            },
        }
        status = {"type": "object", "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}}}
        version = {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
            "subresources": {
                "status": {},
                "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
            },
            "additionalPrinterColumns": [
                {"name": "Spec", "type": "string", "jsonPath": ".spec.cronSpec"},
                {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
            ],
        }
        names = {"plural": self.plural, "kind": self.kind, "shortNames": [self.short], "categories": ["all"]}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": self.name},
            "spec": {"group": self.group, "scope": "Namespaced", "names": names, "versions": [version]},
        }

    def crontab(self, name: str, **spec: Any) -> Json:
        spec = {"cronSpec": "* * * * */5", **spec}
        return {"apiVersion": f"{self.group}/v1", "kind": self.kind, "metadata": {"name": name}, "spec": spec}


@pytest.fixture
def shop(kubectl: Kubectl, tmp_path: Path) -> Iterator[Shop]:
    # kubectl remembers for hours which kinds there are; those of these tests are gone sooner.
    made = Shop(replace(kubectl, home=tmp_path))
    yield made
    made.kubectl("delete", "crd", made.name, "--ignore-not-found", "--timeout", "30s")


def test_objects_are_made_and_printed(shop: Shop) -> None:
    kubectl = shop.kubectl
    kubectl.create(shop.crontab("nightly"), shop.crontab("hourly", replicas=3))
    for name in (shop.plural, shop.singular, shop.short, f"{shop.plural}.v1.{shop.group}"):
        said = kubectl("get", name)
        assert said.lines[0].split() == ["NAME", "SPEC", "REPLICAS"]
        assert [row[0] for row in said.rows] == ["hourly", "nightly"]
        assert [row[-1] for row in said.rows] == ["3", "1"]
    assert f"{shop.singular}.{shop.group}/nightly" in kubectl("get", "all").out
    assert kubectl.json("get", shop.short, "nightly")["spec"]["replicas"] == 1


def test_explain_knows_the_schema(shop: Shop) -> None:
    said = shop.kubectl("explain", f"{shop.singular}.spec").out
    assert "What is wanted." in said
    assert "cronSpec\t<string> -required-" in said
    assert "When to run." in shop.kubectl("explain", f"{shop.short}.spec.cronSpec").out


def test_what_is_wrong_is_said_before_and_by_the_server(shop: Shop) -> None:
    wrong = documents(shop.crontab("wrong", cronSpec="daily", replicas=0))
    said = shop.kubectl.fails("create", "-f", "-", stdin=wrong)
    assert "spec.replicas: Invalid value: 0: spec.replicas in body should be greater than or equal to 1" in said
    assert r"spec.cronSpec in body should match '^(\S+\s+){4}\S+$'" in said
    unknown = documents(shop.crontab("wrong", bogus=1))
    assert 'unknown field "spec.bogus"' in shop.kubectl.fails("create", "-f", "-", stdin=unknown)
    assert 'unknown field "spec.bogus"' in shop.kubectl("create", "--validate=warn", "-f", "-", stdin=unknown).err


def test_objects_are_changed_in_every_way(shop: Shop) -> None:
    kubectl = shop.kubectl
    kubectl("apply", "-f", "-", stdin=documents(shop.crontab("nightly")))
    assert "configured" in kubectl("apply", "-f", "-", stdin=documents(shop.crontab("nightly", replicas=2))).out
    kubectl("patch", shop.short, "nightly", "--type", "merge", "-p", '{"spec":{"replicas":4}}')
    said = kubectl.fails("patch", shop.short, "nightly", "-p", '{"spec":{"replicas":4}}')
    assert "application/strategic-merge-patch+json" in said or "415" in said or "media types" in said
    kubectl("scale", shop.short, "nightly", "--replicas", "5")
    kubectl("label", shop.short, "nightly", "seen=yes")
    kubectl("annotate", shop.short, "nightly", "note=x")
    kubectl(
        "patch", shop.short, "nightly", "--type", "merge", "--subresource", "status", "-p", '{"status":{"phase":"Up"}}'
    )
    found = kubectl.json("get", shop.short, "-l", "seen")["items"][0]
    assert (found["spec"]["replicas"], found["status"]) == (5, {"phase": "Up"})
    kubectl("wait", f"{shop.short}/nightly", "--for", "jsonpath={.status.phase}=Up", "--timeout", "10s")


def test_server_side_apply_shares_an_object(shop: Shop) -> None:
    kubectl = shop.kubectl
    kubectl("apply", "--server-side", "--field-manager", "one", "-f", "-", stdin=documents(shop.crontab("nightly")))
    said = kubectl.fails(
        "apply", "--server-side", "--field-manager", "two", "-f", "-",
        stdin=documents(shop.crontab("nightly", cronSpec="0 0 * * *")),
    )  # fmt: skip
    assert 'conflict with "one": .spec.cronSpec' in said


def test_get_watches(shop: Shop) -> None:
    kubectl = shop.kubectl
    kubectl.create(shop.crontab("nightly"))
    with kubectl.running("get", shop.short, "-w", "--output-watch-events", "-o", "json") as told:
        decoder, text = json.JSONDecoder(), ""

        def event() -> tuple[str, int]:
            nonlocal text
            while True:
                try:
                    found, end = decoder.raw_decode(text.lstrip())
                except json.JSONDecodeError:
                    text += told.readline()
                    continue
                text = text.lstrip()[end:]
                return found["type"], found["object"]["spec"]["replicas"]

        assert event() == ("ADDED", 1)
        kubectl("scale", shop.short, "nightly", "--replicas", "2")
        assert event() == ("MODIFIED", 2)
        kubectl("delete", shop.short, "nightly")
        assert event() == ("DELETED", 2)


def test_everything_goes_with_the_definition(shop: Shop) -> None:
    kubectl = shop.kubectl
    kubectl.create(shop.crontab("nightly"))
    kubectl("delete", "crd", shop.name, "--timeout", "30s")
    assert "the server doesn't have a resource type" in kubectl.fails("get", shop.name)


def test_a_namespace_takes_custom_resources_with_it(shop: Shop) -> None:
    other = f"{shop.kubectl.namespace}-other"
    shop.kubectl("create", "namespace", other)
    shop.kubectl.inside(other).create(shop.crontab("nightly"))
    shop.kubectl("delete", "namespace", other, "--timeout", "60s")
    assert shop.kubectl("get", shop.name, "-A").out == ""
