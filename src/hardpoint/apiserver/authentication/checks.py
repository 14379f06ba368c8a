"""Options that cannot work, or would open a door, are refused at start; the words name the flag."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from hardpoint.apiserver.authentication.options import AuthenticationOptions, ServiceAccountOptions
from hardpoint.machinery.errors import ConfigError
from hardpoint.serving.tls import certificates_in


def check(options: AuthenticationOptions) -> None:
    """Return if the options make sense together. Raises ConfigError with all that is wrong."""
    wrong = [
        *_wrong_front_proxy(options),
        *_wrong_service_accounts(options.service_accounts),
        *_wrong_sources(options),
    ]
    if wrong:
        raise ConfigError("; ".join(wrong))


def _wrong_front_proxy(options: AuthenticationOptions) -> Iterator[str]:
    proxy = options.front_proxy
    if proxy.ca_file is None:
        return
    for flag, names in (
        ("--requestheader-username-headers", proxy.headers.username),
        ("--requestheader-uid-headers", proxy.headers.uid),
        ("--requestheader-group-headers", proxy.headers.group),
        ("--requestheader-extra-headers-prefix", proxy.headers.extra_prefix),
    ):
        if any(not name.strip() for name in names):
            yield f"{flag} names an empty header"
    if not proxy.headers.username:
        yield "--requestheader-username-headers names no header, so front proxies could name nobody"
    if proxy.allowed_names or options.client_ca_file is None:
        return
    if certificates_in(proxy.ca_file) & certificates_in(options.client_ca_file):
        yield (
            f"--requestheader-client-ca-file {proxy.ca_file} and --client-ca-file {options.client_ca_file} share an "
            "authority: every user could speak for every other; say which names are proxies with "
            "--requestheader-allowed-names"
        )


def _wrong_service_accounts(accounts: ServiceAccountOptions) -> Iterator[str]:
    if not accounts.issuers or "" in accounts.issuers:
        yield "--service-account-issuer must not be empty"
    for issuer in {each for each in accounts.issuers if accounts.issuers.count(each) > 1}:
        yield f"--service-account-issuer {issuer!r} is given twice"
    if accounts.key_files and accounts.signing_key_file is None:
        yield "--service-account-key-file needs --service-account-signing-key-file beside it"
    if accounts.jwks_uri and urlsplit(accounts.jwks_uri).scheme != "https":
        yield f"--service-account-jwks-uri {accounts.jwks_uri!r} must start with https://"
    if accounts.max_expiration_seconds and not 3600 <= accounts.max_expiration_seconds <= 1 << 32:
        yield "--service-account-max-token-expiration must be between 1 hour and 2^32 seconds"


def _wrong_sources(options: AuthenticationOptions) -> Iterator[str]:
    if options.config_file is not None and options.oidc is not None:
        yield "--authentication-config and the --oidc-* flags exclude each other; move the issuer into the file"
    if options.oidc is not None and not (options.oidc.issuer_url and options.oidc.client_id):
        yield "--oidc-issuer-url and --oidc-client-id must be given together, before any other --oidc-* flag"
