"""Makes the writes of a sequence on both servers, one after the other, and compares what each server said.

Both begin without the object and end without it. A sequence that differs is made once more before it counts: the time
is part of what the servers write down, and seconds do not turn at the same moment for both.
"""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import Sequence as Steps
from dataclasses import dataclass
from typing import Any

import orjson

from hardpoint.client.client import Client
from hardpoint.client.transport import Answer, Interrupted
from tools.differ.normal import normalized
from tools.differ.servers import INTERNAL_ERROR, NO_ANSWER
from tools.writes.kind import Written
from tools.writes.steps import MERGE, Sequence, Step

Json = dict[str, Any]
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# Who writes the status of definitions, in its own time.
_SERVERS_OWN = "kube-apiserver"
_NAMES = re.compile(r"(\bkube-api-access|\bo\d+[a-z0-9.]*)-[a-z0-9]{5}\b")
NOT_FOUND, UNPROCESSABLE = 404, 422
_TOLD = "Invalid value: "
_PATCHED = re.compile(r"is missing in '\{.*\}'")
_JSON = json.JSONDecoder()
_DELETES_MAX = 20
_LOOK_AGAIN_SECONDS = 0.05
_ESTABLISHED_SECONDS_MAX = 20


@dataclass(frozen=True, slots=True)
class Compared:
    """A step and two answers to it, normalized."""

    sequence: Sequence
    number: int
    step: Step
    wanted: list[Any]
    got: list[Any]

    @property
    def is_same(self) -> bool:
        return self.wanted == self.got or self.is_excused

    @property
    def is_excused(self) -> bool:
        """Whether the reference has no answer, or takes the blame: nobody knows what would have been right."""
        return self.wanted[0] in (NO_ANSWER, INTERNAL_ERROR)


class Pair:
    """The two servers."""

    def __init__(self, reference: Client, other: Client) -> None:
        self.clients = (reference, other)
        self._defined: dict[str, asyncio.Task[None]] = {}

    async def compare(self, sequence: Sequence) -> list[Compared]:
        """The answers to every step, up to the first that differs: what follows that would only be its echo."""
        found = await self.compare_once(sequence)
        return found if found[-1].is_same else await self.compare_once(sequence)

    async def compare_once(self, sequence: Sequence) -> list[Compared]:
        await self._define(sequence.kind)
        await self._clear(sequence)
        found: list[Compared] = []
        for number, step in enumerate(sequence.steps):
            answers = await asyncio.gather(*(_send(client, sequence, step) for client in self.clients))
            wanted, got = (_normalized(answer) for answer in answers)
            found.append(Compared(sequence, number, step, wanted, got))
            if wanted != got:
                break
        await self._clear(sequence)
        return found

    async def _define(self, kind: Written) -> None:
        if kind.definition is not None:
            if kind.plural not in self._defined:
                self._defined[kind.plural] = asyncio.create_task(self._define_everywhere(kind.definition))
            await asyncio.shield(self._defined[kind.plural])

    async def _define_everywhere(self, definition: Json) -> None:
        await asyncio.gather(*(_define(client, definition) for client in self.clients))

    async def _clear(self, sequence: Sequence) -> None:
        await asyncio.gather(*(_delete(client, sequence.path) for client in self.clients))


async def _define(client: Client, definition: Json) -> None:
    answer = await _ask(client, "POST", DEFINITIONS, orjson.dumps(definition))
    if answer.status not in (201, 409):
        raise ValueError(f"{definition['metadata']['name']} was refused: {answer.body.decode()}")
    await _wait_until_established(client, f"{DEFINITIONS}/{definition['metadata']['name']}")


async def _wait_until_established(client: Client, path: str) -> None:
    async with asyncio.timeout(_ESTABLISHED_SECONDS_MAX):
        # Not with a watch: kube-apiserver over an old etcd has none that begins with what is there.
        while not _is_settled(orjson.loads((await _ask(client, "GET", path)).body)):  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)


def _is_settled(definition: Json) -> bool:
    conditions = {each["type"]: each["status"] for each in (definition.get("status") or {}).get("conditions") or []}
    return conditions.get("Established") == "True" or conditions.get("NamesAccepted") == "False"


