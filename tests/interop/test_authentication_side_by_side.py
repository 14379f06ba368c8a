"""The same credentials and questions to the real kube-apiserver and to ours: the same users, the same refusals.

Both read the same files: static tokens, and an AuthenticationConfiguration that believes an issuer in this process.
"""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
import pytest_asyncio
import yaml

from tests.apiserver.authentication.conftest import write_configuration
from tests.apiserver.authentication.issuer import Issuer, SigningKey, running_issuer
from tests.interop.conftest import built, running_cluster
from tests.interop.kube_apiserver import running_kube_apiserver

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

Json = dict[str, Any]

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
TOKEN = f"{ACCOUNTS}/robot/token"
SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = "/apis/authentication.k8s.io/v1/tokenreviews"
SUBPROTOCOL = "base64url.bearer.authorization.k8s.io."
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TOKEN = re.compile(r"ey[\w-]+\.ey[\w-]+\.[\w-]+")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@dataclass
class Side:
    """One of the two servers."""

    address: str
    pki: Path

    def ask(self, path: str, body: Any = None, *, shows: str = "admin", method: str = "", **headers: str) -> Any:
        """The status and the body, without what differs from run to run."""
        context = ssl.create_default_context(cafile=str(self.pki / "server-ca.crt"))
        if shows:
            context.load_cert_chain(self.pki / f"{shows}.crt", self.pki / f"{shows}.key")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        data = None if body is None else orjson.dumps(body)
        if data is not None:
            named["Content-Type"] = "application/json"
        request = urllib.request.Request(self.address + path, data, named, method=method or None)
        try:
            with urllib.request.urlopen(request, timeout=30, context=context) as answer:
                return answer.status, _steady(answer.read())
        except urllib.error.HTTPError as refused:
            return refused.code, _steady(refused.read())

    def made(self, path: str, body: Json) -> Json:
        context = ssl.create_default_context(cafile=str(self.pki / "server-ca.crt"))
        context.load_cert_chain(self.pki / "admin.crt", self.pki / "admin.key")
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, orjson.dumps(body), headers)
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            made: Json = orjson.loads(answer.read())
            return made

    def token(self, **spec: Any) -> str:
        token: str = self.made(TOKEN, {"spec": spec})["status"]["token"]
        return token


def _steady(body: bytes) -> Any:
    text = _UID.sub("UID", _TOKEN.sub("TOKEN", _TIME.sub("TIME", body.decode())))
    found = re.sub(r"X509SHA256=[0-9a-f]+", "X509SHA256", text)
    try:
        value = orjson.loads(found)
    except orjson.JSONDecodeError:
        return found
    if isinstance(value, dict) and "metadata" in value:
        value["metadata"].pop("managedFields", None)
    return value


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Side, Side, Issuer]]:
    folder = tmp_path_factory.mktemp("both")
    for name in ("real", "ours"):
        (folder / name).mkdir()
    (folder / "tokens").write_text('sesame,alice,42,"dev,ops"\n')
    async with running_issuer(folder / "issuer") as issuer:
        rules = [{"expression": "!user.username.startsWith('oidc:root')", "message": "not root"}]
        mappings = {
            "username": {"claim": "sub", "prefix": "oidc:"},
            "groups": {"expression": "claims.?teams.orValue([])"},
            "extra": [{"key": "example.com/x", "valueExpression": "claims.?x.orValue('')"}],
        }
        write_configuration(folder / "config", issuer.configuration(claimMappings=mappings, userValidationRules=rules))
        files = ["--token-auth-file", str(folder / "tokens"), "--authentication-config", str(folder / "config")]
        async with _real(folder / "real", files) as real, _ours(folder / "ours", files) as ours:
            for side in (real, ours):
                side.made(ACCOUNTS, {"metadata": {"name": "robot"}})
                side.made("/api/v1/namespaces/default/secrets", {"metadata": {"name": "anchor"}})
                side.made("/api/v1/namespaces/kube-system/secrets", _bootstrap())
            yield real, ours, issuer


@asynccontextmanager
async def _real(folder: Path, files: list[str]) -> AsyncIterator[Side]:
    pki = folder / "pki"
    proxy = [
        f"--requestheader-client-ca-file={pki / 'front-proxy-ca.crt'}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-uid-headers=X-Remote-Uid",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--enable-bootstrap-token-auth",
    ]
    running = running_kube_apiserver(built("kube-apiserver"), folder, *files, *proxy, modes="Node,RBAC")
    async with _in_a_thread(running) as kubeconfig:
        yield Side(_server(kubeconfig), pki)


