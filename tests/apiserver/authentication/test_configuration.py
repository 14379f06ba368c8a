"""AuthenticationConfiguration files: what is wrong with one is told by field, and a changed one is taken over."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.apiserver.authentication import configuration
from hardpoint.apiserver.authentication.options import AuthenticationOptions
from hardpoint.apiserver.authorization.options import AuthorizationOptions
from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import Request, Response
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api
from tests.apiserver.authentication.accounts import ISSUER, who
from tests.apiserver.authentication.conftest import serving, write_configuration
from tests.apiserver.authentication.issuer import Issuer, running_issuer

Json = dict[str, Any]

RELOADED, NOT_RELOADED = "authentication configuration reloaded", "authentication configuration not reloaded"

GOOD: Json = {
    "issuer": {"url": "https://a.example.com", "audiences": ["x"]},
    "claimMappings": {"username": {"claim": "sub", "prefix": ""}},
}


def changed(**parts: Json) -> Json:
    """The good issuer with some parts of its parts changed; None takes one away."""
    result: Json = {name: dict(part) for name, part in GOOD.items()}
    for name, part in parts.items():
        merged = {**result.get(name, {}), **part} if isinstance(part, dict) else part
        result[name] = {key: value for key, value in merged.items() if value is not None} if part else part
    return result


def mapped(**mappings: Json) -> Json:
    return {**GOOD, "claimMappings": {**GOOD["claimMappings"], **mappings}}


BAD = [
    pytest.param(
        [changed(issuer={"url": "http://a"})],
        'jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https',
        id="http",
    ),
    pytest.param([changed(issuer={"url": None})], "jwt[0].issuer.url: Required value", id="no url"),
    pytest.param(
        [changed(issuer={"url": "https://u:p@a?q#f"})],
        'jwt[0].issuer.url: Invalid value: "https://u:p@a?q#f": URL must not contain a username or password; '
        'jwt[0].issuer.url: Invalid value: "https://u:p@a?q#f": URL must not contain a query; '
        'jwt[0].issuer.url: Invalid value: "https://u:p@a?q#f": URL must not contain a fragment',
        id="more than a url",
    ),
    pytest.param(
        [changed(issuer={"url": ISSUER})],
        f'jwt[0].issuer.url: Invalid value: "{ISSUER}": URL must not overlap with disallowed issuers: [{ISSUER}]',
        id="our own",
    ),
    pytest.param([GOOD, GOOD], 'jwt[1].issuer.url: Duplicate value: "https://a.example.com"', id="twice"),
    pytest.param(
        [changed(issuer={"discoveryURL": "https://a.example.com/"})],
        'jwt[0].issuer.discoveryURL: Invalid value: "https://a.example.com/": discoveryURL must be different from URL',
        id="discovery where it is anyway",
    ),
    pytest.param(
        [changed(issuer={"audiences": []})],
        "jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required",
        id="no audience",
    ),
    pytest.param(
        [changed(issuer={"audiences": ["a", "b"]})],
        'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple '
        "audiences",
        id="several audiences",
    ),
    pytest.param(
        [changed(issuer={"certificateAuthority": "x"})],
        'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA '
        "certificates",
        id="no authority",
    ),
    pytest.param(
        [mapped(username={"claim": "sub"})],
        "jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. "
        "It can be set to an empty string to disable prefixing",
        id="no prefix",
    ),
    pytest.param(
        [mapped(username={})],
        "jwt[0].claimMappings.username: Required value: claim or expression is required",
        id="no name",
    ),
    pytest.param(
        [mapped(username={"claim": "a", "expression": "claims.a"})],
        'jwt[0].claimMappings.username: Invalid value: "": claim and expression can\'t both be set',
        id="two names",
    ),
    pytest.param(
        [mapped(uid={"expression": "claims."})],
        'jwt[0].claimMappings.uid.expression: Invalid value: "claims.": compilation failed: ERROR: <input>:1:8:',
        id="no expression",
    ),
    pytest.param(
        [mapped(username={"expression": "user.name"})],
        "undeclared reference to 'user'",
        id="what does not exist yet",
    ),
    pytest.param(
        [mapped(username={"expression": "claims.email"})],
        "claims.email_verified must be used in claimMappings.username.expression or",
        id="an address nobody verifies",
    ),
    pytest.param(
        [mapped(extra=[{"key": "a.kubernetes.io/x", "valueExpression": "'a'"}])],
        'jwt[0].claimMappings.extra[0].key: Invalid value: "a.kubernetes.io/x": k8s.io, kubernetes.io and their '
        "subdomains are reserved for Kubernetes use",
        id="a reserved key",
    ),
    pytest.param(
        [mapped(extra=[{"key": "Example.com/x", "valueExpression": "'a'"}])],
        'jwt[0].claimMappings.extra[0].key: Invalid value: "Example.com/x": must be lowercase',
        id="a loud key",
    ),
    pytest.param(
        [{**GOOD, "claimValidationRules": [{"expression": "'yes'"}]}],
        "jwt[0].claimValidationRules[0].expression: Invalid value: \"'yes'\": must evaluate to bool",
        id="a rule that is no question",
    ),
    pytest.param(
        [{**GOOD, "claimValidationRules": [{"claim": "a", "message": "m"}]}],
        'jwt[0].claimValidationRules[0].message: Invalid value: "m": may not be specified when claim is set',
        id="a message for a claim",
    ),
    pytest.param(
        [{**GOOD, "userValidationRules": [{"expression": "user.nick == ''"}]}],
        "undefined field 'nick'",
        id="a user has no such field",
    ),
    pytest.param([GOOD] * 65, "jwt: Too many: 65: must have at most 64 items", id="too many"),
    pytest.param([{**GOOD, "oops": 1}], "jwt[0].oops: there is no such field", id="a field nobody knows"),
    pytest.param([changed(issuer={"audiences": "x"})], "jwt[0].issuer.audiences: must be a list", id="no list"),
    pytest.param([changed(issuer={"url": 7})], "jwt[0].issuer.url: must be a text", id="no text"),
]


@pytest.mark.parametrize(("jwt", "words"), BAD)
def test_what_is_wrong_is_told_by_file_and_field(tmp_path: Path, jwt: list[Json], words: str) -> None:
    file = tmp_path / "config.yaml"
    write_configuration(file, *jwt)
    with pytest.raises(ConfigError) as caught:
        configuration.load(file, [ISSUER])
    assert str(caught.value).startswith(f"--authentication-config {file}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "it must hold an object of kind AuthenticationConfiguration"),
        (b"{", "yaml:"),
        (b"kind: Pod\napiVersion: v1", "kind must be AuthenticationConfiguration"),
        (
            b"kind: AuthenticationConfiguration\napiVersion: apiserver.config.k8s.io/v1\njwt: []\njwt: []",
            "jwt: said twice",
        ),
    ],
)
def test_texts_that_are_no_configuration(tmp_path: Path, text: bytes, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        configuration.parse(text, tmp_path / "c", [])


def test_both_versions_and_nothing_at_all() -> None:
    for version in ("v1", "v1beta1"):
        text = f"apiVersion: apiserver.config.k8s.io/{version}\nkind: AuthenticationConfiguration".encode()
        assert configuration.parse(text, Path("c"), []).jwt == ()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone cannot be read: No such file or directory"):
        configuration.load(tmp_path / "gone", [])


@pytest.mark.parametrize(
    ("anonymous", "path", "status"),
    [
        (None, "/livez", 200),
        (None, "/api", 403),
        ({"enabled": False}, "/livez", 401),
        ({"enabled": True, "conditions": [{"path": "/livez"}]}, "/livez", 200),
        ({"enabled": True, "conditions": [{"path": "/livez"}]}, "/readyz", 401),
        ({"enabled": True, "conditions": [{"path": "/livez"}]}, "/api", 401),
    ],
)
async def test_who_may_be_anonymous(tmp_path: Path, anonymous: Json | None, path: str, status: int) -> None:
    file = tmp_path / "config"
    write_configuration(file, **({"anonymous": anonymous} if anonymous else {}))
    async with serving(AuthenticationOptions(config_file=file)) as api:
        assert (await api.as_user(None).send("GET", path)).status == status


async def test_the_flag_and_the_file_exclude_each_other(tmp_path: Path) -> None:
    file = tmp_path / "config"
    write_configuration(file, anonymous={"enabled": True})
    with pytest.raises(ConfigError, match="--anonymous-auth and the field anonymous"):
        async with serving(AuthenticationOptions(config_file=file, anonymous=False)):
            pass


@pytest.mark.parametrize(
    ("modes", "status"), [(("AlwaysAllow",), 401), (("RBAC",), 200), (("RBAC", "AlwaysAllow"), 401)]
)
async def test_where_everybody_may_do_everything_nobody_is_anonymous(modes: tuple[str, ...], status: int) -> None:
    store = MemoryStore()
    async with ApiServer(store, authorization=AuthorizationOptions(modes)).running() as server:
        assert (await Api(server).as_user(None).send("GET", "/livez")).status == status
    await store.close()


@contextmanager
def hearing(words: str) -> Iterator[Callable[[], Awaitable[None]]]:
    """Waits, when called, until the server has logged these words."""
    heard = asyncio.Event()

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage() == words:
                heard.set()

    async def wait() -> None:
        async with asyncio.timeout(15):
            await heard.wait()

    logger, ear = logging.getLogger("hardpoint.apiserver.authentication.reloading"), Ear()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(ear)
    try:
        yield wait
    finally:
        logger.removeHandler(ear)
        logger.setLevel(level)


async def counts(api: Api) -> tuple[int, int]:
    """How many reloads went well, and how many did not."""
    text = (await api.send("GET", "/metrics")).body.decode()
    name = "apiserver_authentication_config_controller_automatic_reloads_total"
    found = {
        status: int(line.split()[-1])
        for line in text.splitlines()
        for status in ("success", "failure")
        if line.startswith(f'{name}{{status="{status}"}}')
    }
    return found["success"], found["failure"]


async def test_a_changed_file_is_taken_over(tmp_path: Path, issuer: Issuer) -> None:
    file = tmp_path / "config"
    write_configuration(file, issuer.configuration())
    async with serving(AuthenticationOptions(config_file=file)) as api:
        token = issuer.token()
        assert (await who(api, token))[1]["username"] == "oidc:jane"
        renamed = issuer.configuration(claimMappings={"username": {"claim": "sub", "prefix": "new:"}})
        with hearing(RELOADED) as wait_until_reloaded:
            write_configuration(file, renamed)
            await wait_until_reloaded()
        # The token was remembered; what the old configuration made of it is not.
        assert (await who(api, token))[1]["username"] == "new:jane"
        assert await counts(api) == (1, 0)
        # The issuer stayed where it was, and kept its keys.
        assert issuer.asked.count("/keys") == 1


@pytest.mark.parametrize("edit", ["not YAML", "an unknown field", "another anonymous"])
async def test_after_a_bad_edit_the_last_good_one_stays(
    tmp_path: Path, issuer: Issuer, edit: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "config"
    write_configuration(file, issuer.configuration())
    async with serving(AuthenticationOptions(config_file=file)) as api:
        with hearing(NOT_RELOADED) as wait_until_refused:
            if edit == "not YAML":
                file.write_text("{")
            elif edit == "an unknown field":
                write_configuration(file, issuer.configuration(oops=True))
            else:
                write_configuration(file, issuer.configuration(), anonymous={"enabled": False})
            await wait_until_refused()
        assert await counts(api) == (0, 1)
        assert (await who(api, issuer.token()))[0] == 201
        [told] = [record for record in caplog.records if record.message == NOT_RELOADED]
        assert told.__dict__["file"] == str(file)


async def test_an_issuer_that_does_not_answer_does_not_replace_one_that_does(tmp_path: Path, issuer: Issuer) -> None:
    async def fail(_: Request) -> Response:
        return Response(503)

    file = tmp_path / "config"
    write_configuration(file, issuer.configuration())
    async with running_issuer(tmp_path / "other") as other, serving(AuthenticationOptions(config_file=file)) as api:
        other.answers["/keys"] = fail
        with hearing(NOT_RELOADED) as wait_until_refused:
            write_configuration(file, other.configuration())
            await wait_until_refused()
        assert (await who(api, issuer.token()))[0] == 201
        assert (await who(api, other.token()))[0] == 401


def test_the_guides_configuration_is_sound(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs/guides/authentication.md").read_text()
    written = [
        block for block in re.findall(r"^```yaml\n(.*?)^```", guide, re.MULTILINE | re.DOTALL) if "jwt:" in block
    ]
    assert len(written) == 1
    # Nobody prints an authority.
    text = re.sub(r"^    certificateAuthority: .*?(?=^  \w)", "", written[0], flags=re.MULTILINE | re.DOTALL)
    assert len(configuration.parse(text.encode(), tmp_path / "c", [ISSUER]).jwt) == 1


def test_the_configuration_is_written_as_kubernetes_has_it(tmp_path: Path) -> None:
    """A file from the documentation of Kubernetes' own shape, every field used."""
    everything = {
        "issuer": {
            "url": "https://example.com",
            "discoveryURL": "https://discovery.example.com/.well-known/openid-configuration",
            "audiences": ["my-app", "my-other-app"],
            "audienceMatchPolicy": "MatchAny",
        },
        "claimValidationRules": [
            {"claim": "hd", "requiredValue": "example.com"},
            {"expression": "claims.hd == 'example.com'", "message": "the hd claim must be set to example.com"},
        ],
        "claimMappings": {
            "username": {"expression": 'claims.username + ":external-user"'},
            "groups": {"expression": 'claims.roles.split(",")'},
            "uid": {"expression": "claims.sub"},
            "extra": [{"key": "example.com/tenant", "valueExpression": "claims.tenant"}],
        },
        "userValidationRules": [
            {"expression": "!user.username.startsWith('system:')", "message": "username cannot use reserved prefix"},
            {"expression": "user.groups.all(group, !group.startsWith('system:'))", "message": "nor groups"},
        ],
    }
    text = orjson.dumps(
        {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": [everything]}
    )
    assert configuration.parse(text, tmp_path / "c", [ISSUER]).jwt == (everything,)
