"""The author's side of the credential seam: what a function is told, and what is printed."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from hardpoint import App
from hardpoint.credential import ClientCertificate, ExecInfo, Token
from hardpoint.machinery.errors import ConfigError
from hardpoint.runtime.authored import AuthorFailed
from hardpoint.seams.credential.guest import CredentialGuest
from tests.seams.credential.plugins import GROUP

TOKEN = "s3cr3t-t0k3n"


def told(version: str = "v1", **spec: Any) -> dict[str, str]:
    info = {"apiVersion": f"{GROUP}/{version}", "kind": "ExecCredential", "spec": {"interactive": False, **spec}}
    return {"KUBERNETES_EXEC_INFO": json.dumps(info)}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
@pytest.mark.parametrize(
    ("given", "status"),
    [
        (Token(TOKEN), {"token": TOKEN}),
        (
            Token(TOKEN, expires=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
            {"token": TOKEN, "expirationTimestamp": "2026-01-02T03:04:05Z"},
        ),
        (ClientCertificate("c", "k"), {"clientCertificateData": "c", "clientKeyData": "k"}),
    ],
)
async def test_what_is_printed(version: str, given: Any, status: dict[str, Any]) -> None:
    async def log_in(info: ExecInfo) -> Any:
        return given

    printed = json.loads(await CredentialGuest(log_in).output(told(version)))
    assert printed == {"apiVersion": f"{GROUP}/{version}", "kind": "ExecCredential", "status": status}


async def test_a_function_is_told_of_the_cluster() -> None:
    seen: list[ExecInfo] = []

    def log_in(info: ExecInfo) -> Token:
        seen.append(info)
        return Token(TOKEN)

    guest = CredentialGuest(log_in)
    cluster = {
        "server": "https://c:1",
        "tls-server-name": "n",
        "certificate-authority-data": base64.b64encode(b"pem").decode(),
        "config": {"team": "a"},
    }
    await guest.output(told(interactive=True, cluster=cluster))
    await guest.output(told())
    first, second = seen
    assert first.interactive
    assert first.cluster is not None
    assert (first.cluster.server, first.cluster.tls_server_name) == ("https://c:1", "n")
    assert (first.cluster.ca_pem, first.cluster.config) == (b"pem", {"team": "a"})
    assert second == ExecInfo(interactive=False, cluster=None)


async def test_a_function_may_want_to_be_told_nothing() -> None:
    async def log_in() -> Token:
        return Token(TOKEN)

    assert json.loads(await CredentialGuest(log_in).output(told()))["status"] == {"token": TOKEN}


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"KUBERNETES_EXEC_INFO": ""},
        {"KUBERNETES_EXEC_INFO": "{"},
        {"KUBERNETES_EXEC_INFO": "[]"},
        told("v1alpha1"),
        told(interactive="no"),
        told(cluster="c"),
        told(cluster={"server": "s", "certificate-authority-data": "%"}),
    ],
    ids=range(8),
)
async def test_what_it_was_not_told_rightly_is_refused(environ: dict[str, str]) -> None:
    async def log_in(info: ExecInfo) -> Token:
        return Token(TOKEN)

    with pytest.raises(ConfigError, match="KUBERNETES_EXEC_INFO"):
        await CredentialGuest(log_in).output(environ)


@pytest.mark.parametrize(
    "given", [None, TOKEN, Token(""), Token("a b"), ClientCertificate("c", ""), {"token": TOKEN}], ids=range(6)
)
async def test_what_cannot_be_used_is_told_to_the_author_without_it(
    given: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def log_in() -> Any:
        return given

    with pytest.raises(AuthorFailed):
        await CredentialGuest(log_in).output(told())
    assert "return a Token or a ClientCertificate" in vars(caplog.records[0])["error"]
    assert TOKEN not in str(vars(caplog.records[0]))


def test_secrets_are_not_in_what_is_shown() -> None:
    assert TOKEN not in repr(Token(TOKEN))
    assert TOKEN not in repr(ClientCertificate("c", TOKEN))


def test_an_app_has_one_credential_plugin() -> None:
    app = App("test")
    app.credential(lambda: Token(TOKEN))
    with pytest.raises(ConfigError, match=r"is the second one; .*test_guest.py:\d+ has the first"):
        app.credential(lambda: Token(TOKEN))
