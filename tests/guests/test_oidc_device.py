"""Logging in at a provider: a real one, over HTTPS, that makes people wait, changes its mind, and misbehaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import orjson
import pytest

from hardpoint.credential import Token
from hardpoint.guests.oidc_device import DEVICE_CODE, Kept, LoginFailed, Provider, get_token
from hardpoint.machinery.messages import Request, Response
from tests.apiserver.authentication.issuer import Issuer, running_issuer

SECRET = "r3fr3sh-t0k3n"
Json = dict[str, Any]


@dataclass
class Login:
    """A provider, somebody who logs in there, and the time that passes meanwhile."""

    issuer: Issuer
    folder: Path
    answers: list[Json] = field(default_factory=list)
    """What the token endpoint answers, in turn."""
    asked: list[Json] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    now: float = 0.0

    def __post_init__(self) -> None:
        self.now = time.time()
        url = self.issuer.url
        told = {
            "issuer": url,
            "device_authorization_endpoint": f"{url}/device",
            "token_endpoint": f"{url}/token",
        }
        began = {"device_code": "d3v1c3", "user_code": "ABCD", "verification_uri": f"{url}/go", "interval": 7}
        self.issuer.answers["/.well-known/openid-configuration"] = answering(told)
        self.issuer.answers["/device"] = answering({**began, "expires_in": 60})
        self.issuer.answers["/token"] = self._token

    async def _token(self, request: Request) -> Response:
        self.asked.append({name: values[0] for name, values in parse_qs(request.body.decode()).items()})
        answer = self.answers.pop(0)
        return Response(400 if "error" in answer else 200, orjson.dumps(answer))

    @property
    def environ(self) -> dict[str, str]:
        ca = self.folder / "issuer-ca.crt"
        ca.write_text(self.issuer.ca_pem)
        return {
            "OIDC_ISSUER_URL": self.issuer.url,
            "OIDC_CLIENT_ID": "kubernetes",
            "OIDC_CA_FILE": str(ca),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }

    async def log_in(self, *, interactive: bool = True) -> Token:
        provider = Provider.from_environment(self.environ)

        def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            self.now += seconds

        def run() -> Token:
            kept = Kept.of(provider, self.environ)
            return get_token(provider, kept, interactive=interactive, now=lambda: self.now, sleep=sleep)

        return await asyncio.to_thread(run)


def answering(answer: Json, status: int = 200) -> Callable[[Request], Any]:
    async def answered(request: Request) -> Response:
        return Response(status, orjson.dumps(answer))

    return answered


@pytest.fixture
async def login(tmp_path: Path) -> AsyncIterator[Login]:
    async with running_issuer(tmp_path / "issuer") as issuer:
        yield Login(issuer, tmp_path)


async def test_somebody_logs_in_and_is_known_the_next_time(login: Login, capfd: pytest.CaptureFixture[str]) -> None:
    good = login.issuer.token()
    login.answers = [
        {"error": "authorization_pending"},
        {"error": "slow_down"},
        {"id_token": good, "refresh_token": SECRET},
    ]
    first = await login.log_in()
    assert first.token == good
    assert first.expires is not None
    assert first.expires.timestamp() == pytest.approx(time.time() + 540, abs=5)
    assert login.slept == [7.0, 7.0, 12.0]
    assert login.asked[0] == {"client_id": "kubernetes", "grant_type": DEVICE_CODE, "device_code": "d3v1c3"}
    shown = capfd.readouterr()
    assert shown.out == ""
    assert f"open {login.issuer.url}/go and enter the code ABCD" in shown.err
    asked = len(login.issuer.asked)
    assert (await login.log_in(interactive=False)).token == good
    assert len(login.issuer.asked) == asked


async def test_a_token_about_to_end_is_renewed_without_anybody(login: Login) -> None:
    login.answers = [{"id_token": login.issuer.token(exp=int(login.now) + 70), "refresh_token": SECRET}]
    await login.log_in()
    login.now += 20
    renewed = login.issuer.token()
    login.answers = [{"id_token": renewed}, {"id_token": renewed}]
    assert (await login.log_in(interactive=False)).token == renewed
    assert login.asked[-1] == {"client_id": "kubernetes", "grant_type": "refresh_token", "refresh_token": SECRET}
    login.now += 1000
    await login.log_in(interactive=False)
    assert login.asked[-1]["refresh_token"] == SECRET


async def test_a_renewal_that_is_refused_needs_somebody_again(login: Login) -> None:
    login.answers = [{"id_token": login.issuer.token(exp=1), "refresh_token": SECRET}]
    await login.log_in()
    login.answers = [{"error": "invalid_grant"}]
    with pytest.raises(LoginFailed, match="nobody is there to log in"):
        await login.log_in(interactive=False)
    again = login.issuer.token()
    login.answers = [{"error": "invalid_grant"}, {"id_token": again}]
    assert (await login.log_in()).token == again


async def test_what_is_kept_is_private(login: Login) -> None:
    login.answers = [{"id_token": login.issuer.token(), "refresh_token": SECRET}]
    await login.log_in()
    (file,) = (login.folder / "cache" / "hardpoint" / "oidc").iterdir()
    assert SECRET in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert file.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        pytest.param([{"error": "access_denied", "error_description": "not\nyou"}], "refused: not you", id="refused"),
        pytest.param([{"error": "expired_token"}], "refused: expired_token", id="too late"),
        pytest.param([{"error": "authorization_pending"}] * 20, "nobody logged in in time", id="nobody comes"),
        pytest.param([{"access_token": "a"}], "gave no id_token", id="no id_token"),
    ],
)
async def test_a_login_that_fails(login: Login, answers: list[Json], words: str) -> None:
    login.answers = answers
    with pytest.raises(LoginFailed, match=words):
        await login.log_in()


@pytest.mark.parametrize(
    ("path", "answer", "status", "words"),
    [
        ("/.well-known/openid-configuration", {"issuer": "https://other"}, 200, "says that it is another issuer"),
        ("/.well-known/openid-configuration", {"issuer": "SELF"}, 200, "offers no device flow"),
        ("/.well-known/openid-configuration", {}, 302, "answered 302"),
        ("/.well-known/openid-configuration", {}, 500, "answered 500"),
        ("/device", {"error": "invalid_client"}, 401, "began no login: invalid_client"),
        ("/device", {"pad": "x" * 1_100_000}, 200, "holds no JSON"),
    ],
)
async def test_a_provider_that_misbehaves(login: Login, path: str, answer: Json, status: int, words: str) -> None:
    told = {name: login.issuer.url if value == "SELF" else value for name, value in answer.items()}
    login.issuer.answers[path] = answering(told, status)
    with pytest.raises(LoginFailed, match=words):
        await login.log_in()


async def test_an_endpoint_without_tls_is_not_asked(login: Login) -> None:
    told = {"issuer": login.issuer.url, "device_authorization_endpoint": "http://127.0.0.1:1", "token_endpoint": "x"}
    login.issuer.answers["/.well-known/openid-configuration"] = answering(told)
    with pytest.raises(LoginFailed, match="tokens do not travel otherwise"):
        await login.log_in()


async def test_a_provider_nobody_vouches_for_is_not_asked(login: Login) -> None:
    provider = Provider(login.issuer.url, "kubernetes")
    with pytest.raises(LoginFailed, match="CERTIFICATE_VERIFY_FAILED"):
        await asyncio.to_thread(provider.discover)


def test_what_must_be_set() -> None:
    with pytest.raises(LoginFailed, match="OIDC_CLIENT_ID is not set"):
        Provider.from_environment({"OIDC_ISSUER_URL": "https://a"})
