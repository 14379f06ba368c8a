"""What each role allows, turned around: which roles allow this?

A rule allows every combination of its groups, resources and verbs. Each combination leads to the roles that have it,
so that a question costs a few look-ups however many roles there are. A rule whose combinations are too many for its
size, which nobody writes by hand, is kept as it is and looked at when one of its role's holders asks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Generic, NamedTuple, TypeVar

from hardpoint.machinery.policyrules import ALL, Rule, path_covers

Json = Mapping[str, Any]
RoleKey = tuple[str, str]
"""Namespace and name; a ClusterRole has no namespace."""
Roles = set[RoleKey]

# A role may have this many combinations for free, and this many more for each word it is made of.
COMBINATIONS_FREE = 64
COMBINATIONS_PER_WORD = 8


class Action(NamedTuple):
    """Something done to a resource. `resource` has the subresource in it, after a slash."""

    verb: str
    group: str
    resource: str
    subresource: str
    name: str


class Permissions:
    """The rules of all roles, kept as roles come and go."""

    def __init__(self) -> None:
        self._rules: dict[RoleKey, Sequence[Json]] = {}
        self._whole = _Index[tuple[str, str, str]]()
        """Who may do this to every object: resource, group and verb."""
        self._named = _Index[tuple[str, str, str, str]]()
        """Who may do this to one object: resource, group, verb and name."""
        self._paths = _Index[tuple[str, str]]()
        self._prefixes = _Index[tuple[str, str]]()
        self._prefix_lengths: tuple[int, ...] = ()
        self._wide: dict[RoleKey, list[Rule]] = {}

    def rules(self, role: RoleKey) -> Sequence[Json] | None:
        """A role's rules as they are written; None if there is no such role."""
        return self._rules.get(role)

    def put(self, role: RoleKey, rules: Sequence[Json] | None) -> None:
        """A role is new, other than before, or gone."""
        old = self._rules.pop(role, None)
        if old is not None:
            self._wide.pop(role, None)
            for index, key in self._keys(_narrow(old)):
                index.discard(key, role)
        if rules is not None:
            self._rules[role] = rules
            narrow = _narrow(rules)
            for index, key in self._keys(narrow):
                index.add(key, role)
            if len(narrow) < len(rules):
                self._wide[role] = [Rule.of(rule) for rule in rules[len(narrow) :]]
        self._prefix_lengths = tuple({len(prefix) for prefix, _ in self._prefixes})

    def allowing(self, action: Action) -> Iterator[Roles]:
        """The roles that allow an action, in several sets; wide rules apart."""
        verb, group, name = action.verb, action.group, action.name
        whole, named = self._whole, self._named
        for resource in _resources_meant(action):
            for key in ((resource, group, verb), (resource, ALL, ALL), (resource, group, ALL), (resource, ALL, verb)):
                if key in whole:
                    yield whole[key]
                if (*key, name) in named:
                    yield named[*key, name]

    def allowing_path(self, verb: str, path: str) -> Iterator[Roles]:
        """The roles that allow a verb on a path of the server's own, in several sets; wide rules apart."""
        for each in (verb, ALL):
            if (path, each) in self._paths:
                yield self._paths[path, each]
            for length in self._prefix_lengths:
                if (path[:length], each) in self._prefixes:
                    yield self._prefixes[path[:length], each]

    def allowing_widely(self, roles: Iterable[RoleKey], asked: Action | tuple[str, str]) -> RoleKey | None:
        """The first of these roles that has a wide rule which allows an action, or a verb on a path."""
        if not self._wide:
            return None
        return next((role for role in roles if any(_allows(rule, asked) for rule in self._wide.get(role, ()))), None)

    def _keys(self, rules: Iterable[Json]) -> Iterator[tuple[_Index[Any], Hashable]]:
        """Every place in the indexes where rules belong."""
        for rule in rules:
            verbs = rule.get("verbs") or ()
            actions = product(rule.get("resources") or (), rule.get("apiGroups") or (), verbs)
            names = rule.get("resourceNames")
            if names:
                yield from ((self._named, (*action, name)) for action, name in product(actions, names))
            else:
                yield from ((self._whole, action) for action in actions)
            for path, verb in product(rule.get("nonResourceURLs") or (), verbs):
                yield (self._prefixes, (path.rstrip(ALL), verb)) if path.endswith(ALL) else (self._paths, (path, verb))


Key = TypeVar("Key", bound=Hashable)


class _Index(dict[Key, Roles], Generic[Key]):
    """Sets of roles by what they have in common; a set without roles is not there."""

    def add(self, key: Key, role: RoleKey) -> None:
        found = self.get(key)
        if found is None:
            self[key] = {role}
        else:
            found.add(role)

    def discard(self, key: Key, role: RoleKey) -> None:
        found = self.get(key)
        # A rule may name something twice.
        if found is not None:
            found.discard(role)
            if not found:
                del self[key]


def _allows(rule: Rule, asked: Action | tuple[str, str]) -> bool:
    """Whether a rule that is looked at as a whole allows it."""
    if asked[0] not in rule.verbs and ALL not in rule.verbs:
        return False
    if not isinstance(asked, Action):
        return any(path_covers(each, asked[1]) for each in rule.paths)
    return (
        (asked.group in rule.groups or ALL in rule.groups)
        and any(resource in rule.resources for resource in _resources_meant(asked))
        and (not rule.names or asked.name in rule.names)
    )


def _resources_meant(action: Action) -> tuple[str, ...]:
    """What a rule may call the resource: a star is every resource with its subresources."""
    if action.subresource:
        return (action.resource, ALL, f"*/{action.subresource}")
    return (action.resource, ALL)


def _narrow(rules: Sequence[Json]) -> Sequence[Json]:
    """The first rules of a role, as many as have few combinations for their size."""
    allowed = COMBINATIONS_FREE
    for number, rule in enumerate(rules):
        sizes = {field: len(values or ()) for field, values in rule.items()}
        allowed += COMBINATIONS_PER_WORD * sum(sizes.values())
        names, groups = sizes.get("resourceNames") or 1, sizes.get("apiGroups", 0)
        things = groups * sizes.get("resources", 0) * names + sizes.get("nonResourceURLs", 0)
        allowed -= things * sizes.get("verbs", 0)
        if allowed < 0:
            return rules[:number]
    return rules
