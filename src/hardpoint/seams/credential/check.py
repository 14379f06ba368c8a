"""Does a program keep the promises of the credential seam? It is run as clients run it, in whatever language it is."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import orjson

from hardpoint.runtime.promises import Broken, NotAsked, Promises, expect
from hardpoint.seams.credential.contract import (
    EXEC_INFO,
    GROUP,
    OUTPUT_BYTES_MAX,
    VERSIONS,
    BadCredential,
    Cluster,
    Credential,
    Version,
    asked,
    credential_of,
)

PATIENCE_SECONDS = 30.0
CLUSTER: Cluster = {"server": "https://127.0.0.1:6443", "certificate-authority-data": "", "config": {"team": "check"}}

promises: Promises[Program] = Promises()


@dataclass(frozen=True, slots=True)
class Ran:
    """How it ended. What it printed is secret, and never shown."""

    status: int
    out: bytes = field(repr=False)
    err: bytes = field(repr=False)
    seconds: float


@dataclass(frozen=True, slots=True)
class Program:
    """The plugin, as a kubeconfig would name it."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    async def run(self, info: bytes | None) -> Ran:
        """Run it with this in KUBERNETES_EXEC_INFO, None for nothing, and with nobody at stdin."""
        environment = {name: value for name, value in self.environment.items() if name != EXEC_INFO}
        if info is not None:
            environment[EXEC_INFO] = info.decode()
        started = time.monotonic()
        try:
            process = await asyncio.create_subprocess_exec(
                *self.command,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as cause:
            raise Broken(f"it cannot be run: {cause.strerror}") from cause
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                out, err = await process.communicate()
        except TimeoutError:
            raise Broken(f"was not done in {PATIENCE_SECONDS:g} s, with nobody there to be asked") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return Ran(process.returncode or 0, out, err, time.monotonic() - started)

    async def credential(self, version: Version = "v1", cluster: Cluster | None = None) -> tuple[Credential, Ran]:
        """What it gives. Raises Broken if that is no credential."""
        ran = await self.run(orjson.dumps(asked(version, interactive=False, cluster=cluster)))
        expect(ran.status == 0, f"ended with status {ran.status}")
        expect(len(ran.out) <= OUTPUT_BYTES_MAX, f"printed more than {OUTPUT_BYTES_MAX} bytes")
        try:
            return credential_of(orjson.loads(ran.out), version), ran
        except orjson.JSONDecodeError:
            raise Broken("printed something besides one JSON object on stdout") from None
        except BadCredential as wrong:
            raise Broken(f"printed no credential: {wrong}") from wrong


@promises("it prints one ExecCredential on stdout, and nothing else, and ends with status 0")
async def _prints(plugin: Program) -> None:
    await plugin.credential()


@promises("it answers in the version it was asked in")
async def _versions(plugin: Program) -> None:
    for version in VERSIONS:
        await plugin.credential(version)  # type: ignore[arg-type]  # one of them


@promises("it works whether or not it is told of the cluster")
async def _cluster(plugin: Program) -> None:
    await plugin.credential(cluster=CLUSTER)
    await plugin.credential()


@promises("what it gives is still good")
async def _fresh(plugin: Program) -> None:
    credential, _ = await plugin.credential()
    if credential.expires is not None:
        expect(credential.expires > datetime.now(UTC), "gave a credential that has expired already")


@promises("its certificate and key are PEM")
async def _pem(plugin: Program) -> None:
    credential, _ = await plugin.credential()
    if not credential.cert_pem:
        raise NotAsked("it gives a token")
    expect("-----BEGIN CERTIFICATE-----" in credential.cert_pem, "its certificate is not PEM; it is not base64 of PEM")
    expect("PRIVATE KEY-----" in credential.key_pem, "its key is not PEM; it is not base64 of PEM")


@promises("its secrets are not on stderr")
async def _no_leak(plugin: Program) -> None:
    credential, ran = await plugin.credential()
    for secret in (credential.token, credential.key_pem):
        expect(not secret or secret.encode() not in ran.err, "repeated its secret on stderr")


@promises("run twice at once, it gives a credential both times")
async def _at_once(plugin: Program) -> None:
    await asyncio.gather(plugin.credential(), plugin.credential())


@promises("what it was not told rightly it refuses, with a status other than 0, words on stderr and nothing on stdout")
async def _misuse(plugin: Program) -> None:
    wrong = {
        "nothing": None,
        "an empty text": b"",
        "no JSON": b"{",
        "another kind": orjson.dumps({"apiVersion": f"{GROUP}/v1", "kind": "Pod", "spec": {"interactive": False}}),
        "a version nobody knows": orjson.dumps({"apiVersion": f"{GROUP}/v99", "kind": "ExecCredential", "spec": {}}),
    }
    for what, info in wrong.items():
        ran = await plugin.run(info)
        expect(ran.status != 0, f"ended with status 0 when told {what}")
        expect(not ran.out.strip(), f"printed on stdout when told {what}")
        expect(bool(ran.err.strip()), f"said nothing on stderr when told {what}")
