"""Where an API server is, how we know it is the one, and how it knows us.

An Endpoint comes from a kubeconfig's context, or from the files a pod finds in its container. Finding and merging
kubeconfig files is `kubeconfig.py`'s knowledge.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from hardpoint.client.credentials import (
    ANONYMOUS,
    ClientCertificate,
    CredentialPlugins,
    Credentials,
    FileContent,
    FileCredentials,
    FixedCredentials,
    Proof,
    basic,
    bearer,
)
from hardpoint.client.kubeconfig import Entry, Kubeconfig, load
from hardpoint.machinery.errors import ConfigError

log = logging.getLogger(__name__)

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
EXEC_CONFIG_EXTENSION = "client.authentication.k8s.io/exec"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One API server, as seen by one user."""

    scheme: str
    host: str
    port: int
    prefix: str = ""
    """What comes before `/api` in every path, where a server lives behind another."""
    ca_pem: bytes | None = None
    """Whom to trust; None trusts what the machine trusts."""
    skip_tls_verify: bool = False
    tls_server_name: str = ""
    authority: str = ""
    """HOST:PORT of the server as it calls itself, if that is not where it is."""
    credentials: Credentials = ANONYMOUS
    namespace: str = "default"
    compress: bool = True

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.prefix}"


def find_endpoint(
    kubeconfig: Path | None = None,
    context: str = "",
    *,
    plugins: CredentialPlugins | None = None,
    environ: Mapping[str, str] = os.environ,
    service_account: Path = SERVICE_ACCOUNT,
) -> Endpoint:
    """The server kubectl would talk to: a kubeconfig's context, or without any kubeconfig the pod's own cluster."""
    config = load(kubeconfig, environ=environ)
    if config.is_empty() and kubeconfig is None and not context:
        inside = in_cluster(environ, service_account)
        if inside is not None:
            return inside
        raise ConfigError(f"{config.named()} names no cluster; start one with `hardpoint up`, or set KUBECONFIG")
    return from_kubeconfig(config, context, plugins=plugins)


