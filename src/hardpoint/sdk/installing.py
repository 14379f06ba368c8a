"""Bringing an App's CustomResourceDefinitions into a cluster, and waiting until it serves them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.resources import Resource
from hardpoint.machinery.errors import ApiError, ConfigError

Json = dict[str, Any]

log = logging.getLogger(__name__)

DEFINITIONS = Resource("apiextensions.k8s.io/v1", "customresourcedefinitions", "CustomResourceDefinition", False)
PATIENCE_SECONDS = 60.0


async def install(
    client: Client, definitions: Sequence[Json], *, field_manager: str, dry_run: bool = False
) -> list[str]:
    """Apply the definitions, wait until they are established, and return their names. Raises ConfigError.

    Whoever may not write them finds them there, or finds out later: that is told and no error.
    """
    return [
        definition["metadata"]["name"]
        for definition in definitions
        if await _install(client, definition, field_manager, dry_run=dry_run)
    ]


async def _install(client: Client, definition: Json, field_manager: str, *, dry_run: bool) -> bool:
    name = definition["metadata"]["name"]
    try:
        await client.apply(definition, field_manager=field_manager, force=True, dry_run=dry_run)
    except ApiError as refused:
        if refused.code == 403:
            log.warning("definition not applied", extra={"definition": name, "why": refused.message})
            return False
        raise ConfigError(f"the server refuses the CustomResourceDefinition {name}: {refused.message}") from refused
    if not dry_run:
        await _wait_until_established(client, name)
    return True


async def _wait_until_established(client: Client, name: str) -> None:
    try:
        async with (
            asyncio.timeout(PATIENCE_SECONDS),
            client.list_then_watch(DEFINITIONS, field_selector=f"metadata.name={name}") as events,
        ):
            async for event in events:
                if event.type in ("ADDED", "MODIFIED") and _is_established(event.object, name):
                    return
    except TimeoutError as late:
        raise ConfigError(f"the server did not establish {name} within {PATIENCE_SECONDS:g} s") from late


def _is_established(definition: Json, name: str) -> bool:
    """Raises ConfigError if it never will be."""
    conditions = {each["type"]: each for each in (definition.get("status") or {}).get("conditions") or ()}
    accepted = conditions.get("NamesAccepted", {})
    if accepted.get("status") == "False":
        raise ConfigError(f"the server does not accept the names of {name}: {accepted.get('message', '')}")
    return bool(conditions.get("Established", {}).get("status") == "True")
