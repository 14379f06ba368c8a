"""What is checked: the definitions of one file, what they were before, and who converts between their versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from hardpoint.machinery.messages import Handler
from hardpoint.machinery.structural import Structure
from hardpoint.machinery.structural.samples import Sampler
from hardpoint.runtime.promises import Broken
from hardpoint.runtime.webhookpromises import Caller

Json = dict[str, Any]
FreshCluster = Callable[[], AbstractAsyncContextManager[Handler]]
"""Starts a cluster that nobody used before, and yields its API."""

SAMPLES = 60
TOLD_MAX = 5


@dataclass(frozen=True, slots=True)
class Version:
    """One version of one definition."""

    definition: Json
    json: Json

    @property
    def api_version(self) -> str:
        return f"{self.definition['spec']['group']}/{self.json['name']}"

    @property
    def kind(self) -> str:
        return str(self.definition["spec"]["names"]["kind"])

    @property
    def schema(self) -> Json:
        found: Json = (self.json.get("schema") or {}).get("openAPIV3Schema") or {}
        return found

    @property
    def structure(self) -> Structure:
        return Structure(self.schema)

    def __str__(self) -> str:
        return f"{self.definition['metadata']['name']} {self.json['name']}"

    def samples(self, seed: int) -> Iterator[Json]:
        """Objects of this version: from as small as can be to as full, every other one odd; each fits the schema."""
        validate = self.structure.rules["validation", "CREATE"]
        namespace = "default" if self.definition["spec"].get("scope") == "Namespaced" else ""
        for number in range(SAMPLES):
            sampler = Sampler(
                self.schema, seed=f"{seed} {number}", fullness=number / (SAMPLES - 1), odd=number % 2 == 1
            )
            made = sampler.object(
                self.api_version, self.kind, f"sample-{number}", namespace=namespace, status=number % 3 == 0
            )
            if not validate(made):
                yield made


@dataclass(frozen=True, slots=True)
class Subject:
    """The definitions of one file."""

    definitions: Sequence[Json]
    fresh_cluster: FreshCluster
    older: Sequence[Json] = ()
    """What they were in an earlier release."""
    webhook: Caller | None = None
    """Converts between their versions."""
    seed: int = 0

    def versions(self) -> Iterator[Version]:
        """Every version of every definition."""
        for definition in self.definitions:
            yield from versions_of(definition)


def versions_of(definition: Json) -> Iterator[Version]:
    for json in definition["spec"].get("versions") or ():
        yield Version(definition, json)


def expect_none(found: Sequence[str]) -> None:
    """Raises Broken that tells what was found, if anything was."""
    if found:
        more = f" and {len(found) - TOLD_MAX} more" if len(found) > TOLD_MAX else ""
        raise Broken("; ".join(found[:TOLD_MAX]) + more)