def in_cluster(environ: Mapping[str, str], service_account: Path) -> Endpoint | None:
    """The cluster this pod runs in, as its service account; None outside of pods."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST", ""), environ.get("KUBERNETES_SERVICE_PORT", "")
    token = service_account / "token"
    if not (host and port.isdecimal() and token.exists()):
        return None
    namespace = service_account / "namespace"
    return Endpoint(
        "https",
        host,
        int(port),
        ca_pem=FileContent(service_account / "ca.crt", "the pod's service account").read(),
        credentials=FileCredentials(token=FileContent(token, "the pod's service account")),
        namespace=namespace.read_text().strip() if namespace.exists() else "default",
    )


def from_kubeconfig(config: Kubeconfig, context: str = "", *, plugins: CredentialPlugins | None = None) -> Endpoint:
    """The endpoint of a context, by default the current one."""
    chosen = _context(config, context)
    cluster = _referred(config.clusters, chosen, "cluster")
    scheme, host, port, prefix = _address(cluster)
    ca_pem, skip_tls_verify = _trust(cluster)
    credentials: Credentials = ANONYMOUS
    if scheme == "https" and chosen.text("user"):
        # As in kubectl, nobody's secrets travel over plain HTTP.
        credentials = _credentials(_referred(config.users, chosen, "user"), cluster, ca_pem, plugins)
    return Endpoint(
        scheme,
        host,
        port,
        prefix,
        ca_pem=ca_pem,
        skip_tls_verify=skip_tls_verify,
        tls_server_name=cluster.text("tls-server-name"),
        credentials=credentials,
        namespace=chosen.text("namespace") or "default",
        # On the same machine compressing costs more than it saves.
        compress=not (cluster.flag("disable-compression") or is_loopback(host)),
    )


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _context(config: Kubeconfig, asked: str) -> Entry:
    name = asked or config.current_context
    known = ", ".join(sorted(config.contexts)) or "none"
    if not name:
        raise ConfigError(f"{config.named()} sets no current-context; choose one with --context (there are: {known})")
    if name not in config.contexts:
        said = "--context" if asked else "current-context"
        raise ConfigError(f"{config.named()}: {said} is {name!r}, which no file defines (there are: {known})")
    return config.contexts[name]


def _referred(entries: Mapping[str, Entry], context: Entry, key: str) -> Entry:
    name = context.text(key)
    if not name:
        raise ConfigError(f"{context.where(key)} is missing; name one of the {key}s")
    if name not in entries:
        known = ", ".join(sorted(entries)) or "none"
        raise ConfigError(f"{context.where(key)} is {name!r}, which no file defines (there are: {known})")
    return entries[name]


def _address(cluster: Entry) -> tuple[str, str, int, str]:
    if cluster.text("proxy-url"):
        raise ConfigError(f"{cluster.where('proxy-url')} is not supported; name a server that can be reached directly")
    server = cluster.text("server")
    try:
        parts = urlsplit(server)
        port = parts.port
    except ValueError as cause:
        raise ConfigError(f"{cluster.where('server')} is no URL: {cause}") from cause
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{cluster.where('server')} must start with https:// or http:// and name a host")
    if parts.username or parts.query or parts.fragment:
        raise ConfigError(f"{cluster.where('server')} must hold no user, query or fragment")
    return parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 80), parts.path.rstrip("/")


def _trust(cluster: Entry) -> tuple[bytes | None, bool]:
    ca = _pem(cluster, "certificate-authority")
    ca_pem = ca.read() if isinstance(ca, FileContent) else ca
    skip = cluster.flag("insecure-skip-tls-verify")
    if skip and ca_pem is not None:
        both = "insecure-skip-tls-verify contradicts its certificate authority; remove one of them"
        raise ConfigError(f"{cluster.file}: clusters[{cluster.name}].cluster: {both}")
    if skip:
        log.warning("server certificate is not verified", extra={"cluster": cluster.name, "file": str(cluster.file)})
    return ca_pem, skip


def _pem(entry: Entry, key: str) -> FileContent | bytes | None:
    """`key-data` if it is set, else the file that `key` names."""
    inline = f"{key}-data"
    encoded = entry.text(inline)
    if encoded:
        try:
            return base64.b64decode(encoded, validate=True)
        except binascii.Error as cause:
            raise ConfigError(f"{entry.where(inline)} is not base64; encode the PEM file with `base64 -w0`") from cause
    path = entry.path(key)
    return FileContent(path, entry.where(key)) if path else None


def _credentials(user: Entry, cluster: Entry, ca_pem: bytes | None, plugins: CredentialPlugins | None) -> Credentials:
    if user.body.get("auth-provider"):
        raise ConfigError(f"{user.where('auth-provider')} is gone from Kubernetes; use an exec plugin instead")
    cert, key = _pem(user, "client-certificate"), _pem(user, "client-key")
    if (cert is None) != (key is None):
        missing = "client-certificate" if cert is None else "client-key"
        raise ConfigError(f"{user.where(missing)} is missing; a certificate and its key come together")
    token_file = user.path("tokenFile")
    token = FileContent(token_file, user.where("tokenFile")) if token_file else None
    fixed = _authorization(user) if token is None else ()
    if user.body.get("exec") and not (cert or token or fixed):
        return _plugin(user, cluster, ca_pem, plugins)
    headers = (*fixed, *_impersonation(user))
    if token is None and isinstance(cert, bytes) and isinstance(key, bytes):
        return FixedCredentials(Proof(headers, ClientCertificate(cert, key)))
    if token is None and cert is None:
        return FixedCredentials(Proof(headers))
    return FileCredentials(headers, token, cert, key)


def _authorization(user: Entry) -> tuple[tuple[str, str], ...]:
    if user.text("token"):
        return (bearer(user.text("token"), user.where("token")),)
    if user.text("username"):
        return (basic(user.text("username"), user.text("password")),)
    return ()


def _impersonation(user: Entry) -> tuple[tuple[str, str], ...]:
    """The headers of `as`, `as-uid`, `as-groups` and `as-user-extra`."""
    headers = [("impersonate-user", user.text("as")), ("impersonate-uid", user.text("as-uid"))]
    headers += [("impersonate-group", group) for group in user.texts("as-groups")]
    for key, values in user.text_lists("as-user-extra").items():
        headers += [(f"impersonate-extra-{key}".lower(), value) for value in values]
    return tuple(header for header in headers if header[1])


def _plugin(user: Entry, cluster: Entry, ca_pem: bytes | None, plugins: CredentialPlugins | None) -> Credentials:
    section = user.body["exec"]
    if not isinstance(section, dict) or not isinstance(section.get("command"), str):
        raise ConfigError(f"{user.where('exec.command')} must name a program")
    if plugins is None:
        way_out = "give the client plugins=hardpoint.credential.ExecPlugins(), or use a token"
        raise ConfigError(f"{user.where('exec')} names a credential plugin, and this program runs none; {way_out}")
    command = section["command"]
    if "/" in command:
        section = section | {"command": str(user.file.parent / command)}
    return plugins(section, _told_to_plugins(cluster, ca_pem))


def _told_to_plugins(cluster: Entry, ca_pem: bytes | None) -> dict[str, object]:
    told: dict[str, object] = {"server": cluster.text("server")}
    if cluster.text("tls-server-name"):
        told["tls-server-name"] = cluster.text("tls-server-name")
    if cluster.flag("insecure-skip-tls-verify"):
        told["insecure-skip-tls-verify"] = True
    if ca_pem is not None:
        told["certificate-authority-data"] = base64.b64encode(ca_pem).decode()
    for extension in cluster.body.get("extensions") or ():
        if extension.get("name") == EXEC_CONFIG_EXTENSION:
            told["config"] = extension.get("extension")
    return told
