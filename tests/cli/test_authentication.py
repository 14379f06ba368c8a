"""The flags about authentication: what cannot work is told at start, and what is given is used."""

from __future__ import annotations

import ssl
import stat
import urllib.error
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from hardpoint.apiserver.pki import ensure
from hardpoint.apiserver.server import ApiServer
from hardpoint.cli.apiserver import command
from hardpoint.cluster import Options
from hardpoint.machinery import jwk
from hardpoint.machinery.errors import ConfigError
from hardpoint.store.memory import MemoryStore
from tests.cli.conftest import Home

Json = dict[str, Any]

REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
MEMORY = ["apiserver", "--store", "memory", "--secure-port", "0"]

MISUSE = {
    "a token file that is not there": (["--token-auth-file", "gone"], "--token-auth-file gone cannot be read"),
    "a configuration that is not there": (["--authentication-config", "gone"], "gone cannot be read: No such file"),
    "a webhook that is not there": (["--authentication-token-webhook-config-file", "gone"], "gone"),
    "a duration that is none": (
        ["--authentication-token-webhook-cache-ttl", "soon"],
        "'soon' is not a duration; write one like 90s, 10m or 1h30m",
    ),
    "half of an issuer": (["--oidc-issuer-url", "https://a.example.com"], "--oidc-issuer-url and --oidc-client-id go"),
    "an issuer over http": (
        ["--oidc-issuer-url", "http://a.example.com", "--oidc-client-id", "x"],
        "URL scheme must be https",
    ),
    "an algorithm that is none": (
        ["--oidc-issuer-url", "https://a.example.com", "--oidc-client-id", "x", "--oidc-signing-algs", "HS256"],
        'Unsupported value: "HS256"',
    ),
    "a claim without a value": (["--oidc-required-claim", "hd"], "'hd' must be a claim and its value"),
    "a signing key that is not there": (["--service-account-signing-key-file", "gone"], "gone cannot be read"),
    "verifying keys alone": (["--service-account-key-file", "x"], "needs --service-account-signing-key-file"),
    "an issuer twice": (
        ["--service-account-issuer", "a", "--service-account-issuer", "a"],
        "--service-account-issuer 'a' is given twice",
    ),
    "tokens that end at once": (
        ["--service-account-max-token-expiration", "1m"],
        "must be between 1 hour and 2^32 seconds",
    ),
    "keys over http": (["--service-account-jwks-uri", "http://x"], "must start with https://"),
}


@pytest.mark.parametrize(("flags", "words"), MISUSE.values(), ids=MISUSE.keys())
def test_misuse(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flags: list[str], words: str) -> None:
    """The command itself, but for the process: what it would run is made and not run."""

    def make(options: Options, _on_ready: object) -> None:
        ApiServer(MemoryStore(), authentication=options.authentication)

    monkeypatch.setattr("hardpoint.cli.serving.run", make)
    monkeypatch.setattr("hardpoint.cli.logs.to_stderr", lambda: None)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, [*MEMORY[1:], *flags])
    assert done.exit_code == 2 or isinstance(done.exception, ConfigError)
    assert words in f"{done.output}{done.exception}"


def test_one_authority_for_users_and_proxies(home: Home, tmp_path: Path) -> None:
    """Every user could speak for every other: the server does not start."""
    pki = ensure(tmp_path / "pki", [], datetime.now(UTC))
    own = [
        *("--tls-cert-file", str(pki.certificate("apiserver")), "--tls-private-key-file", str(pki.key("apiserver"))),
        *("--client-ca-file", str(pki.certificate("client-ca"))),
    ]
    for authority, words in (
        (str(pki.certificate("client-ca")), "share an authority: every user could speak for every other"),
        ("gone", "gone cannot be read"),
    ):
        done = home.run(*MEMORY, *own, "--requestheader-client-ca-file", authority)
        assert (done.status, done.out) == (2, "")
        assert words in done.err


def test_a_key_that_is_none(home: Home) -> None:
    (home.path / "key").write_text("nonsense-canary")
    flags = ["--service-account-signing-key-file", "key", "--service-account-key-file", "key"]
    done = home.run(*MEMORY, *flags)
    assert (done.status, done.out) == (2, "")
    assert "is not an unencrypted private key in PEM form" in done.err
    assert "nonsense-canary" not in done.err


def who(home: Home, address: str, token: str) -> Json:
    context = ssl.create_default_context(cafile=str(home.data / "pki" / "server-ca.crt"))
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(address + REVIEWS, b"{}", headers)
    with urllib.request.urlopen(request, timeout=30, context=context) as answer:
        user: Json = orjson.loads(answer.read())["status"]["userInfo"]
        return user


def test_up_takes_files(home: Home) -> None:
    (home.path / "tokens").write_text('sesame,alice,42,"dev"\n')
    config = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: false}\n"
    (home.path / "config").write_text(config)
    address = home.up("--token-auth-file", "tokens", "--authentication-config", "config")
    assert who(home, address, "sesame")["username"] == "alice"
    context = ssl.create_default_context(cafile=str(home.data / "pki" / "server-ca.crt"))
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{address}/livez", timeout=30, context=context)


def test_the_key_is_made_when_it_is_needed_and_kept(home: Home) -> None:
    address = home.up()
    key = home.data / "pki" / "service-accounts.key"
    assert not key.exists(), "a start does not wait for it"
    path = "/api/v1/namespaces/default/serviceaccounts"
    home.ask(address, path, method="POST", body={"metadata": {"name": "robot"}})
    answer = orjson.loads(home.ask(address, f"{path}/robot/token", method="POST", body={}))
    token = answer["status"]["token"]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    home.run("down")
    address = home.up()
    assert who(home, address, token)["username"] == "system:serviceaccount:default:robot"


def test_keys_of_the_users_own(home: Home) -> None:
    old, new = jwk.generate(), jwk.generate()
    (home.path / "new").write_bytes(new.pem())
    (home.path / "both").write_bytes(old.pem() + new.pem())
    flags = ["--service-account-signing-key-file", "new", "--service-account-key-file", "both"]
    with home.start(*MEMORY, *flags) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            keys = orjson.loads(home.ask(address, "/openid/v1/jwks"))["keys"]
        finally:
            process.terminate()
    assert {key["kid"] for key in keys} == {old.public.id, new.public.id}
