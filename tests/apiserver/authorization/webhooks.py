"""An API server that asks webhooks, and webhooks that do what a test tells them."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from hardpoint.apiserver.authorization.options import AuthorizationOptions
from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery.messages import User
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api
from tests.client.authority import Authority
from tests.client.scripted import Asked, Reply, Script, Scripted, scripted

Json = dict[str, Any]

SERVERS = Authority("webhooks")
STRANGERS = Authority("strangers")
JANE = User("jane", ("devs", "system:authenticated"), "7", {"example.com/team": ("a", "b")})
TOKEN = "s3cr3t-w3bh00k-t0k3n"
REVIEW = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}


@asynccontextmanager
async def webhook(
    script: Script, folder: Path, *, authority: Authority = SERVERS, name: str = "127.0.0.1"
) -> AsyncIterator[tuple[Scripted, Path]]:
    """A server that follows `script`, and the kubeconfig-format file that leads to it."""
    async with scripted(script, context=_identity(folder, authority, name)) as server:
        yield server, kubeconfig(folder, server.port)


def _identity(folder: Path, authority: Authority, name: str) -> ssl.SSLContext:
    folder.mkdir(exist_ok=True)
    certificate, key = authority.issue("webhook", alternatives=(name,))
    (folder / "webhook.pem").write_bytes(certificate + key)
    (folder / "ca.crt").write_bytes(SERVERS.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "webhook.pem")
    return context


def kubeconfig(folder: Path, port: int) -> Path:
    cluster = {"server": f"https://127.0.0.1:{port}/authorize", "certificate-authority": "ca.crt"}
    config = {
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "us", "user": {"token": TOKEN}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "us"}}],
        "current-context": "it",
    }
    file = folder / "webhook.kubeconfig"
    file.write_bytes(orjson.dumps(config))
    return file


def saying(**status: Any) -> Script:
    """Answers every review with this status."""

    async def script(asked: Asked, reply: Reply) -> None:
        await reply.answer(orjson.dumps({**REVIEW, "status": status}))

    return script


def hook(kubeconfig: Path, name: str = "hook", **more: Any) -> Json:
    """An authorizer of a configuration."""
    settings = {
        "timeout": "1s",
        "subjectAccessReviewVersion": "v1",
        "failurePolicy": "NoOpinion",
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": str(kubeconfig)},
        **more,
    }
    if "matchConditions" in more:
        settings["matchConditionSubjectAccessReviewVersion"] = "v1"
    return {"type": "Webhook", "name": name, "webhook": settings}


RBAC = {"type": "RBAC", "name": "rbac"}


def configuration(file: Path, *authorizers: Json, version: str = "v1") -> Path:
    """The file with this configuration, put there in one step."""
    content = {
        "apiVersion": f"apiserver.config.k8s.io/{version}",
        "kind": "AuthorizationConfiguration",
        "authorizers": authorizers,
    }
    fresh = file.with_name(f".{file.name}")
    fresh.write_bytes(orjson.dumps(content))
    fresh.replace(file)
    return file


@asynccontextmanager
async def served(file: Path, user: User = JANE) -> AsyncIterator[Api]:
    """A server with the configuration in a file, asked by `user`."""
    async with ApiServer(MemoryStore(), authorization=AuthorizationOptions(config_file=file)).running() as server:
        yield Api(server, user)
