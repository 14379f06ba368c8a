"""Log in at an OpenID Connect provider by its device flow: a credential plugin for `kubectl`.

    users:
    - name: me
      user:
        exec:
          apiVersion: client.authentication.k8s.io/v1
          command: hardpoint
          args: [credential, hardpoint.guests.oidc_device]
          interactiveMode: IfAvailable
          env:
          - {name: OIDC_ISSUER_URL, value: https://login.example.com}
          - {name: OIDC_CLIENT_ID, value: kubernetes}

The first time it shows an address and a code on stderr and waits until you have been there (RFC 8628). Then it keeps
the tokens in a private file of $XDG_CACHE_HOME/hardpoint, and renews them without you while the provider lets it.
OIDC_SCOPES (default `openid offline_access`) and OIDC_CA_FILE are optional. Whether the token is good is for the API
server to verify; here it is only carried, and its expiry read.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hardpoint import App
from hardpoint.credential import ExecInfo, Token

SCOPES = "openid offline_access"
DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
REFUSALS = (400, 401, 403)
"""Statuses whose answers say in JSON what is wrong."""
ANSWER_BYTES_MAX = 1024 * 1024
PATIENCE_SECONDS = 10.0
SPARE_SECONDS = 60.0
"""A token that ends so soon is not given out any more."""

Json = dict[str, Any]


class LoginFailed(Exception):
    """There is no token to be had; the text says what to do, and holds no secret."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where to log in, and as which client."""

    issuer: str
    client_id: str
    scopes: str = SCOPES
    ca_file: str | None = None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Provider:
        missing = [name for name in ("OIDC_ISSUER_URL", "OIDC_CLIENT_ID") if not environ.get(name)]
        if missing:
            raise LoginFailed(f"{missing[0]} is not set; set it in the kubeconfig's exec.env")
        return cls(
            environ["OIDC_ISSUER_URL"].rstrip("/"),
            environ["OIDC_CLIENT_ID"],
            environ.get("OIDC_SCOPES") or SCOPES,
            environ.get("OIDC_CA_FILE") or None,
        )

    def discover(self) -> Json:
        """The provider's endpoints. Raises LoginFailed."""
        found = self.ask(f"{self.issuer}/.well-known/openid-configuration")
        if str(found.get("issuer", "")).rstrip("/") != self.issuer:
            raise LoginFailed(f"{self.issuer} says that it is another issuer")
        if not found.get("device_authorization_endpoint") or not found.get("token_endpoint"):
            raise LoginFailed(f"{self.issuer} offers no device flow")
        return found

    def ask(self, url: str, **form: str) -> Json:
        """An answer of the provider, a refusal (`error`) included. Raises LoginFailed."""
        if not url.startswith("https://"):
            raise LoginFailed(f"{url} is not https://, and tokens do not travel otherwise")
        body = urllib.parse.urlencode({"client_id": self.client_id, **form}).encode() if form else None
        context = ssl.create_default_context(cafile=self.ca_file)
        opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _NoRedirects)
        try:
            with opener.open(url, body, PATIENCE_SECONDS) as answer:
                content = answer.read(ANSWER_BYTES_MAX + 1)
        except urllib.error.HTTPError as refused:
            with refused:
                if refused.code not in REFUSALS:
                    raise LoginFailed(f"{self.issuer} answered {refused.code}") from None
                content = refused.read(ANSWER_BYTES_MAX + 1)
        except OSError as failed:
            raise LoginFailed(f"{self.issuer} cannot be reached: {failed}") from failed
        return _object(content, self.issuer)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Nobody's codes and tokens are sent on to where a stranger points."""


