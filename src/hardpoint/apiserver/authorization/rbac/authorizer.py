"""The RBAC authorizer: what roles allow meets who holds them.

Roles only allow: a no is no opinion. Whoever was just given a role must not be refused because the news is still on
its way, so a no is given only by an authorizer that knows every write the store has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hardpoint.apiserver.authorization.contract import (
    NO_OPINION,
    Authorizer,
    Decision,
    Known,
    ListsRules,
    Opinion,
    Question,
)
from hardpoint.apiserver.authorization.rbac.holders import Binding, Held, Holders
from hardpoint.apiserver.authorization.rbac.permissions import Action, Permissions, RoleKey, Roles
from hardpoint.apiserver.authorization.reasons import together
from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.mirror import Follower
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.messages import User
from hardpoint.store.contract import Store

Json = Mapping[str, Any]

GROUP = "rbac.authorization.k8s.io"
NEWEST_SECONDS = 1.0
"""How long a question may wait for writes that the store has and the authorizer has not."""


class Rbac:
    """Allows what roles allow to those who hold them."""

    def __init__(self, hub: Hub, store: Store) -> None:
        self._hub, self._store = hub, store
        self._permissions = Permissions()
        self._holders = Holders()
        self._absent: Roles = set()
        """Roles that there are bindings of, but which do not exist."""
        self._is_loaded = False
        self._loading = asyncio.Lock()

    async def load(self) -> None:
        """Read every role and binding, and follow them from then on. Done once, and when it is first needed."""
        async with self._loading:
            if self._is_loaded:
                return
            followers = [
                Follower(self._hub, self._store, GROUP, plural, listener)
                for plural, listener in (
                    ("roles", self.saw_role),
                    ("clusterroles", self.saw_role),
                    ("rolebindings", self.saw_binding),
                    ("clusterrolebindings", self.saw_binding),
                )
            ]
            await asyncio.gather(*(follower.load() for follower in followers))
            self._is_loaded = True

    async def authorize(self, question: Question) -> Decision:
        if not self._is_loaded:
            await self.load()
        return self._allowed(question) or await self._not_allowed(question)

    async def rules_for(self, user: User, namespace: str) -> Known:
        """The rules of every role that a user holds everywhere or in a namespace, a rule as often as it is given."""
        await self.catch_up()
        rules = [rule for role_rules in self.held_rules(user, namespace) for rule in role_rules]
        return Known(rules, error=together(_told(self.unfounded_bindings(user, namespace))))

    def held_rules(self, user: User, namespace: str) -> Iterator[Sequence[Json]]:
        """The rules of each binding about a user, by the bindings' names."""
        for binding in self._holders.bindings_of(user, namespace):
            yield self._permissions.rules(binding.role) or ()

    def unfounded_bindings(self, user: User, namespace: str) -> list[Binding]:
        """The bindings about a user whose role does not exist."""
        held = self._holders.held_by(user, namespace)
        if all(each.roles.keys().isdisjoint(self._absent) for each in held):
            return []
        return [each for each in self._holders.bindings_of(user, namespace) if each.role in self._absent]

    def role_rules(self, role: RoleKey) -> Sequence[Json] | None:
        """The rules of a role, or None if there is no such role."""
        return self._permissions.rules(role)

    async def catch_up(self) -> bool:
        """Wait, as long as a question may, until every write that the store has by now is known here; whether it is."""
        await self.load()
        newest = await self._store.revision()
        return await self._hub.wait_until_reached(newest, seconds=NEWEST_SECONDS)

    def saw_role(self, namespace: str, name: str, obj: Json | None) -> None:
        """A Role, or without a namespace a ClusterRole, is new, other than before, or gone."""
        self._permissions.put((namespace, name), None if obj is None else obj.get("rules") or ())
        self._notice((namespace, name))

    def saw_binding(self, namespace: str, name: str, obj: Json | None) -> None:
        """A RoleBinding, or without a namespace a ClusterRoleBinding, is new, other than before, or gone."""
        new = None if obj is None else Binding.of(namespace, name, obj)
        old = self._holders.put((namespace, name), new)
        for binding in (old, new):
            if binding is not None:
                self._notice(binding.role)

    def _allowed(self, question: Question) -> Decision | None:
        target = question.target
        held = self._holders.held_by(question.user, target.namespace)
        if not held:
            return None
        asked: Action | tuple[str, str]
        allowing: Iterable[Roles]
        if question.is_about_resource:
            part = target.subresource
            resource = f"{target.resource}/{part}" if part else target.resource
            asked = Action(question.verb, target.group, resource, part, target.name)
            allowing = self._permissions.allowing(asked)
        else:
            asked = (question.verb, target.path)
            allowing = self._permissions.allowing_path(*asked)
        return _first(held, allowing) or self._widely_allowed(held, asked)

    def _widely_allowed(self, held: list[Held], asked: Action | tuple[str, str]) -> Decision | None:
        for each in held:
            role = self._permissions.allowing_widely(each.roles, asked)
            if role is not None:
                return each.decision(role)
        return None

    async def _not_allowed(self, question: Question) -> Decision:
        """The no, or the yes that was on its way."""
        newest = await self._store.revision()
        if self._hub.revision < newest:
            await self._hub.wait_until_reached(newest, seconds=NEWEST_SECONDS)
            if decision := self._allowed(question):
                return decision
        unfounded = self.unfounded_bindings(question.user, question.target.namespace)
        return Decision(Opinion.NONE, f"RBAC: {together(_told(unfounded))}") if unfounded else NO_OPINION

    def _notice(self, role: RoleKey) -> None:
        """A role, or a binding of it, came or went."""
        if self._permissions.rules(role) is None and self._holders.refers_to(role):
            self._absent.add(role)
        else:
            self._absent.discard(role)


def _told(unfounded: Iterable[Binding]) -> list[str]:
    return [f"{binding.role_kind.lower()}.{GROUP} {quote(binding.role[1])} not found" for binding in unfounded]


def _first(held: list[Held], allowing: Iterable[Roles]) -> Decision | None:
    """The first role that is held and allows."""
    for roles in allowing:
        for each in held:
            if not each.roles.keys().isdisjoint(roles):
                return each.decision(next(role for role in each.roles if role in roles))
    return None


_decides: type[Authorizer] = Rbac
_lists: type[ListsRules] = Rbac
