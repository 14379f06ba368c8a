"""The client's side of the credential seam: running programs, and keeping what they print while it is good."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from hardpoint.client.client import Client
from hardpoint.client.credentials import Proof
from hardpoint.client.resources import Resource
from hardpoint.machinery.errors import ApiError, ConfigError, ContractBroken, GuestError, Unavailable
from hardpoint.seams.credential import host
from hardpoint.seams.credential.host import ExecPlugins, Plugin, PluginCredentials
from tests.client.authority import Authority
from tests.client.scripted import Asked, Reply
from tests.seams.credential.plugins import GROUP, printing, runs, script, section
from tests.seams.webhooks import AUTHORITY, guest

CLUSTER = {"server": "https://127.0.0.1:6443", "config": {"team": "a"}}
TOKEN = "s3cr3t-t0k3n"
CONFIG_MAPS = Resource("v1", "configmaps", "ConfigMap")


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


async def test_a_token(tmp_path: Path) -> None:
    plugin = printing(tmp_path, token=TOKEN)
    wanted = section(plugin, args=["a", "b"], env=[{"name": "FOO", "value": "bar"}])
    proof = await ExecPlugins()(wanted, CLUSTER).proof()
    assert proof == Proof(bearer(TOKEN))
    (ran,) = runs(tmp_path)
    assert ran["told"] == {"apiVersion": f"{GROUP}/v1", "kind": "ExecCredential", "spec": {"interactive": False}}
    assert (ran["args"], ran["env"]) == (["a", "b"], "bar")


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_it_is_told_of_the_cluster_if_it_asks(tmp_path: Path, version: str) -> None:
    plugin = printing(tmp_path, token=TOKEN)
    wanted = section(plugin, provideClusterInfo=True, apiVersion=f"{GROUP}/{version}")
    await ExecPlugins()(wanted, CLUSTER).proof()
    assert runs(tmp_path)[0]["told"]["apiVersion"] == f"{GROUP}/{version}"
    assert runs(tmp_path)[0]["told"]["spec"]["cluster"] == CLUSTER


async def test_a_certificate_and_a_token_together(tmp_path: Path) -> None:
    cert, key = Authority("clients").issue("me")
    pair = {"clientCertificateData": cert.decode(), "clientKeyData": key.decode()}
    proof = await ExecPlugins()(section(printing(tmp_path, token=TOKEN, **pair)), CLUSTER).proof()
    assert proof.headers == bearer(TOKEN)
    assert proof.certificate is not None
    assert (proof.certificate.cert_pem, proof.certificate.key_pem) == (cert, key)


async def test_it_runs_once_for_all_who_wait_and_again_when_it_has_expired(tmp_path: Path) -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    plugin = Plugin.of(section(printing(tmp_path, token=TOKEN, expirationTimestamp="2026-01-02T01:00:00Z")), CLUSTER)
    credentials = PluginCredentials(plugin, now=lambda: now)
    await asyncio.gather(*(credentials.proof() for _ in range(10)))
    assert len(runs(tmp_path)) == 1
    now += timedelta(hours=1)
    await credentials.proof()
    assert len(runs(tmp_path)) == 1
    now += timedelta(seconds=1)
    await credentials.proof()
    assert len(runs(tmp_path)) == 2


async def test_it_runs_again_when_what_it_gave_was_refused(tmp_path: Path) -> None:
    credentials = ExecPlugins()(section(printing(tmp_path, token=TOKEN)), CLUSTER)
    first = await credentials.proof()
    credentials.refused(first)
    second = await credentials.proof()
    credentials.refused(first)
    assert await credentials.proof() is second
    assert len(runs(tmp_path)) == 2


def test_clients_of_one_program_share_what_a_plugin_gives(tmp_path: Path) -> None:
    plugins = ExecPlugins()
    one, again = plugins(section("a"), CLUSTER), plugins(section("a"), CLUSTER)
    other = plugins(section("a", args=["b"]), CLUSTER)
    assert one is again
    assert one is not other


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        pytest.param("sys.exit(3)", Unavailable, "ended with status 3", id="fails"),
        pytest.param("print('{')", ContractBroken, "not JSON", id="no JSON"),
        pytest.param("", ContractBroken, "not JSON", id="prints nothing"),
        pytest.param("print('x' * 2_000_000)", ContractBroken, "more than 1048576 bytes", id="pours"),
        pytest.param("time.sleep(60)", Unavailable, r"was not done in 0\.2 s", id="hangs"),
    ],
)
async def test_a_program_that_misbehaves(
    tmp_path: Path, body: str, error: type[GuestError], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "sleep" in body:
        monkeypatch.setattr(host, "PATIENCE_SECONDS", 0.2)
    credentials = ExecPlugins()(section(script(tmp_path, body)), CLUSTER)
    with pytest.raises(error, match=words):
        await credentials.proof()


def credential(kind: str = "ExecCredential", version: str = f"{GROUP}/v1", **status: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "status": {"token": TOKEN, **status}}


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        pytest.param(credential(kind="Pod"), "kind must be ExecCredential", id="another kind"),
        pytest.param(credential(version=f"{GROUP}/v1beta1"), "as it was asked", id="another version"),
        pytest.param(credential(version=f"{GROUP}/v1alpha1"), "apiVersion must be", id="a version long gone"),
        pytest.param({**credential(), "status": None}, "no status", id="no status"),
        pytest.param(credential(token=""), "neither a token nor a client certificate", id="nothing in it"),
        pytest.param(credential(token=7), "status.token must be text", id="a number"),
        pytest.param(credential(clientKeyData="k"), "only one of", id="a key without a certificate"),
        pytest.param(credential(token=f"{TOKEN}\r\nx: y"), "line breaks", id="a token that would break out"),
        pytest.param(credential(expirationTimestamp="soon"), "is no timestamp", id="no timestamp"),
        pytest.param([], "kind must be", id="a list"),
    ],
)
async def test_what_is_no_credential_is_refused_and_not_shown(
    tmp_path: Path, printed: Any, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    plugin = script(tmp_path, f"print(json.dumps({printed!r}))")
    with pytest.raises(ContractBroken, match=words) as broken:
        await ExecPlugins()(section(plugin), CLUSTER).proof()
    assert TOKEN not in f"{broken.value} {broken.value.__cause__} {caplog.text}"


async def test_a_program_that_is_not_there_and_how_to_get_it() -> None:
    wanted = section("no-such-plugin", installHint="apt install no-such-plugin")
    with pytest.raises(Unavailable, match=r"(?s)'no-such-plugin' is not installed.*apt install no-such-plugin"):
        await ExecPlugins()(wanted, CLUSTER).proof()


async def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("just words")
    file.chmod(0o755)
    with pytest.raises(Unavailable, match="cannot be run: Exec format error"):
        await ExecPlugins()(section(file), CLUSTER).proof()


async def test_a_program_beside_where_one_happens_to_be_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printing(tmp_path, token=TOKEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(ConfigError, match="beside where you happen to be"):
        await ExecPlugins()(section("plugin"), CLUSTER).proof()
    assert runs(tmp_path) == []


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"apiVersion": f"{GROUP}/v1alpha1"}, "exec.apiVersion must be"),
        ({"apiVersion": None}, "exec.apiVersion must be"),
        ({"interactiveMode": None}, "exec.interactiveMode must be one of Never"),
        ({"interactiveMode": "Sometimes"}, "exec.interactiveMode must be one of Never"),
        ({"args": "a b"}, "exec.args must be a list of texts"),
        ({"env": {"A": "b"}}, "exec.env must be a list"),
        ({"env": [{"name": "A", "value": 7}]}, "exec.env must hold a name and a value"),
    ],
)
def test_a_section_that_cannot_work_is_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        ExecPlugins()(section("a", **more), CLUSTER)


async def test_a_program_that_must_ask_and_has_nobody_to_ask() -> None:
    with pytest.raises(ConfigError, match="stdin is not a terminal"):
        await ExecPlugins()(section("a", interactiveMode="Always"), CLUSTER).proof()


async def test_a_client_uses_it_and_a_401_makes_it_run_again(tmp_path: Path) -> None:
    answers = iter([401, 200])

    async def once_refused(asked: Asked, reply: Reply) -> None:
        status = next(answers)
        body = b'{"kind":"Status","code":401}' if status == 401 else b'{"kind":"ConfigMap"}'
        await reply.answer(body, status=status)

    printing(tmp_path, token=TOKEN)
    async with guest(once_refused, tmp_path) as (server, _):
        (tmp_path / "ca.crt").write_bytes(AUTHORITY.pem)
        config = {
            "clusters": [
                {
                    "name": "c",
                    "cluster": {"server": f"https://127.0.0.1:{server.port}", "certificate-authority": "ca.crt"},
                }
            ],
            "users": [{"name": "u", "user": {"exec": section("./plugin")}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(config))
        async with Client.from_kubeconfig(kubeconfig, plugins=ExecPlugins()) as client:
            with pytest.raises(ApiError):
                await client.get(CONFIG_MAPS, "a")
            assert (await client.get(CONFIG_MAPS, "a"))["kind"] == "ConfigMap"
    assert len(runs(tmp_path)) == 2
    assert [asked.header("authorization") for asked in server.asked] == [f"Bearer {TOKEN}"] * 2
