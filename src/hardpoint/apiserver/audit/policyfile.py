"""Audit policy files: audit.k8s.io/v1 Policy, read strictly.

A field nobody knows, a value of the wrong type, a stage that does not exist: each refuses the file, with its name and
the field's. kube-apiserver starts with a misspelt policy and a line in its log; what is meant to be audited and is not
is noticed too late for that.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from hardpoint.apiserver.audit.policy import LEVELS, STAGES, GroupResources, Policy, Rule, Verdict
from hardpoint.machinery import fielderrors, names, yamltext
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.fielderrors import FieldError
from hardpoint.seams.audit.contract import API_VERSION

T = TypeVar("T")


def load_policy(file: Path) -> Policy:
    """The policy in a file. Raises ConfigError, which names the file and every field that is wrong."""
    try:
        text = file.read_bytes()
    except OSError as cause:
        raise ConfigError(f"--audit-policy-file {file} cannot be read: {cause.strerror}") from cause
    try:
        return parse_policy(text)
    except ConfigError as wrong:
        raise ConfigError(f"--audit-policy-file {file}: {wrong}") from wrong


def parse_policy(text: bytes) -> Policy:
    """The policy in a YAML or JSON text. Raises ConfigError."""
    try:
        parsed = yamltext.parse(text)
    except yamltext.BadYaml as wrong:
        raise ConfigError(str(wrong)) from wrong
    reader = _Reader()
    reader.problems += [f"{path}: said twice" for path in parsed.duplicates]
    policy = reader.policy(parsed.value)
    if reader.problems:
        raise ConfigError("; ".join(reader.problems))
    return policy


class _Reader:
    """Reads a policy and notes everything that is wrong with it."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def policy(self, value: Any) -> Policy:
        fields = self._mapping(
            value, "", ("apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields")
        )
        if (fields.get("apiVersion"), fields.get("kind")) != (API_VERSION, "Policy"):
            self.problems.append(f"apiVersion and kind must be {API_VERSION} and Policy")
        stages = self._stages(fields.get("omitStages"), "omitStages")
        managed = bool(self._flag(fields.get("omitManagedFields"), "omitManagedFields"))
        rules = self._list(
            fields.get("rules"), "rules", lambda rule, path: self._rule(rule, path, frozenset(stages), managed)
        )
        if not rules:
            self.problems.append("rules: at least one is needed; a policy without rules audits nothing")
        return Policy(rules, Verdict("None", frozenset(stages), managed))

    def _rule(self, value: Any, path: str, stages: frozenset[Any], managed: bool) -> Rule:
        fields = self._mapping(value, path, _RULE_FIELDS)
        level = fields.get("level", "")
        if level not in LEVELS:
            wrong = fielderrors.not_supported if level else lambda field, *_: fielderrors.required(field)
            self._wrong(wrong(f"{path}.level", level, LEVELS))
        own_managed = self._flag(fields.get("omitManagedFields"), f"{path}.omitManagedFields")
        rule = Rule(
            Verdict(
                level,
                stages | set(self._stages(fields.get("omitStages"), f"{path}.omitStages")),
                managed if own_managed is None else own_managed,
            ),
            users=self._texts(fields.get("users"), f"{path}.users"),
            groups=self._texts(fields.get("userGroups"), f"{path}.userGroups"),
            verbs=self._texts(fields.get("verbs"), f"{path}.verbs"),
            resources=self._list(fields.get("resources"), f"{path}.resources", self._resources),
            namespaces=self._texts(fields.get("namespaces"), f"{path}.namespaces"),
            paths=self._texts(fields.get("nonResourceURLs"), f"{path}.nonResourceURLs"),
        )
        self._check_paths(rule, f"{path}.nonResourceURLs")
        return rule

    def _check_paths(self, rule: Rule, path: str) -> None:
        for number, url in enumerate(rule.paths):
            if url == "*":
                continue
            if not url.startswith("/"):
                text = "non-resource URL rules must begin with a '/' character"
                self._wrong(fielderrors.invalid(fielderrors.at(path, number), url, text))
            if "*" in url[:-1]:
                text = "non-resource URL wildcards '*' must be the final character of the rule"
                self._wrong(fielderrors.invalid(fielderrors.at(path, number), url, text))
        if rule.paths and (rule.resources or rule.namespaces):
            text = "rules cannot apply to both regular resources and non-resource URLs"
            self._wrong(fielderrors.invalid(path, list(rule.paths), text))

    def _resources(self, value: Any, path: str) -> GroupResources:
        fields = self._mapping(value, path, ("group", "resources", "resourceNames"))
        group = self._text(fields.get("group", ""), f"{path}.group")
        found = GroupResources(
            group,
            self._texts(fields.get("resources"), f"{path}.resources"),
            self._texts(fields.get("resourceNames"), f"{path}.resourceNames"),
        )
        if group not in ("", "*") and (wrong := names.dns_subdomain(group)):
            self._wrong(fielderrors.invalid(f"{path}.group", group, ",".join(wrong)))
        if found.names and not found.resources:
            text = "using resourceNames requires at least one resource"
            self._wrong(fielderrors.invalid(f"{path}.resourceNames", list(found.names), text))
        return found

    def _stages(self, value: Any, path: str) -> tuple[Any, ...]:
        stages = self._texts(value, path)
        for number, stage in enumerate(stages):
            if stage not in STAGES:
                text = "allowed stages are " + ",".join(STAGES)
                self._wrong(fielderrors.invalid(fielderrors.at(path, number), stage, text))
        return stages

    # The shapes of values.

    def _mapping(self, value: Any, path: str, known: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.problems.append(f"{path or 'the file'}: must be a mapping")
            return {}
        self.problems += [f"{fielderrors.under(path, name)}: unknown field" for name in value if name not in known]
        return value

    def _list(self, value: Any, path: str, read: Callable[[Any, str], T]) -> tuple[T, ...]:
        if value is None:
            return ()
        if not isinstance(value, list):
            self.problems.append(f"{path}: must be a list")
            return ()
        return tuple(read(item, fielderrors.at(path, number)) for number, item in enumerate(value))

    def _texts(self, value: Any, path: str) -> tuple[str, ...]:
        return self._list(value, path, self._text)

    def _text(self, value: Any, path: str) -> str:
        if isinstance(value, str):
            return value
        self.problems.append(f"{path}: must be text; put it in quotes")
        return ""

    def _flag(self, value: Any, path: str) -> bool | None:
        if value is None or isinstance(value, bool):
            return value
        self.problems.append(f"{path}: must be true or false")
        return None

    def _wrong(self, error: FieldError) -> None:
        self.problems.append(str(error))


_RULE_FIELDS = (
    *("level", "users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs"),
    *("omitStages", "omitManagedFields"),
)
