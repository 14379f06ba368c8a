"""Policy files: what is wrong with one is told with the file's name and the field's."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardpoint.apiserver.audit.policyfile import load_policy, parse_policy
from hardpoint.machinery.errors import ConfigError

HEAD = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f"{HEAD}rules: []", "rules: at least one is needed"),
        (HEAD, "rules: at least one is needed"),
        ("rules: [{level: None}]", "apiVersion and kind must be audit.k8s.io/v1 and Policy"),
        (f"{HEAD}rules: [{{}}]", "rules[0].level: Required value"),
        (f"{HEAD}rules: [{{level: Loud}}]", 'rules[0].level: Unsupported value: "Loud": supported values: "None"'),
        (f"{HEAD}rules: [{{level: None, user: [a]}}]", "rules[0].user: unknown field"),
        (f"{HEAD}rules: [{{level: None}}]\nomitStage: [Panic]", "omitStage: unknown field"),
        (f"{HEAD}rules: [{{level: None, users: jane}}]", "rules[0].users: must be a list"),
        (f"{HEAD}rules: [{{level: None, users: [1]}}]", "rules[0].users[0]: must be text; put it in quotes"),
        (f"{HEAD}rules: [{{level: None, omitStages: [Late]}}]", 'omitStages[0]: Invalid value: "Late": allowed stages'),
        (f"{HEAD}rules: [{{level: None, omitManagedFields: 1}}]", "omitManagedFields: must be true or false"),
        (f"{HEAD}rules: [{{level: None, nonResourceURLs: [a]}}]", "must begin with a '/' character"),
        (f"{HEAD}rules: [{{level: None, nonResourceURLs: ['/a*b']}}]", "'*' must be the final character of the rule"),
        (
            f"{HEAD}rules: [{{level: None, nonResourceURLs: [/a], namespaces: [b]}}]",
            "rules cannot apply to both regular resources and non-resource URLs",
        ),
        (f"{HEAD}rules: [{{level: None, resources: [{{group: a/v1}}]}}]", "rules[0].resources[0].group: Invalid value"),
        (
            f"{HEAD}rules: [{{level: None, resources: [{{resourceNames: [a]}}]}}]",
            "using resourceNames requires at least one resource",
        ),
        (f"{HEAD}rules: [{{level: None, level: Metadata}}]", "said twice"),
        ("- a", "the file: must be a mapping"),
        ("a: [", "yaml:"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as told:
        load_policy(file)
    assert complaint in str(told.value)
    assert str(file) in str(told.value)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ConfigError) as told:
        parse_policy(f"{HEAD}rules: [{{level: Loud}}, {{}}]".encode())
    assert "rules[0].level" in str(told.value)
    assert "rules[1].level" in str(told.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_policy(tmp_path / "none.yaml")
