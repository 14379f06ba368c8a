"""Where a webhook is reached: the clientConfig of admission webhooks and of conversion."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any
from urllib.parse import SplitResult, urlsplit

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, invalid, invalids, quote, required

Json = dict[str, Any]

REVIEW_VERSIONS = ("v1", "v1beta1")
DESIRED = "; desired format: https://host[/path]"


def client_config(path: str, config: Json) -> list[FieldError]:
    """Exactly one of a URL and a service, and that one well formed."""
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    if url is not None:
        return webhook_url(f"{path}.url", url)
    assert service is not None
    return webhook_service(f"{path}.service", service)


def webhook_url(path: str, url: str) -> list[FieldError]:
    try:
        parts = _parsed(url)
    except ValueError as problem:
        return [required(path, f"url must be a valid URL: parse {quote(url)}: {problem}{DESIRED}")]
    found = []
    if parts.scheme != "https":
        found.append(invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{DESIRED}"))
    user, has_user, host = parts.netloc.rpartition("@")
    if not host:
        found.append(invalid(path, "", f"host must be specified{DESIRED}"))
    if has_user:
        found.append(invalid(path, user, "user information is not permitted in the URL"))
    if parts.fragment:
        found.append(invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        found.append(invalid(path, parts.query, "query parameters are not permitted in the URL"))
    return found


def _parsed(url: str) -> SplitResult:
    """The parts of a URL; raises ValueError in the words of Go's parser."""
    if any(character < " " or character == "\x7f" for character in url):
        raise ValueError("net/url: invalid control character in URL")
    if url.startswith(":"):
        raise ValueError("missing protocol scheme")
    head = url.split("/", 1)[0].split("?", 1)[0]
    if ":" in head and not urlsplit(url).scheme:
        raise ValueError("first path segment in URL cannot contain colon")
    return urlsplit(url)


def webhook_service(path: str, service: Json) -> list[FieldError]:
    found = []
    # Upstream hands name and namespace over in each other's place, so each is missed under the other's path.
    if not service.get("namespace"):
        found.append(required(f"{path}.name"))
    if not service.get("name"):
        found.append(required(f"{path}.namespace"))
    port = service.get("port", 0)
    if problems := names.port_number(port):
        found.append(invalid(f"{path}.port", port, f"port is not valid: {', '.join(problems)}"))
    return found + _url_path(f"{path}.path", service.get("path", ""))


def ca_bundle(path: str, bundle: str) -> list[FieldError]:
    """PEM that holds a certificate; `bundle` is base64, as it travels."""
    if any(_is_certificate(body) for body in _CERTIFICATE.findall(base64.b64decode(bundle))):
        return []
    return [invalid(path, bundle, "unable to load root certificates: unable to parse bytes as PEM block")]


_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----\s([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----")


def _is_certificate(body: bytes) -> bool:
    try:
        # Every certificate is a DER sequence.
        return base64.b64decode(body, validate=False)[:1] == b"\x30"
    except binascii.Error:
        return False


def _url_path(path: str, value: str) -> list[FieldError]:
    if value in ("", "/"):
        return []
    if value == "//":
        return [invalid(path, value, "segment[0] may not be empty")]
    found = [] if value.startswith("/") else [invalid(path, value, "must start with a '/'")]
    for index, segment in enumerate(value[1:].removesuffix("/").split("/")):
        if not segment:
            found.append(invalid(path, value, f"segment[{index}] may not be empty"))
            continue
        found += [invalid(path, value, f"segment[{index}]: {text}") for text in names.dns_subdomain(segment)]
    return found


def review_versions(path: str, versions: list[str], told_if_empty: str = "") -> list[FieldError]:
    """The versions of a review a webhook understands: one of them must be ours."""
    if not versions:
        return [required(path, told_if_empty)]
    errors = []
    seen = set()
    for index, version in enumerate(versions):
        if version in seen:
            errors.append(invalid(at(path, index), version, "duplicate version"))
            continue
        seen.add(version)
        errors += invalids(at(path, index), version, names.dns_1035_label(version))
    if seen.isdisjoint(REVIEW_VERSIONS):
        errors.append(invalid(path, versions, f"must include at least one of {', '.join(REVIEW_VERSIONS)}"))
    return errors
