#!/usr/bin/env python3
"""Make the writes that were made to kube-apiserver v1.37, in their order, and compare the objects after each.

    tools/sequences.py sequences.jsonl                          an API server of our own, in this process
    tools/sequences.py sequences.jsonl --kubeconfig FILE        any other server
    tools/sequences.py sequences.jsonl --kind widgets --diff 5  what is different, and how

Each line of the file is `{"seed", "steps", "answers"}`. A step is `[method, path, query, content type, body]`, and its
answer `[code, object]` or `[code, reason, message, causes]`. The definition of the custom resource they need is in the
file beside it whose name ends in `-crd.json`. What differs from one server to the next was taken out of the recording,
and is taken out of our answers here; what a sequence made is deleted before the next begins.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from replay import asking

from hardpoint.client.client import Client
from hardpoint.client.transport import Answer
from hardpoint.machinery.errors import HardpointError

Json = dict[str, Any]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CUSTOM = "widgets"
_VOLATILE = ("creationTimestamp", "resourceVersion", "uid")
_ADDRESSES = ("clusterIP", "clusterIPs")
_TIME = re.compile(r" at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
# Where a whole object is told, its keys come in any order, and the recording has none of it.
_OBJECT = re.compile(r'Invalid value: "\{.*', re.DOTALL)
_ESTABLISHED_SECONDS_MAX = 10.0
_LOOK_AGAIN_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Step:
    """One write of a sequence, and the answer it got."""

    seed: int
    number: int
    method: str
    path: str
    query: dict[str, str]
    media: str
    body: Any
    answer: list[Any]

    @property
    def kind(self) -> str:
        return self.path.partition("/namespaces/default/")[2].partition("/")[0]

    @property
    def way(self) -> str:
        """How it writes: the method, or which patch."""
        return self.method if self.method != "PATCH" else self.media.removeprefix("application/").partition("-")[0]


@dataclass(frozen=True, slots=True)
class Compared:
    """A step, and the answer it got from us."""

    step: Step
    answer: list[Any]

    @property
    def is_same(self) -> bool:
        return self.answer == _without_order(self.step.answer)


def read(file: Path) -> list[list[Step]]:
    """The sequences of a recording."""
    with file.open("rb") as lines:
        return [_sequence(orjson.loads(line)) for line in lines]


def _sequence(line: Json) -> list[Step]:
    pairs = enumerate(zip(line["steps"], line["answers"], strict=True))
    return [Step(line["seed"], number, *[*step, answer]) for number, (step, answer) in pairs]


async def replay(client: Client, sequences: Iterable[Sequence[Step]]) -> list[Compared]:
    """Make the writes of one sequence after the other."""
    results = []
    for sequence in sequences:
        for step in sequence:
            results.append(Compared(step, _without_order(normalized(await _send(client, step)))))
        await _delete(client, sequence)
    return results


async def _send(client: Client, step: Step) -> Answer:
    headers = {"accept": "application/json", "content-type": step.media}
    body = await _with_version(client, step) if step.method == "PUT" and step.kind == CUSTOM else step.body
    return await client.raw(step.method, step.path, query=step.query, headers=headers, body=orjson.dumps(body))


async def _with_version(client: Client, step: Step) -> Json:
    """The body of a PUT with the resourceVersion that it replaces, which custom resources insist on."""
    found = orjson.loads((await client.raw("GET", step.path)).body)
    version = found["metadata"].get("resourceVersion")
    return {**step.body, "metadata": {**step.body["metadata"], "resourceVersion": version}}


async def _delete(client: Client, sequence: Sequence[Step]) -> None:
    """Delete the object of a sequence, whatever holds it."""
    paths = {step.path for step in sequence if step.path.rpartition("/")[2] == f"o{step.seed}"}
    patch = {"content-type": "application/merge-patch+json"}
    for path in paths:
        await client.raw("PATCH", path, headers=patch, body=b'{"metadata":{"finalizers":null}}')
        await client.raw("DELETE", path)


def normalized(answer: Answer) -> list[Any]:
    """An answer in the form of the recording."""
    body = orjson.loads(answer.body)
    if answer.status < 300:
        return [answer.status, _object(body)]
    causes = (body.get("details") or {}).get("causes") or []
    told = [[cause.get("reason"), cause.get("field"), _text(cause.get("message"))] for cause in causes]
    told.sort(key=json.dumps)
    return [answer.status, body.get("reason"), _text(body.get("message")), told]


def _object(obj: Json) -> Json:
    metadata = obj.get("metadata") or {}
    for field in _VOLATILE:
        metadata.pop(field, None)
    for entry in metadata.get("managedFields") or ():
        entry.pop("time", None)
    obj.pop("status", None)
    if obj.get("kind") == "Service":
        spec = obj.get("spec") or {}
        spec.update({field: "<ip>" for field in _ADDRESSES if spec.get(field) not in (None, "None", ["None"])})
    return obj


def _text(text: str | None) -> str:
    return _OBJECT.sub("Invalid value: <object>", _TIME.sub("", text or ""))


def _without_order(answer: list[Any]) -> list[Any]:
    """An answer whose managers are in an order of their own: that of the server goes by times, which are not told."""
    if answer[0] >= 300 or "managedFields" not in answer[1]["metadata"]:
        return answer
    metadata = answer[1]["metadata"]
    managers = sorted(metadata["managedFields"], key=lambda entry: json.dumps(entry, sort_keys=True))
    return [answer[0], {**answer[1], "metadata": {**metadata, "managedFields": managers}}]


async def define(client: Client, definition: Json) -> None:
    """Create the custom resource that some sequences write, and wait until it is served."""
    name, headers = definition["metadata"]["name"], {"content-type": "application/json"}
    answer = await client.raw("POST", DEFINITIONS, headers=headers, body=orjson.dumps(definition))
    if answer.status not in (201, 409):
        raise SystemExit(f"sequences: {name} was refused: {answer.body.decode()}")
    async with asyncio.timeout(_ESTABLISHED_SECONDS_MAX):
        # Not with a watch: kube-apiserver over an old etcd has none that begins with what is there.
        while not _is_established(orjson.loads((await client.raw("GET", f"{DEFINITIONS}/{name}")).body)):  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)


def _is_established(definition: Json) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def table(results: Sequence[Compared]) -> str:
    """How many of how many are the same: a line a kind, a column a way to write."""
    ways = sorted({result.step.way for result in results})
    asked = Counter((result.step.kind, result.step.way) for result in results)
    same = Counter((result.step.kind, result.step.way) for result in results if result.is_same)
    lines = [f"{'kind':16}" + "".join(f"{way:>12}" for way in ways)]
    for kind in sorted({result.step.kind for result in results}):
        cells = [f"{same[kind, way]}/{asked[kind, way]}" if asked[kind, way] else "-" for way in ways]
        lines.append(f"{kind:16}" + "".join(f"{cell:>12}" for cell in cells))
    return "\n".join(lines)


def difference(result: Compared) -> str:
    """What was recorded and what we said instead, line by line."""
    step = result.step
    wanted, got = (
        json.dumps(answer, indent=1, sort_keys=True).splitlines()
        for answer in (_without_order(step.answer), result.answer)
    )
    lines = difflib.unified_diff(wanted, got, "recorded", "ours", n=3, lineterm="")
    told = f"--- seed {step.seed}, step {step.number}: {step.method} {step.path} {step.query} {step.media}"
    return "\n".join([told, json.dumps(step.body), *list(lines)[2:]])


async def _run(options: argparse.Namespace, sequences: list[list[Step]], definition: Json) -> int:
    if options.kind:
        sequences = [each for each in sequences if each[0].kind in options.kind]
    if not sequences:
        print(f"{options.sequences}: no sequences to replay", file=sys.stderr)
        return 2
    async with asking(options.kubeconfig) as client:
        if any(sequence[0].kind == CUSTOM for sequence in sequences):
            await define(client, definition)
        results = await replay(client, sequences)
    different = [result for result in results if not result.is_same]
    for result in different[: options.diff]:
        print(difference(result), end="\n\n")
    print(table(results))
    share = 100 * (len(results) - len(different)) / len(results)
    print(f"\n{len(results) - len(different)} of {len(results)} steps are the same: {share:.1f} %")
    return 0 if share >= options.at_least else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if enough steps are the same, 1 if not, 2 if nothing could be asked."""
    words = argparse.ArgumentParser(description="Make the writes that kube-apiserver was asked for, and compare.")
    words.add_argument("sequences", type=Path, help="the recording, one sequence a line")
    words.add_argument("--kubeconfig", type=Path, help="ask this server; without it, one of our own in this process")
    words.add_argument("--kind", action="append", metavar="PLURAL", help="only these resources; may be repeated")
    words.add_argument("--diff", type=int, default=0, metavar="N", help="show the first N differences")
    words.add_argument("--at-least", type=float, default=0, metavar="PERCENT", help="exit 1 below this share")
    options = words.parse_args(arguments)
    try:
        definition = orjson.loads(options.sequences.with_name(f"{options.sequences.stem}-crd.json").read_bytes())
        return asyncio.run(_run(options, read(options.sequences), definition))
    except (OSError, HardpointError, orjson.JSONDecodeError, TypeError) as wrong:
        print(f"sequences: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
