"""The flags about authentication, with kube-apiserver's names: what `up` takes, and all that `apiserver` takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hardpoint.cli.options import FILE

if TYPE_CHECKING:
    from hardpoint.apiserver.authentication.options import AuthenticationOptions, OidcOptions

F = TypeVar("F", bound=Callable[..., Any])


class _Duration(click.ParamType[float]):
    """A Go duration as seconds."""

    name = "DURATION"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from hardpoint.machinery import durations

        if isinstance(value, float):
            return value
        try:
            return durations.parse(value) / 1e9
        except durations.BadDuration:
            self.fail(f"{value!r} is not a duration; write one like 90s, 10m or 1h30m", param, ctx)


class _Texts(click.ParamType[tuple[str, ...]]):
    """A list with commas."""

    name = "LIST"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        return value if isinstance(value, tuple) else tuple(part.strip() for part in value.split(",") if part.strip())


class _Pair(click.ParamType[tuple[str, str]]):
    """KEY=VALUE."""

    name = "KEY=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, equals, wanted = value.partition("=")
        if not key or not equals:
            self.fail(f"{value!r} must be a claim and its value, like hd=example.com", param, ctx)
        return key.strip(), wanted.strip()


DURATION, TEXTS, PAIR = _Duration(), _Texts(), _Pair()


def _file(flag: str, about: str, **more: Any) -> Callable[[F], F]:
    return click.option(flag, type=FILE, metavar="FILE", help=about, **more)


def _switch(flag: str, default: bool | None, about: str) -> Callable[[F], F]:
    """A flag that takes `=true` and `=false` as well, as Go's do."""
    return click.option(flag, type=bool, is_flag=False, flag_value=True, default=default, metavar="BOOL", help=about)


_IN_FILES = (
    _file("--authentication-config", "An AuthenticationConfiguration: JWT issuers, and who may be anonymous."),
    _file("--token-auth-file", "A CSV file of static tokens: token, user, uid, and groups in quotes."),
    _file("--authentication-token-webhook-config-file", "Whom to ask about other tokens, in kubeconfig format."),
    click.option(
        "--authentication-token-webhook-cache-ttl",
        type=DURATION,
        default="2m",
        show_default=True,
        help="How long its answers are kept.",
    ),
    click.option(
        "--authentication-token-webhook-version",
        type=click.Choice(["v1", "v1beta1"]),
        default="v1",
        show_default=True,
        help="The version of the TokenReviews it is asked with.",
    ),
)
_OIDC = (
    click.option("--oidc-issuer-url", metavar="URL", help="An OpenID Connect issuer whose tokens are accepted."),
    click.option("--oidc-client-id", metavar="ID", help="The audience that its tokens must be for."),
    _file("--oidc-ca-file", "The authority that vouches for the issuer's address.", show_default="the machine's"),
    click.option("--oidc-username-claim", metavar="CLAIM", help="The claim that is the user's name.  [default: sub]"),
    click.option("--oidc-username-prefix", metavar="TEXT", help="What is put before it; - for nothing."),
    click.option("--oidc-groups-claim", metavar="CLAIM", help="The claim that is the user's groups."),
    click.option("--oidc-groups-prefix", metavar="TEXT", help="What is put before each."),
    click.option("--oidc-required-claim", type=PAIR, multiple=True, help="A claim that must be there, with its value."),
    click.option("--oidc-signing-algs", type=TEXTS, help="Which signatures are accepted.  [default: RS256]"),
)
_REST = (
    _switch("--anonymous-auth", None, "Whether requests without credentials have a user.  [default: true]"),
    _switch("--enable-bootstrap-token-auth", True, "Whether bootstrap tokens are accepted.  [default: true]"),
    click.option("--api-audiences", type=TEXTS, default=(), help="What this API is called in tokens."),
    click.option("--service-account-issuer", multiple=True, metavar="URL", help="Who issues service accounts' tokens."),
    _file("--service-account-signing-key-file", "The key that signs them.", show_default="made in the data directory"),
    _file("--service-account-key-file", "Keys that verify them.", multiple=True),
    click.option("--service-account-jwks-uri", default="", metavar="URL", help="Where others find these keys."),
    click.option(
        "--service-account-max-token-expiration", type=DURATION, default="0s", help="How long a token lives at most."
    ),
    _switch(
        "--service-account-extend-token-expiration",
        True,
        "Whether the token every pod gets lives for a year and is called stale after an hour.  [default: true]",
    ),
    _file("--requestheader-client-ca-file", "The authority that vouches for front proxies."),
    click.option("--requestheader-allowed-names", type=TEXTS, default=(), help="The names a front proxy may have."),
    click.option("--requestheader-username-headers", type=TEXTS, default="X-Remote-User", show_default=True),
    click.option("--requestheader-uid-headers", type=TEXTS, default="X-Remote-Uid", show_default=True),
    click.option("--requestheader-group-headers", type=TEXTS, default="X-Remote-Group", show_default=True),
    click.option("--requestheader-extra-headers-prefix", type=TEXTS, default="X-Remote-Extra-", show_default=True),
)


