"""One Secret, asked for in every way a URL or a request can be written, by somebody who may not have it.

Whatever the server makes of it, it never hands out more than she may have, and it never fails.
"""

from __future__ import annotations

import base64
import ssl
from collections.abc import Callable, Iterator

import orjson
import pytest
import pytest_asyncio

from tests.chaos.wire import Wire
from tests.hostile.besieged import HERS, VAULT, Besieged

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("siege")]

SEGMENTS = ("api", "v1", "namespaces", "vault", "secrets", "s")
PLAIN = f"{VAULT}/secrets/s"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def nora(siege: Besieged) -> ssl.SSLContext:
    """May read the ConfigMaps of her namespace, a few paths and, like everybody, what the API offers."""
    user = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "nora"}
    read = {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["configmaps"]}
    await siege.allow("nora", user, read, namespace="hers")
    await siege.allow("nora", user, {"verbs": ["get"], "nonResourceURLs": ["/livez/*", "/logs/*"]})
    return siege.person("nora")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hidden(siege: Besieged) -> bytes:
    """What must not come back: what the admin sees in the Secret."""
    password: str = (await siege.ok("GET", PLAIN))["data"]["password"]
    assert base64.b64decode(password)
    return password.encode()


def between(separator: str) -> Iterator[str]:
    """The path with another separator in one place, or in all."""
    for place in range(1, len(SEGMENTS)):
        yield "/" + "/".join(SEGMENTS[:place]) + separator + "/".join(SEGMENTS[place:])
    yield "/" + separator.join(SEGMENTS)


def each(change: Callable[[str], str]) -> Iterator[str]:
    """The path with one segment changed, or all."""
    for place, segment in enumerate(SEGMENTS):
        yield "/" + "/".join((*SEGMENTS[:place], change(segment), *SEGMENTS[place + 1 :]))
    yield "/" + "/".join(map(change, SEGMENTS))


def percent(text: str) -> str:
    return "".join(f"%{ord(letter):02x}" for letter in text)


