"""Secrets go through a cluster on every way there is, good and bad; then everything it wrote is searched for them.

The search is made here for what these tests sent, and once more at the end for what all attackers sent.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import stat
from asyncio.subprocess import PIPE
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
import pytest_asyncio
import yaml

from hardpoint.client.client import Client
from hardpoint.client.resources import Resource
from hardpoint.credential import ExecPlugins
from hardpoint.machinery.errors import HardpointError
from tests.chaos.process import Refused, Server
from tests.hostile.besieged import HERS, VERBOSE, Besieged
from tests.hostile.canaries import Canaries
from tests.seams.credential.plugins import printing, section

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("siege")]

Json = dict[str, Any]

SECRETS = f"{HERS}/secrets"
MERGE, JSON, APPLY, YAML = (
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/apply-patch+yaml",
    "application/yaml",
)
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


def secret(value: str, **more: Any) -> Json:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "leaky"}, "stringData": {"k": value}, **more}


def encoded(value: str) -> Json:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "leaky"}, "data": {"k": _base64(value)}}


def _base64(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def lasting(value: str, name: str = "lasting") -> Json:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": orjson.dumps(secret(value)).decode()}
    return secret(value) | {"metadata": {"name": name, "annotations": annotations}}


class Way(NamedTuple):
    """How a secret is sent, and what is answered."""

    method: str
    path: str
    body: Callable[[str], Any]
    status: int
    media: str = "application/json"


WAYS = {
    "created": Way("POST", SECRETS, lambda v: secret(v) | {"metadata": {"generateName": "new-"}}, 201),
    "created again": Way("POST", SECRETS, secret, 409),
    "created as YAML": Way("POST", f"{SECRETS}?dryRun=All", lambda v: yaml.safe_dump(lasting(v, "dry")), 201, YAML),
    "updated": Way("PUT", f"{SECRETS}/leaky", encoded, 200),
    "updated, too late": Way(
        "PUT",
        f"{SECRETS}/leaky",
        lambda v: encoded(v) | {"metadata": {"name": "leaky", "resourceVersion": "1"}},
        409,
    ),
    "merged": Way("PATCH", f"{SECRETS}/leaky", lambda v: {"stringData": {"k": v}}, 200, MERGE),
    "patched": Way(
        "PATCH",
        f"{SECRETS}/leaky",
        lambda v: [{"op": "replace", "path": "/data/k", "value": _base64(v)}],
        200,
        JSON,
    ),
    "patched after a test that fails": Way(
        "PATCH", f"{SECRETS}/leaky", lambda v: [{"op": "test", "path": "/data/k", "value": _base64(v)}], 422, JSON
    ),
    "applied over another's": Way("PATCH", f"{SECRETS}/leaky?fieldManager=n", encoded, 409, APPLY),
    "applied": Way("PATCH", f"{SECRETS}/leaky?fieldManager=m&force=true", encoded, 200, APPLY),
    "with what kubectl remembers": Way("POST", SECRETS, lasting, 201),
    "not in Base64": Way("POST", SECRETS, lambda v: secret("") | {"data": {"k": f"!{v}"}}, 400),
    "in a list": Way("POST", SECRETS, lambda v: secret("") | {"data": {"k": [v]}}, 400),
    "of a type that wants more": Way("POST", SECRETS, lambda v: secret(v, type="kubernetes.io/tls"), 422),
    "under a bad key": Way("POST", SECRETS, lambda v: secret("") | {"stringData": {"a/b": v}}, 422),
    "as a configuration that is none": Way(
        "POST",
        SECRETS,
        lambda v: secret("", type="kubernetes.io/dockerconfigjson") | {"stringData": {".dockerconfigjson": f"{{{v}"}},
        422,
    ),
    "in broken JSON": Way("POST", SECRETS, lambda v: f'{{"stringData":{{"k":"{v}'.encode(), 400),
    "in broken YAML": Way("POST", SECRETS, lambda v: f"stringData: {{k: {v}\n- x".encode(), 400, YAML),
    "in a broken patch": Way("PATCH", f"{SECRETS}/leaky", lambda v: f'{{"data":"{v}"'.encode(), 400, MERGE),
    "to a part that is not there": Way("PUT", f"{SECRETS}/leaky/status", secret, 404),
    "in a patch of a part that is not there": Way(
        "PATCH", f"{SECRETS}/leaky/token", lambda v: {"stringData": {"k": v}}, 404, MERGE
    ),
    "in another version": Way("POST", "/api/v2/namespaces/hers/secrets", secret, 404),
    "in a namespace that is not there": Way("POST", "/api/v1/namespaces/nowhere/secrets", secret, 404),
    "as another kind": Way("POST", f"{HERS}/configmaps", secret, 400),
    "a token, to be reviewed": Way("POST", REVIEWS, lambda v: {"spec": {"token": v}}, 201),
    "a token, wrongly": Way("POST", REVIEWS, lambda v: {"spec": {"token": [v]}}, 400),
    "a token in a review that is none": Way("POST", REVIEWS, lambda v: {"spec": {"token": v, "audiences": v}}, 400),
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def leaky(siege: Besieged) -> None:
    """The Secret that is written again and again."""
    await siege.ok("POST", SECRETS, secret(siege.canaries.make("what a Secret holds at first")))


@pytest.mark.usefixtures("leaky")
@pytest.mark.parametrize("way", WAYS)
async def test_on_their_way(siege: Besieged, way: str) -> None:
    method, path, body, status, media = WAYS[way]
    value = siege.canaries.make(f"a secret {way}")
    content = body(value)
    if isinstance(content, str):
        content = content.encode()
    elif not isinstance(content, bytes):
        content = orjson.dumps(content)
    answer = await siege.ask(None, method, path, content, content_type=media)
    assert answer.status == status, answer.body


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("name", "accept"), [("json", "application/json"), ("yaml", "application/yaml, */*"), ("table", TABLE)]
)
async def test_on_their_way_back(siege: Besieged, name: str, accept: str) -> None:
    value = siege.canaries.make(f"a Secret that is read as {name}")
    await siege.ok("POST", SECRETS, secret(value) | {"metadata": {"name": name}})
    for path in (
        f"{SECRETS}/{name}",
        SECRETS,
        f"{SECRETS}?includeObject=Object",
        f"{SECRETS}?watch=1&timeoutSeconds=1",
    ):
        assert (await siege.ask(None, "GET", path, accept=accept)).status == 200
    assert (await siege.ask(None, "DELETE", f"{SECRETS}/{name}")).status == 200


async def test_tokens_that_the_cluster_issues(siege: Besieged) -> None:
    await siege.ok("POST", f"{HERS}/serviceaccounts", {"metadata": {"name": "talker"}})
    made = await siege.ok("POST", f"{HERS}/serviceaccounts/talker/token", {"spec": {}})
    token = siege.canaries.add_token("a token that was asked for", made["status"]["token"])
    assert (await siege.whoami(siege.nobody, authorization=f"Bearer {token}"))[0] == 201
    protocols = f"base64url.bearer.authorization.k8s.io.{_base64(token).rstrip('=')}, v5.channel.k8s.io"
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Protocol": protocols}
    assert (await siege.ask(siege.nobody, "GET", "/api", **upgrade)).status == 200
    await siege.ok("POST", REVIEWS, {"spec": {"token": token}})


async def test_a_bootstrap_token(siege: Besieged) -> None:
    value = siege.canaries.make("a bootstrap token")[:16]
    data = {"token-id": "abcdef", "token-secret": value, "usage-bootstrap-authentication": "true"}
    made = {"metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token", "stringData": data}
    await siege.ok("POST", "/api/v1/namespaces/kube-system/secrets", made)
    siege.canaries.add("a bootstrap token", value)
    status, user = await siege.whoami(siege.nobody, authorization=f"Bearer abcdef.{value}")
    assert (status, user["username"]) == (201, "system:bootstrap:abcdef")


async def test_a_credential_plugin(siege: Besieged, caplog: pytest.LogCaptureFixture) -> None:
    """The client's own log, and what `hardpoint check` prints, are searched too."""
    caplog.set_level(logging.DEBUG)
    good = f"good.{siege.canaries.make('what a plugin prints')}"
    bad = f"bad.{siege.canaries.make('what a plugin prints in vain')}"
    said = []
    for name, token in (("good", good), ("bad", bad)):
        plugin = printing(siege.folder, name=name, token=token)
        said.append(await _refusal_with(siege, plugin))
        said += (checked := await _said_by("check", "credential", str(plugin)))
        assert all(checked)
    logged = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert siege.canaries.leaks({"the client": "\n".join((*said, logged)).encode()}) == []


