"""What makes an AuthenticationConfiguration invalid, in kube-apiserver's words."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

from hardpoint.apiserver.authentication.jwt import expressions
from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, duplicate, invalid, not_supported, required, too_many
from hardpoint.machinery.jwk import ALGORITHMS

Json = dict[str, Any]
Errors = list[FieldError]

ISSUERS_MAX = 64
_BOTH = "claim and expression can't both be set"
_EMAIL_UNVERIFIED = (
    "claims.email_verified must be used in claimMappings.username.expression or "
    "claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in "
    "claimMappings.username.expression"
)


def configuration(value: Json, own_issuers: Collection[str]) -> Errors:
    """Everything that is wrong with a configuration that was decoded. `own_issuers` may not be anybody else's."""
    wrong: Errors = []
    jwt = value.get("jwt", [])
    if len(jwt) > ISSUERS_MAX:
        return [too_many("jwt", len(jwt), ISSUERS_MAX)]
    for index, each in enumerate(jwt):
        _authenticator(wrong, at("jwt", index), each, own_issuers)
    for field in ("url", "discoveryURL"):
        urls = [each.get("issuer", {}).get(field, "") for each in jwt]
        wrong += [
            duplicate(f"jwt[{index}].issuer.{field}", url)
            for index, url in enumerate(urls)
            if url and url in urls[:index]
        ]
    anonymous = value.get("anonymous") or {}
    if anonymous.get("conditions") and not anonymous.get("enabled"):
        detail = "enabled should be set to true when conditions are defined"
        wrong.append(invalid("anonymous.conditions", anonymous["conditions"], detail))
    return wrong


def algorithms(named: Sequence[str]) -> Errors:
    """Signing algorithms nobody knows."""
    return [not_supported("--oidc-signing-algs", name, ALGORITHMS) for name in named if name not in ALGORITHMS]


def _authenticator(wrong: Errors, path: str, value: Json, own_issuers: Collection[str]) -> None:
    _issuer(wrong, f"{path}.issuer", value.get("issuer", {}), own_issuers)
    rules = value.get("claimValidationRules", [])
    _claim_rules(wrong, f"{path}.claimValidationRules", rules)
    _mappings(wrong, f"{path}.claimMappings", value.get("claimMappings", {}), rules)
    _user_rules(wrong, f"{path}.userValidationRules", value.get("userValidationRules", []))


def _issuer(wrong: Errors, path: str, issuer: Json, own_issuers: Collection[str]) -> None:
    url, discovery = issuer.get("url", ""), issuer.get("discoveryURL", "")
    if not url:
        wrong.append(required(f"{path}.url"))
    else:
        if url in own_issuers:
            told = " ".join(sorted(own_issuers))
            wrong.append(invalid(f"{path}.url", url, f"URL must not overlap with disallowed issuers: [{told}]"))
        _url(wrong, f"{path}.url", url)
    if discovery:
        if url.rstrip("/") == discovery.rstrip("/"):
            wrong.append(invalid(f"{path}.discoveryURL", discovery, "discoveryURL must be different from URL"))
        _url(wrong, f"{path}.discoveryURL", discovery)
    _audiences(wrong, path, issuer)
    authority = issuer.get("certificateAuthority", "")
    if authority and not _is_authority(authority):
        detail = "data does not contain any valid RSA or ECDSA certificates"
        wrong.append(invalid(f"{path}.certificateAuthority", "<omitted>", detail))
    if issuer.get("egressSelectorType"):
        detail = "there is one network here and no egress selection; leave it out"
        wrong.append(invalid(f"{path}.egressSelectorType", issuer["egressSelectorType"], detail))


def _url(wrong: Errors, path: str, url: str) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as cause:
        wrong.append(invalid(path, url, str(cause)))
        return
    if parts.scheme != "https":
        wrong.append(invalid(path, url, "URL scheme must be https"))
    if parts.username is not None:
        wrong.append(invalid(path, url, "URL must not contain a username or password"))
    if parts.query:
        wrong.append(invalid(path, url, "URL must not contain a query"))
    if parts.fragment:
        wrong.append(invalid(path, url, "URL must not contain a fragment"))


def _audiences(wrong: Errors, path: str, issuer: Json) -> None:
    audiences, policy = issuer.get("audiences", []), issuer.get("audienceMatchPolicy", "")
    field = f"{path}.audiences"
    if not audiences:
        wrong.append(required(field, f"at least one {field} is required"))
        return
    for index, audience in enumerate(audiences):
        if not audience:
            wrong.append(required(at(field, index)))
        if audience in audiences[:index]:
            wrong.append(duplicate(at(field, index), audience))
    if len(audiences) > 1 and policy != "MatchAny":
        detail = "audienceMatchPolicy must be MatchAny for multiple audiences"
        wrong.append(invalid(f"{path}.audienceMatchPolicy", policy, detail))
    if len(audiences) == 1 and policy not in ("", "MatchAny"):
        detail = "audienceMatchPolicy must be empty or MatchAny for single audience"
        wrong.append(invalid(f"{path}.audienceMatchPolicy", policy, detail))


