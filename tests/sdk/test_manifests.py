"""What deploys a file: a cluster takes the objects, and what their container runs is a webhook that can be asked."""

from __future__ import annotations

import base64
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from hardpoint.apiserver.server import ApiServer
from hardpoint.cli import run
from hardpoint.client.client import Client
from hardpoint.machinery.errors import ConfigError
from hardpoint.sdk.deployment import Deployed
from hardpoint.sdk.loading import load
from hardpoint.sdk.manifests import manifests, trust_of
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import ADMIN, Api
from tests.cli.conftest import Home

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "03_authenticator.py")
MODULE = "hardpoint.guests.file_users"
PLACES = {
    "ServiceAccount": "/api/v1/namespaces/default/serviceaccounts",
    "ConfigMap": "/api/v1/namespaces/default/configmaps",
    "Secret": "/api/v1/namespaces/default/secrets",
    "Service": "/api/v1/namespaces/default/services",
    "Deployment": "/apis/apps/v1/namespaces/default/deployments",
}
Json = dict[str, Any]


@pytest.fixture(autouse=True)
def _own_import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


def made(folder: Path, *targets: str) -> dict[str, Json]:
    loaded = [load(target) for target in targets]
    deployed = Deployed(loaded[0].app.name, "default", "hardpoint:test")
    pki = trust_of(deployed, folder / "pki").ensured(datetime.now(UTC))
    return {found["kind"]: found for found in manifests(targets, loaded, deployed, pki)}


@pytest.mark.parametrize("target", [EXAMPLE, MODULE], ids=["file", "module"])
async def test_a_cluster_takes_them_all(tmp_path: Path, target: str) -> None:
    async with ApiServer(MemoryStore()).running() as server:
        for kind, found in made(tmp_path, target).items():
            await Api(server).ok("POST", f"{PLACES[kind]}?fieldValidation=Strict", found)