async def _said_by(*arguments: str) -> list[str]:
    """What a command prints, and what it logs at its most talkative."""
    program = await asyncio.create_subprocess_exec(*VERBOSE, *arguments, stdout=PIPE, stderr=PIPE)
    return [said.decode() for said in await program.communicate()]


async def _refusal_with(siege: Besieged, plugin: Path) -> str:
    """What a client says that may not read ConfigMaps, or is nobody."""
    server = {"server": f"https://127.0.0.1:{siege.server.port}"}
    ca = {"certificate-authority": str(siege.pki.certificate("server-ca"))}
    file = siege.folder / "exec.kubeconfig"
    config = {
        "clusters": [{"name": "it", "cluster": server | ca}],
        "users": [{"name": "us", "user": {"exec": section(plugin)}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "us"}}],
        "current-context": "it",
    }
    file.write_bytes(orjson.dumps(config))
    with pytest.raises(HardpointError) as refused:
        async with Client.from_kubeconfig(file, plugins=ExecPlugins()) as client:
            await client.get(Resource("v1", "configmaps", "ConfigMap"), "open", namespace="hers")
    return f"{refused.value!r} {refused.value}"


async def test_nothing_of_it_was_written_down(siege: Besieged) -> None:
    assert siege.canaries.leaks(siege.written() | await siege.answered()) == []


