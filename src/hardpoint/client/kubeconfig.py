"""Kubeconfig files: which ones count, how they merge, and how a context of ours gets in and out of one.

The rules are kubectl's: `--kubeconfig` names the only file, else `KUBECONFIG` lists them, else `~/.kube/config`; the
first file to set a name or the current context wins, whole entry by whole entry; paths are relative to their file.
What an entry means (certificates, tokens, servers) is `endpoint.py`'s knowledge.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hardpoint.client.filechange import locked, replace_content
from hardpoint.machinery import yamltext
from hardpoint.machinery.errors import ConfigError

Json = dict[str, Any]

SECTIONS = {"clusters": "cluster", "users": "user", "contexts": "context"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One named cluster, user or context, and the file that says so."""

    file: Path
    section: str
    name: str
    body: Mapping[str, Any]

    def where(self, key: str) -> str:
        """A field of this entry as errors name it: `~/.kube/config: users[admin].user.token`."""
        return f"{self.file}: {self.section}[{self.name}].{SECTIONS[self.section]}.{key}"

    def text(self, key: str) -> str:
        """The field's text, "" where it is not set. Raises ConfigError for anything but text."""
        value = self.body.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise ConfigError(f"{self.where(key)} must be text; put it in quotes")
        return value

    def texts(self, key: str) -> list[str]:
        """The field's list of texts, empty where it is not set."""
        return _texts(self.body.get(key), self.where(key))

    def text_lists(self, key: str) -> dict[str, list[str]]:
        """The field's mapping to lists of texts, empty where it is not set."""
        value = self.body.get(key)
        if value is not None and not isinstance(value, dict):
            raise ConfigError(f"{self.where(key)} must be a mapping")
        return {name: _texts(values, f"{self.where(key)}.{name}") for name, values in (value or {}).items()}

    def path(self, key: str) -> Path | None:
        """The file the field names, relative to the kubeconfig that names it."""
        named = self.text(key)
        return self.file.parent / named if named else None

    def flag(self, key: str) -> bool:
        value = self.body.get(key, False)
        if not isinstance(value, bool):
            raise ConfigError(f"{self.where(key)} must be true or false")
        return value


@dataclass(slots=True)
class Kubeconfig:
    """Several files, merged."""

    files: tuple[Path, ...]
    current_context: str = ""
    clusters: dict[str, Entry] = field(default_factory=dict)
    users: dict[str, Entry] = field(default_factory=dict)
    contexts: dict[str, Entry] = field(default_factory=dict)

    def named(self) -> str:
        """The files, as errors name them."""
        return os.pathsep.join(str(file) for file in self.files)

    def is_empty(self) -> bool:
        return not (self.clusters or self.users or self.contexts or self.current_context)


def search_path(environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The files that count when none is named on the command line, the most important first."""
    listed = [Path(part) for part in environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    return tuple(dict.fromkeys(listed)) or (Path.home() / ".kube" / "config",)


def load(named: Path | None = None, *, environ: Mapping[str, str] = os.environ) -> Kubeconfig:
    """Read and merge. A file that `named` asks for must exist; of the others the missing ones are passed over."""
    if named is not None and not named.exists():
        raise ConfigError(f"{named} does not exist; give --kubeconfig a file, or leave it out to use KUBECONFIG")
    merged = Kubeconfig(files=(named,) if named is not None else search_path(environ))
    for file in merged.files:
        document = _read(file)
        merged.current_context = merged.current_context or _current_context(file, document)
        for section in SECTIONS:
            into: dict[str, Entry] = getattr(merged, section)
            for name, body in _entries(file, document, section):
                into.setdefault(name, Entry(file, section, name, body))
    return merged


def write_context(
    path: Path,
    *,
    name: str,
    server: str,
    ca_pem: bytes,
    cert_pem: bytes,
    key_pem: bytes,
    make_current: bool | None = None,
) -> str:
    """Add or replace cluster, user and context `hardpoint-<name>`, and return that context's name.

    Everything else in the file stays. It becomes the current context of a file that had no contexts; elsewhere the
    current context stays what it was. `make_current` overrides both. The file is replaced in one step, is on disk on
    return, and only its owner reads it.
    """
    title = f"hardpoint-{name}"
    bodies = {
        "clusters": {"server": server, "certificate-authority-data": _base64(ca_pem)},
        "users": {"client-certificate-data": _base64(cert_pem), "client-key-data": _base64(key_pem)},
        "contexts": {"cluster": title, "user": title},
    }
    with locked(path) as target:
        document = _read(target) or {"apiVersion": "v1", "kind": "Config"}
        is_first = not _current_context(target, document) and not document.get("contexts")
        for section, body in bodies.items():
            _put(target, document, section, title, body)
        if make_current or (make_current is None and is_first):
            document["current-context"] = title
        document.setdefault("current-context", "")
        replace_content(target, yamltext.encode(document))
    return title


def remove_context(path: Path, *, name: str) -> bool:
    """Take cluster, user and context `hardpoint-<name>` out again; tells whether any was there."""
    title = f"hardpoint-{name}"
    if not path.exists():
        return False
    with locked(path) as target:
        document = _read(target)
        removed = False
        for section in SECTIONS:
            names = [found for found, _ in _entries(target, document, section)]
            if title in names:
                document[section] = [item for item in document[section] if item["name"] != title]
                removed = True
        if removed:
            if _current_context(target, document) == title:
                document["current-context"] = ""
            replace_content(target, yamltext.encode(document))
    return removed


def _read(file: Path) -> Json:
    """The document in `file`; empty where there is none."""
    try:
        with file.open("rb") as opened:
            content = opened.read(yamltext.SIZE_MAX + 1)
    except FileNotFoundError:
        return {}
    except OSError as cause:
        raise ConfigError(f"{file} cannot be read: {cause.strerror}") from cause
    if len(content) > yamltext.SIZE_MAX:
        raise ConfigError(f"{file} has more than {yamltext.SIZE_MAX} bytes; is it a kubeconfig?")
    try:
        document = yamltext.parse(content).value
    except yamltext.BadYaml as cause:
        raise ConfigError(f"{file} is not YAML: {cause}") from cause
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigError(f"{file} is not a kubeconfig: its outermost level must be a mapping")
    return document


def _texts(value: object, where: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{where} must be a list of texts; put them in quotes")
    return value


def _current_context(file: Path, document: Json) -> str:
    value = document.get("current-context") or ""
    if not isinstance(value, str):
        raise ConfigError(f"{file}: current-context must be text; put it in quotes")
    return value


def _entries(file: Path, document: Json, section: str) -> Iterator[tuple[str, Json]]:
    items = document.get(section) or []
    if not isinstance(items, list):
        raise ConfigError(f"{file}: {section} must be a list")
    for index, item in enumerate(items):
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or not name:
            raise ConfigError(f"{file}: {section}[{index}].name must be a text that is not empty")
        body = item.get(SECTIONS[section]) or {}
        if not isinstance(body, dict):
            raise ConfigError(f"{file}: {section}[{name}].{SECTIONS[section]} must be a mapping")
        yield name, body


def _put(file: Path, document: Json, section: str, title: str, body: Json) -> None:
    names = [name for name, _ in _entries(file, document, section)]
    items = document[section] = document.get(section) or []
    item = {"name": title, SECTIONS[section]: body}
    if title in names:
        items[names.index(title)] = item
    else:
        items.append(item)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
