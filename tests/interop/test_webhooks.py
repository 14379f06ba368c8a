"""The real kube-apiserver asks authenticators, authorizers and audit sinks written with the SDK, and the real kubectl
runs a credential plugin written with it. Ours does the same with the same files.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from hardpoint.client.client import Client
from hardpoint.client.kubeconfig import write_context
from hardpoint.seams.credential.host import ExecPlugins
from hardpoint.serving.certificates import Pki
from tests.interop.conftest import built
from tests.interop.extensions import running_extensions
from tests.interop.kube_apiserver import running_kube_apiserver
from tests.interop.kubectl import Kubectl

pytestmark = pytest.mark.interop

EXAMPLES = Path(__file__).parents[2] / "examples"
POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}


@dataclass(frozen=True)
class Hosted:
    """A cluster that asks our webhooks."""

    kubectl: Kubectl
    printed: Path
    """What the audit sink was told."""


@contextmanager
def webhooks(folder: Path) -> Iterator[Path]:
    targets = [str(EXAMPLES / name) for name in ("03_authenticator.py", "04_audit_sink.py")]
    with running_extensions(folder, *targets) as configs:
        yield configs


def flags(configs: Path, folder: Path, version: str) -> list[str]:
    (folder / "policy.yaml").write_text(yaml.safe_dump(POLICY))
    return [
        f"--authentication-token-webhook-config-file={configs / 'authentication.yaml'}",
        f"--authentication-token-webhook-version={version}",
        f"--authorization-webhook-config-file={configs / 'authorization.yaml'}",
        f"--authorization-webhook-version={version}",
        f"--audit-webhook-config-file={configs / 'audit.yaml'}",
        "--audit-webhook-batch-max-wait=1s",
        f"--audit-policy-file={folder / 'policy.yaml'}",
    ]


@pytest.fixture(scope="module", params=["kube-apiserver v1", "kube-apiserver v1beta1", "hardpoint v1"])
def hosted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    program, version = request.param.split()
    folder = tmp_path_factory.mktemp("hosted")
    (folder / "cluster").mkdir()
    with (
        webhooks(folder) as configs,
        running(program, folder / "cluster", flags(configs, folder, version)) as kubeconfig,
    ):
        yield Hosted(Kubectl(built("kubectl"), kubeconfig, folder / "home"), folder / "printed")


def running(program: str, folder: Path, more: list[str]) -> AbstractContextManager[Path]:
    modes = "Node,RBAC,Webhook"
    if program == "hardpoint":
        return running_apiserver(folder, *more, f"--authorization-mode={modes}")
    return running_kube_apiserver(built(program), folder, *more, modes=modes)


@contextmanager
def running_apiserver(folder: Path, *options: str) -> Iterator[Path]:
    """`hardpoint apiserver`, which has the flags of kube-apiserver. Yields the kubeconfig of its admin."""
    command = [sys.executable, "-m", "hardpoint.cli", "apiserver", "--store", "memory", "--secure-port", "0"]
    command += ["--data-dir", str(folder / "data"), *options]
    log = folder / "log"
    with (
        log.open("w") as written,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=written, text=True
        ) as process,
    ):
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address, log.read_text()
            pki = Pki(folder / "data" / "pki")
            write_context(
                folder / "kubeconfig",
                name="ours",
                server=address,
                ca_pem=pki.certificate("server-ca").read_bytes(),
                cert_pem=pki.certificate("admin").read_bytes(),
                key_pem=pki.key("admin").read_bytes(),
            )
            yield folder / "kubeconfig"
        finally:
            process.terminate()
            status = process.wait(timeout=30)
    assert status == 0, log.read_text()
    assert "Traceback" not in log.read_text(), log.read_text()


def as_ali(hosted: Hosted, **exec_section: object) -> Kubectl:
    """kubectl as a user who has nothing but a credential plugin."""
    config = yaml.safe_load(hosted.kubectl.kubeconfig.read_text())
    section = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-m", "hardpoint.cli", "credential", str(EXAMPLES / "05_credential.py")],
        "interactiveMode": "Never",
        **exec_section,
    }
    config["users"] = [{"name": config["users"][0]["name"], "user": {"exec": section}}]
    file = hosted.kubectl.kubeconfig.with_name("ali.kubeconfig")
    file.write_text(yaml.safe_dump(config))
    return Kubectl(hosted.kubectl.program, file, hosted.kubectl.home)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_kubectl_gets_its_token_from_a_plugin_and_the_webhook_knows_it(hosted: Hosted, version: str) -> None:
    ali = as_ali(hosted, apiVersion=f"client.authentication.k8s.io/{version}", provideClusterInfo=True)
    status = ali.json("auth", "whoami")["status"]["userInfo"]
    assert status["username"] == "ali"
    assert set(status["groups"]) == {"forty-thieves", "system:authenticated"}


async def test_our_client_runs_the_same_plugin(hosted: Hosted) -> None:
    ali = as_ali(hosted)
    async with Client.from_kubeconfig(ali.kubeconfig, plugins=ExecPlugins()) as client:
        found = await client.list("configmaps", namespace="kube-system")
    assert found["kind"] == "ConfigMapList"


def test_the_authorizer_allows_denies_and_has_no_opinion(hosted: Hosted) -> None:
    ali = as_ali(hosted)
    assert ali("get", "configmaps", "-n", "kube-system").status == 0
    assert "the treasure stays in the cave" in ali.fails("get", "secrets")
    refusal = ali.fails("delete", "configmap", "treasure")
    assert "cannot delete resource" in refusal
    assert "cave" not in refusal


def test_a_token_nobody_knows_is_refused(hosted: Hosted) -> None:
    config = yaml.safe_load(hosted.kubectl.kubeconfig.read_text())
    config["users"] = [{"name": config["users"][0]["name"], "user": {"token": "open-barley"}}]
    file = hosted.kubectl.kubeconfig.with_name("kassim.kubeconfig")
    file.write_text(yaml.safe_dump(config))
    kassim = Kubectl(hosted.kubectl.program, file, hosted.kubectl.home)
    assert "provide credentials" in kassim.fails("get", "pods") or "Unauthorized" in kassim.fails("get", "pods")


def test_the_audit_sink_is_told(hosted: Hosted) -> None:
    as_ali(hosted)("get", "configmaps", "-n", "kube-public")
    wanted = "ali list /api/v1/namespaces/kube-public/configmaps"
    deadline = time.monotonic() + 40
    while wanted not in hosted.printed.read_text():
        assert time.monotonic() < deadline, "the sink was not told in 40 s"
        time.sleep(0.1)
    assert " 200" in next(line for line in hosted.printed.read_text().splitlines() if wanted in line and "200" in line)
