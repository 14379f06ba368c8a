"""How a controller writes: as one field manager, seen by its own reads at once, and in a dry run only for show.

Every write names the object it was decided on, so that none hits another object that has the name by now.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.options import Propagation, WriteOptions
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.mergepatch import difference

Json = dict[str, Any]

log = logging.getLogger(__name__)

TRIES_MAX = 5
"""How often a write is tried on what the server has by then, before the whole look at the object begins again."""


class ObjectWriter:
    """Writes objects for one field manager. `written` is told what the server made of each."""

    def __init__(
        self, client: Client, field_manager: str, *, written: Callable[[Json], object], dry_run: bool = False
    ) -> None:
        self.client = client
        self.dry_run = dry_run
        self._field_manager = field_manager
        self._written = written

    async def apply(self, body: Json, *, force: bool) -> Json:
        """Server-side apply: `body` is all that this manager wants of the object. Raises ApiError."""
        answer = await self.client.apply(body, field_manager=self._field_manager, force=force, dry_run=self.dry_run)
        return await self._done("apply", answer)

    async def patch(self, seen: Json, patch: Json, *, subresource: str = "") -> Json:
        """Merge `patch` into the object, if it is still as it was `seen`. Raises ApiError, 409 if it is not."""
        metadata = seen["metadata"]
        conditional = {"resourceVersion": metadata["resourceVersion"], **patch.get("metadata", {})}
        options = WriteOptions(field_manager=self._field_manager, dry_run=self.dry_run)
        answer = await self.client.patch(
            kind_of(seen),
            metadata["name"],
            {**patch, "metadata": conditional},
            namespace=metadata.get("namespace", ""),
            subresource=subresource,
            **options,
        )
        return await self._done(f"patch {subresource}".rstrip(), answer, seen)

    async def delete(self, seen: Json, propagation: Propagation | None) -> None:
        """Delete this very object. One that is gone already, or another of its name, is none of ours."""
        metadata = seen["metadata"]
        if self.dry_run:
            log.info("would delete", extra={"object": called(seen)})
        try:
            answer = await self.client.delete(
                kind_of(seen),
                metadata["name"],
                namespace=metadata.get("namespace", ""),
                propagation=propagation,
                uid=metadata.get("uid", ""),
                dry_run=self.dry_run,
            )
        except ApiError as refused:
            is_another = refused.code == 409 and bool(metadata.get("uid"))
            if refused.code != 404 and not is_another:
                raise
            return
        if not self.dry_run and (answer.get("metadata") or {}).get("finalizers"):
            # It lives on, marked as deleted.
            self._written(answer)

    async def newest(self, seen: Json) -> Json | None:
        """The object as the server has it now; None if it is gone, or another one has its name."""
        metadata = seen["metadata"]
        try:
            found = await self.client.get(kind_of(seen), metadata["name"], namespace=metadata.get("namespace", ""))
        except ApiError as refused:
            if refused.code == 404:
                return None
            raise
        return found if found["metadata"]["uid"] == metadata["uid"] else None

    async def _done(self, verb: str, answer: Json, seen: Json | None = None) -> Json:
        if not self.dry_run:
            self._written(answer)
            return answer
        before = seen if seen is not None else await self._before(answer)
        change = difference(_without_noise(before), _without_noise(answer))
        log.info(f"would {verb}", extra={"object": called(answer), "change": change})
        return answer

    async def _before(self, answer: Json) -> Json:
        metadata = answer["metadata"]
        try:
            return await self.client.get(kind_of(answer), metadata["name"], namespace=metadata.get("namespace", ""))
        except ApiError as refused:
            if refused.code == 404:
                return {}
            raise


def kind_of(body: Json) -> str:
    """What the client calls the object's resource."""
    return f"{body['apiVersion']} {body['kind']}"


def called(body: Json) -> str:
    """The object as logs name it."""
    metadata = body["metadata"]
    return f"{kind_of(body)} {metadata.get('namespace', '')}/{metadata['name']}"


def _without_noise(body: Json) -> Json:
    """What of an object is worth showing: not its secrets, nor what the server counts."""
    hidden = {"data", "stringData"} if body.get("kind") == "Secret" else set()
    shown = {key: value for key, value in body.items() if key not in hidden}
    counted = {"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"}
    metadata = {key: value for key, value in body.get("metadata", {}).items() if key not in counted}
    return {**shown, "metadata": metadata}
