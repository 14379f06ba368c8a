"""PolicyRules compared: which of the things some rules allow are not allowed by others?

To compare them, rules are broken down to atoms: one verb on one resource of one group, perhaps of one name, or one
verb on one path. The texts are those of kube-apiserver's refusals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from hardpoint.machinery.fielderrors import quote

Json = Mapping[str, Any]

ALL = "*"
ATOMS_MAX = 50_000
"""A rule with more atoms is not broken down: it is missing as a whole, unless another rule has all of it."""
_FIELDS = {
    "APIGroups": "apiGroups",
    "Resources": "resources",
    "NonResourceURLs": "nonResourceURLs",
    "ResourceNames": "resourceNames",
    "Verbs": "verbs",
}


def missing(held: Iterable[Json], wanted: Iterable[Json]) -> list[Json]:
    """The atoms of the wanted rules that no single held rule covers, in their order."""
    having = _Held(held)
    return [atom for rule in wanted for atom in _atoms_to_check(rule, having) if not having.covers(atom)]


def path_covers(held: str, wanted: str) -> bool:
    """Whether a rule's path, which may end in stars, is or covers another."""
    return held == wanted or (held.endswith(ALL) and wanted.startswith(held.rstrip(ALL)))


def described(rules: Iterable[Json]) -> list[str]:
    """Atoms as a refusal lists them: those that differ only by verb on one line, and the lines in order."""
    verbs: defaultdict[tuple[Any, ...], list[str]] = defaultdict(list)
    lines: set[str] = set()
    for rule in rules:
        sizes = [len(rule.get(field) or ()) for field in ("apiGroups", "resources")]
        if sizes == [1, 1] and len(rule.get("resourceNames") or ()) <= 1 and not rule.get("nonResourceURLs"):
            verbs[rule["apiGroups"][0], rule["resources"][0], *(rule.get("resourceNames") or ())] += rule["verbs"]
        else:
            lines.add(_line(rule))
    for (group, resource, *names), said in verbs.items():
        lines.add(_line({"apiGroups": [group], "resources": [resource], "resourceNames": names, "verbs": said}))
    return sorted(lines)


def _line(rule: Json) -> str:
    parts = (f"{label}:{quoted(rule[field])}" for label, field in _FIELDS.items() if rule.get(field))
    return f"{{{', '.join(parts)}}}"


def quoted(words: Iterable[str]) -> str:
    """A list of words as Go prints one: `["a" "b"]`."""
    return f"[{' '.join(map(quote, words))}]"


class Rule(NamedTuple):
    """A rule with its words in sets."""

    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    names: frozenset[str]
    paths: Sequence[str]

    @classmethod
    def of(cls, rule: Json) -> Rule:
        return cls(
            verbs=frozenset(rule.get("verbs") or ()),
            groups=frozenset(rule.get("apiGroups") or ()),
            resources=frozenset(rule.get("resources") or ()),
            names=frozenset(rule.get("resourceNames") or ()),
            paths=tuple(rule.get("nonResourceURLs") or ()),
        )

    def covers(self, other: Rule) -> bool:
        return (
            (ALL in self.verbs or other.verbs <= self.verbs)
            and (ALL in self.groups or other.groups <= self.groups)
            and (ALL in self.resources or all(map(self._has_resource, other.resources)))
            and (not self.names or (bool(other.names) and other.names <= self.names))
            and all(any(path_covers(mine, path) for mine in self.paths) for path in other.paths)
        )

    def _has_resource(self, resource: str) -> bool:
        _, slash, part = resource.partition("/")
        return resource in self.resources or (bool(slash) and f"*/{part}" in self.resources)


class _Held:
    """Rules that somebody holds, found by the resources they name."""

    def __init__(self, rules: Iterable[Json]) -> None:
        self.rules = [Rule.of(rule) for rule in rules]
        self._by_resource: defaultdict[str, list[Rule]] = defaultdict(list)
        for rule in self.rules:
            for resource in rule.resources:
                self._by_resource[resource].append(rule)

    def covers(self, atom: Json) -> bool:
        wanted = Rule.of(atom)
        return any(rule.covers(wanted) for rule in self._candidates(wanted))

    def _candidates(self, atom: Rule) -> Iterator[Rule]:
        if not atom.resources:
            yield from self.rules
        for resource in atom.resources:
            _, slash, part = resource.partition("/")
            for name in dict.fromkeys((resource, ALL, f"*/{part}" if slash else ALL)):
                yield from self._by_resource.get(name, ())


def _atoms_to_check(rule: Json, held: _Held) -> Iterable[Json]:
    whole = Rule.of(rule)
    if any(each.covers(whole) for each in held.rules):
        return ()
    things = len(rule.get("apiGroups") or ()) * len(rule.get("resources") or ()) * len(rule.get("resourceNames") or "1")
    count = (things + len(rule.get("nonResourceURLs") or ())) * len(rule.get("verbs") or ())
    return _atoms(rule) if count <= ATOMS_MAX else (rule,)


def _atoms(rule: Json) -> Iterator[Json]:
    verbs, names = rule.get("verbs") or (), rule.get("resourceNames") or ()
    for group, resource, verb in product(rule.get("apiGroups") or (), rule.get("resources") or (), verbs):
        atom = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
        if names:
            yield from ({**atom, "resourceNames": [name]} for name in names)
        else:
            yield atom
    for path, verb in product(rule.get("nonResourceURLs") or (), verbs):
        yield {"nonResourceURLs": [path], "verbs": [verb]}
