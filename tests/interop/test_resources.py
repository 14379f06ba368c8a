"""Classes of the SDK at the real kube-apiserver: it takes their definitions without a word, and asks the converter."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from hardpoint import App
from hardpoint.client.client import Client
from hardpoint.client.transport import Answer
from hardpoint.crd import Resource
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.resources import at_address, definitions
from hardpoint.sdk.serving import Place, serving
from hardpoint.seams.crd.guest.source import source
from tests.interop.conftest import built
from tests.interop.kube_apiserver import running_kube_apiserver
from tests.sdk.test_converting import GROUP, CronTab, CronTabV1Beta1, at, converting
from tests.seams.crd import crontabs
from tests.seams.crd.models import models
from tests.seams.crd.test_source import SAMPLES, loaded

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

Json = dict[str, Any]
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PATIENCE_SECONDS = 30.0


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running_kube_apiserver(built("kube-apiserver"), tmp_path_factory.mktemp("real")) as config:
        yield config


@pytest.fixture
async def real(kubeconfig: Path) -> AsyncIterator[Client]:
    async with Client.from_kubeconfig(kubeconfig) as client:
        yield client


async def created(client: Client, path: str, body: Json, **query: str) -> Answer:
    """The answer to a creation that is taken without a warning."""
    asked = {"fieldValidation": "Strict", **query}
    answer = await client.raw("POST", path, query=asked, body=orjson.dumps(body))
    assert answer.status == 201, answer.body
    assert "warning" not in {name.lower() for name in answer.headers}, answer.headers
    return answer


async def served(client: Client, definition: Json) -> None:
    await created(client, DEFINITIONS, definition)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = orjson.loads((await client.raw("GET", f"{DEFINITIONS}/{definition['metadata']['name']}")).body)
            conditions = {each["type"]: each["status"] for each in found.get("status", {}).get("conditions") or ()}
            if conditions.get("Established") == "True":
                return
            await asyncio.sleep(0.05)


def declared(cls: type[Resource], group: str = GROUP) -> Json:
    app = App("interop")
    app.resource(group=group, version="v1", kind=cls.__name__)(cls)
    (definition,) = definitions(app)
    return definition


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(models())
async def test_every_class_makes_a_definition_without_a_warning(
    kubeconfig: Path, made: tuple[type[Resource], Json]
) -> None:
    async with Client.from_kubeconfig(kubeconfig) as client:
        await created(client, DEFINITIONS, declared(made[0]), dryRun="All")


@pytest.mark.parametrize("text", [pytest.param(sample.read_text(), id=sample.stem) for sample in SAMPLES])
async def test_an_imported_definition_is_taken(real: Client, text: str) -> None:
    (definition,) = definitions(loaded(source(yaml.safe_load(text), "again")).app)
    await created(real, DEFINITIONS, definition, dryRun="All")


async def test_the_server_fills_in_what_the_class_says(real: Client) -> None:
    await served(real, declared(crontabs.CronTab, "filled.example.com"))
    spec = crontabs.CronTab.Spec(
        cron_spec="* * * * *",
        required_or_null=None,
        ports=[crontabs.Port(name="x", number=1)],
        windows=[crontabs.Window(1)],
        limits=crontabs.Limits(burst=1),
    )
    made = crontabs.CronTab("a", namespace="default", spec=spec)
    answer = await created(real, at("v1").replace(GROUP, "filled.example.com"), made.to_json())
    json: Json = orjson.loads(answer.body)
    read = crontabs.CronTab.from_json(orjson.loads(answer.body))
    assert read.spec == spec
    assert read.to_json() == json


async def test_the_server_asks_the_converter(real: Client, tmp_path: Path) -> None:
    app = converting()
    async with serving([app], Trust(tmp_path / "pki"), Place(port=0)) as running:
        (definition,) = definitions(app, at_address(running))
        await served(real, definition)
        old = CronTabV1Beta1("a", namespace="default", spec=CronTabV1Beta1.Spec(cron="* * * * *", replicas=2))
        await created(real, at("v1beta1"), old.to_json())
        new = CronTab.from_json(orjson.loads((await real.raw("GET", at("v1", "a"))).body))
        assert (new.spec.cron_spec, new.spec.replicas) == ("* * * * *", 2)
        bad = CronTabV1Beta1("b", namespace="default", spec=CronTabV1Beta1.Spec(cron="impossible"))
        refused = await real.raw("POST", at("v1beta1"), body=orjson.dumps(bad.to_json()))
        assert refused.status == 500
        assert "newer failed on CronTab default/b; its log says why" in orjson.loads(refused.body)["message"]
