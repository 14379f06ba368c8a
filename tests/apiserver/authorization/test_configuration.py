"""AuthorizationConfiguration: what is refused and in which words, what it does, and how changes are taken over."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hardpoint.apiserver.authorization import configuration as configurations
from hardpoint.apiserver.authorization.configuration import Keeping, Part, WebhookSettings
from hardpoint.apiserver.authorization.contract import Opinion
from hardpoint.apiserver.authorization.options import AuthorizationOptions, WebhookOptions
from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import User
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import ADMIN
from tests.apiserver.authorization.webhooks import JANE, RBAC, Json, configuration, hook, saying, served, webhook

PODS = "/api/v1/namespaces/default/pods"
SUPPORTED_TYPES = 'supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"'


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    file = tmp_path / "hook.kubeconfig"
    file.write_text("{}")
    return file


def broken(**more: Any) -> Callable[[Path], list[Json]]:
    """A configuration whose one webhook has these fields."""
    return lambda kubeconfig: [hook(kubeconfig, **more)]


def conditions(*expressions: str) -> Callable[[Path], list[Json]]:
    return broken(matchConditions=[{"expression": expression} for expression in expressions])


BAD: dict[str, tuple[Callable[[Path], list[Json]], str]] = {
    "nobody": (lambda _: [], "authorizers: Required value: at least one authorization mode must be defined"),
    "no type": (lambda _: [{"name": "x"}], "authorizers[0].type: Required value"),
    "unknown type": (
        lambda _: [{"type": "Magic", "name": "x"}],
        f'authorizers[0].type: Unsupported value: "Magic": {SUPPORTED_TYPES}',
    ),
    "twice": (lambda _: [RBAC, RBAC], 'authorizers[1].type: Duplicate value: "RBAC"'),
    "no name": (lambda _: [{"type": "RBAC"}], "authorizers[0].name: Required value"),
    "a wrong name": (
        lambda _: [{"type": "RBAC", "name": "roles"}],
        "expected name rbac for authorizer RBAC instead of roles",
    ),
    "a bad name": (
        lambda kubeconfig: [hook(kubeconfig, "Big_Name")],
        'authorizers[0].name: Invalid value: "Big_Name": authorizer name is invalid: a lowercase RFC 1123 subdomain'
        " must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric"
        " character (e.g. 'example.com', regex used for validation is"
        r" '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ),
    "the same name": (
        lambda kubeconfig: [hook(kubeconfig, "a"), hook(kubeconfig, "a")],
        'authorizers[1].name: Duplicate value: "a"',
    ),
    "a webhook for roles": (
        lambda kubeconfig: [{**hook(kubeconfig, "rbac"), "type": "RBAC"}],
        'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
    ),
    "no webhook": (
        lambda _: [{"type": "Webhook", "name": "x"}],
        "authorizers[0].webhook: Required value: required when type=Webhook",
    ),
    "no timeout": (
        lambda kubeconfig: [_without(hook(kubeconfig), "timeout")],
        "authorizers[0].timeout: Required value",
    ),
    "no time": (broken(timeout="0s"), "authorizers[0].timeout: Required value"),
    "too long": (
        broken(timeout="31s"),
        'authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s',
    ),
    "less than no time": (
        broken(timeout="-1s"),
        'authorizers[0].timeout: Invalid value: "-1s": must be > 0s and <= 30s',
    ),
    "kept for less than no time": (
        broken(authorizedTTL="-5m"),
        'authorizers[0].authorizedTTL: Invalid value: "-5m0s": must be > 0s',
    ),
    "a no kept so": (
        broken(unauthorizedTTL="-1s"),
        'authorizers[0].unauthorizedTTL: Invalid value: "-1s": must be > 0s',
    ),
    "no version": (
        broken(subjectAccessReviewVersion=""),
        "authorizers[0].subjectAccessReviewVersion: Required value",
    ),
    "unknown version": (
        broken(subjectAccessReviewVersion="v2"),
        'authorizers[0].subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"',
    ),
    "conditions of no version": (
        lambda kubeconfig: [
            _without(
                hook(kubeconfig, matchConditions=[{"expression": "true"}]), "matchConditionSubjectAccessReviewVersion"
            )
        ],
        "authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are"
        " specified",
    ),
    "conditions of an unknown version": (
        broken(matchConditionSubjectAccessReviewVersion="v1beta1"),
        'authorizers[0].matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1": supported values: "v1"',
    ),
    "no policy": (broken(failurePolicy=""), "authorizers[0].failurePolicy: Required value"),
    "unknown policy": (
        broken(failurePolicy="Allow"),
        'authorizers[0].failurePolicy: Unsupported value: "Allow": supported values: "NoOpinion", "Deny"',
    ),
    "no connection": (broken(connectionInfo={}), "authorizers[0].connectionInfo.type: Required value"),
    "no file": (
        broken(connectionInfo={"type": "KubeConfigFile"}),
        "authorizers[0].connectionInfo.kubeConfigFile: Required value",
    ),
    "a relative file": (
        broken(connectionInfo={"type": "KubeConfigFile", "kubeConfigFile": "hook.yaml"}),
        'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "hook.yaml": must be an absolute path',
    ),
    "a file that is not there": (
        broken(connectionInfo={"type": "KubeConfigFile", "kubeConfigFile": "/no/hook.yaml"}),
        'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "/no/hook.yaml": error loading file: stat'
        " /no/hook.yaml: no such file or directory",
    ),
    "a folder": (
        broken(connectionInfo={"type": "KubeConfigFile", "kubeConfigFile": "/"}),
        'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "/": must be a regular file',
    ),
    "an empty condition": (conditions(" "), "authorizers[0].matchConditions[0].expression: Required value"),
    "a condition twice": (
        conditions("true", "true"),
        'authorizers[0].matchConditions[1].expression: Duplicate value: "true"',
    ),
    "a condition that is none": (
        conditions("1 + 1"),
        'authorizers[0].matchConditions[0].expression: Invalid value: "1 + 1": must evaluate to bool but got int',
    ),
    "a field that is none": (
        conditions("request.usr == ''"),
        "authorizers[0].matchConditions[0].expression: Invalid value: \"request.usr == ''\": compilation failed:"
        " ERROR: <input>:1:8: undefined field 'usr'\n | request.usr == ''\n | .......^",
    ),
    "too many conditions": (
        conditions(*(f"request.user != '{number}'" for number in range(65))),
        "authorizers[0].matchConditions: Too many: 65: must have at most 64 items",
    ),
}


def _without(authorizer: Json, field: str) -> Json:
    del authorizer["webhook"][field]
    return authorizer


@pytest.mark.parametrize(("authorizers", "told"), BAD.values(), ids=BAD)
def test_what_is_refused(
    tmp_path: Path, kubeconfig: Path, authorizers: Callable[[Path], list[Json]], told: str
) -> None:
    file = configuration(tmp_path / "c.json", *authorizers(kubeconfig))
    with pytest.raises(ConfigError) as refused:
        configurations.load(file)
    assert str(refused.value) == f"--authorization-config {file}: {told}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it must hold an object of kind AuthorizationConfiguration"),
        ("a: [", "line 1"),
        ("kind: AuthenticationConfiguration", "kind must be AuthorizationConfiguration"),
        ("apiVersion: apiserver.config.k8s.io/v2\nkind: AuthorizationConfiguration", "apiserver.config.k8s.io/v1 or"),
        ("authorizer: []", "authorizer: there is no such field"),
        ("authorizers: {}", "authorizers: must be a list"),
        ("authorizers: [{type: RBAC, name: rbac, color: red}]", "authorizers[0].color: there is no such field"),
        ("authorizers: [{type: RBAC, name: 5}]", "authorizers[0].name: must be a text"),
        ("authorizers: []\nauthorizers: []", "authorizers: said twice"),
    ],
)
def test_what_is_not_even_read(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "c.yaml"
    if text.startswith("authorizer"):
        text = f"apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n{text}"
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        configurations.load(file)
    assert told in str(refused.value)
    assert str(file) in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file or directory"):
        configurations.load(tmp_path / "no.yaml")


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_what_a_file_says(tmp_path: Path, kubeconfig: Path, version: str) -> None:
    more = hook(
        kubeconfig,
        "other",
        authorizedTTL="1m",
        cacheUnauthorizedRequests=False,
        timeout="2500ms",
        subjectAccessReviewVersion="v1beta1",
        failurePolicy="Deny",
        matchConditions=[{"expression": "request.user == 'jane'"}],
    )
    file = configuration(tmp_path / "c.json", hook(kubeconfig), more, RBAC, version=version)
    assert configurations.load(file) == (
        Part("Webhook", "hook", WebhookSettings(kubeconfig, "v1", 1.0)),
        Part(
            "Webhook",
            "other",
            WebhookSettings(kubeconfig, "v1beta1", 2.5, Keeping(60.0, 0.0), Opinion.DENY, ("request.user == 'jane'",)),
        ),
        Part("RBAC", "rbac"),
    )


def test_what_flags_say(tmp_path: Path) -> None:
    file = tmp_path / "hook"
    given = AuthorizationOptions(("RBAC", "Webhook"), WebhookOptions(file, "v1", 60.0, 0.0))
    assert configurations.from_options(given) == (
        Part("RBAC", "rbac"),
        Part("Webhook", "default", WebhookSettings(file, "v1", 30.0, Keeping(60.0, 0.0))),
    )


@pytest.mark.parametrize(
    "given",
    [
        {"modes": ("Webhook",)},
        {"webhook": WebhookOptions(Path("x"))},
        {"modes": ("ABAC",)},
        {"policy_file": Path("x")},
    ],
)
def test_flags_that_need_each_other(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="go together"):
        AuthorizationOptions(**given)


@pytest.mark.parametrize(
    ("expression", "user", "url", "is_asked"),
    [
        pytest.param("request.user == 'jane'", JANE, PODS, True, id="the user"),
        pytest.param("request.user == 'joe'", JANE, PODS, False, id="another user"),
        pytest.param("'devs' in request.groups", JANE, PODS, True, id="a group"),
        pytest.param("request.uid == '7'", JANE, PODS, True, id="the uid"),
        pytest.param("request.extra['example.com/team'] == ['a', 'b']", JANE, PODS, True, id="extra"),
        pytest.param("size(request.extra) == 0 && request.uid == ''", User("joe"), PODS, True, id="without extra"),
        pytest.param("has(request.resourceAttributes)", JANE, PODS, True, id="a resource"),
        pytest.param("has(request.resourceAttributes)", JANE, "/metrics", False, id="no resource"),
        pytest.param("request.nonResourceAttributes.path == '/metrics'", JANE, "/metrics", True, id="a path"),
        pytest.param("request.resourceAttributes.namespace == 'default'", JANE, PODS, True, id="a namespace"),
        pytest.param("request.resourceAttributes.namespace == ''", JANE, "/api/v1/pods", True, id="no namespace"),
        pytest.param("request.resourceAttributes.subresource == ''", JANE, PODS, True, id="no subresource"),
        pytest.param(
            "request.resourceAttributes.fieldSelector.requirements.exists(r, r.key == 'metadata.name')",
            JANE,
            f"{PODS}?fieldSelector=metadata.name%3Da",
            True,
            id="fields",
        ),
        pytest.param("has(request.resourceAttributes.labelSelector)", JANE, PODS, False, id="no labels"),
        pytest.param(
            "request.resourceAttributes.labelSelector.requirements[0].values == ['y']",
            JANE,
            f"{PODS}?labelSelector=x%3Dy",
            True,
            id="labels",
        ),
    ],
)
async def test_conditions_choose_what_is_asked(
    tmp_path: Path, expression: str, user: User, url: str, is_asked: bool
) -> None:
    async with webhook(saying(allowed=True), tmp_path / "hook") as (server, kubeconfig):
        asks = hook(kubeconfig, matchConditions=[{"expression": expression}])
        async with served(configuration(tmp_path / "c.json", asks, RBAC), user) as api:
            status = (await api.send("GET", url)).status
            metrics = (await api.as_user(ADMIN).send("GET", "/metrics")).body.decode()
    assert status == (200 if is_asked else 403)
    assert len(server.asked) == is_asked
    skipped = 'apiserver_authorization_match_condition_exclusions_total{name="hook",type="Webhook"} 1'
    assert (skipped in metrics) is not is_asked


@pytest.mark.parametrize(
    ("expressions", "policy", "status"),
    [
        pytest.param(["request.nonResourceAttributes.path == ''"], "NoOpinion", 500, id="fails"),
        pytest.param(["request.nonResourceAttributes.path == ''"], "Deny", 500, id="fails, denied"),
        pytest.param(["request.nonResourceAttributes.path == ''", "false"], "Deny", 403, id="a no outweighs it"),
        pytest.param(["lists.range(1000000).all(x, lists.range(1000).all(y, true))"], "Deny", 500, id="costs too much"),
    ],
)
async def test_conditions_that_fail(tmp_path: Path, expressions: list[str], policy: str, status: int) -> None:
    async with webhook(saying(allowed=True), tmp_path / "hook") as (server, kubeconfig):
        asks = hook(kubeconfig, failurePolicy=policy, matchConditions=[{"expression": each} for each in expressions])
        async with served(configuration(tmp_path / "c.json", asks, RBAC)) as api:
            assert (await api.send("GET", PODS)).status == status
            metrics = (await api.as_user(ADMIN).send("GET", "/metrics")).body.decode()
    assert server.asked == []
    failed = 'match_condition_evaluation_errors_total{name="hook",type="Webhook"} 1'
    assert (failed in metrics) is (status == 500)


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await holds():  # noqa: ASYNC110 Only an answer tells.
            await asyncio.sleep(0.01)


async def test_changes_are_taken_over(tmp_path: Path) -> None:
    """A bad edit changes nothing, and is counted; the next good one counts again."""
    async with (
        webhook(saying(allowed=True), tmp_path / "yes") as (_, yes),
        webhook(saying(denied=True), tmp_path / "no") as (_, no),
    ):
        file = configuration(tmp_path / "c.json", hook(yes, cacheAuthorizedRequests=False), RBAC)
        async with served(file) as api:

            async def status() -> int:
                return (await api.send("GET", PODS)).status

            async def reloads(result: str) -> bool:
                told = (await api.as_user(ADMIN).send("GET", "/metrics")).body.decode()
                return f'automatic_reloads_total{{status="{result}"}} 1' in told

            assert await status() == 200
            configuration(file, {"type": "Magic", "name": "magic"})
            await _until(lambda: reloads("failure"))
            assert await status() == 200
            configuration(file, hook(no), RBAC)
            await _until(lambda: reloads("success"))
            assert await status() == 403
            assert (await api.send("GET", "/version")).status == 403, "denied is final"
            configuration(file, RBAC)

            async def is_forgotten() -> bool:
                return (await api.send("GET", "/version")).status == 200

            await _until(is_forgotten)


def test_the_guides_configuration(tmp_path: Path, kubeconfig: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs/guides/authorization-webhooks.md").read_text()
    (text,) = re.findall(r"^```yaml\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    file = tmp_path / "c.yaml"
    file.write_text(text.replace("/etc/hardpoint/night-shift.kubeconfig", str(kubeconfig)))
    assert [part.type for part in configurations.load(file)] == ["Node", "Webhook", "RBAC"]


async def test_a_bad_file_stops_the_start(tmp_path: Path) -> None:
    file = configuration(tmp_path / "c.json", {"type": "Magic", "name": "magic"})
    with pytest.raises(ConfigError, match="Magic"):
        ApiServer(MemoryStore(), authorization=AuthorizationOptions(config_file=file))


async def test_decisions_are_counted(tmp_path: Path) -> None:
    async with served(configuration(tmp_path / "c.json", RBAC)) as api:
        await api.send("GET", "/version")
        await api.send("GET", PODS)
        told = (await api.as_user(ADMIN).send("GET", "/metrics")).body.decode()
    assert 'apiserver_authorization_decisions_total{decision="allowed",name="rbac",type="RBAC"} 1' in told


async def test_rules_are_incomplete_where_a_webhook_decides(tmp_path: Path) -> None:
    url, review = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}
    async with (
        webhook(saying(allowed=True), tmp_path / "hook") as (_, kubeconfig),
        served(configuration(tmp_path / "c.json", hook(kubeconfig))) as api,
    ):
        status = (await api.ok("POST", url, review))["status"]
    assert status["incomplete"] is True
    assert "webhook authorizer does not support user rule resolution" in status["evaluationError"]
