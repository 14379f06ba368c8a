"""`hardpoint check crd` and `hardpoint check controller` as a user has them."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Home

DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, kind: CronTab}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: {cronSpec: {type: string}, replicas: {type: integer, minimum: 1}}
"""
APP = """
from pydantic import BaseModel
from hardpoint import App
from hardpoint.crd import Resource
app = App("ports")

@app.resource(group="example.com", version="v1")
class Port(Resource):
    class Spec(BaseModel):
        host: str
        port: int = 80

@app.resource(group="example.com", version="v1beta1", kind="Port", storage=False)
class OldPort(Resource):
    class Spec(BaseModel):
        address: str

@app.conversion(OldPort, Port)
def forward(old: OldPort) -> Port:
    host, _, port = old.spec.address.rpartition(":")
    return Port(spec=Port.Spec(host=host, port=int(port) if port.isdecimal() else 80))

@app.conversion(Port, OldPort)
def back(new: Port) -> OldPort:
    return OldPort(spec=OldPort.Spec(address=f"{new.spec.host}:{new.spec.port}"))
"""


def test_a_good_definition_exits_0(home: Home) -> None:
    (home.path / "crd.yaml").write_text(DEFINITION)
    done = home.run("check", "crd", "crd.yaml")
    assert done.status == 0, done.out
    assert done.out.startswith("ok    an API server accepts the definition\n")


def test_what_an_earlier_release_allowed_is_asked_for_with_against(home: Home) -> None:
    (home.path / "old.yaml").write_text(DEFINITION)
    (home.path / "new.yaml").write_text(DEFINITION.replace("minimum: 1", "minimum: 2"))
    done = home.run("check", "crd", "new.yaml", "--against", "old.yaml", "-o", "json")
    assert done.status == 1
    told = {each["promise"]: each["detail"] for each in json.loads(done.out)["findings"] if each["outcome"] == "FAIL"}
    words = "crontabs.stable.example.com v1: .spec.replicas had the minimum 1 and has 2"
    assert told == {"objects of the earlier release are objects of this one": words}


def test_the_conversions_of_an_app_are_served_and_asked(home: Home) -> None:
    """Theirs loses whatever address has no port: the kit finds that, with no webhook running before."""
    (home.path / "ports.py").write_text(APP)
    done = home.run("check", "crd", "ports.py")
    assert done.status == 1, done.out + done.err
    failed = [line for line in done.out.splitlines() if line.startswith("FAIL")]
    assert failed[0].startswith("FAIL  there and back again an object is what it was: ")
    assert "ports.example.com v1beta1 to v1 and back: .spec.address was" in failed[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["crd", "nothing.yaml"], "nothing.yaml cannot be read", id="no file"),
        pytest.param(["crd", "idle.py"], "idle.py holds no resources", id="no resources"),
        pytest.param(["crd", "crd.yaml", "more"], "'more' is too much", id="arguments"),
        pytest.param(["controller", "idle.py"], "idle.py holds no controller", id="no controller"),
        pytest.param(["controller", "nowhere"], "there is no module 'nowhere'", id="neither module nor program"),
        pytest.param(["controller", "true"], "name --crds FILE, or --objects FILE", id="nothing to work on"),
    ],
)
def test_what_cannot_work_is_one_sentence_and_status_2(home: Home, arguments: list[str], words: str) -> None:
    (home.path / "idle.py").write_text('from hardpoint import App\napp = App("idle")\n')
    (home.path / "crd.yaml").write_text(DEFINITION)
    done = home.run("check", *arguments)
    assert (done.status, done.out) == (2, "")
    assert words in done.err


def test_a_controller_that_cannot_be_run_breaks_its_first_promise(home: Home) -> None:
    (home.path / "crd.yaml").write_text(DEFINITION)
    done = home.run("check", "controller", "--crds", "crd.yaml", "--", "./manager", "--flag")
    assert done.status == 1
    first, *others = done.out.splitlines()
    assert first.endswith("and then rests: ./manager cannot be run: No such file or directory")
    assert {line[:4] for line in others} == {"skip"}
