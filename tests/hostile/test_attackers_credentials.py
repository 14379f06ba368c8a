"""Credentials that are not good, shown to a real server over TLS: each is refused, and nobody learns why."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from hardpoint.serving.certificates import Wanted
from hardpoint.serving.issuing import Issued, issue
from tests.chaos.wire import LOST
from tests.hostile.besieged import HERS, VAULT, WHOAMI, Besieged
from tests.hostile.forging import FORGERIES, Forger

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("siege")]

Json = dict[str, Any]

UNAUTHORIZED = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "Unauthorized",
    "reason": "Unauthorized",
    "code": 401,
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def forgers(siege: Besieged) -> dict[str, Forger]:
    """One for each who issues tokens here."""
    await siege.ok("POST", f"{HERS}/serviceaccounts", {"metadata": {"name": "robot"}})
    asked = await siege.ok("POST", f"{HERS}/serviceaccounts/robot/token", {"spec": {}})
    account_key = serialization.load_pem_private_key(siege.pki.key("service-accounts").read_bytes(), None)
    assert isinstance(account_key, ec.EllipticCurvePrivateKey)
    siege.canaries.add_key("the key of service accounts", siege.pki.key("service-accounts").read_bytes())
    return {
        "service account": Forger(asked["status"]["token"], account_key),
        "OpenID Connect": Forger(siege.issuer.token(), siege.issuer.keys[0].private),
    }


ISSUED_BY = pytest.mark.parametrize("issued_by", ["service account", "OpenID Connect"])


@ISSUED_BY
@pytest.mark.parametrize("forgery", FORGERIES)
async def test_tokens(siege: Besieged, forgers: dict[str, Forger], issued_by: str, forgery: str) -> None:
    token = siege.canaries.add_token(f"a token that is {forgery}", FORGERIES[forgery](forgers[issued_by]))
    assert await siege.whoami(siege.nobody, authorization=f"Bearer {token}") == (401, UNAUTHORIZED)


@ISSUED_BY
async def test_the_tokens_that_forgeries_are_made_of_are_good(
    siege: Besieged, forgers: dict[str, Forger], issued_by: str
) -> None:
    """Else the refusals would prove nothing."""
    forger = forgers[issued_by]
    for token in (forger.token, forger.saying()):
        siege.canaries.add_token("a good token", token)
        assert (await siege.whoami(siege.nobody, authorization=f"Bearer {token}"))[0] == 201


async def test_a_static_token_is_good_as_it_is(siege: Besieged) -> None:
    token = siege.static_token
    for shown, status in ((token, 201), (token[:-1], 401), (token.upper(), 401), (token + "0", 401)):
        assert (await siege.whoami(siege.nobody, authorization=f"Bearer {shown}"))[0] == status


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        pytest.param("Bearer {secret}", 401, id="nobody's token"),
        pytest.param("Bearer abcdef.{secret}", 401, id="nobody's bootstrap token"),
        pytest.param("Bearer {secret}.{secret}.{secret}", 401, id="no JWT"),
        pytest.param("Basic {secret}", 403, id="a password"),
        pytest.param("Negotiate {secret}", 403, id="a ticket"),
        pytest.param("{secret}", 403, id="no scheme"),
    ],
)
async def test_what_nobody_knows_makes_nobody(siege: Besieged, authorization: str, status: int) -> None:
    told = authorization.format(secret=siege.canaries.make("a credential nobody knows"))
    assert (await siege.ask(siege.nobody, "GET", "/api", authorization=told)).status == status


Certificate = Callable[[Besieged], Issued]
NOW = datetime.now(UTC)
MASTER = Wanted("x", "x", "root", "client", days=1, organizations=("system:masters",))


def _of(authority: str, wanted: Wanted = MASTER, when: datetime = NOW) -> Certificate:
    def made(siege: Besieged) -> Issued:
        signer = siege.pki.authority(authority)
        return issue(wanted, (signer.certificate_pem, signer.key_pem), when)

    return made


def _of_a_stranger(siege: Besieged) -> Issued:
    """An authority of the same name as the clients'."""
    stranger = issue(Wanted("x", "x", "hardpoint-client-ca", "authority"), None, NOW)
    return issue(MASTER, (stranger.certificate_pem, stranger.key_pem), NOW)


def _of_a_client(siege: Besieged) -> Issued:
    """Signed by somebody who is no authority, with the admin's own key."""
    admin = siege.pki.authority("admin")
    made = issue(MASTER, (admin.certificate_pem, admin.key_pem), NOW)
    return Issued(made.certificate_pem + admin.certificate_pem, made.key_pem, made.expires)


