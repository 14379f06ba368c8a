"""What a real kubectl makes of our documents, where there is one."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from hardpoint.apiserver import version
from hardpoint.apiserver.discovery import Discovery
from hardpoint.apiserver.openapi import OpenApi
from hardpoint.apiserver.registry import Registry
from hardpoint.machinery import kinds
from hardpoint.machinery.messages import Peer, Request, Response
from tests.apiserver.openapi.crontab import CRONTAB, CRONTAB_SCHEMA

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on the PATH")

Explain = Callable[..., Awaitable[str]]


@pytest.fixture
async def explain(tmp_path: Path) -> AsyncIterator[Explain]:
    registry = Registry([*kinds.builtin(), CRONTAB])
    server = await asyncio.start_server(_Served(registry).connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def explain(*arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *("kubectl", f"--server=http://127.0.0.1:{port}", f"--cache-dir={tmp_path}", "explain", *arguments),
            env={"KUBECONFIG": "/dev/null", "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        assert process.returncode == 0, output.decode()
        return output.decode()

    async with server:
        yield explain


async def test_explain(explain: Explain) -> None:
    told = await explain("pod.spec.containers.imagePullPolicy")
    assert "FIELD: imagePullPolicy <string>" in told
    assert "IfNotPresent" in told


async def test_explain_recursive(explain: Explain) -> None:
    assert re.search(r"^ +rollingUpdate\t<RollingUpdateDeployment>$", await explain("deploy", "--recursive"), re.M)


async def test_explain_through_version_two(explain: Explain) -> None:
    told = await explain("deploy.spec.replicas", "--output=plaintext-openapiv2")
    assert re.search(r"^FIELD: +replicas <integer>$", told, re.M)


async def test_explain_a_custom_resource(explain: Explain) -> None:
    assert "The times." in await explain("crontabs.spec")


class _Served:
    """The least HTTP server that kubectl explain is content with."""

    def __init__(self, registry: Registry) -> None:
        self._discovery = Discovery(registry, "127.0.0.1:0")
        self._openapi = OpenApi(registry, lambda kind: CRONTAB_SCHEMA if kind is CRONTAB else None)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        (method, url, _), *lines = (line.split(" ", 2) for line in head.strip().split("\r\n"))
        headers = {name.rstrip(":").lower(): " ".join(rest) for name, *rest in lines}
        path, _, query = url.partition("?")
        request = Request(method, path, query, headers, b"", Peer("in-process"))
        answer = (
            self._discovery.respond(request)
            or version.respond(request)
            or await self._openapi.respond(request)
            or Response(404)
        )
        sent = {"Content-Type": answer.content_type, "Content-Length": len(answer.body), "Connection": "close"}
        named = "".join(f"{name}: {value}\r\n" for name, value in (*answer.headers, *sent.items()))
        writer.write(f"HTTP/1.1 {answer.status} Answer\r\n{named}\r\n".encode() + answer.body)
        await writer.drain()
        writer.close()
