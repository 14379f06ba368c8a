"""The chain of authenticators that a server's options ask for, in kube-apiserver's order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from hardpoint.apiserver.admission.contract import Reader
from hardpoint.apiserver.authentication import objects
from hardpoint.apiserver.authentication.anonymous import Anonymous
from hardpoint.apiserver.authentication.bootstrap_tokens import BootstrapTokens
from hardpoint.apiserver.authentication.certificate import Certificate
from hardpoint.apiserver.authentication.chain import Authentication
from hardpoint.apiserver.authentication.checks import check
from hardpoint.apiserver.authentication.contract import RequestAuthenticator
from hardpoint.apiserver.authentication.front_proxy import FrontProxy
from hardpoint.apiserver.authentication.legacy_tokens import ISSUER as LEGACY_ISSUER
from hardpoint.apiserver.authentication.legacy_tokens import LegacyClaims
from hardpoint.apiserver.authentication.options import AuthenticationOptions
from hardpoint.apiserver.authentication.service_account_keys import ServiceAccountKeys
from hardpoint.apiserver.authentication.service_account_tokens import BoundClaims, Claims, ServiceAccountTokens
from hardpoint.apiserver.authentication.token_cache import TokenCache
from hardpoint.apiserver.authentication.tokens import AnyOf, ForThisApi
from hardpoint.apiserver.hub import Hub
from hardpoint.seams.authentication.contract import TokenAuthenticator


def assemble(
    options: AuthenticationOptions, keys: ServiceAccountKeys, reader: Reader, hub: Hub, now: Callable[[], datetime]
) -> Authentication:
    """The authenticators, put together. Raises ConfigError for options and files that cannot be used."""
    check(options)
    if options.service_accounts.key_files:
        keys.load()  # Files of the user's own are looked at before anybody needs them.
    cache = TokenCache(AnyOf(list(_by_token(options, keys, reader, now))))
    objects.follow(hub, cache.forget)
    return Authentication(
        list(_by_request(options)),
        cache,
        anonymous=Anonymous(enabled=options.anonymous is not False),
        audiences=options.audiences,
    )


def _by_request(options: AuthenticationOptions) -> Iterator[RequestAuthenticator]:
    proxy = options.front_proxy
    if proxy.ca_file is not None:
        yield FrontProxy(proxy.headers, proxy.allowed_names)
    yield Certificate()


def _by_token(
    options: AuthenticationOptions, keys: ServiceAccountKeys, reader: Reader, now: Callable[[], datetime]
) -> Iterator[TokenAuthenticator]:
    audiences = options.audiences
    if options.token_file is not None:
        from hardpoint.apiserver.authentication.token_file import TokenFile

        yield ForThisApi(TokenFile(options.token_file), audiences)
    by_issuer: dict[str, Claims] = {LEGACY_ISSUER: LegacyClaims(reader)}
    by_issuer |= dict.fromkeys(options.service_accounts.issuers, BoundClaims(reader, now))
    yield ServiceAccountTokens(keys, by_issuer, audiences)
    if options.bootstrap_tokens:
        yield ForThisApi(BootstrapTokens(reader, now), audiences)
