#!/usr/bin/env python3
"""Ask a server what kube-apiserver v1.37 was asked, and compare the answers.

    tools/replay.py answers.jsonl                         an API server of our own, in this process
    tools/replay.py answers.jsonl --kubeconfig FILE       any other server
    tools/replay.py answers.jsonl --kind Pod --diff 5     what is different, and how

Each line of the file is `{"name", "url", "body", "answer"}`: the body was posted to the URL as a dry run, and the
answer is `[201, object, warnings]` or `[code, reason, message, causes, warnings]`. What differs from one server to the
next (uids, times, random names, addresses) was taken out of the recording, and is taken out of our answers here.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import json
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from hardpoint.apiserver.server import ApiServer
from hardpoint.client.client import Client
from hardpoint.client.transport import Answer
from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.messages import User
from hardpoint.store.memory import MemoryStore

Json = dict[str, Any]

ADMIN = User("admin", ("system:masters",))

_VOLATILE = ("creationTimestamp", "managedFields", "resourceVersion", "uid")
_ADDRESSES = ("clusterIP", "clusterIPs")
_UID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_TOKEN_VOLUME = re.compile(r"\bkube-api-access-[a-z0-9]{5}\b")
_WARNING = re.compile(r'299 [^ ]+ "(?:[^"\\]|\\.)*"')


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request of the recording, and the answer it got."""

    name: str
    url: str
    body: Any
    answer: list[Any]

    @property
    def kind(self) -> str:
        """The plural: the body may say any kind, or none."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Compared:
    """An exchange, and the answer it got from us."""

    exchange: Exchange
    answer: list[Any]

    @property
    def is_same(self) -> bool:
        return self.answer == self.exchange.answer


def read(file: Path) -> list[Exchange]:
    """The exchanges of a recording."""
    with file.open("rb") as lines:
        return [Exchange(**orjson.loads(line)) for line in lines]


async def replay(client: Client, exchanges: Iterable[Exchange]) -> list[Compared]:
    """Ask one after the other, as dry runs: nothing is left behind, so no answer depends on another."""
    return [Compared(exchange, normalized(await _post(client, exchange))) for exchange in exchanges]


async def _post(client: Client, exchange: Exchange) -> Answer:
    headers = {"accept": "application/json", "content-type": "application/json"}
    # Spaces and all: where a body cannot be read, the answer repeats how it begins.
    body = json.dumps(exchange.body).encode()
    return await client.raw("POST", f"/{exchange.url}", query={"dryRun": "All"}, headers=headers, body=body)


def normalized(answer: Answer) -> list[Any]:
    """An answer in the form of the recording."""
    body = orjson.loads(_without_random_names(answer.body.decode()))
    warnings = sorted(_WARNING.findall(answer.headers.get("warning", "")))
    if answer.status < 300:
        return [answer.status, _object(body), warnings]
    causes = (body.get("details") or {}).get("causes") or []
    told = sorted([cause.get("reason"), cause.get("field"), cause.get("message")] for cause in causes)
    return [answer.status, body.get("reason"), body.get("message"), told, warnings]


def _without_random_names(text: str) -> str:
    return _TOKEN_VOLUME.sub("kube-api-access-<x>", _UID.sub("<uid>", text))


def _object(obj: Json) -> Json:
    metadata = obj.get("metadata") or {}
    for field in _VOLATILE:
        metadata.pop(field, None)
    if obj.get("status"):
        del obj["status"]
    if obj.get("kind") == "Service":
        spec = obj.get("spec") or {}
        spec.update({field: "<ip>" for field in _ADDRESSES if spec.get(field) not in (None, "None", ["None"])})
    return obj


@asynccontextmanager
async def asking(kubeconfig: Path | None) -> AsyncIterator[Client]:
    """A client of the server that was named, or of one that lives as long as this block."""
    if kubeconfig is not None:
        async with Client.from_kubeconfig(kubeconfig) as client:
            yield client
        return
    async with ApiServer(MemoryStore()).running() as api, Client.in_process(api.handle, ADMIN) as client:
        yield client


def table(results: Sequence[Compared]) -> str:
    """How many of how many are the same: a line a kind, a column an answer code."""
    codes = sorted({result.exchange.answer[0] for result in results})
    asked = Counter((result.exchange.kind, result.exchange.answer[0]) for result in results)
    same = Counter((result.exchange.kind, result.exchange.answer[0]) for result in results if result.is_same)
    lines = [f"{'kind':34}" + "".join(f"{code:>12}" for code in codes) + f"{'all':>18}"]
    for kind in sorted({result.exchange.kind for result in results}):
        cells = [f"{same[kind, code]}/{asked[kind, code]}" if asked[kind, code] else "-" for code in codes]
        lines.append(f"{kind:34}" + "".join(f"{cell:>12}" for cell in cells) + _share(results, kind))
    return "\n".join(lines)


def _share(results: Sequence[Compared], kind: str) -> str:
    of_kind = [result.is_same for result in results if result.exchange.kind == kind]
    return f"{sum(of_kind):>7}/{len(of_kind):<4}{100 * sum(of_kind) / len(of_kind):>5.1f}%"


def difference(result: Compared) -> str:
    """What was recorded and what we said instead, line by line."""
    wanted, got = (
        json.dumps(answer, indent=2, sort_keys=True).splitlines() for answer in (result.exchange.answer, result.answer)
    )
    lines = difflib.unified_diff(wanted, got, "recorded", "ours", n=2, lineterm="")
    return "\n".join([f"--- {result.exchange.kind} {result.exchange.name}", *list(lines)[2:]])


async def _run(options: argparse.Namespace) -> int:
    exchanges = read(options.answers)
    if options.kind:
        exchanges = [each for each in exchanges if each.kind in options.kind]
    if not exchanges:
        print(f"{options.answers}: no exchanges to replay", file=sys.stderr)
        return 2
    async with asking(options.kubeconfig) as client:
        results = await replay(client, exchanges)
    different = [result for result in results if not result.is_same]
    for result in different[: options.diff]:
        print(difference(result), end="\n\n")
    print(table(results))
    print(f"\n{len(results) - len(different)} of {len(results)} answers are the same: ", end="")
    share = 100 * (len(results) - len(different)) / len(results)
    print(f"{share:.1f} %")
    return 0 if share >= options.at_least else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if enough answers are the same, 1 if not, 2 if nothing could be asked."""
    words = argparse.ArgumentParser(description="Ask a server what kube-apiserver was asked, and compare the answers.")
    words.add_argument("answers", type=Path, help="the recording, one exchange a line")
    words.add_argument("--kubeconfig", type=Path, help="ask this server; without it, one of our own in this process")
    words.add_argument("--kind", action="append", metavar="PLURAL", help="only these resources; may be repeated")
    words.add_argument("--diff", type=int, default=0, metavar="N", help="show the first N differences")
    words.add_argument("--at-least", type=float, default=0, metavar="PERCENT", help="exit 1 below this share")
    try:
        return asyncio.run(_run(words.parse_args(arguments)))
    except (OSError, HardpointError, orjson.JSONDecodeError, TypeError) as wrong:
        print(f"replay: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
