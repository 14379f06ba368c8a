"""A cluster with everything on that knows users and decides, in a process of its own that says all it can, under siege.

It is `hardpoint up` with debug logging, audit at the highest level with a log and a sink, static tokens, an OpenID
Connect issuer, a webhook for tokens, and webhooks that decide about a few users. Every secret in it is a canary.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from hardpoint.serving.certificates import Pki
from tests.apiserver.authentication.issuer import Issuer, running_issuer
from tests.apiserver.authentication.over_tls import issue
from tests.chaos.process import Server, running
from tests.chaos.wire import Answer, Wire
from tests.client.scripted import Asked, Reply, scripted
from tests.hostile.canaries import Canaries
from tests.hostile.strangers import MISBEHAVIOURS, Strangers, strangers

Json = dict[str, Any]

VERBOSE = (sys.executable, str(Path(__file__).with_name("verbose.py")))
RBAC = "/apis/rbac.authorization.k8s.io/v1"
WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
VAULT, HERS = "/api/v1/namespaces/vault", "/api/v1/namespaces/hers"
KEPT = ("store", "pki")
"""The folders of the data directory that hold secrets."""
PATIENCE_SECONDS = 10.0
JUDGED, ADVISED = "judged:", "advised:"
"""How the users are called about whom webhooks decide: a failure denies, or says nothing. What follows is what the
webhook does when it is asked."""


class Besieged:
    """The cluster, who is in it, and everything it says to them."""

    server: Server

    def __init__(self, folder: Path, canaries: Canaries, issuers: tuple[Issuer, Issuer], hooks: Strangers) -> None:
        self.folder = folder
        self.canaries = canaries
        self.issuer, self.other_issuer = issuers
        self.hooks = hooks
        self.static_token = canaries.make("a static token")
        self.told: list[bytes] = []
        """What the audit sink was sent."""
        self.refusals: list[bytes] = []
        """The body of every refusal."""
        self._people: dict[tuple[str, ...], ssl.SSLContext] = {}

    @property
    def pki(self) -> Pki:
        return Pki(self.server.data / "pki")

    def person(self, name: str, *groups: str, authority: str = "client-ca", **terms: Any) -> ssl.SSLContext:
        """A client that shows a certificate for this name."""
        key = (name, *groups, authority, *map(str, terms.values()))
        if key not in self._people:
            files = issue(self.pki, authority, self.folder, names={"CN": name, "O": list(groups)}, **terms)
            self.canaries.add_key(f"the key of {name}", files[1].read_bytes())
            self._people[key] = self.showing(*files)
        return self._people[key]

    def showing(self, certificate: Path, key: Path) -> ssl.SSLContext:
        context = self.server.anonymous()
        context.load_cert_chain(certificate, key)
        return context

    @property
    def nobody(self) -> ssl.SSLContext:
        return self.server.anonymous()

    async def ask(
        self, who: ssl.SSLContext | None, method: str, path: str, body: bytes | Json = b"", **more: Any
    ) -> Answer:
        """Ask as somebody, or as the admin, over a connection of its own."""
        wire = await Wire.open(self.server, who)
        try:
            answer = await wire.ask(method, path, body, **more)
        finally:
            wire.cut()
        return self.noted(answer)

    async def ok(self, method: str, path: str, body: bytes | Json = b"", **more: Any) -> Json:
        """What the admin gets, who gets everything."""
        answer = await self.ask(None, method, path, body, **more)
        assert answer.status < 300, answer.body
        return answer.json()

    async def say(self, who: ssl.SSLContext, *lines: str | bytes, body: bytes = b"") -> bytes:
        """Everything that comes back for a request written byte by byte. The server must end the connection."""
        wire = await Wire.open(self.server, who)
        raw = b"\r\n".join(line if isinstance(line, bytes) else line.encode() for line in (*lines, "", ""))
        try:
            wire.writer.write(raw + body)
            heard = await wire.reader.read()
        except ConnectionError:
            heard = b""
        finally:
            wire.cut()
        if not heard.startswith(b"HTTP/1.1 2"):
            self.refusals.append(heard)
        return heard

    async def whoami(self, who: ssl.SSLContext | None, **headers: str) -> tuple[int, Json]:
        """A status, and the user, or the refusal."""
        answer = await self.ask(who, "POST", WHOAMI, {}, **headers)
        body = answer.json()
        return answer.status, body["status"]["userInfo"] if answer.status == 201 else body

    def noted(self, answer: Answer) -> Answer:
        if answer.status >= 400:
            self.refusals.append(answer.body)
        return answer

    async def allow(self, role: str, subject: Json, *rules: Json, namespace: str = "") -> None:
        """Give a new role of these rules, everywhere or in a namespace."""
        place = f"{RBAC}/namespaces/{namespace}/" if namespace else f"{RBAC}/cluster"
        kind = "Role" if namespace else "ClusterRole"
        await self.ok("POST", f"{place}roles", {"metadata": {"name": role}, "rules": list(rules)})
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}
        binding = {"metadata": {"name": role}, "roleRef": reference, "subjects": [subject]}
        await self.ok("POST", f"{place}rolebindings", binding)

    async def wait_until(self, collection: str, name: str, is_so: Callable[[Json], bool], since: str = "") -> None:
        """Watch an object until an event says so: from a revision on, or from what there is now."""
        wire = await Wire.open(self.server)
        path = f"{collection}?watch=1&fieldSelector=metadata.name%3D{name}&resourceVersion={since}"
        async with asyncio.timeout(PATIENCE_SECONDS), aclosing(wire.watch(path)) as events:
            async for event in events:
                if is_so(event):
                    break
        wire.cut()

    def written(self) -> dict[str, bytes]:
        """All that the process wrote by itself, by where. Keys and the store are where secrets belong."""
        data = self.server.data
        files = (path for path in data.rglob("*") if path.is_file())
        written = {str(path.relative_to(data)): path.read_bytes() for path in files if path.parent.name not in KEPT}
        return written | {"stderr": self.server.said.read_bytes(), "the audit sink": b"\n".join(self.told)}

    async def answered(self) -> dict[str, bytes]:
        """All that it tells when it is asked about itself, and all its refusals so far."""
        paths = ("/metrics", "/api/v1/events", "/apis/events.k8s.io/v1/events", "/readyz?verbose", "/livez?verbose")
        answers = {path: (await self.ask(None, "GET", path)).body for path in paths}
        return answers | {"refusals": b"\n".join(self.refusals)}


@asynccontextmanager
async def besieged(folder: Path) -> AsyncIterator[Besieged]:
    """Put it together. At the end it must have kept its composure, and its secrets."""
    canaries = Canaries()
    async with AsyncExitStack() as stack:
        token, whisper = canaries.make("the token for webhooks"), canaries.make("what webhooks answer")
        hooks = await stack.enter_async_context(strangers(folder, token, whisper))
        issuer = await stack.enter_async_context(running_issuer(folder / "issuer"))
        other = await stack.enter_async_context(running_issuer(folder / "other-issuer"))
        siege = Besieged(folder, canaries, (issuer, other), hooks)
        siege.server = Server(folder, program=VERBOSE, arguments=await _arguments(siege, stack))
        await stack.enter_async_context(running(siege.server))
        await _furnish(siege)
        yield siege
        answered = await siege.answered()
        assert await siege.server.stop() == 0, siege.server.words()
        assert siege.told, "the sink was told nothing"
        leaks = canaries.leaks(answered | siege.written())
        assert not leaks, leaks
        assert hooks.elsewhere.connections == 0, "a redirect was followed"


async def _arguments(siege: Besieged, stack: AsyncExitStack) -> list[str]:
    """What the command is given. Whoever it will ask is running when this returns."""

    async def keep(asked: Asked, reply: Reply) -> None:
        siege.told.append(asked.body)
        await reply.answer()

    folder, hooks = siege.folder, siege.hooks
    sink = await stack.enter_async_context(scripted(keep, context=hooks.family.honest()))
    tokens = await stack.enter_async_context(hooks.webhook("tokens", _token_answer, hooks.family.honest()))
    return [
        *("--authentication-config", _written(folder / "authentication.json", _authentication(siege))),
        *("--authentication-token-webhook-config-file", str(tokens)),
        *("--token-auth-file", _written(folder / "tokens.csv", f"{siege.static_token},static,7\n".encode())),
        *("--authorization-config", await _authorization(folder, stack, hooks)),
        *("--audit-policy-file", _written(folder / "policy.json", AUDIT_EVERYTHING)),
        *("--audit-webhook-config-file", str(hooks.kubeconfig("sink", sink.port))),
    ]


AUDIT_EVERYTHING = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "RequestResponse"}]}


def _written(file: Path, content: Json | bytes) -> str:
    file.write_bytes(content if isinstance(content, bytes) else orjson.dumps(content))
    return str(file)


def _authentication(siege: Besieged) -> Json:
    return {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthenticationConfiguration",
        "jwt": [issuer.configuration() for issuer in (siege.issuer, siege.other_issuer)],
    }


async def _authorization(folder: Path, stack: AsyncExitStack, hooks: Strangers) -> str:
    """Webhooks decide about their own users, before and after roles do."""
    honest = await stack.enter_async_context(hooks.webhook("access", _access_answer, hooks.family.honest()))
    authorizers = [_hook("judge", honest, "Deny", JUDGED), _hook("advisor", honest, "NoOpinion", ADVISED)]
    for wrong, tls in hooks.family.impostors().items():
        file = await stack.enter_async_context(hooks.webhook(wrong, _access_answer, tls))
        authorizers.append(_hook(wrong, file, "Deny", f"impostor:{wrong}"))
    return _written(
        folder / "authorization.json",
        {
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "AuthorizationConfiguration",
            "authorizers": [*authorizers, {"type": "Node", "name": "node"}, {"type": "RBAC", "name": "rbac"}],
        },
    )


def _hook(name: str, file: Path, on_failure: str, users: str) -> Json:
    settings = {
        "timeout": "1s",
        "subjectAccessReviewVersion": "v1",
        "matchConditionSubjectAccessReviewVersion": "v1",
        "failurePolicy": on_failure,
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": str(file)},
        "matchConditions": [{"expression": f"request.user.startsWith('{users}')"}],
    }
    return {"type": "Webhook", "name": name, "webhook": settings}


def _token_answer(review: Json) -> tuple[Json, str]:
    """Tokens are `what-to-do.secret`; `good` is somebody, and what the webhook has not heard of is nobody."""
    what = review["spec"]["token"].partition(".")[0]
    if what == "good":
        return {**review, "status": {"authenticated": True, "user": {"username": "hook:good"}}}, ""
    root = {"username": "root", "groups": ["system:masters"]}
    return {**review, "status": {"authenticated": what in MISBEHAVIOURS, "user": root}}, what


def _access_answer(review: Json) -> tuple[Json, str]:
    return {**review, "status": {"allowed": True}}, review["spec"]["user"].partition(":")[2]


async def _furnish(siege: Besieged) -> None:
    """Two namespaces: one that an attacker may use, and one with a secret in it."""
    for name in ("hers", "vault"):
        await siege.ok("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    secret = {"metadata": {"name": "s"}, "stringData": {"password": siege.canaries.make("a Secret's data")}}
    await siege.ok("POST", f"{VAULT}/secrets", secret)
    await siege.ok("POST", f"{HERS}/configmaps", {"metadata": {"name": "open"}, "data": {"k": "v"}})
    for key in sorted(siege.pki.directory.glob("*.key")):
        siege.canaries.add_key(key.name, key.read_bytes())