@dataclass(slots=True)
class Kept:
    """The tokens of one provider and client, in a private file."""

    file: Path
    tokens: Json = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, provider: Provider, environ: Mapping[str, str]) -> Kept:
        cache = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hardpoint" / "oidc"
        key = "\0".join((provider.issuer, provider.client_id, provider.scopes))
        file = cache / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
        try:
            return cls(file, _object(file.read_bytes(), str(file)))
        except (OSError, LoginFailed):
            return cls(file)

    def keep(self, tokens: Json) -> None:
        """Keep these; a provider that sends no new refresh token lets us go on with the old one."""
        self.tokens = {"refresh_token": self.tokens.get("refresh_token"), **tokens}
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as opened:
            json.dump(self.tokens, opened)
        os.replace(fresh, self.file)


def get_token(
    provider: Provider,
    kept: Kept,
    *,
    interactive: bool,
    now: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> Token:
    """A token that is still good: the kept one, one renewed, or one somebody logs in for. Raises LoginFailed."""
    id_token = kept.tokens.get("id_token")
    if not isinstance(id_token, str) or _expires(id_token) - now() < SPARE_SECONDS:
        endpoints = provider.discover()
        tokens = _renewed(provider, endpoints, kept) or _logged_in(provider, endpoints, interactive, now, sleep)
        id_token = tokens.get("id_token")
        if not isinstance(id_token, str):
            raise LoginFailed(f"{provider.issuer} gave no id_token; is `openid` among OIDC_SCOPES?")
        kept.keep(tokens)
    return Token(id_token, expires=datetime.fromtimestamp(_expires(id_token) - SPARE_SECONDS, UTC))


def _renewed(provider: Provider, endpoints: Json, kept: Kept) -> Json | None:
    refresh_token = kept.tokens.get("refresh_token")
    if not refresh_token:
        return None
    answer = provider.ask(endpoints["token_endpoint"], grant_type="refresh_token", refresh_token=refresh_token)
    return answer if answer.get("id_token") else None


def _logged_in(
    provider: Provider,
    endpoints: Json,
    interactive: bool,
    now: Callable[[], float],
    sleep: Callable[[float], None],
) -> Json:
    if not interactive:
        raise LoginFailed("nobody is there to log in; run a kubectl command in a terminal once")
    device = provider.ask(endpoints["device_authorization_endpoint"], scope=provider.scopes)
    where = device.get("verification_uri_complete") or device.get("verification_uri")
    if not where or not device.get("device_code"):
        raise LoginFailed(f"{provider.issuer} began no login: {_said(device)}")
    print(f"To log in, open {where} and enter the code {device.get('user_code')}", file=sys.stderr, flush=True)
    interval, end = float(device.get("interval") or 5), now() + float(device.get("expires_in") or 600)
    while now() < end:
        sleep(interval)
        answer = provider.ask(
            endpoints["token_endpoint"], grant_type=DEVICE_CODE, device_code=str(device["device_code"])
        )
        if answer.get("error") == "slow_down":
            interval += 5
        elif answer.get("error") != "authorization_pending":
            if answer.get("error"):
                raise LoginFailed(f"the login was refused: {_said(answer)}")
            return answer
    raise LoginFailed("nobody logged in in time; try again")


def _object(content: bytes, where: str) -> Json:
    try:
        found = json.loads(content)
    except ValueError:
        raise LoginFailed(f"{where} holds no JSON") from None
    if len(content) > ANSWER_BYTES_MAX or not isinstance(found, dict):
        raise LoginFailed(f"{where} holds no JSON object of a sensible size")
    return found


def _said(answer: Json) -> str:
    """A provider's words for what went wrong, on one line."""
    words = str(answer.get("error_description") or answer.get("error") or "it does not say why")[:200]
    return "".join(char if char.isprintable() else " " for char in words)


def _expires(token: str) -> float:
    """When a JWT says that it ends; long ago if it does not say."""
    try:
        payload = token.split(".")[1]
        return float(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["exp"])
    except (IndexError, KeyError, TypeError, ValueError):
        return 0.0


app = App("oidc-device")


@app.credential
def log_in(info: ExecInfo) -> Token:
    """The user's token at the provider that the environment names."""
    provider = Provider.from_environment(os.environ)
    return get_token(provider, Kept.of(provider, os.environ), interactive=info.interactive)
