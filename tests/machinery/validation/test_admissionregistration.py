"""Webhook configurations, admission policies and their bindings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machinery.walk import GONE, Json, changed, complaints, replaced

RULE = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}
WEBHOOKS: Json = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingWebhookConfiguration",
    "metadata": {"name": "w"},
    "webhooks": [
        {
            "name": "a.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"service": {"namespace": "n", "name": "s"}},
            "rules": [RULE],
        }
    ],
}
POLICY: Json = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "p"},
    "spec": {"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "true"}]},
}
MUTATION: Json = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicy",
    "metadata": {"name": "m"},
    "spec": {
        "matchConstraints": {"resourceRules": [RULE]},
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}}],
    },
}
BINDING: Json = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "b"},
    "spec": {"policyName": "p", "validationActions": ["Deny"]},
}


@pytest.mark.parametrize("body", [WEBHOOKS, POLICY, MUTATION, BINDING])
def test_a_plain_one_is_fine(body: Json) -> None:
    assert complaints(body) == []


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (
            "name",
            "short",
            ['name: Invalid value: "short": should be a domain with at least three segments separated by dots'],
        ),
        ("sideEffects", GONE, ["sideEffects: Required value: must specify one of None, NoneOnDryRun"]),
        ("admissionReviewVersions", [], ["admissionReviewVersions: Required value: must specify one of v1, v1beta1"]),
        (
            "admissionReviewVersions",
            ["v2"],
            ['admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1'],
        ),
        ("clientConfig.service.namespace", GONE, ["clientConfig.service.name: Required value"]),
        (
            "clientConfig.service.path",
            "x//y",
            [
                "clientConfig.service.path: Invalid value: \"x//y\": must start with a '/'",
                'clientConfig.service.path: Invalid value: "x//y": segment[0] may not be empty',
                'clientConfig.service.path: Invalid value: "x//y": segment[1] may not be empty',
            ],
        ),
        ("clientConfig.url", "https://a", ["clientConfig: Required value: exactly one of url or service is required"]),
        (
            "clientConfig",
            {"url": "http://u:p@h/?q#f"},
            [
                "clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme;"
                " desired format: https://host[/path]",
                'clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
                'clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
                'clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL',
            ],
        ),
        (
            "timeoutSeconds",
            31,
            ["timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
        ),
        (
            "rules.0.operations",
            ["*", "CREATE"],
            [
                'rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other'
                " operations"
            ],
        ),
        (
            "rules.0.resources",
            ["*", "pods"],
            [
                'rules[0].resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources'
                " without subresources"
            ],
        ),
        (
            "rules.0.resources",
            ["*/scale", "pods/scale"],
            [
                "rules[0].resources[1]: Invalid value: \"pods/scale\": if '*/scale' is present, must not specify"
                " pods/scale"
            ],
        ),
        (
            "reinvocationPolicy",
            "Twice",
            ['reinvocationPolicy: Unsupported value: "Twice": supported values: "IfNeeded", "Never"'],
        ),
        ("matchConditions", [{"name": "c", "expression": " "}], ["matchConditions[0].expression: Required value"]),
    ],
)
def test_webhooks(path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(WEBHOOKS, f"webhooks.0.{path}", value)) == [f"webhooks[0].{text}" for text in told]


def test_webhooks_have_names_of_their_own() -> None:
    twice = changed(WEBHOOKS, "webhooks", WEBHOOKS["webhooks"] * 2)
    assert complaints(twice) == ['webhooks[1].name: Duplicate value: "a.example.com"']
    _, told = replaced(twice, twice)
    assert told == [], "what was stored before may stay as it was"


@pytest.mark.parametrize(
    ("body", "path", "value", "told"),
    [
        (
            POLICY,
            "validations",
            GONE,
            [
                f"{field}: Required value: validations or auditAnnotations must contain at least one item"
                for field in ("validations", "auditAnnotations")
            ],
        ),
        (POLICY, "matchConstraints.resourceRules", [], ["matchConstraints.resourceRules: Required value"]),
        (
            POLICY,
            "paramKind",
            {"apiVersion": "a/b/c"},
            [
                'paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
                "paramKind.kind: Required value",
            ],
        ),
        (
            POLICY,
            "variables",
            [{"name": "for", "expression": "1"}],
            ['variables[0].name: Invalid value: "for": must be a valid CEL identifier'],
        ),
        (
            POLICY,
            "auditAnnotations",
            [{"key": "k", "valueExpression": ""}],
            ["auditAnnotations[0].valueExpression: Required value: valueExpression is not specified"],
        ),
        (
            POLICY,
            "validations.0.message",
            "a\nb",
            ['validations[0].message: Invalid value: "a\\nb": must not contain line breaks'],
        ),
        (MUTATION, "mutations", [], ["mutations: Required value: mutations must contain at least one item"]),
        (
            MUTATION,
            "mutations.0.patchType",
            "ApplyConfiguration",
            [
                "mutations[0].applyConfiguration: Required value: must be specified when patchType is"
                " ApplyConfiguration",
                'mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is'
                " ApplyConfiguration",
            ],
        ),
        (
            MUTATION,
            "matchConstraints.resourceRules.0.operations",
            ["DELETE"],
            [
                'matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*",'
                ' "CONNECT",'
                ' "CREATE", "UPDATE"'
            ],
        ),
        (
            BINDING,
            "validationActions",
            ["Deny", "Warn"],
            [
                'validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn'
                " (repeating the same"
                " validation failure information in the API response and headers serves no purpose)"
            ],
        ),
        (
            BINDING,
            "paramRef",
            {"name": "x", "parameterNotFoundAction": "Maybe"},
            ['paramRef.parameterNotFoundAction: Unsupported value: "Maybe": supported values: "Deny", "Allow"'],
        ),
        (BINDING, "policyName", GONE, ["policyName: Required value"]),
    ],
)
def test_policies_and_bindings(body: Json, path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(body, f"spec.{path}", value)) == [f"spec.{text}" for text in told]