@asynccontextmanager
async def _ours(folder: Path, files: list[str]) -> AsyncIterator[Side]:
    async with _in_a_thread(running_cluster(folder, "--components", "apiserver", *files)) as kubeconfig:
        yield Side(_server(kubeconfig), folder / "data" / "pki")


@asynccontextmanager
async def _in_a_thread(manager: Any) -> AsyncIterator[Path]:
    """A context manager that waits, entered and left beside the issuer, which has to answer meanwhile."""
    entered: Path = await asyncio.to_thread(manager.__enter__)
    try:
        yield entered
    finally:
        await asyncio.to_thread(manager.__exit__, None, None, None)


def _server(kubeconfig: Path) -> str:
    server: str = yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    return server


def _bootstrap() -> Json:
    data = {"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true"}
    encoded = {name: base64.b64encode(value.encode()).decode() for name, value in data.items()}
    return {"metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token", "data": encoded}


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


Probe = Callable[[Side], Any]


def bound(kind: str, name: str, **more: str) -> Json:
    return {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": name, **more}}}


PROBES: dict[str, Probe] = {
    "a token": lambda s: s.ask(TOKEN, {}),
    "a token for others": lambda s: s.ask(TOKEN, {"spec": {"audiences": ["a", "b"], "expirationSeconds": 600}}),
    "a token too short": lambda s: s.ask(TOKEN, {"spec": {"expirationSeconds": 599}}),
    "a token too long": lambda s: s.ask(TOKEN, {"spec": {"expirationSeconds": 2**32 + 1}}),
    "another name": lambda s: s.ask(TOKEN, {"metadata": {"name": "x"}}),
    "another namespace": lambda s: s.ask(TOKEN, {"metadata": {"namespace": "x"}}),
    "another uid": lambda s: s.ask(TOKEN, {"metadata": {"uid": "x"}}),
    "no account": lambda s: s.ask(f"{ACCOUNTS}/nobody/token", {}),
    "no pod": lambda s: s.ask(TOKEN, bound("Pod", "nobody")),
    "no node": lambda s: s.ask(TOKEN, bound("Node", "nobody")),
    "a secret": lambda s: s.ask(TOKEN, bound("Secret", "anchor")),
    "an older secret": lambda s: s.ask(TOKEN, bound("Secret", "anchor", uid="x")),
    "no such kind": lambda s: s.ask(TOKEN, bound("ConfigMap", "x")),
    "a kind of another group": lambda s: s.ask(TOKEN, bound("Deployment", "x", apiVersion="apps/v1")),
    "attestations": lambda s: s.ask(TOKEN, {"spec": {"attestations": {"x": ["y"]}}}),
    "a GET": lambda s: s.ask(TOKEN),
    "a PUT": lambda s: s.ask(TOKEN, {}, method="PUT"),
    "an unknown field": lambda s: s.ask(f"{TOKEN}?fieldValidation=Strict", {"spec": {"oops": 1}}),
    "the admin": lambda s: s.ask(SELF, {}),
    "nobody": lambda s: s.ask(SELF, {}, shows=""),
    "nobody's health": lambda s: s.ask("/livez", shows=""),
    "a static token": lambda s: s.ask(SELF, {}, shows="", authorization="Bearer sesame"),
    "a bad token": lambda s: s.ask(SELF, {}, shows="", authorization="Bearer nobody"),
    "another scheme": lambda s: s.ask(SELF, {}, shows="", authorization="Basic sesame"),
    "no scheme": lambda s: s.ask(SELF, {}, shows="", authorization="sesame"),
    "a loud scheme": lambda s: s.ask(SELF, {}, shows="", authorization="BEARER sesame"),
    "a space too many": lambda s: s.ask(SELF, {}, shows="", authorization="Bearer  sesame"),
    "words behind": lambda s: s.ask(SELF, {}, shows="", authorization="Bearer sesame and more"),
    "a certificate and a bad token": lambda s: s.ask(SELF, {}, authorization="Bearer nobody"),
    "a bootstrap token": lambda s: s.ask(SELF, {}, shows="", authorization="Bearer abcdef.0123456789abcdef"),
    "almost a bootstrap token": lambda s: s.ask(SELF, {}, shows="", authorization="Bearer abcdef.0123456789abcdee"),
    "an account's token": lambda s: s.ask(SELF, {}, shows="", authorization=f"Bearer {s.token()}"),
    "an account's token for others": lambda s: s.ask(
        SELF, {}, shows="", authorization=f"Bearer {s.token(audiences=['a'])}"
    ),
    "a bound token": lambda s: s.ask(
        SELF, {}, shows="", authorization=f"Bearer {s.token(**bound('Secret', 'anchor')['spec'])}"
    ),
    "a proxy": lambda s: s.ask(
        SELF, {}, shows="front-proxy-client", X_Remote_User="bob", X_Remote_Group="a, b", X_Remote_Uid="7"
    ),
    "a proxy's extra": lambda s: s.ask(
        SELF, {}, shows="front-proxy-client", **{"X-Remote-User": "bob", "X-Remote-Extra-Acme.com%2Ffoo": "v"}
    ),
    "a proxy that names nobody": lambda s: s.ask(SELF, {}, shows="front-proxy-client"),
    "a proxy that shows a token too": lambda s: s.ask(
        SELF, {}, shows="front-proxy-client", authorization="Bearer sesame"
    ),
    "forged headers": lambda s: s.ask(SELF, {}, shows="", X_Remote_User="root", X_Remote_Group="system:masters"),
    "forged headers with a certificate": lambda s: s.ask(SELF, {}, X_Remote_User="root"),
    "review: good": lambda s: s.ask(REVIEW, {"spec": {"token": s.token()}}),
    "review: for others": lambda s: s.ask(REVIEW, {"spec": {"token": s.token(audiences=["a", "b"])}}),
    "review: by others": lambda s: s.ask(
        REVIEW, {"spec": {"token": s.token(audiences=["a", "b"]), "audiences": ["b", "c"]}}
    ),
    "review: static": lambda s: s.ask(REVIEW, {"spec": {"token": "sesame"}}),
    "review: static, for others": lambda s: s.ask(REVIEW, {"spec": {"token": "sesame", "audiences": ["x"]}}),
    "review: nonsense": lambda s: s.ask(REVIEW, {"spec": {"token": "a.b.c"}}),
    "review: nothing": lambda s: s.ask(REVIEW, {"spec": {"token": ""}}),
    "review: words behind": lambda s: s.ask(REVIEW, {"spec": {"token": "sesame and more"}}),
    "the keys' method": lambda s: s.ask("/openid/v1/jwks", {}),
    "the keys' form": lambda s: s.ask("/openid/v1/jwks", Accept="application/json"),
    "the keys for nobody": lambda s: s.ask("/openid/v1/jwks", shows=""),
    "the issuer for nobody": lambda s: s.ask("/.well-known/openid-configuration", shows=""),
}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("probe", PROBES)
async def test_the_same_answers(both: tuple[Side, Side, Issuer], probe: str) -> None:
    real, ours, _ = both
    theirs = await asyncio.to_thread(PROBES[probe], real)
    mine = await asyncio.to_thread(PROBES[probe], ours)
    assert mine == theirs


TOKENS: dict[str, Callable[[Issuer], str]] = {
    "good": lambda i: i.token(jti="1", teams=["a", "b"], x="y"),
    "without more": lambda i: i.token(),
    "refused by a rule": lambda i: i.token(sub="root"),
    "expired": lambda i: i.token(exp=1_700_000_000),
    "another audience": lambda i: i.token(aud="x"),
    "several audiences": lambda i: i.token(aud=["x", "hardpoint"]),
    "another's key": lambda i: i.token(key=SigningKey.elliptic("first")),
    "an unknown key": lambda i: i.token(key=SigningKey.elliptic("unknown")),
    "teams that are numbers": lambda i: i.token(teams=[1]),
    "teams that are a text": lambda i: i.token(teams="a"),
    "a subject that is a number": lambda i: i.token(sub=None, x="y"),
}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("token", TOKENS)
async def test_tokens_of_an_issuer(both: tuple[Side, Side, Issuer], token: str) -> None:
    real, ours, issuer = both
    shown = TOKENS[token](issuer)
    answers = [
        await asyncio.to_thread(side.ask, SELF, {}, shows="", authorization=f"Bearer {shown}") for side in (real, ours)
    ]
    assert answers[0] == answers[1]
