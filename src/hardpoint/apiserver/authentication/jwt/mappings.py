"""From claims to a user, by the names of claims or by CEL expressions, and the rules that both must keep.

What an expression or a claim gives is checked each time: a token is somebody else's text, and only its signature is
known to be good.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hardpoint.apiserver.authentication.contract import CREDENTIAL_ID
from hardpoint.apiserver.authentication.jwt import expressions
from hardpoint.machinery.messages import User
from hardpoint.seams.authentication.contract import RefusedCredential

if TYPE_CHECKING:
    from hardpoint.machinery.cel import Program

Json = dict[str, Any]
Value = Callable[[Json], Any]
Rule = tuple["Program", str]
"""An expression that must hold, and what to say if it does not."""


class Mappings:
    """What one issuer's claims mean. The configuration is known to be sound."""

    def __init__(self, configuration: Json) -> None:
        mappings = configuration["claimMappings"]
        self._username = mappings["username"]
        self._username_program = _program(self._username)
        self._groups = mappings.get("groups", {})
        self._groups_program = _program(self._groups)
        self._uid = mappings.get("uid", {})
        self._uid_program = _program(self._uid)
        self._extra = {each["key"]: expressions.claim(each["valueExpression"]) for each in mappings.get("extra", ())}
        rules = configuration.get("claimValidationRules", ())
        self._required = {rule["claim"]: rule.get("requiredValue", "") for rule in rules if rule.get("claim")}
        self._claim_rules = _rules(rules, expressions.claim_rule)
        self._user_rules = _rules(configuration.get("userValidationRules", ()), expressions.user_rule)

    def user(self, claims: Json) -> User:
        """The user that the claims of a verified token describe. Raises RefusedCredential."""
        user = User(self._name(claims), self._group_names(claims), self._uid_of(claims), self._extras(claims))
        for name, value in self._required.items():
            if claims.get(name) != value:
                raise RefusedCredential(f"oidc: required claim {name} is not in the token, or has another value")
        _check(self._claim_rules, {"claims": claims}, "claim validation expression")
        _check(self._user_rules, {"user": _as_json(user)}, "user info validation rule")
        return user

    def _name(self, claims: Json) -> str:
        if self._username_program is not None:
            name = _text(_evaluated(self._username_program, claims, "username"), "username claim expression")
            if not name:
                raise RefusedCredential("oidc: empty username via CEL expression is not allowed")
            return name
        claim = self._username["claim"]
        name = _text(_claimed(claims, claim), f"username claim {claim!r}")
        if claim == "email" and claims.get("email_verified", True) is not True:
            raise RefusedCredential("oidc: email not verified")
        return f"{self._username.get('prefix', '')}{name}"

    def _group_names(self, claims: Json) -> tuple[str, ...]:
        if self._groups_program is not None:
            return _texts(_evaluated(self._groups_program, claims, "group"), "group claim expression")
        claim = self._groups.get("claim")
        if not claim or claim not in claims:
            return ()
        told = claims[claim]
        groups = [told] if isinstance(told, str) else told
        if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
            raise RefusedCredential(f"oidc: groups claim {claim!r} is neither a text nor a list of texts")
        return tuple(f"{self._groups.get('prefix', '')}{group}" for group in groups)

    def _uid_of(self, claims: Json) -> str:
        if self._uid_program is not None:
            return _text(_evaluated(self._uid_program, claims, "uid"), "uid claim expression")
        claim = self._uid.get("claim")
        return _text(_claimed(claims, claim), f"uid claim {claim!r}") if claim else ""

    def _extras(self, claims: Json) -> dict[str, tuple[str, ...]]:
        extras: dict[str, tuple[str, ...]] = {}
        if isinstance(claims.get("jti"), str) and claims["jti"]:
            extras[CREDENTIAL_ID] = (f"JTI={claims['jti']}",)
        for key, program in self._extra.items():
            values = _texts(_evaluated(program, claims, "extra"), "extra claim expression")
            if values:
                extras[key] = values
        return extras


def _program(mapping: Json) -> Program | None:
    return expressions.claim(mapping["expression"]) if mapping.get("expression") else None


def _rules(rules: Sequence[Json], compile_: Callable[[str], Program]) -> list[Rule]:
    return [(compile_(rule["expression"]), rule.get("message", "")) for rule in rules if rule.get("expression")]


def _check(rules: Sequence[Rule], values: Mapping[str, Any], told: str) -> None:
    from hardpoint.machinery.cel import EvaluationError

    for program, message in rules:
        try:
            holds = program.evaluate(values)
        except EvaluationError as cause:
            raise RefusedCredential(f"oidc: error evaluating {told}: {cause}") from cause
        if holds is not True:
            why = f"validation expression '{program.expression}' failed: {message}"
            raise RefusedCredential(f"oidc: error evaluating {told}: {why}")


def _evaluated(program: Program, claims: Json, what: str) -> Any:
    from hardpoint.machinery.cel import EvaluationError

    try:
        return program.evaluate({"claims": claims})
    except EvaluationError as cause:
        why = f"expression '{program.expression}' resulted in error: {cause}"
        raise RefusedCredential(f"oidc: error evaluating {what} claim expression: {why}") from cause


def _claimed(claims: Json, name: str) -> Any:
    if name not in claims:
        raise RefusedCredential(f"oidc: claim {name!r} not present")
    return claims[name]


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise RefusedCredential(f"oidc: {what} must be a text")
    return value


def _texts(value: Any, what: str) -> tuple[str, ...]:
    """Texts that are not empty; a single one counts as a list of one, and null as none."""
    values = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(each, str) for each in values):
        raise RefusedCredential(f"oidc: error evaluating {what}: it must return a string or a list of strings")
    return tuple(each for each in values if each)


def _as_json(user: User) -> Json:
    extra = {name: list(values) for name, values in user.extra.items()}
    return {"username": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra}