def file_flags(command: F) -> F:
    """Those that name files. The command gets `authentication`."""
    return _collected(command, _IN_FILES)


def all_flags(command: F) -> F:
    """All of them. The command gets `authentication`."""
    return _collected(command, (*_IN_FILES, *_OIDC, *_REST))


def _collected(command: F, flags: tuple[Callable[..., Any], ...]) -> F:
    """The command with these flags, and one parameter for all of them."""
    names: set[str] = set()

    @wraps(command)
    def collecting(**given: Any) -> Any:
        ours = {name: given.pop(name) for name in names}
        return command(authentication=_options(ours), **given)

    decorated: Any = collecting
    for flag in reversed(flags):
        decorated = flag(decorated)
    names.update(parameter.name for parameter in decorated.__click_params__[-len(flags) :])
    return decorated  # type: ignore[no-any-return]  # what click makes of a function is called like it


def _options(given: dict[str, Any]) -> AuthenticationOptions:
    from hardpoint.apiserver.authentication.front_proxy import Headers
    from hardpoint.apiserver.authentication.options import (
        AuthenticationOptions,
        FrontProxyOptions,
        ServiceAccountOptions,
        WebhookOptions,
    )

    files = AuthenticationOptions(
        token_file=given["token_auth_file"],
        config_file=given["authentication_config"],
        webhook=WebhookOptions(
            given["authentication_token_webhook_config_file"],
            given["authentication_token_webhook_version"],
            given["authentication_token_webhook_cache_ttl"],
        ),
    )
    if "api_audiences" not in given:
        return files
    issuers = given["service_account_issuer"]
    return files._replace(
        anonymous=given["anonymous_auth"],
        bootstrap_tokens=given["enable_bootstrap_token_auth"],
        api_audiences=given["api_audiences"],
        oidc=_oidc({name: value for name, value in given.items() if name.startswith("oidc_") and value}),
        service_accounts=ServiceAccountOptions(
            **({"issuers": issuers} if issuers else {}),
            signing_key_file=given["service_account_signing_key_file"],
            key_files=given["service_account_key_file"],
            jwks_uri=given["service_account_jwks_uri"],
            max_expiration_seconds=int(given["service_account_max_token_expiration"]),
            extend_expiration=given["service_account_extend_token_expiration"],
        ),
        front_proxy=FrontProxyOptions(
            given["requestheader_client_ca_file"],
            given["requestheader_allowed_names"],
            Headers(
                given["requestheader_username_headers"],
                given["requestheader_uid_headers"],
                given["requestheader_group_headers"],
                given["requestheader_extra_headers_prefix"],
            ),
        ),
    )


def _oidc(given: dict[str, Any]) -> OidcOptions | None:
    from hardpoint.apiserver.authentication.options import OidcOptions

    if not given:
        return None
    if "oidc_issuer_url" not in given or "oidc_client_id" not in given:
        raise click.UsageError("--oidc-issuer-url and --oidc-client-id go together, and come before the other --oidc-*")
    renamed = {name.removeprefix("oidc_"): value for name, value in given.items()}
    renamed["required_claims"] = renamed.pop("required_claim", ())
    return OidcOptions(**renamed)
