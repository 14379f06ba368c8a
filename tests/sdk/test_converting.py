"""Versions of a resource, converted by an App's functions: asked by our API server over TLS."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from hardpoint import App
from hardpoint.apiserver.server import ApiServer
from hardpoint.authentication import User
from hardpoint.client.credentials import ANONYMOUS
from hardpoint.client.endpoint import Endpoint
from hardpoint.client.http import HttpTransport
from hardpoint.client.webhook import endpoint_at
from hardpoint.crd import Resource
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.loading import Loaded
from hardpoint.sdk.manifests import Deployed, manifests, trust_of
from hardpoint.sdk.resources import at_address, definitions
from hardpoint.sdk.serving import Place, Served, serving, write_configs
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api
from tests.apiserver.custom.samples import define

Json = dict[str, Any]
GROUP = "stable.example.com"


class CronTab(Resource):
    class Spec(BaseModel):
        cron_spec: str
        replicas: int = 1

    class Status(BaseModel):
        active: int = 0

    spec: Spec
    status: Status


class CronTabV1Beta1(Resource):
    class Spec(BaseModel):
        cron: str
        replicas: int = 1

    class Status(BaseModel):
        active: int = 0

    spec: Spec
    status: Status


def newer(old: CronTabV1Beta1) -> CronTab:
    if old.spec.cron == "impossible":
        raise ValueError("the secret is hunter2")
    status = CronTab.Status(active=old.status.active)
    return CronTab(spec=CronTab.Spec(cron_spec=old.spec.cron, replicas=old.spec.replicas), status=status)


async def older(new: CronTab) -> CronTabV1Beta1:
    status = CronTabV1Beta1.Status(active=new.status.active)
    spec = CronTabV1Beta1.Spec(cron=new.spec.cron_spec, replicas=new.spec.replicas)
    return CronTabV1Beta1(spec=spec, status=status, annotations={"was": "v1"})


def converting() -> App:
    app = App("crontabs")
    app.resource(group=GROUP, version="v1")(CronTab)
    app.resource(group=GROUP, version="v1beta1", kind="CronTab", storage=False)(CronTabV1Beta1)
    app.conversion(CronTabV1Beta1, CronTab)(newer)
    app.conversion(CronTab, CronTabV1Beta1)(older)
    return app


@asynccontextmanager
async def served(folder: Path, app: App) -> AsyncIterator[tuple[Served, Api]]:
    async with (
        ApiServer(MemoryStore()).running() as server,
        serving([app], Trust(folder / "pki"), Place(port=0)) as running,
    ):
        for definition in definitions(app, at_address(running)):
            await define(Api(server), definition)
        yield running, Api(server)


def at(version: str, name: str = "") -> str:
    return f"/apis/{GROUP}/{version}/namespaces/default/crontabs" + (f"/{name}" if name else "")


async def test_an_api_server_gets_objects_in_any_version(tmp_path: Path) -> None:
    async with served(tmp_path, converting()) as (_, api):
        made = CronTabV1Beta1("a", spec=CronTabV1Beta1.Spec(cron="* * * * *", replicas=2), labels={"x": "y"})
        await api.ok("POST", at("v1beta1"), made.to_json())
        new = CronTab.from_json(await api.ok("GET", at("v1", "a")))
        assert (new.spec.cron_spec, new.spec.replicas, new.metadata.labels) == ("* * * * *", 2, {"x": "y"})
        for name in ("b", "c"):
            await api.ok("POST", at("v1"), CronTab(name, spec=CronTab.Spec(cron_spec=name)).to_json())
        listed = await api.ok("GET", at("v1beta1"))
        old = [CronTabV1Beta1.from_json(item) for item in listed["items"]]
        assert [(tab.metadata.name, tab.spec.cron) for tab in old] == [("a", "* * * * *"), ("b", "b"), ("c", "c")]
        assert old[1].metadata.annotations == {"was": "v1"}


async def test_a_function_that_fails_is_told_without_its_words(tmp_path: Path) -> None:
    async with served(tmp_path, converting()) as (_, api):
        made = CronTabV1Beta1("a", spec=CronTabV1Beta1.Spec(cron="impossible"))
        status, answer = await api.ask("POST", at("v1beta1"), made.to_json())
        assert status == 500
        assert "newer failed on CronTab default/a; its log says why" in answer["message"]
        assert "hunter2" not in answer["message"]


@pytest.mark.parametrize(
    ("path", "status"), [("/convert", 405), ("/authenticate", 401), ("/metrics", 401), ("/x", 401)]
)
async def test_who_shows_no_certificate_gets_no_further_than_the_converter(
    tmp_path: Path, path: str, status: int
) -> None:
    app = converting()

    @app.authenticator
    def nobody(token: str) -> User | None:
        return None

    async with serving([app], Trust(tmp_path / "pki"), Place(port=0)) as running:
        ca_pem = base64.b64decode(running.ca_bundle())
        stranger: Endpoint = endpoint_at(f"{running.address}{path}", ca_pem=ca_pem, credentials=ANONYMOUS)
        async with HttpTransport(stranger) as transport:
            assert (await transport.request("GET", "")).status == status
        assert set(write_configs(running, tmp_path / "configs")) == {"authentication"}


def test_manifests_hold_the_definition_and_where_its_converter_will_be(tmp_path: Path) -> None:
    app = converting()
    deployed = Deployed(app.name, "operators", "hardpoint:test")
    pki = trust_of(deployed, tmp_path / "pki").ensured(datetime.now(UTC))
    definition, *others = manifests(["tests.sdk.test_converting"], [Loaded(app, ())], deployed, pki)
    assert definition["kind"] == "CustomResourceDefinition"
    config = definition["spec"]["conversion"]["webhook"]["clientConfig"]
    assert base64.b64decode(config.pop("caBundle")) == pki.certificate("server-ca").read_bytes()
    assert config == {"service": {"name": "crontabs", "namespace": "operators", "path": "/convert", "port": 443}}
    assert {"Deployment", "Service", "Secret"} <= {found["kind"] for found in others}


def test_resources_alone_need_nothing_that_runs(tmp_path: Path) -> None:
    app = App("crontabs")
    app.resource(group=GROUP, version="v1")(CronTab)
    deployed = Deployed(app.name, "operators", "hardpoint:test")
    pki = trust_of(deployed, tmp_path / "pki").ensured(datetime.now(UTC))
    found = manifests(["tests.sdk.test_converting"], [Loaded(app, ())], deployed, pki)
    assert [one["kind"] for one in found] == ["CustomResourceDefinition"]