FROM_HERS = f"{HERS}/configmaps/open"
UP = ("..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "%c0%ae%c0%ae", "..;", "..%00", "%u002e%u002e", "..%c0%af", "...")

TRICKS: dict[str, list[str]] = {
    "two slashes": [*between("//"), "/" + PLAIN, "//" + PLAIN],
    "a slash, encoded": [
        *between("%2f"),
        *between("%2F"),
        *between("%252f"),
        *between("%c0%af"),
        *between("%e2%88%95"),
    ],
    "a backslash": [*between("\\"), *between("%5c"), *between("/%5c/")],
    "a dot": [*between("/./"), *between("/%2e/")],
    "up and down": [path for up in UP for path in between(f"/x/{up}/")],
    "up from where she may be": [
        path
        for up in UP
        for path in (
            f"{HERS}/{up}/vault/secrets/s",
            f"{HERS}%2f{up}%2fvault/secrets/s",
            f"{HERS}/configmaps/{up}/{up}/vault/secrets/s",
            f"{FROM_HERS}/{up}/{up}/{up}/vault/secrets/s",
            f"/livez/{up}{PLAIN}",
            f"/livez/{up}/{up}{PLAIN}",
            f"/logs/{up}{PLAIN}",
            f"/api/{up}{PLAIN}",
            f"/apis/{up}{PLAIN}",
            f"/openapi/v2/{up}/{up}{PLAIN}",
            f"/version/{up}{PLAIN}",
        )
    ],
    "parameters": [*each(lambda segment: f"{segment};a=b"), *each(lambda segment: f"{segment};"), PLAIN + ";/livez"],
    "NUL": [*each(lambda segment: f"{segment}%00"), *each(lambda segment: f"%00{segment}"), PLAIN + "%00/livez"],
    "capitals": [*each(str.upper), *each(str.title)],
    "letters, encoded": [*each(percent), *each(lambda segment: percent(segment).replace("%", "%25"))],
    "letters that look alike": [*each(lambda segment: segment.replace("s", "%c5%bf").replace("a", "%d0%b0"))],
    "overlong letters": [*each(lambda segment: f"%c1%{ord(segment[0]) + 0x40:02x}{segment[1:]}")],
    "half a letter": [*each(lambda segment: f"{segment}%"), *each(lambda segment: f"{segment}%c3")],
    "spaces": [*each(lambda segment: f"{segment}%20"), *each(lambda segment: f"%09{segment}"), PLAIN + "%0d%0a"],
    "slashes at the end": [PLAIN + "/" * count for count in range(1, 4)] + [f"{VAULT}/secrets/", f"{VAULT}/secrets//"],
    "old ways to watch": [
        "/api/v1/watch/namespaces/vault/secrets/s?timeoutSeconds=1",
        "/api/v1/watch/namespaces/vault/secrets?timeoutSeconds=1",
        "/api/v1/watch/secrets?timeoutSeconds=1",
        "/api/v1/watch/watch/secrets?timeoutSeconds=1",
        "/api/v1/watch",
        "/api/v1/watch/",
        "/api/v1/namespaces/vault/watch/secrets",
    ],
    "old ways to proxy": ["/api/v1/proxy/namespaces/vault/secrets/s", "/api/v1/redirect/namespaces/vault/secrets/s"],
    "another version or group": [
        "/api/v2/namespaces/vault/secrets/s",
        "/api//namespaces/vault/secrets/s",
        "/apis//v1/namespaces/vault/secrets/s",
        "/apis/core/v1/namespaces/vault/secrets/s",
        "/apis/%20/v1/namespaces/vault/secrets/s",
        "/apis/v1/namespaces/vault/secrets/s",
    ],
    "a namespace in the query": [
        f"{HERS}/secrets/s?namespace=vault",
        f"{HERS}/configmaps?namespace=vault",
        f"{HERS}/configmaps?fieldSelector=metadata.namespace%3Dvault",
        f"{HERS}/configmaps/s?resource=secrets",
        "/api/v1/configmaps?namespace=hers",
    ],
    "what a namespace is called": ["/api/v1/namespaces//secrets/s", "/api/v1/namespaces/%20/secrets/s", f"{VAULT}/*/s"],
    "every name": [f"{VAULT}/secrets/*", f"{VAULT}/*", "/api/v1/namespaces/*/secrets", "/api/v1/*", "/*"],
    "a subresource": [f"{PLAIN}/status", f"{PLAIN}/proxy", f"{PLAIN}/..", f"{FROM_HERS}/../../secrets/s"],
    "a question mark, encoded": [
        f"{HERS}/configmaps%3f/../{PLAIN}",
        f"{FROM_HERS}%3f{PLAIN}",
        f"{FROM_HERS}%23{PLAIN}",
    ],
    "parts of a page that was never begun": [
        f"{HERS}/configmaps?limit=1&continue={token}"
        for start in ("../vault/s", "/../vault/s", "../../secrets/vault/s", "vault/s", "\u0000")
        for token in [
            base64.urlsafe_b64encode(orjson.dumps({"v": "meta.k8s.io/v1", "rv": -1, "start": start})).decode()
        ]
    ],
}


@pytest.mark.parametrize("trick", TRICKS)
async def test_no_spelling_opens_the_vault(siege: Besieged, nora: ssl.SSLContext, hidden: bytes, trick: str) -> None:
    wire = await Wire.open(siege.server, nora)
    for path in TRICKS[trick]:
        for method in ("GET", "DELETE"):
            answer = siege.noted(await wire.ask(method, path))
            assert answer.status < 500, (method, path, answer.body)
            assert method == "GET" or answer.status >= 400, (path, answer.body)
            assert hidden not in answer.body, path
    wire.cut()


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "POST", "TRACE", "PROPFIND", "get"])
async def test_no_method_opens_the_vault(siege: Besieged, nora: ssl.SSLContext, hidden: bytes, method: str) -> None:
    answer = await siege.ask(nora, method, PLAIN, b"{}")
    assert 400 <= answer.status < 500
    assert hidden not in answer.body


async def test_what_was_hidden_is_still_there(siege: Besieged, hidden: bytes, nora: ssl.SSLContext) -> None:
    """And what she may read, she can."""
    assert hidden in (await siege.ask(None, "GET", PLAIN)).body
    assert (await siege.ask(nora, "GET", FROM_HERS)).status == 200
    assert (await siege.ask(nora, "GET", f"{HERS}/configmaps?watch=1&timeoutSeconds=1")).status == 200


async def test_a_body_that_names_another_namespace(siege: Besieged) -> None:
    """Whoever may write in one namespace writes only there."""
    user = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "walt"}
    write = {"verbs": ["create", "update", "patch"], "apiGroups": [""], "resources": ["configmaps"]}
    await siege.allow("walt", user, write, namespace="hers")
    walt = siege.person("walt")
    for namespace, status in (("vault", 400), ("../vault", 400), ("hers/../vault", 400), ("hers", 201)):
        body = {"metadata": {"name": "stray", "namespace": namespace}}
        assert (await siege.ask(walt, "POST", f"{HERS}/configmaps", body)).status == status
    for name in ("../../vault/configmaps/stray", "a/b", "..", ".", "%2e%2e", "A", "a\n"):
        assert (await siege.ask(walt, "POST", f"{HERS}/configmaps", {"metadata": {"name": name}})).status == 422
    applied = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"stray","namespace":"vault"}}'
    path = f"{HERS}/configmaps/stray?fieldManager=walt"
    assert (await siege.ask(walt, "PATCH", path, applied, content_type="application/apply-patch+yaml")).status == 400
    names = [item["metadata"]["name"] for item in (await siege.ok("GET", f"{VAULT}/configmaps"))["items"]]
    assert "stray" not in names


