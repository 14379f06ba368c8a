"""Nobody gives rights away that they do not have: the check before a role or a binding is written.

Who writes a role needs every right in it, or the verb `escalate`; who binds a role needs every right in that, or the
verb `bind` on it; who lets a role gather others needs every right there is. `system:masters` need nothing. Wherever a
role or binding is written from, its successor comes by here before it is validated. The texts are kube-apiserver's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hardpoint.apiserver.authentication.contract import MASTERS
from hardpoint.apiserver.authorization.contract import Authorizer, Question
from hardpoint.apiserver.authorization.rbac.authorizer import GROUP, Rbac
from hardpoint.apiserver.authorization.reasons import together
from hardpoint.apiserver.target import Target
from hardpoint.machinery import errors
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.messages import User
from hardpoint.machinery.policyrules import described, missing, quoted

Json = Mapping[str, Any]

_EVERYTHING: tuple[Json, ...] = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)
_NEEDS_ALL = "must have cluster-admin privileges to use the aggregationRule"
# What the garbage collector changes gives nobody any right.
_HARMLESS = ("ownerReferences", "finalizers", "selfLink", "managedFields")
_ROLES = {"Role": "roles", "ClusterRole": "clusterroles"}


class Escalation:
    """Refuses roles and bindings that give more than their writer has."""

    def __init__(self, rbac: Rbac, authorizer: Authorizer) -> None:
        self._rbac, self._authorizer = rbac, authorizer

    async def check(self, user: User, kind: Kind, target: Target, new: Json, old: Json | None) -> None:
        """Return if `user` may write `new` in place of `old`.

        Raises 403, 404 for a role that is not there, and 504 if it cannot be told what `user` has by now.
        """
        if MASTERS in user.groups or (old is not None and _differs_harmlessly(new, old)):
            return
        if not await self._rbac.catch_up():
            # Rights that were taken away a moment ago must not be given on.
            raise errors.timeout("the newest roles and bindings are not known yet", retry_after_seconds=1)
        if "roleRef" in new:
            await self._check_binding(user, kind, target.namespace, new)
        else:
            await self._check_role(user, kind, target, new, old)

    async def _check_role(self, user: User, kind: Kind, target: Target, new: Json, old: Json | None) -> None:
        # A new role has no name yet, as far as its URL says.
        asked = Target("", GROUP, "*", kind.plural, target.namespace, target.name)
        if await self._may(user, "escalate", asked):
            return
        if lacking := self._lacking(user, kind, target.namespace, new.get("rules") or ()):
            raise _refused(kind, new, lacking)
        gathers = _gathers(new) or (old is not None and _gathers(old))
        if gathers and self._lacking(user, kind, target.namespace, _EVERYTHING):
            raise _refused(kind, new, _NEEDS_ALL)

    async def _check_binding(self, user: User, kind: Kind, namespace: str, new: Json) -> None:
        reference = new["roleRef"]
        plural = _ROLES.get(reference.get("kind", ""))
        if plural is None:
            return  # Validation refuses it: there are no other kinds of roles.
        name = reference.get("name", "")
        if await self._may(user, "bind", Target("", reference.get("apiGroup", ""), "*", plural, namespace, name)):
            return
        rules = self._rbac.role_rules((namespace if plural == "roles" else "", name))
        if rules is None:
            raise errors.not_found(kind.resource, name)
        if lacking := self._lacking(user, kind, namespace, rules):
            raise _refused(kind, new, lacking)

    async def _may(self, user: User, verb: str, target: Target) -> bool:
        return (await self._authorizer.authorize(Question(user, verb, target))).is_allowed

    def _lacking(self, user: User, kind: Kind, namespace: str, rules: Iterable[Json]) -> str:
        """What a user would give without having it, as the refusal tells it; nothing if they have it all."""
        held = (rule for role_rules in self._rbac.held_rules(user, namespace) for rule in role_rules)
        absent = missing(held, rules)
        if not absent:
            return ""
        who = f"user {quote(user.name)} (groups={quoted(user.groups)})"
        text = f"{who} is attempting to grant RBAC permissions not currently held:\n{chr(10).join(described(absent))}"
        # kube-apiserver calls the missing roles what the request is about.
        unfounded = [
            f"{kind.resource} {quote(each.role[1])} not found"
            for each in self._rbac.unfounded_bindings(user, namespace)
        ]
        return f"{text}; resolution errors: [{together(unfounded)}]" if unfounded else text


def _gathers(role: Json) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _differs_harmlessly(new: Json, old: Json) -> bool:
    return _without(new) == _without(old)


def _without(obj: Json) -> Json:
    """What counts of an object."""
    metadata = {field: value for field, value in obj["metadata"].items() if field not in _HARMLESS}
    return {field: value for field, value in {**obj, "metadata": metadata}.items() if value}


def _refused(kind: Kind, obj: Json, why: str) -> errors.ApiError:
    return errors.forbidden(kind.resource, obj["metadata"].get("name", ""), why)
