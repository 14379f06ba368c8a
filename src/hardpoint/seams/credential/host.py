"""The client's side: run the program of a kubeconfig's `exec` section, and keep its credential while it is good.

A plugin runs once for all requests that wait for it: it may be asking somebody for a password. The rules are
client-go's; stricter are two: a program found through a relative entry of PATH is not run, and one that prints more
than a megabyte, or that nobody can be asked by and takes a minute, is ended.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from hardpoint.client.credentials import ClientCertificate, CredentialPlugins, Credentials, Proof, bearer
from hardpoint.machinery.errors import ConfigError, ContractBroken, Unavailable
from hardpoint.seams.credential.contract import (
    EXEC_INFO,
    OUTPUT_BYTES_MAX,
    BadCredential,
    Cluster,
    Credential,
    Version,
    asked,
    credential_of,
    known_version,
)

SEAM = "credential"
PATIENCE_SECONDS = 60.0
INTERACTIVE_PATIENCE_SECONDS = 600.0
INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")


@dataclass(frozen=True, slots=True)
class Plugin:
    """An `exec` section, checked."""

    command: str
    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    version: Version
    interactive_mode: str
    install_hint: str
    cluster: Cluster | None
    """What it is told; None unless it asked for it."""

    @classmethod
    def of(cls, section: Mapping[str, Any], cluster: Mapping[str, Any]) -> Plugin:
        """Raises ConfigError for a section that cannot work."""
        command = section["command"]
        try:
            version = known_version(section.get("apiVersion"))
        except BadCredential as wrong:
            raise ConfigError(f"credential plugin {command!r}: exec.{wrong}") from wrong
        mode = section.get("interactiveMode") or ("IfAvailable" if version == "v1beta1" else "")
        if mode not in INTERACTIVE_MODES:
            known = ", ".join(INTERACTIVE_MODES)
            raise ConfigError(f"credential plugin {command!r}: exec.interactiveMode must be one of {known}")
        return cls(
            command,
            tuple(_texts(section.get("args"), f"credential plugin {command!r}: exec.args")),
            tuple(_environment(section.get("env"), command)),
            version,
            mode,
            str(section.get("installHint") or ""),
            dict(cluster) if section.get("provideClusterInfo") else None,  # type: ignore[arg-type]  # as we were given
        )

    def is_interactive(self) -> bool:
        """Whether it may ask somebody. Raises ConfigError if it must and nobody is there."""
        is_there = sys.stdin is not None and sys.stdin.isatty()
        if self.interactive_mode == "Always" and not is_there:
            raise ConfigError(f"credential plugin {self.command!r} must ask somebody, and stdin is not a terminal")
        return is_there and self.interactive_mode != "Never"


class PluginCredentials:
    """What one plugin gives, until it expires or is refused."""

    def __init__(self, plugin: Plugin, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._plugin = plugin
        self._now = now
        self._kept: tuple[Proof, datetime | None] | None = None
        self._running = asyncio.Lock()

    async def proof(self) -> Proof:
        """Raises ConfigError, Unavailable, ContractBroken."""
        proof = self._good()
        if proof is not None:
            return proof
        async with self._running:
            proof = self._good()
            if proof is None:
                credential = await run(self._plugin)
                proof = _proof(credential, self._plugin)
                self._kept = (proof, credential.expires)
            return proof

    def refused(self, proof: Proof) -> None:
        if self._kept is not None and self._kept[0] is proof:
            self._kept = None

    def _good(self) -> Proof | None:
        if self._kept is None:
            return None
        proof, expires = self._kept
        return proof if expires is None or self._now() <= expires else None


class ExecPlugins:
    """Makes credentials of `exec` sections. Clients made with the same one share what a plugin gave."""

    def __init__(self) -> None:
        self._known: dict[bytes, PluginCredentials] = {}

    def __call__(self, exec_section: Mapping[str, object], cluster: Mapping[str, object]) -> Credentials:
        key = orjson.dumps([exec_section, cluster], option=orjson.OPT_SORT_KEYS)
        if key not in self._known:
            self._known[key] = PluginCredentials(Plugin.of(exec_section, cluster))
        return self._known[key]


async def run(plugin: Plugin) -> Credential:
    """Run it once. Raises ConfigError, Unavailable, ContractBroken; what it printed is in none of them."""
    interactive = plugin.is_interactive()
    told = asked(plugin.version, interactive=interactive, cluster=plugin.cluster)
    environment = {**os.environ, **dict(plugin.environment), EXEC_INFO: orjson.dumps(told).decode()}
    try:
        process = await asyncio.create_subprocess_exec(
            _found(plugin),
            *plugin.arguments,
            env=environment,
            stdin=None if interactive else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
    except OSError as cause:
        raise Unavailable(SEAM, plugin.command, f"cannot be run: {cause.strerror}") from cause
    try:
        printed = await _printed(process, plugin, INTERACTIVE_PATIENCE_SECONDS if interactive else PATIENCE_SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise Unavailable(SEAM, plugin.command, f"ended with status {process.returncode}; it says why on stderr")
    try:
        return credential_of(orjson.loads(printed), plugin.version)
    except orjson.JSONDecodeError:
        raise ContractBroken(SEAM, plugin.command, "printed something that is not JSON") from None
    except BadCredential as cause:
        raise ContractBroken(SEAM, plugin.command, f"printed no credential: {cause}") from cause


async def _printed(process: asyncio.subprocess.Process, plugin: Plugin, patience_seconds: float) -> bytes:
    assert process.stdout is not None
    content = bytearray()
    try:
        async with asyncio.timeout(patience_seconds):
            while chunk := await process.stdout.read(65536):
                content += chunk
                if len(content) > OUTPUT_BYTES_MAX:
                    raise ContractBroken(SEAM, plugin.command, f"printed more than {OUTPUT_BYTES_MAX} bytes")
            await process.wait()
    except TimeoutError as cause:
        raise Unavailable(SEAM, plugin.command, f"was not done in {patience_seconds:g} s") from cause
    return bytes(content)


def _found(plugin: Plugin) -> str:
    """The program itself: a path as it is written, or a name as PATH finds it."""
    found = shutil.which(plugin.command)
    if found is None:
        hint = f"\n\n{plugin.install_hint}" if plugin.install_hint else ""
        raise Unavailable(SEAM, plugin.command, f"is not installed: there is no such program on PATH{hint}")
    if "/" not in plugin.command and not os.path.isabs(found):
        raise ConfigError(f"credential plugin {plugin.command!r} is found in {found}, beside where you happen to be")
    return found


def _proof(credential: Credential, plugin: Plugin) -> Proof:
    headers = (bearer(credential.token, f"credential plugin {plugin.command!r}"),) if credential.token else ()
    certificate = None
    if credential.cert_pem:
        certificate = ClientCertificate(credential.cert_pem.encode(), credential.key_pem.encode())
    return Proof(headers, certificate)


def _texts(value: object, where: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ConfigError(f"{where} must be a list of texts; put them in quotes")
    return value


def _environment(value: object, command: str) -> list[tuple[str, str]]:
    where = f"credential plugin {command!r}: exec.env"
    if value is None:
        return []
    if not isinstance(value, list):
        raise ConfigError(f"{where} must be a list")
    pairs = []
    for entry in value:
        name, text = (entry.get("name"), entry.get("value", "")) if isinstance(entry, dict) else (None, None)
        if not isinstance(name, str) or not name or not isinstance(text, str):
            raise ConfigError(f"{where} must hold a name and a value each, both texts")
        pairs.append((name, text))
    return pairs


_conforms: type[Credentials] = PluginCredentials
_makes: CredentialPlugins = ExecPlugins()
