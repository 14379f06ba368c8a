"""`python -m tools.differ --reference KUBECONFIG`: see docs/guides/differential.md."""

from __future__ import annotations

import argparse
import asyncio
import difflib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import yaml

from hardpoint.client.client import Client
from hardpoint.machinery.errors import HardpointError
from tools.differ import bases, rounds
from tools.differ.bases import Base
from tools.differ.causes import causes
from tools.differ.servers import Compared, Question, compare, opened, send


async def _asked(
    reference: Client, other: Client, found: Sequence[Base], options: argparse.Namespace
) -> list[Compared]:
    results: list[Compared] = []
    for base in found:
        exists = False
        for round_ in options.round:
            wanted = list(rounds.questions(base, round_, values_each=options.values))
            if options.only:
                wanted = [question for question in wanted if options.only in question.name]
            if wanted and round_ != "create" and not exists:
                exists = True
                await _create(reference, other, base)
            results += await compare(reference, other, wanted)
        if exists:
            await _remove(reference, other, base)
    return results


async def _create(reference: Client, other: Client, base: Base) -> None:
    question = Question("", base.kind.kind, "", "POST", base.collection, base.body)
    answers = [await send(client, question) for client in (reference, other)]
    if any(answer.status >= 300 for answer in answers):
        told = [f"{answer.status} {answer.body.decode()[:300]}" for answer in answers]
        print(f"{base.path} could not be created everywhere: {told}", file=sys.stderr)


async def _remove(reference: Client, other: Client, base: Base) -> None:
    free = {"metadata": {"finalizers": None}}
    media = "application/merge-patch+json"
    for client in (reference, other):
        await send(client, Question("", "", "", "DELETE", base.path, {"gracePeriodSeconds": 0}))
        await send(client, Question("", "", "", "PATCH", base.path, free, content_type=media))


def _report(results: Sequence[Compared], options: argparse.Namespace) -> None:
    groups: dict[tuple[str, str], list[Compared]] = defaultdict(list)
    for result in results:
        if not result.is_same:
            for cause in causes(result.wanted, result.got):
                groups[result.question.kind, cause].append(result)
    print(f"{len(groups)} causes")
    for (kind, cause), members in sorted(groups.items(), key=lambda each: -len(each[1]))[: options.causes]:
        named = sorted({f"{each.question.round}/{each.question.name}" for each in members})
        print(f"{len(members):5}  {kind}: {cause}\n         {'; '.join(named[: options.examples])}")
    for result in [each for each in results if not each.is_same][: options.diff]:
        print(_difference(result), end="\n\n")
    _table(results, by_kind=options.table)


def _difference(result: Compared) -> str:
    wanted, got = (json.dumps(each, indent=1, sort_keys=True).splitlines() for each in (result.wanted, result.got))
    question = result.question
    lines = difflib.unified_diff(wanted, got, "reference", "other", n=2, lineterm="")
    return "\n".join([f"--- {question.round} {question.kind} {question.name}", *list(lines)[2:]])


def _table(results: Sequence[Compared], *, by_kind: bool) -> None:
    asked = Counter((each.question.kind if by_kind else "", each.question.round) for each in results)
    same = Counter((each.question.kind if by_kind else "", each.question.round) for each in results if each.is_same)
    columns = list(dict.fromkeys(each.question.round for each in results))
    if by_kind:
        print(f"{'kind':32}" + "".join(f"{column[:16]:>17}" for column in columns))
        for kind in sorted({kind for kind, _ in asked}):
            cells = [f"{same[kind, each]}/{asked[kind, each]}" if asked[kind, each] else "-" for each in columns]
            print(f"{kind:32}" + "".join(f"{cell:>17}" for cell in cells))
    for column in columns:
        of = sum(count for (_, round_), count in asked.items() if round_ == column)
        good = sum(count for (_, round_), count in same.items() if round_ == column)
        print(f"{column:20} {good:6} of {of:6} the same, {100 * good / of:.2f} %")


async def _run(options: argparse.Namespace) -> int:
    found = [base for base in bases.read(options.bases) if not options.kind or base.kind.kind in options.kind]
    if not found:
        print("differ: no bases of these kinds", file=sys.stderr)
        return 2
    async with opened(options.reference) as reference, opened(options.other) as other:
        results = await _asked(reference, other, found, options)
    _report(results, options)
    return 0 if all(result.is_same for result in results) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if all answers are the same, 1 if not, 2 if nothing could be asked."""
    words = argparse.ArgumentParser(prog="differ", description="Ask two API servers the same, and compare the answers.")
    words.add_argument("--reference", type=Path, required=True, metavar="KUBECONFIG", help="the server that is right")
    words.add_argument("--other", type=Path, metavar="KUBECONFIG", help="without it, one of our own in this process")
    words.add_argument("--round", action="append", choices=list(rounds.ROUNDS), help="may be repeated; all by default")
    words.add_argument("--kind", action="append", help="only these kinds; may be repeated")
    words.add_argument("--only", default="", metavar="TEXT", help="only questions with this in their name")
    words.add_argument("--values", type=int, default=3, metavar="N", help="so many of the odd values a field")
    words.add_argument("--causes", type=int, default=50, metavar="N", help="show so many causes")
    words.add_argument("--examples", type=int, default=3, metavar="N", help="and so many examples of each")
    words.add_argument("--diff", type=int, default=0, metavar="N", help="show the first N differences in full")
    words.add_argument("--table", action="store_true", help="a line a kind at the end")
    words.add_argument("--bases", type=Path, default=bases.FOLDER, metavar="FOLDER", help="other objects to start from")
    options = words.parse_args(arguments)
    options.round = options.round or list(rounds.ROUNDS)
    try:
        return asyncio.run(_run(options))
    except (OSError, HardpointError, ValueError, yaml.YAMLError) as wrong:
        print(f"differ: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
