"""Who holds which roles, where: the bindings, kept by the users and groups they name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hardpoint.apiserver.authorization.contract import Decision, Opinion
from hardpoint.apiserver.authorization.rbac.permissions import RoleKey
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.messages import User

Json = Mapping[str, Any]
BindingKey = tuple[str, str]
"""Namespace and name; a ClusterRoleBinding has no namespace."""

USER, GROUP, SERVICE_ACCOUNT = "User", "Group", "ServiceAccount"


class Binding(NamedTuple):
    """As much of a binding as decides."""

    key: BindingKey
    role: RoleKey
    role_kind: str
    subjects: Sequence[Json]

    @classmethod
    def of(cls, namespace: str, name: str, obj: Json) -> Binding:
        reference = obj["roleRef"]
        kind = reference.get("kind", "")
        role = (namespace if kind == "Role" else "", reference.get("name", ""))
        return cls((namespace, name), role, kind, obj.get("subjects") or ())


class Held:
    """The roles that one user or group holds in one place, each with the bindings that give it."""

    __slots__ = ("_decisions", "roles")

    def __init__(self) -> None:
        self.roles: dict[RoleKey, dict[BindingKey, tuple[Binding, Json]]] = {}
        """By role, by binding: the binding, and the first of its subjects that is this one."""
        self._decisions: dict[RoleKey, Decision] = {}

    def add(self, binding: Binding, subject: Json) -> None:
        self._decisions.pop(binding.role, None)
        self.roles.setdefault(binding.role, {}).setdefault(binding.key, (binding, subject))

    def discard(self, binding: Binding) -> None:
        self._decisions.pop(binding.role, None)
        bindings = self.roles.get(binding.role, {})
        bindings.pop(binding.key, None)
        if not bindings:
            self.roles.pop(binding.role, None)

    def decision(self, role: RoleKey) -> Decision:
        """The yes that a role held is worth, with the binding that gives it."""
        decided = self._decisions.get(role)
        if decided is None:
            binding, subject = next(iter(self.roles[role].values()))
            decided = Decision(Opinion.ALLOW, f"RBAC: allowed by {_described(binding, subject)}")
            self._decisions[role] = decided
        return decided


class Holders:
    """Every binding, found by whom it is about."""

    def __init__(self) -> None:
        self._bindings: dict[BindingKey, Binding] = {}
        self._references: Counter[RoleKey] = Counter()
        """How many bindings there are of each role, whether it exists or not."""
        self._users: dict[tuple[str, str], Held] = {}
        """By namespace, empty for everywhere, and user name."""
        self._groups: dict[tuple[str, str], Held] = {}

    def put(self, key: BindingKey, binding: Binding | None) -> Binding | None:
        """A binding is new, other than before, or gone. Returns what it was."""
        old = self._bindings.pop(key, None)
        if old is not None:
            self._references[old.role] -= 1
            if not self._references[old.role]:
                del self._references[old.role]
            for index, name, _ in self._places(old):
                held = index.get((key[0], name))
                # A binding may name somebody twice.
                if held is not None:
                    held.discard(old)
                    if not held.roles:
                        del index[key[0], name]
        if binding is not None:
            self._bindings[key] = binding
            self._references[binding.role] += 1
            for index, name, subject in self._places(binding):
                index.setdefault((key[0], name), Held()).add(binding, subject)
        return old

    def refers_to(self, role: RoleKey) -> bool:
        """Whether there is a binding of a role."""
        return role in self._references

    def held_by(self, user: User, namespace: str) -> list[Held]:
        """What a user holds everywhere and, if a namespace is named, there."""
        users, groups = self._users, self._groups
        found = []
        for place in ("", namespace) if namespace else ("",):
            if (held := users.get((place, user.name))) is not None:
                found.append(held)
            for group in user.groups:
                if (held := groups.get((place, group))) is not None:
                    found.append(held)
        return found

    def bindings_of(self, user: User, namespace: str) -> list[Binding]:
        """The bindings that are about a user, those without a namespace first, by name."""
        unique = {
            key: binding
            for held in self.held_by(user, namespace)
            for bindings in held.roles.values()
            for key, (binding, _) in bindings.items()
        }
        return [unique[key] for key in sorted(unique)]

    def _places(self, binding: Binding) -> Iterator[tuple[dict[tuple[str, str], Held], str, Json]]:
        """Where a binding belongs: an index and the name in it, for each subject."""
        for subject in binding.subjects:
            kind, name = subject.get("kind"), subject.get("name", "")
            if kind == USER:
                yield self._users, name, subject
            elif kind == GROUP:
                yield self._groups, name, subject
            elif kind == SERVICE_ACCOUNT and (namespace := subject.get("namespace") or binding.key[0]):
                yield self._users, f"system:serviceaccount:{namespace}:{name}", subject


def _described(binding: Binding, subject: Json) -> str:
    """`ClusterRoleBinding "x" of ClusterRole "y" to Group "z"`."""
    namespace, name = binding.key
    kind, told = ("RoleBinding", f"{name}/{namespace}") if namespace else ("ClusterRoleBinding", name)
    whom = subject.get("name", "")
    if subject.get("kind") == SERVICE_ACCOUNT:
        whom = f"{whom}/{subject.get('namespace') or namespace}"
    role = f"{binding.role_kind} {quote(binding.role[1])}"
    return f"{kind} {quote(told)} of {role} to {subject.get('kind')} {quote(whom)}"
