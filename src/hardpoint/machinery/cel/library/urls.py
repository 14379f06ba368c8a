"""URLs: `url('https://example.com:80/a?b=c').getHost()`. Only absolute ones, and absolute paths, are URLs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_plus

from hardpoint.machinery.cel.costs import reads
from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.functions import function, member
from hardpoint.machinery.cel.types import BOOL, STRING, list_of, map_of, opaque
from hardpoint.machinery.cel.values import Opaque
from hardpoint.machinery.fielderrors import quote

URL = opaque("kubernetes.URL")
_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_PORT = re.compile("(?::[0-9]*)?")
_HOST_FORBIDDEN = re.compile(r"""[ "<>\\^`{|}]""")
_PATH_KEPT = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~$&+,/:;=@!'()*[]%")


@dataclass(frozen=True, slots=True)
class Url(Opaque):
    type_name = URL.name

    scheme: str
    host: str
    """With its port, as it was written."""
    path: str
    query: str
    fragment: str

    @property
    def hostname(self) -> str:
        host = self.host.rpartition(":")[0] if self.port or self.host.endswith(":") else self.host
        return host[1:-1] if host.startswith("[") else host

    @property
    def port(self) -> str:
        before, colon, port = self.host.rpartition(":")
        return port if colon and not (before.startswith("[") and not before.endswith("]")) else ""


def parse(text: str) -> Url:
    """Raises EvaluationError, whose text is Go's."""
    if _CONTROL.search(text):
        raise _wrong(text, "net/url: invalid control character in URL")
    if not text:
        raise _wrong(text, "empty url")
    before, _, fragment = text.partition("#")
    scheme, rest = _split_scheme(text, before)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if not scheme:
            raise _wrong(text, "invalid URI for request")
        return Url(scheme, "", "", query, fragment)
    host = ""
    if (scheme or not rest.startswith("///")) and rest.startswith("//"):
        host, slash, rest = rest[2:].partition("/")
        rest = slash + rest
        host = _host(text, host.rpartition("@")[2])
    _check_escapes(text, rest)
    return Url(scheme, host, _escaped(rest), query, fragment)


def _wrong(text: str, why: str) -> EvaluationError:
    return EvaluationError(f"URL parse error during conversion from string: parse {quote(text)}: {why}")


def _split_scheme(text: str, before: str) -> tuple[str, str]:
    head, colon, rest = before.partition(":")
    if not colon or "/" in head or "?" in head:
        return "", before
    if not head:
        raise _wrong(text, "missing protocol scheme")
    if not _SCHEME.fullmatch(head):
        if head[0].isalpha() and head[0].isascii():
            return "", before
        raise _wrong(text, "first path segment in URL cannot contain colon")
    return head.lower(), rest


def _host(text: str, host: str) -> str:
    _check_escapes(text, host)
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise _wrong(text, "missing ']' in host")
        port = host[end + 1 :]
    else:
        colon = host.rfind(":")
        port = host[colon:] if colon >= 0 else ""
    if not _PORT.fullmatch(port):
        raise _wrong(text, f"invalid port {quote(port)} after host")
    if forbidden := _HOST_FORBIDDEN.search(host):
        raise _wrong(text, f"invalid character {quote(forbidden.group())} in host name")
    return host


def _check_escapes(text: str, part: str) -> None:
    if bad := _ESCAPE.search(part):
        raise _wrong(text, f"invalid URL escape {quote(bad.group())}")


def _escaped(path: str) -> str:
    if all(char in _PATH_KEPT for char in path):
        return path
    return "".join(char if char in _PATH_KEPT else "".join(f"%{byte:02X}" for byte in char.encode()) for char in path)


def _query(url: Url) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in filter(None, url.query.split("&")):
        if ";" in pair or _ESCAPE.search(pair):
            continue
        key, _, value = pair.partition("=")
        found.setdefault(unquote_plus(key), []).append(unquote_plus(value))
    return found


def _is_url(text: str) -> bool:
    try:
        parse(text)
    except EvaluationError:
        return False
    return True


OVERLOADS = (
    function("url", (STRING,), URL, parse, cost=reads(0)),
    function("isURL", (STRING,), BOOL, _is_url),
    member("getScheme", (URL,), STRING, lambda url: url.scheme),
    member("getHost", (URL,), STRING, lambda url: url.host),
    member("getHostname", (URL,), STRING, lambda url: url.hostname),
    member("getPort", (URL,), STRING, lambda url: url.port),
    member("getEscapedPath", (URL,), STRING, lambda url: url.path),
    member("getQuery", (URL,), map_of(STRING, list_of(STRING)), _query),
)