async def _delete(client: Client, path: str) -> None:
    """Delete an object, whatever holds it."""
    for _ in range(_DELETES_MAX):
        answer = await _ask(client, "DELETE", path, b'{"gracePeriodSeconds":0}')
        if answer.status == NOT_FOUND:
            return
        answer = await _ask(client, "PATCH", path, b'{"metadata":{"finalizers":null}}', media=MERGE)
    raise ValueError(f"{path} cannot be deleted: {answer.body.decode()}")


async def _send(client: Client, sequence: Sequence, step: Step) -> Answer:
    body = step.body
    if step.on_live and (live := await _ask(client, "GET", step.path)).status < 300:
        body = _merged(orjson.loads(live.body), body)
    text = json.dumps(body)
    if "<version>" in text or "<uid>" in text:
        found = (orjson.loads((await _ask(client, "GET", sequence.path)).body).get("metadata")) or {}
        text = text.replace("<version>", found.get("resourceVersion", "1")).replace("<uid>", found.get("uid", "1"))
    answer = await _ask(client, step.method, step.path, text.encode(), step.query, step.media)
    if sequence.kind.kind == "CustomResourceDefinition" and answer.status < 300 and step.method != "DELETE":
        await _settle(client, sequence.path)
    return answer


async def _settle(client: Client, path: str) -> None:
    """Wait until the server has written the status of a definition, which is a write of its own."""
    answer = await _ask(client, "GET", path)
    if answer.status < 300 and not orjson.loads(answer.body)["metadata"].get("deletionTimestamp"):
        await _wait_until_established(client, path)


async def _ask(
    client: Client,
    method: str,
    path: str,
    body: bytes = b"",
    query: Json | None = None,
    media: str = "application/json",
) -> Answer:
    headers = {"accept": "application/json", "content-type": media}
    try:
        return await client.raw(method, path, query=query or {}, headers=headers, body=body)
    except Interrupted:
        # kube-apiserver has rules that crash on some objects; then the connection is all that answers.
        return Answer(NO_ANSWER, {}, b"{}")


def _merged(live: Any, change: Any) -> Any:
    """A change on top of what is there; lists and what is no object are replaced."""
    if not isinstance(live, dict) or not isinstance(change, dict):
        return copy.deepcopy(change)
    return {**live, **{name: _merged(live.get(name), below) for name, below in change.items()}}


def _normalized(answer: Answer) -> list[Any]:
    """An answer in comparable form, with who manages what, in an order that does not go by time."""
    text = _NAMES.sub(r"\1-<x>", answer.body.decode())
    found = normalized(Answer(answer.status, answer.headers, text.encode()))
    if answer.status == UNPROCESSABLE:
        about, *causes = found[3]
        # What is wrong with the metadata of a custom resource is told up to three times.
        told = {(*cause[:2], _without_objects(cause[2])): None for cause in causes}
        found[2:4] = [_without_objects(found[2]), [about, *(list(cause) for cause in told)]]
    elif answer.status in range(200, 300) and "managedFields" in (metadata := orjson.loads(text).get("metadata") or {}):
        found[1]["metadata"]["managedFields"] = {_label(entry): entry.get("fieldsV1") for entry in _entries(metadata)}
    return found


def _without_objects(text: str) -> str:
    """A message without the objects it tells, which Go prints in a way of its own, maps in any order."""
    text, told, start = _PATCHED.sub("is missing in <object>", text), "", 0
    while (at := text.find(_TOLD, start)) >= 0:
        start, told = at + len(_TOLD), told + text[start : at + len(_TOLD)]
        if text[start : start + 1] in ("{", "["):
            start, told = _JSON.raw_decode(text, start)[1], f"{told}<object>"
    return told + text[start:]


def _entries(metadata: Json) -> Steps[Json]:
    return [each for each in metadata["managedFields"] or [] if each.get("manager") != _SERVERS_OWN]


def _label(entry: Json) -> str:
    return " ".join(str(entry.get(name, "")) for name in ("manager", "operation", "apiVersion", "subresource"))