@pytest.mark.parametrize(
    "form",
    [str, lambda v: _base64(f"x{v}"), lambda v: v.encode().hex()],
    ids=["as it is", "in Base64", "in hexadecimal"],
)
async def test_the_search_finds_what_there_is(form: Callable[[str], str]) -> None:
    canaries = Canaries()
    value = canaries.make("this")
    assert canaries.leaks({"a log": f"before {form(value)} after".encode(), "another": b"nothing"}) == ["this in a log"]


async def test_the_search_finds_keys_and_tokens(siege: Besieged) -> None:
    canaries = Canaries()
    pem = siege.pki.key("admin").read_bytes()
    canaries.add_key("the key", pem)
    canaries.add_token("the token", token := siege.issuer.token())
    told = orjson.dumps({"key": pem.decode(), "token": token.rpartition(".")[2]})
    assert canaries.leaks({"it": told}) == ["the key in it", "the token in it"]
    assert canaries.leaks({"it": siege.pki.certificate("admin").read_bytes()}) == []


async def test_files_are_their_owners_alone(siege: Besieged) -> None:
    everything = [siege.server.data, *siege.server.data.rglob("*"), siege.folder / "kubeconfig"]
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in everything if path.exists()}
    assert len(modes) > 20
    assert {path: oct(mode) for path, mode in modes.items() if mode & 0o077} == {}
    assert {oct(mode) for path, mode in modes.items() if path.is_dir()} == {"0o700"}


LISTENING = "0A"
"""As Linux writes it."""


async def test_it_listens_on_one_loopback_address_only(siege: Besieged) -> None:
    assert _listening(siege.server.pid) == {("tcp", f"0100007F:{siege.server.port:04X}")}


def _listening(pid: int) -> set[tuple[str, str]]:
    """The sockets of a process that others can begin to talk to, by kind and address."""
    own = {link.removeprefix("socket:[").rstrip("]") for link in _links(pid) if link.startswith("socket:")}
    found = set()
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:]:
            _, address, _, state, *_, inode = line.split()[:10]
            if inode in own and (state == LISTENING or kind.startswith("udp")):
                found.add((kind, address))
    for line in Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[6] in own and len(fields) > 7:
            found.add(("unix", fields[7]))
    return found


def _links(pid: int) -> list[str]:
    links = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            links.append(os.readlink(link))
        except FileNotFoundError:
            continue
    return links


async def test_what_others_can_change_is_not_used(tmp_path: Path) -> None:
    server = Server(tmp_path, arguments=("--components", "apiserver"))
    await server.start()
    await server.stop()
    for name in ("", "pki", "pki/admin.key", "store", "store/store.db", "audit"):
        place = server.data / name
        mode = place.stat().st_mode
        place.chmod(0o777)
        with pytest.raises(Refused, match="chmod") as refused:
            await server.start()
        assert str(place) in refused.value.words
        place.chmod(mode)
    await server.start()
    assert await server.stop() == 0
