"""Declaring resources: mistakes name their line and the way out, and definitions say what was declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel

from hardpoint import App
from hardpoint.apiserver.server import ApiServer
from hardpoint.crd import Column, MapKeys, Resource, Rule, Scale
from hardpoint.machinery.errors import ConfigError
from hardpoint.sdk.resources import definitions
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api
from tests.apiserver.custom.samples import define
from tests.seams.crd.crontabs import CronTab, Port

Json = dict[str, Any]
GROUP = "stable.example.com"


class Small(Resource):
    """A small one."""

    class Spec(BaseModel):
        cron_spec: str = ""
        replicas: int = 1

    class Status(BaseModel):
        replicas: int = 0
        selector: str = ""

    spec: Spec
    status: Status


class Older(Resource):
    class Spec(BaseModel):
        cron: str = ""

    spec: Spec


class Oldest(Resource):
    class Spec(BaseModel):
        when: str = ""

    spec: Spec


def declared(cls: type[Resource] = Small, app: App | None = None, **options: Any) -> App:
    app = app or App("test")
    app.resource(**{"group": GROUP, "version": "v1", **options})(cls)
    return app


def test_a_definition_says_what_was_declared() -> None:
    app = declared(
        kind="CronTab",
        short_names=["ct"],
        categories=["all"],
        columns={
            "Spec": ".spec.cronSpec",
            "Replicas": Column(".spec.replicas", priority=1),
            "Age": ".metadata.creationTimestamp",
            "Odd": Column(".spec.unheard", type="string"),
        },
        scale=Scale(selector=".status.selector"),
        selectable=[".spec.cronSpec"],
        deprecated="use something else",
        annotations={"note": "x"},
    )
    (definition,) = definitions(app)
    (version,) = definition["spec"].pop("versions")
    schema = version.pop("schema")["openAPIV3Schema"]
    assert schema["description"] == "A small one."
    assert definition == {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "crontabs.stable.example.com", "annotations": {"note": "x"}},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": "CronTab",
                "plural": "crontabs",
                "singular": "crontab",
                "listKind": "CronTabList",
                "shortNames": ["ct"],
                "categories": ["all"],
            },
        },
    }
    assert version == {
        "name": "v1",
        "served": True,
        "storage": True,
        "deprecated": True,
        "deprecationWarning": "use something else",
        "subresources": {
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.replicas",
                "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.selector",
            },
        },
        "additionalPrinterColumns": [
            {"name": "Spec", "type": "string", "jsonPath": ".spec.cronSpec"},
            {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas", "priority": 1},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
            {"name": "Odd", "type": "string", "jsonPath": ".spec.unheard"},
        ],
        "selectableFields": [{"jsonPath": ".spec.cronSpec"}],
    }
    assert (Small.api_version, Small.kind) == (f"{GROUP}/v1", "CronTab")


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("CronTab", "crontabs"),
        ("Policy", "policies"),
        ("Ingress", "ingresses"),
        ("Gateway", "gateways"),
        ("Box", "boxes"),
    ],
)
def test_a_kind_has_a_plural(kind: str, plural: str) -> None:
    (definition,) = definitions(declared(kind=kind))
    assert definition["spec"]["names"]["plural"] == plural


class _NoFields(Resource):
    pass


class _BadUnion(Resource):
    class Spec(BaseModel):
        ports: list[int | Port] = []


class _BadDefault(Resource):
    class Spec(BaseModel):
        policy: Literal["a", "b"] = "c"  # type: ignore[assignment]  # That is the mistake.


class _BadKeys(Resource):
    class Spec(BaseModel):
        ports: Annotated[list[Port], MapKeys("nmae")] = []


class _BadName(Resource):
    class Spec(BaseModel):
        a: NotThere  # type: ignore[name-defined]  # noqa: F821 That is the mistake.


@pytest.mark.parametrize(
    ("cls", "options", "words"),
    [
        pytest.param(int, {}, r"goes on a class that derives from hardpoint.crd.Resource", id="no Resource"),
        pytest.param(_NoFields, {}, r"_NoFields has no fields; give it a class Spec", id="no Spec"),
        pytest.param(_BadUnion, {}, r"_BadUnion.spec.ports is a union", id="a union"),
        pytest.param(
            _BadDefault, {"kind": "Bad"}, r": \.spec\.policy\.default: Unsupported value: \"c\"", id="default"
        ),
        pytest.param(_BadKeys, {"kind": "Bad"}, r"x-kubernetes-list-map-keys", id="map keys"),
        pytest.param(_BadName, {}, r"NotThere", id="a type that is not there"),
        pytest.param(Small, {"group": "nodots"}, r"Small makes no Cust.*spec.group: .*should be a domain", id="group"),
        pytest.param(Small, {"group": "A.b"}, r"spec.group: Invalid value", id="group in capitals"),
        pytest.param(Small, {"version": "V1"}, r"spec.versions\[0\].name: Invalid value", id="version"),
        pytest.param(Small, {"plural": "Smalls"}, r"spec.names.plural: Invalid value", id="plural"),
        pytest.param(Small, {"scope": "World"}, r"spec.scope: Unsupported value", id="scope"),
        pytest.param(Small, {"colour": "red"}, r"unexpected keyword argument 'colour'", id="option"),
        pytest.param(
            Small,
            {"columns": {"Spec": ".spec.cron_spec"}},
            r"Small has no field .spec.cron_spec: .spec has no cron_spec; did you mean cronSpec\?",
            id="column",
        ),
        pytest.param(Small, {"group": None}, r"has group=None, which is no text", id="no group"),
        pytest.param(Small, {"short_names": "ct"}, r"has short_names='ct'; give a list", id="a text for a list"),
        pytest.param(Small, {"columns": {"X": "spec"}}, r"paths begin with a dot", id="column without a dot"),
        pytest.param(Small, {"columns": {"X": ".spec.replicas.x"}}, r".spec.replicas has no fields", id="too deep"),
        pytest.param(
            Small, {"selectable": [".spec.x"]}, r"no field .spec.x: .spec has no x; there are", id="selectable"
        ),
        pytest.param(Small, {"scale": Scale(".spec.size")}, r"has no field .spec.size", id="scale"),
    ],
)
def test_a_mistake_is_told_with_its_line(cls: type[Any], options: Json, words: str) -> None:
    with pytest.raises(ConfigError, match=rf"test_resources.py:\d+: @app.resource:? .*{words}"):
        declared(cls, **options)


def test_one_version_twice() -> None:
    app = declared()
    with pytest.raises(ConfigError, match=r"Small is Small of stable.example.com/v1, as the class at .*:\d+ is"):
        declared(app=app)


def test_two_kinds_of_one_plural() -> None:
    app = declared(plural="things")
    with pytest.raises(ConfigError, match=r"Older has the plural of the class at .*:\d+; give one of them a plural="):
        definitions(declared(Older, app, plural="things"))


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        pytest.param({}, {}, r"is a second version that Small is stored in, .* storage=False", id="two stored"),
        pytest.param({"storage": False}, {"storage": False}, r"is stored in no version", id="none stored"),
        pytest.param({}, {"storage": False, "scope": "Cluster"}, r"has another scope", id="scopes"),
        pytest.param(
            {"plural": "xs"}, {"storage": False, "plural": "ys"}, r"has plural='ys', and .* says 'xs'", id="plurals"
        ),
    ],
)
def test_versions_that_do_not_agree(first: Json, second: Json, words: str) -> None:
    app = declared(**first)
    with pytest.raises(ConfigError, match=rf"test_resources.py:\d+: @app.resource: .*{words}"):
        definitions(declared(Older, app, kind="Small", version="v1beta1", **second))


def _three(app: App) -> None:
    declared(Small, app)
    declared(Older, app, version="v1beta1", kind="Small", storage=False)
    declared(Oldest, app, version="v1alpha1", kind="Small", storage=False)


def _register(app: App, source: type[Any], target: type[Any], make: Callable[[Any], Any]) -> None:
    app.conversion(source, target)(make)


def test_versions_without_conversions_differ_in_name_only() -> None:
    app = App("test")
    _three(app)
    (definition,) = definitions(app, lambda path: {"url": f"https://x{path}"})
    assert "conversion" not in definition["spec"]
    assert [version["name"] for version in definition["spec"]["versions"]] == ["v1", "v1beta1", "v1alpha1"]


def test_conversions_are_in_the_definition_and_must_reach_every_version() -> None:
    app = App("test")
    _three(app)
    _register(app, Older, Small, lambda old: Small(spec=Small.Spec(cron_spec=old.spec.cron)))
    _register(app, Small, Older, lambda new: Older(spec=Older.Spec(cron=new.spec.cron_spec)))
    with pytest.raises(
        ConfigError, match=r"Small is not converted from v1 to v1alpha1; put @app.conversion\(Small, Oldest"
    ):
        definitions(app, lambda path: {"url": f"https://x{path}"})
    _register(app, Older, Oldest, lambda old: Oldest(spec=Oldest.Spec(when=old.spec.cron)))
    _register(app, Oldest, Older, lambda old: Older(spec=Older.Spec(cron=old.spec.when)))
    (definition,) = definitions(app, lambda path: {"url": f"https://x{path}"})
    assert definition["spec"]["conversion"] == {
        "strategy": "Webhook",
        "webhook": {"clientConfig": {"url": "https://x/convert"}, "conversionReviewVersions": ["v1"]},
    }


@pytest.mark.parametrize(
    ("source", "target", "function", "words"),
    [
        pytest.param(
            Small, CronTab, lambda old: old, r"converts .*CronTab.*put @app.resource on that class", id="strange"
        ),
        pytest.param(Small, int, lambda old: old, r"which is no resource", id="no class of ours"),
        pytest.param(Small, Small, lambda old: old, r"between two versions of one kind", id="the same"),
        pytest.param(Small, Older, lambda: None, r"must take one argument, the Small", id="no argument"),
        pytest.param(Small, Older, 3, r"goes on a function", id="no function"),
    ],
)
def test_a_conversion_that_cannot_be(source: Any, target: Any, function: Any, words: str) -> None:
    CronTab.api_version = ""
    app = App("test")
    _three(app)
    with pytest.raises(ConfigError, match=words):
        _register(app, source, target, function)
    _register(app, Small, Older, lambda old: old)
    with pytest.raises(ConfigError, match=r"converts Small to Older, as .*test_resources.py:\d+ does"):
        _register(app, Small, Older, lambda old: old)


def test_a_path_of_somebody_else() -> None:
    app = App("test")
    _three(app)
    app.authenticator(path="/convert")(lambda token: None)
    with pytest.raises(ConfigError, match=r"test_resources.py:\d+ is served at /convert; give @app.conversion another"):
        _register(app, Small, Older, lambda old: old)


def test_a_bad_rule_is_found_when_the_file_is_loaded() -> None:
    class Ruled(Resource):
        class Spec(BaseModel):
            replicas: int = 1

        rules = (Rule("self.spec.replica > 0", "positive"),)

    with pytest.raises(ConfigError, match=r"x-kubernetes-validations\[0\].rule"):
        declared(Ruled)


async def test_an_api_server_serves_what_was_declared() -> None:
    app = declared(CronTab, kind="CronTab", columns={"Replicas": ".spec.replicas"})
    spec = CronTab.Spec(cron_spec="* * * * *", required_or_null=1, ports=[Port(name="x", number=1)])
    path = f"/apis/{GROUP}/v1/namespaces/default/crontabs"
    async with ApiServer(MemoryStore()).running() as server:
        api = Api(server)
        for definition in definitions(app):
            await define(api, definition)
        made = await api.ok(
            "POST", f"{path}?fieldValidation=Strict", CronTab("a", namespace="default", spec=spec).to_json()
        )
        read = CronTab.from_json(made)
        assert (read.spec.replicas, read.spec.limits.burst, read.metadata.generation) == (3, 2, 1)
        absent = CronTab.from_json({"spec": {"cronSpec": "* * * * *", "requiredOrNull": 1}}).spec
        assert read.spec.model_copy(update={"ports": []}) == absent.model_copy(update={"ports": []})