CERTIFICATES: dict[str, Certificate] = {
    "of another authority": _of_a_stranger,
    "of the servers' authority": _of("server-ca"),
    "of the kubelets' authority": _of("kubelet-ca"),
    "of nobody": lambda _: issue(MASTER, None, NOW),
    "of a client": _of_a_client,
    "expired": _of("client-ca", when=NOW - timedelta(days=3)),
    "not yet valid": _of("client-ca", when=NOW + timedelta(days=3)),
    "for servers": _of("client-ca", Wanted("x", "x", "root", "server", days=1, organizations=("system:masters",))),
}


@pytest.mark.parametrize("certificate", CERTIFICATES)
async def test_certificates(siege: Besieged, certificate: str) -> None:
    """The handshake ends: nobody behind it is ever asked."""
    issued = CERTIFICATES[certificate](siege)
    context = _showing(siege, issued, certificate)
    with pytest.raises(LOST):
        await siege.ask(context, "POST", WHOAMI, {})


async def test_the_certificate_that_attackers_imitate_is_good(siege: Besieged) -> None:
    status, user = await siege.whoami(_showing(siege, _of("client-ca")(siege), "good"))
    assert (status, user["username"]) == (201, "root")


async def test_the_servers_own_certificate_is_no_clients(siege: Besieged) -> None:
    with pytest.raises(LOST):
        await siege.ask(siege.showing(siege.pki.certificate("apiserver"), siege.pki.key("apiserver")), "GET", "/api")


def _showing(siege: Besieged, issued: Issued, what: str) -> ssl.SSLContext:
    siege.canaries.add_key(f"the key of a certificate {what}", issued.key_pem)
    files = siege.folder / "shown.crt", siege.folder / "shown.key"
    files[0].write_bytes(issued.certificate_pem)
    files[1].write_bytes(issued.key_pem)
    return siege.showing(*files)