def test_it_may_do_nothing_in_the_cluster_and_runs_as_nobody(tmp_path: Path) -> None:
    found = made(tmp_path, EXAMPLE)
    assert set(found) == set(PLACES)
    pod = found["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert not container["securityContext"]["allowPrivilegeEscalation"]


def test_a_file_travels_with_its_neighbours_and_a_module_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_test.py").write_text("WORD = 'neighbours'\n")
    source = "from neighbour_of_test import WORD\nfrom hardpoint import App\napp = App(WORD)\n"
    (tmp_path / "app.py").write_text(source)
    found = made(tmp_path, str(tmp_path / "app.py"))
    assert set(found["ConfigMap"]["data"]) == {"app.py", "neighbour_of_test.py"}
    module = made(tmp_path / "module", MODULE)
    assert "ConfigMap" not in module
    (container,) = module["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["args"][:2] == ["run", MODULE]


def test_what_does_not_fit_into_a_config_map_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large.py").write_text(f"from hardpoint import App\napp = App('large')\n# {'x' * 1_100_000}\n")
    with pytest.raises(ConfigError, match="too large for a ConfigMap"):
        made(tmp_path, str(tmp_path / "large.py"))


def test_the_container_serves_and_the_written_files_fit(home: Home) -> None:
    done = home.run("manifests", EXAMPLE, "--namespace", "auth", "--write-config", "configs")
    assert done.status == 0, done.err
    found = {each["kind"]: each for each in yaml.safe_load_all(done.out)}
    config = yaml.safe_load((home.path / "configs" / "authentication.yaml").read_text())
    assert config["clusters"][0]["cluster"]["server"] == "https://badges.auth.svc/authenticate"
    mounts = {"/app": home.path / "app", "/tls": home.path / "tls"}
    for path, contents in (("/app", found["ConfigMap"]["data"]), ("/tls", decoded(found["Secret"]["data"]))):
        mounts[path].mkdir()
        for name, content in contents.items():
            (mounts[path] / name).write_text(content)
    (container,) = found["Deployment"]["spec"]["template"]["spec"]["containers"]
    arguments = [mounted(text, mounts) for text in container["args"]]
    arguments = [
        {"--bind-address=0.0.0.0": "--bind-address=127.0.0.1", "--port=9443": "--port=0"}.get(a, a) for a in arguments
    ]
    with home.start(*arguments) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[1]
        try:
            config["clusters"][0]["cluster"] |= {"server": address, "tls-server-name": "badges.auth.svc"}
            (home.path / "reach.yaml").write_text(yaml.safe_dump(config))
            checked = home.run("check", "authentication", "reach.yaml")
        finally:
            process.terminate()
            process.communicate(timeout=30)
    assert checked.status == 0, checked.out


def test_the_same_certificates_are_printed_every_time(home: Home) -> None:
    first, second = (home.run("manifests", EXAMPLE) for _ in range(2))
    assert first.out == second.out != ""


def decoded(data: Json) -> dict[str, str]:
    return {name: base64.b64decode(content).decode() for name, content in data.items()}


def mounted(text: str, mounts: dict[str, Path]) -> str:
    for path, folder in mounts.items():
        text = text.replace(f"{path}/", f"{folder}/")
    return text


CONTROLLER = """
from hardpoint import App
from hardpoint.controller import Watch

app = App("follower")

async def drop(found, ctx): ...

@app.controller("example.com/v1 Policy", owns=["v1 ConfigMap"], watches=[Watch("v1 Node", to=lambda node: [])],
                reads=["v1 Secret"], finalize=drop, name="policies")
async def follow(found, ctx): ...

@app.controller("v1 Service", namespace="shop", owns=["v1 ConfigMap"], name="services")
async def serve(found, ctx): ...
"""


def deployed_follower(folder: Path) -> list[Json]:
    file = folder / "follower.py"
    file.write_text(CONTROLLER)
    loaded = [load(str(file))]
    deployed = Deployed("follower", "apps", "hardpoint:test")
    pki = trust_of(deployed, folder / "pki").ensured(datetime.now(UTC))
    return manifests([str(file)], loaded, deployed, pki)


def rules_of(objects: list[Json], kind: str, namespace: str | None = None) -> dict[str, set[str]]:
    """Verbs by resource, of the one role that is meant."""
    (role,) = [each for each in objects if each["kind"] == kind and each["metadata"].get("namespace") == namespace]
    return {f"{rule['apiGroups'][0]}/{rule['resources'][0]}": set(rule["verbs"]) for rule in role["rules"]}


def test_a_controller_may_do_what_it_declares_and_no_more(tmp_path: Path) -> None:
    objects = deployed_follower(tmp_path)
    read, own = {"get", "list", "watch"}, {"get", "list", "watch", "create", "patch", "delete"}
    assert rules_of(objects, "ClusterRole") == {
        "example.com/policies": {*read, "patch"},
        "example.com/policies/status": {"patch"},
        "example.com/policies/finalizers": {"update"},
        "/configmaps": own,
        "/nodes": read,
        "/secrets": read,
        "events.k8s.io/events": {"create", "patch"},
    }
    assert rules_of(objects, "Role", "shop") == {
        "/services": read,
        "/services/status": {"patch"},
        "/services/finalizers": {"update"},
        "/configmaps": own,
        "events.k8s.io/events": {"create", "patch"},
    }
    assert set(rules_of(objects, "Role", "apps")) == {"coordination.k8s.io/leases"}


def test_a_controller_has_a_token_one_replica_and_no_certificates(tmp_path: Path) -> None:
    objects = deployed_follower(tmp_path)
    assert {each["kind"] for each in objects}.isdisjoint({"Secret", "Service"})
    (deployment,) = [each for each in objects if each["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    assert (deployment["spec"]["replicas"], pod["automountServiceAccountToken"]) == (1, True)
    (container,) = pod["containers"]
    assert container["readinessProbe"] == {"httpGet": {"port": "health", "path": "/readyz"}}
    assert {"--leader-elect", "--no-crds"} < set(container["args"])


async def test_a_cluster_takes_a_controllers_objects_too(tmp_path: Path) -> None:
    async with ApiServer(MemoryStore()).running() as server:
        client = Client.in_process(server.handle, ADMIN)
        for name in ("apps", "shop"):
            await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for each in deployed_follower(tmp_path):
            await client.create(each, field_validation="Strict")


def test_what_the_container_is_told_is_understood(tmp_path: Path) -> None:
    (deployment,) = [each for each in deployed_follower(tmp_path) if each["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    understood = {option for each in run.command.params for option in (*each.opts, *each.secondary_opts)}
    assert {text.partition("=")[0] for text in container["args"] if text.startswith("-")} <= understood
