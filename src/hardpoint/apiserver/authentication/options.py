"""What a user can say about authentication: the flags' names are kube-apiserver's."""

from __future__ import annotations

import logging
from collections.abc import Collection
from pathlib import Path
from typing import Literal, NamedTuple

from hardpoint.apiserver.authentication.front_proxy import Headers
from hardpoint.apiserver.authorization.options import ALWAYS_ALLOW

log = logging.getLogger(__name__)

DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local"


class ServiceAccountOptions(NamedTuple):
    """Who issues service accounts' tokens, and with which keys."""

    issuers: tuple[str, ...] = (DEFAULT_ISSUER,)
    """The first issues, all are accepted."""
    signing_key_file: Path | None = None
    """None: a key that is gone at the end."""
    makes_signing_key: bool = False
    """Whether that file is made if it does not exist; one that the user named and that is not there is a mistake."""
    key_files: tuple[Path, ...] = ()
    """Those that verify; none: the signing key."""
    jwks_uri: str = ""
    """Where the discovery document says the keys are; "" is this server."""
    max_expiration_seconds: int = 0
    """0: as long as was asked for."""
    extend_expiration: bool = True
    """Whether the token that every pod gets lives for a year, and is only called stale after its hour."""


class FrontProxyOptions(NamedTuple):
    """Whose headers are believed."""

    ca_file: Path | None = None
    """None: nobody's."""
    allowed_names: tuple[str, ...] = ()
    """None: any that the authority vouches for."""
    headers: Headers = Headers()


class WebhookOptions(NamedTuple):
    """Who is asked about tokens that nobody here knows."""

    config_file: Path | None = None
    version: Literal["v1", "v1beta1"] = "v1"
    cache_seconds: float = 120.0


class OidcOptions(NamedTuple):
    """One OpenID Connect issuer, by flags. Several, and more about each, take a configuration file."""

    issuer_url: str
    client_id: str
    ca_file: Path | None = None
    username_claim: str = "sub"
    username_prefix: str = ""
    """"": the issuer and a #, unless the claim is `email`; "-": none."""
    groups_claim: str = ""
    groups_prefix: str = ""
    signing_algs: tuple[str, ...] = ("RS256",)
    required_claims: tuple[tuple[str, str], ...] = ()


class AuthenticationOptions(NamedTuple):
    """Everything about who may be known, and how."""

    client_ca_file: Path | None = None
    """For those who ask where it is: the socket's TLS verifies with it."""
    anonymous: bool | None = None
    """None: what the configuration file says, else yes."""
    api_audiences: tuple[str, ...] = ()
    """None: the first service account issuer."""
    service_accounts: ServiceAccountOptions = ServiceAccountOptions()
    front_proxy: FrontProxyOptions = FrontProxyOptions()
    token_file: Path | None = None
    bootstrap_tokens: bool = True
    oidc: OidcOptions | None = None
    config_file: Path | None = None
    webhook: WebhookOptions = WebhookOptions()

    def under(self, modes: Collection[str]) -> AuthenticationOptions:
        """The same, but where everybody may do everything nobody is anonymous."""
        if ALWAYS_ALLOW not in modes or self.anonymous is False:
            return self
        log.warning("requests without credentials are refused, because every user may do everything")
        return self._replace(anonymous=False)

    @property
    def audiences(self) -> tuple[str, ...]:
        return self.api_audiences or self.service_accounts.issuers[:1]