SPELLINGS = {
    "as they are": ("X-Remote-User", "X-Remote-Group"),
    "in small letters": ("x-remote-user", "x-remote-group"),
    "in capitals": ("X-REMOTE-USER", "X-REMOTE-GROUP"),
    "with underscores": ("X_Remote_User", "X_Remote_Group"),
    "with both": ("X-Remote_User", "X_Remote-Group"),
    "percent-encoded": ("X%2DRemote%2DUser", "X%2DRemote%2DGroup"),
    "of other servers": ("X-Forwarded-User", "X-Forwarded-Groups"),
    "of CGI": ("REMOTE_USER", "HTTP_X_REMOTE_GROUP"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
async def test_front_proxy_headers_of_those_who_are_none(siege: Besieged, spelling: str, times: int) -> None:
    """Without a certificate they mean nothing; with any other than the proxy's one is who one is."""
    user, group = SPELLINGS[spelling]
    forged = [f"{user}: root", f"{group}: system:masters"] * times
    for who, answer in (
        (siege.nobody, b"HTTP/1.1 403 "),
        (siege.person("mallory"), b'"username":"mallory"'),
        (siege.person("front-proxy-client"), b'"username":"front-proxy-client"'),
        (siege.person("mallory", authority="front-proxy-ca"), b"HTTP/1.1 401 "),
    ):
        heard = await siege.say(who, *_whoami(*forged), body=b"{}")
        assert answer in heard, heard
        assert b"root" not in heard


async def test_the_proxy_itself_is_believed(siege: Besieged) -> None:
    proxy = siege.person("front-proxy-client", authority="front-proxy-ca")
    heard = await siege.say(proxy, *_whoami("X-Remote-User: ann", "X-Remote-Group: devs"), body=b"{}")
    assert b'"username":"ann"' in heard
    assert b'"devs"' in heard
    other_spelling = await siege.say(proxy, *_whoami("X_Remote_User: root"), body=b"{}")
    assert b"root" not in other_spelling


async def test_a_proxys_certificate_for_servers_is_none(siege: Besieged) -> None:
    usage = ExtendedKeyUsageOID.SERVER_AUTH
    proxy = siege.person("front-proxy-client", authority="front-proxy-ca", usage=usage)
    with pytest.raises(LOST):
        await siege.ask(proxy, "GET", "/api")


def _whoami(*headers: str) -> tuple[str, ...]:
    about = ("Host: x", "Connection: close", "Content-Type: application/json", "Content-Length: 2")
    return (f"POST {WHOAMI} HTTP/1.1", *about, *headers)


IMPERSONATIONS = {
    "a user": (["Impersonate-User: root"], 403),
    "the admin": (["Impersonate-User: hardpoint-admin", "Impersonate-Group: system:masters"], 403),
    "a group alone": (["Impersonate-Group: system:masters"], 400),
    "a uid alone": (["Impersonate-Uid: 0"], 400),
    "extra alone": (["Impersonate-Extra-Scopes: all"], 400),
    "oneself in another group": (["Impersonate-User: mallory", "Impersonate-Group: system:masters"], 403),
    "oneself with a uid": (["Impersonate-User: mallory", "Impersonate-Uid: 0"], 403),
    "oneself with extra": (["Impersonate-User: mallory", "Impersonate-Extra-Scopes: all"], 403),
    "a service account": (["Impersonate-User: system:serviceaccount:kube-system:default"], 403),
    "a node": (["Impersonate-User: system:node:n1", "Impersonate-Group: system:nodes"], 403),
    "nobody": (["Impersonate-User: system:anonymous"], 403),
    "in small letters": (["impersonate-user: root", "impersonate-group: system:masters"], 403),
    "in capitals": (["IMPERSONATE-USER: root", "IMPERSONATE-GROUP: system:masters"], 403),
    "an empty name": (["Impersonate-User:", "Impersonate-Group: system:masters"], 400),
    "two users": (["Impersonate-User: mallory", "Impersonate-User: root"], 403),
    "a line feed in a name": (["Impersonate-User: mallory%0Aroot"], 403),
}


@pytest.mark.parametrize("impersonation", IMPERSONATIONS)
async def test_impersonation_without_the_right(siege: Besieged, impersonation: str) -> None:
    headers, status = IMPERSONATIONS[impersonation]
    heard = await siege.say(siege.person("mallory"), *_whoami(*headers), body=b"{}")
    assert heard.startswith(b"HTTP/1.1 %d " % status), heard
    # Whoever is nobody cannot even become themselves.
    anonymous = await siege.say(siege.nobody, *_whoami(*headers), body=b"{}")
    assert anonymous.startswith((b"HTTP/1.1 403 ", b"HTTP/1.1 400 ")), anonymous


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param(["Impersonate-User: ann"], 201, id="whom she may"),
        pytest.param(["Impersonate-User: ann", "Impersonate-Group: devs"], 201, id="with a group that she may"),
        pytest.param(["Impersonate-User: bob"], 403, id="another"),
        pytest.param(["Impersonate-User: ann", "Impersonate-Group: system:masters"], 403, id="with another group"),
        pytest.param(
            ["Impersonate-User: ann", "Impersonate-Group: devs", "Impersonate-Group: system:masters"],
            403,
            id="with one group that she may and one that she may not",
        ),
        pytest.param(["Impersonate-User: ann", "Impersonate-Uid: 0"], 403, id="with a uid"),
        pytest.param(["Impersonate-User: ann", "Impersonate-Extra-Scopes: all"], 403, id="with extra"),
    ],
)
async def test_impersonation_goes_no_further_than_the_right(
    siege: Besieged, impersonator: ssl.SSLContext, headers: list[str], status: int
) -> None:
    heard = await siege.say(impersonator, *_whoami(*headers), body=b"{}")
    assert heard.startswith(b"HTTP/1.1 %d " % status), heard


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def impersonator(siege: Besieged) -> ssl.SSLContext:
    """May be ann of the group devs, and read the vault as herself."""
    rules = (
        {"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"], "resourceNames": ["ann"]},
        {"apiGroups": [""], "resources": ["groups"], "verbs": ["impersonate"], "resourceNames": ["devs"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]},
    )
    await siege.allow("impersonator", _user("ivy"), *rules)
    return siege.person("ivy")


async def test_who_acts_as_another_has_only_the_others_rights(siege: Besieged, impersonator: ssl.SSLContext) -> None:
    assert (await siege.ask(impersonator, "GET", f"{VAULT}/secrets/s")).status == 200
    assert (await siege.ask(impersonator, "GET", f"{VAULT}/secrets/s", Impersonate_User="ann")).status == 403


def _user(name: str) -> Json:
    return {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        *((path, 200) for path in ("/livez", "/readyz", "/healthz", "/version")),
        *((path, 403) for path in ("/", "/api", "/apis", "/metrics", "/openapi/v2", "/openapi/v3", "/openid/v1/jwks")),
        *((path, 403) for path in ("/api/v1/namespaces", f"{VAULT}/secrets/s", "/.well-known/openid-configuration")),
        *((path, 403) for path in ("/logs/", "/debug/pprof/", "/configz", "/apis/apiextensions.k8s.io/v1")),
    ],
)
async def test_nobody_sees_health_and_version_only(siege: Besieged, path: str, status: int) -> None:
    assert (await siege.ask(siege.nobody, "GET", path)).status == status
