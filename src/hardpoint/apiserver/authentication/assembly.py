"""The chain of authenticators that a server's options ask for, in kube-apiserver's order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

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
from hardpoint.machinery.errors import ConfigError
from hardpoint.seams.authentication.contract import TokenAuthenticator

if TYPE_CHECKING:
    from hardpoint.apiserver.authentication.configuration import Configuration
    from hardpoint.apiserver.authentication.reloading import ConfiguredTokens
    from hardpoint.seams.authentication.host import WebhookAuthenticator


def assemble(
    options: AuthenticationOptions, keys: ServiceAccountKeys, reader: Reader, hub: Hub, now: Callable[[], datetime]
) -> Authentication:
    """The authenticators, put together. Raises ConfigError for options and files that cannot be used."""
    check(options)
    accounts = options.service_accounts
    if accounts.signing_key_file is not None and not accounts.makes_signing_key:
        keys.load()  # Files of the user's own are looked at before anybody needs them.
    configuration, webhook = _configuration(options), _webhook(options)
    issuers = _issuers(configuration, options, now) if configuration is not None else None
    local = _local_tokens(options, keys, reader, now)
    remote = [ForThisApi(issuers, options.audiences)] if issuers else []
    cache = TokenCache(AnyOf([*local, *remote, *([webhook] if webhook else [])]))
    objects.follow(hub, cache.forget)
    authentication = Authentication(
        list(_by_request(options)), cache, anonymous=_anonymous(options, configuration), audiences=options.audiences
    )
    if issuers is not None:
        authentication.add_end(issuers.close)
        if options.config_file is not None:
            follow = partial(issuers.follow, options.config_file, authentication.metrics, cache.forget_all)
            authentication.add_work(follow)
    if webhook is not None:
        authentication.add_end(webhook.close)
    return authentication


def _by_request(options: AuthenticationOptions) -> Iterator[RequestAuthenticator]:
    proxy = options.front_proxy
    if proxy.ca_file is not None:
        yield FrontProxy(proxy.headers, proxy.allowed_names)
    yield Certificate()


def _local_tokens(
    options: AuthenticationOptions, keys: ServiceAccountKeys, reader: Reader, now: Callable[[], datetime]
) -> Iterator[TokenAuthenticator]:
    """Those that ask nobody else, which come first."""
    audiences = options.audiences
    if options.token_file is not None:
        from hardpoint.apiserver.authentication.token_file import TokenFile

        yield ForThisApi(TokenFile(options.token_file), audiences)
    by_issuer: dict[str, Claims] = {LEGACY_ISSUER: LegacyClaims(reader)}
    by_issuer |= dict.fromkeys(options.service_accounts.issuers, BoundClaims(reader, now))
    yield ServiceAccountTokens(keys, by_issuer, audiences)
    if options.bootstrap_tokens:
        yield ForThisApi(BootstrapTokens(reader, now), audiences)


def _configuration(options: AuthenticationOptions) -> Configuration | None:
    if options.config_file is None and options.oidc is None:
        return None
    from hardpoint.apiserver.authentication import configuration

    own_issuers = options.service_accounts.issuers
    if options.config_file is not None:
        return configuration.load(options.config_file, own_issuers)
    assert options.oidc is not None, "one of the two"
    return configuration.from_flags(options.oidc, own_issuers)


def _issuers(
    configuration: Configuration, options: AuthenticationOptions, now: Callable[[], datetime]
) -> ConfiguredTokens:
    from hardpoint.apiserver.authentication.reloading import ConfiguredTokens  # Not where nobody names an issuer.

    return ConfiguredTokens(configuration, options.service_accounts.issuers, now)


def _anonymous(options: AuthenticationOptions, configuration: Configuration | None) -> Anonymous:
    told = configuration.anonymous if configuration is not None else None
    if told is None:
        return Anonymous(enabled=options.anonymous is not False)
    if options.anonymous is not None:
        raise ConfigError("--anonymous-auth and the field anonymous of --authentication-config exclude each other")
    paths = frozenset(condition.get("path", "") for condition in told.get("conditions", ()))
    return Anonymous(enabled=told.get("enabled", False), paths=paths)


def _webhook(options: AuthenticationOptions) -> WebhookAuthenticator | None:
    webhook = options.webhook
    if webhook.config_file is None:
        return None
    from hardpoint.client.webhook import Webhook
    from hardpoint.seams.authentication.host import WebhookAuthenticator

    return WebhookAuthenticator(
        Webhook.from_kubeconfig("authentication", webhook.config_file),
        version=webhook.version,
        implicit_audiences=options.audiences,
        cache_seconds=webhook.cache_seconds,
    )