def _is_authority(pem: str) -> bool:
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=pem)
    except (ssl.SSLError, ValueError):
        return False
    return bool(context.get_ca_certs())


def _claim_rules(wrong: Errors, path: str, rules: Sequence[Json]) -> None:
    for index, rule in enumerate(rules):
        here, before = at(path, index), rules[:index]
        claim, expression = rule.get("claim", ""), rule.get("expression", "")
        if claim and expression:
            wrong.append(invalid(here, claim, _BOTH))
        elif not claim and not expression:
            wrong.append(required(here, "claim or expression is required"))
        elif claim:
            if rule.get("message"):
                wrong.append(invalid(f"{here}.message", rule["message"], "may not be specified when claim is set"))
            if any(each.get("claim") == claim for each in before):
                wrong.append(duplicate(f"{here}.claim", claim))
        else:
            if rule.get("requiredValue"):
                detail = "may not be specified when expression is set"
                wrong.append(invalid(f"{here}.requiredValue", rule["requiredValue"], detail))
            _rule_expression(wrong, here, expression, before, expressions.claim_rule)


def _user_rules(wrong: Errors, path: str, rules: Sequence[Json]) -> None:
    for index, rule in enumerate(rules):
        here, expression = at(path, index), rule.get("expression", "")
        if not expression:
            wrong.append(required(f"{here}.expression"))
        else:
            _rule_expression(wrong, here, expression, rules[:index], expressions.user_rule)


def _rule_expression(
    wrong: Errors, path: str, expression: str, before: Iterable[Json], compile_: Callable[[str], Any]
) -> None:
    if any(each.get("expression") == expression for each in before):
        wrong.append(duplicate(f"{path}.expression", expression))
    else:
        _compiled(wrong, f"{path}.expression", expression, compile_)


def _mappings(wrong: Errors, path: str, mappings: Json, rules: Sequence[Json]) -> None:
    _mapping(wrong, f"{path}.username", mappings.get("username", {}), is_required=True)
    _mapping(wrong, f"{path}.groups", mappings.get("groups", {}), is_required=False)
    uid = mappings.get("uid", {})
    if uid.get("claim") and uid.get("expression"):
        wrong.append(invalid(f"{path}.uid", "", _BOTH))
    elif uid.get("expression"):
        _compiled(wrong, f"{path}.uid.expression", uid["expression"], expressions.claim)
    extra = mappings.get("extra", [])
    for index, each in enumerate(extra):
        _extra(wrong, at(f"{path}.extra", index), each, extra[:index])
    expression = mappings.get("username", {}).get("expression", "")
    others = [each.get("valueExpression", "") for each in extra] + [each.get("expression", "") for each in rules]
    if expressions.selects(expression, "email") and not any(
        expressions.selects(each, "email_verified") for each in (expression, *others)
    ):
        wrong.append(invalid(f"{path}.username.expression", expression, _EMAIL_UNVERIFIED))


def _mapping(wrong: Errors, path: str, mapping: Json, *, is_required: bool) -> None:
    claim, expression = mapping.get("claim", ""), mapping.get("expression", "")
    if claim and expression:
        wrong.append(invalid(path, "", _BOTH))
    elif expression:
        if "prefix" in mapping:
            wrong.append(invalid(f"{path}.prefix", mapping["prefix"], "may not be specified when expression is set"))
        _compiled(wrong, f"{path}.expression", expression, expressions.claim)
    elif claim:
        if "prefix" not in mapping:
            detail = "prefix is required when claim is set. It can be set to an empty string to disable prefixing"
            wrong.append(required(f"{path}.prefix", detail))
    elif is_required:
        wrong.append(required(path, "claim or expression is required"))


def _extra(wrong: Errors, path: str, mapping: Json, before: Sequence[Json]) -> None:
    key = mapping.get("key", "")
    wrong += names.domain_prefixed_path(f"{path}.key", key)
    if key != key.lower():
        wrong.append(invalid(f"{path}.key", key, "must be lowercase"))
    domain, slash, _ = key.partition("/")
    if slash and f".{domain}".endswith((".k8s.io", ".kubernetes.io")):
        detail = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"
        wrong.append(invalid(f"{path}.key", key, detail))
    if any(each.get("key", "") == key for each in before):
        wrong.append(duplicate(f"{path}.key", key))
    elif not mapping.get("valueExpression"):
        wrong.append(required(f"{path}.valueExpression"))
    else:
        _compiled(wrong, f"{path}.valueExpression", mapping["valueExpression"], expressions.claim)


def _compiled(wrong: Errors, path: str, expression: str, compile_: Callable[[str], Any]) -> None:
    try:
        compile_(expression)
    except expressions.BadExpression as bad:
        wrong.append(invalid(path, expression, str(bad)))