CLOSE = ("Host: x", "Connection: close")
FAILURES = (b"HTTP/1.1 500 ", b"HTTP/1.1 502 ", b"HTTP/1.1 503 ", b"HTTP/1.1 504 ")
"""501 and 505 are what HTTP wants to be said to codings and versions that nobody knows."""

LINES: dict[str, list[tuple[str | bytes, ...]]] = {
    "absolute": [
        (f"GET https://x{PLAIN} HTTP/1.1", *CLOSE),
        (f"GET http://localhost{PLAIN} HTTP/1.1", *CLOSE),
        (f"GET https://root:pass@x{PLAIN} HTTP/1.1", *CLOSE),
        (f"GET https://x{FROM_HERS}?{PLAIN} HTTP/1.1", *CLOSE),
        (f"GET file://{PLAIN} HTTP/1.1", *CLOSE),
        (f"GET //x{PLAIN} HTTP/1.1", *CLOSE),
    ],
    "no path at all": [
        ("GET * HTTP/1.1", *CLOSE),
        ("OPTIONS * HTTP/1.1", *CLOSE),
        ("CONNECT vault:443 HTTP/1.1", *CLOSE),
        ("GET  HTTP/1.1", *CLOSE),
        ("GET ? HTTP/1.1", *CLOSE),
        ("GET # HTTP/1.1", *CLOSE),
    ],
    "a path without a slash": [(f"GET {PLAIN[1:]} HTTP/1.1", *CLOSE), (f"GET \\{PLAIN} HTTP/1.1", *CLOSE)],
    "bytes": [
        (b"GET /api/v1/namespaces/vault/secrets/s\0 HTTP/1.1", *CLOSE),
        (b"GET /api/v1/namespaces/vault/secrets/s\xff HTTP/1.1", *CLOSE),
        (b"GET /api/v1/namespaces/\xc0\xae\xc0\xae/secrets/s HTTP/1.1", *CLOSE),
        (b"GET /livez\r/api/v1/secrets HTTP/1.1", *CLOSE),
        (b"GET /livez\t/api/v1/secrets HTTP/1.1", *CLOSE),
        (b"GET /livez /api/v1/secrets HTTP/1.1", *CLOSE),
    ],
    "Host": [
        (f"GET {PLAIN} HTTP/1.1", "Host: kubernetes.default.svc", "Connection: close"),
        (f"GET {PLAIN} HTTP/1.1", "Host: 127.0.0.1", "Host: localhost", "Connection: close"),
        (f"GET {PLAIN} HTTP/1.1", f"Host: x{FROM_HERS}", "Connection: close"),
        (f"GET {PLAIN} HTTP/1.1", "Connection: close"),
        (f"GET {PLAIN} HTTP/1.0",),
        (f"GET {PLAIN}",),
    ],
    "headers of other servers": [
        (f"GET {FROM_HERS} HTTP/1.1", *CLOSE, f"X-Original-URL: {PLAIN}", f"X-Rewrite-URL: {PLAIN}"),
        (f"GET {FROM_HERS} HTTP/1.1", *CLOSE, f"X-Forwarded-Uri: {PLAIN}", f"X-Original-Uri: {PLAIN}"),
        (f"GET {PLAIN} HTTP/1.1", *CLOSE, "X-Forwarded-For: 127.0.0.1", "X-Real-Ip: 127.0.0.1"),
        (f"GET {FROM_HERS} HTTP/1.1", *CLOSE, "X-HTTP-Method-Override: DELETE", "X-Method-Override: DELETE"),
        (f"GET {PLAIN} HTTP/1.1", *CLOSE, "Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AA"),
        (f"GET {PLAIN} HTTP/1.1", *CLOSE, "Upgrade: websocket", "Sec-WebSocket-Protocol: base64.binary.k8s.io"),
    ],
    "header lines": [
        (f"GET {PLAIN} HTTP/1.1", *CLOSE, b"X: a\rImpersonate-User: root"),
        (f"GET {PLAIN} HTTP/1.1", *CLOSE, b"X: a\nX-Remote-User: root\nX-Remote-Group: system:masters"),
        (f"GET {PLAIN} HTTP/1.1", *CLOSE, b"X: a\0b"),
        (f"GET {PLAIN} HTTP/1.1", *CLOSE, "X-Remote-User : root", "X-Remote-Group : system:masters"),
        (f"GET {PLAIN} HTTP/1.1", *CLOSE, "X: a", " X-Remote-User: root"),
        (f"GET {PLAIN} HTTP/1.1", *CLOSE, ": root"),
        (f"GET {PLAIN} HTTP/1.1", *CLOSE, "no colon"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("trick", LINES)
async def test_no_request_line_and_no_header_opens_the_vault(
    siege: Besieged, nora: ssl.SSLContext, hidden: bytes, trick: str
) -> None:
    for lines in LINES[trick]:
        heard = await siege.say(nora, *lines)
        assert not heard.startswith(FAILURES), (lines, heard)
        assert hidden not in heard, lines
        assert heard.count(b"HTTP/1.1 ") <= 1, (lines, heard)


MASTER = ("X-Remote-User: root", "X-Remote-Group: system:masters")
INNER = "\r\n".join((f"GET {PLAIN} HTTP/1.1", *CLOSE, *MASTER, "", "")).encode()
CHUNKED = b"0\r\n\r\n" + INNER

SMUGGLED: dict[str, tuple[tuple[str | bytes, ...], bytes]] = {
    "both lengths": ((f"Content-Length: {len(CHUNKED)}", "Transfer-Encoding: chunked"), CHUNKED),
    "both lengths, the other way": (("Transfer-Encoding: chunked", "Content-Length: 5"), CHUNKED),
    "two lengths": (("Content-Length: 0", f"Content-Length: {len(INNER)}"), INNER),
    "a list of lengths": ((f"Content-Length: 0, {len(INNER)}",), INNER),
    "a length with a sign": (("Content-Length: +0",), INNER),
    "a length in hexadecimal": (("Content-Length: 0x0",), INNER),
    "a negative length": (("Content-Length: -1",), INNER),
    "a length with an underscore": (("Content-Length: 0_0",), INNER),
    "an unknown coding": (("Transfer-Encoding: xchunked",), CHUNKED),
    "two codings": (("Transfer-Encoding: chunked", "Transfer-Encoding: identity"), CHUNKED),
    "a coding after chunked": (("Transfer-Encoding: chunked, gzip",), CHUNKED),
    "a coding in disguise": ((b"Transfer-Encoding: \x0bchunked", "Content-Length: 5"), CHUNKED),
    "a coding behind a space": (("Transfer-Encoding : chunked", "Content-Length: 5"), CHUNKED),
    "a chunk of no size": (("Transfer-Encoding: chunked",), b"\r\n\r\n" + INNER),
    "a chunk of negative size": (("Transfer-Encoding: chunked",), b"-1\r\n\r\n" + INNER),
    "a chunk of enormous size": (("Transfer-Encoding: chunked",), b"ffffffffffffffff1\r\n" + INNER),
    "a chunk without its end": (("Transfer-Encoding: chunked",), b"1\r\nab0\r\n\r\n" + INNER),
    "a chunk's size with a sign": (("Transfer-Encoding: chunked",), b"+0\r\n\r\n" + INNER),
}


@pytest.mark.parametrize("trick", SMUGGLED)
async def test_nothing_is_smuggled_past_a_front_proxy(siege: Besieged, hidden: bytes, trick: str) -> None:
    """What the proxy sends for nora holds another request, with headers that it did not write. It must stay one."""
    headers, body = SMUGGLED[trick]
    proxy = siege.person("front-proxy-client", authority="front-proxy-ca")
    head = (f"POST {HERS}/configmaps HTTP/1.1", "Host: x", "Content-Type: application/json", "X-Remote-User: nora")
    heard = await siege.say(proxy, *head, *headers, body=body)
    assert hidden not in heard
    assert heard.count(b"HTTP/1.1 ") == 1, heard
    assert heard.startswith((b"HTTP/1.1 4", b"HTTP/1.1 501 ")), heard


async def test_a_front_proxy_that_writes_those_headers_is_believed(siege: Besieged, hidden: bytes) -> None:
    """Else the silence above would prove nothing."""
    proxy = siege.person("front-proxy-client", authority="front-proxy-ca")
    assert hidden in await siege.say(proxy, f"GET {PLAIN} HTTP/1.1", *CLOSE, *MASTER)
