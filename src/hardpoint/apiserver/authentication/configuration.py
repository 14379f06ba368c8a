"""AuthenticationConfiguration of apiserver.config.k8s.io: which JWT issuers are believed, and who may be anonymous.

A file is read strictly, and everything that is wrong with it is told at once, by field, in kube-apiserver's words.
What follows from a configuration is in `jwt/`; that it is read again when it changes, in `reloading.py`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardpoint.apiserver.authentication import validation
from hardpoint.apiserver.authentication.options import OidcOptions
from hardpoint.machinery import configfile
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.jwk import ALGORITHMS

Json = dict[str, Any]

KIND = "AuthenticationConfiguration"
VERSIONS = tuple(f"apiserver.config.k8s.io/{version}" for version in ("v1", "v1beta1"))

_MAPPING = {"claim": str, "prefix": str, "expression": str}
_FIELDS = {
    "jwt": [
        {
            "issuer": {
                "url": str,
                "discoveryURL": str,
                "certificateAuthority": str,
                "audiences": [str],
                "audienceMatchPolicy": str,
                "egressSelectorType": str,
            },
            "claimValidationRules": [{"claim": str, "requiredValue": str, "expression": str, "message": str}],
            "claimMappings": {
                "username": _MAPPING,
                "groups": _MAPPING,
                "uid": {"claim": str, "expression": str},
                "extra": [{"key": str, "valueExpression": str}],
            },
            "userValidationRules": [{"expression": str, "message": str}],
        }
    ],
    "anonymous": {"enabled": bool, "conditions": [{"path": str}]},
}


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a file says, known to be sound. `jwt` is as it was written."""

    jwt: tuple[Json, ...] = ()
    anonymous: Json | None = None
    algorithms: tuple[str, ...] = ALGORITHMS
    """Which signatures are accepted."""


def load(file: Path, own_issuers: Collection[str]) -> Configuration:
    """The configuration in a file. Raises ConfigError, which names the file and the fields."""
    try:
        text = file.read_bytes()
    except OSError as cause:
        raise ConfigError(f"--authentication-config {file} cannot be read: {cause.strerror}") from cause
    return parse(text, file, own_issuers)


def parse(text: bytes, file: Path, own_issuers: Collection[str]) -> Configuration:
    """The configuration in a text that came from `file`. `own_issuers` are ours, and nobody else's."""
    try:
        value = configfile.decode(text, kind=KIND, versions=VERSIONS, fields=_FIELDS)
        wrong = validation.configuration(value, own_issuers)
        if wrong:
            raise ConfigError("; ".join(map(str, wrong)))
    except ConfigError as wrong_file:
        raise ConfigError(f"--authentication-config {file}: {wrong_file}") from wrong_file
    return Configuration(tuple(value.get("jwt", ())), value.get("anonymous"))


def from_flags(oidc: OidcOptions, own_issuers: Collection[str]) -> Configuration:
    """The configuration that the --oidc-* flags stand for. Raises ConfigError."""
    prefix = oidc.username_prefix
    if prefix == "-":
        prefix = ""
    elif not prefix and oidc.username_claim != "email":
        # Two issuers may have the same name for two people.
        prefix = f"{oidc.issuer_url}#"
    issuer: Json = {"url": oidc.issuer_url, "audiences": [oidc.client_id]}
    if oidc.ca_file is not None:
        issuer["certificateAuthority"] = _content(oidc.ca_file)
    mappings: Json = {"username": {"claim": oidc.username_claim, "prefix": prefix}}
    if oidc.groups_claim:
        mappings["groups"] = {"claim": oidc.groups_claim, "prefix": oidc.groups_prefix}
    rules = [{"claim": claim, "requiredValue": value} for claim, value in oidc.required_claims]
    value = {"jwt": [{"issuer": issuer, "claimMappings": mappings, "claimValidationRules": rules}]}
    wrong = [*validation.configuration(value, own_issuers), *validation.algorithms(oidc.signing_algs)]
    if wrong:
        raise ConfigError(f"the --oidc-* flags: {'; '.join(map(str, wrong))}")
    return Configuration(tuple(value["jwt"]), algorithms=oidc.signing_algs)


def _content(file: Path) -> str:
    try:
        return file.read_text("ascii")
    except (OSError, UnicodeDecodeError) as cause:
        why = cause.strerror if isinstance(cause, OSError) else "it is not in PEM form"
        raise ConfigError(f"--oidc-ca-file {file} cannot be read: {why}") from cause
