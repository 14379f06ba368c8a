"""`python -m tools.writes --reference KUBECONFIG`: see docs/guides/differential.md."""

from __future__ import annotations

import argparse
import asyncio
import difflib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from hardpoint.machinery.errors import HardpointError
from tools.differ.causes import causes
from tools.differ.servers import opened
from tools.writes.builtin import BUILTIN
from tools.writes.running import Compared, Pair
from tools.writes.shrinking import shrunk
from tools.writes.steps import sequence

TOGETHER = 4
_LINES_MAX, _COLUMNS_MAX = 60, 400


async def _made(pair: Pair, options: argparse.Namespace) -> list[list[Compared]]:
    turns = asyncio.Semaphore(TOGETHER)

    async def one(seed: int) -> list[Compared]:
        async with turns:
            return await pair.compare(sequence(seed, frozenset(options.kind or ())))

    seeds = options.seed or range(options.first, options.first + options.sequences)
    return list(await asyncio.gather(*map(one, seeds)))


def report(results: Sequence[Compared], *, causes_max: int) -> str:
    """A line a kind, a column a way to write; before it, what seems to be behind the differences."""
    groups: dict[str, list[Compared]] = defaultdict(list)
    for result in results:
        if not result.is_same:
            for cause in causes(result.wanted, result.got):
                groups[f"{_kind(result)}: {cause}"].append(result)
    lines = [f"{len(groups)} causes"] if groups else []
    for cause, members in sorted(groups.items(), key=lambda each: -len(each[1]))[:causes_max]:
        seeds = sorted({each.sequence.seed for each in members})
        lines.append(f"{len(members):5}  {cause}\n         {members[0].step.way}, seeds {seeds[:6]}")
    return "\n".join([*lines, *_table(results)])


def _table(results: Sequence[Compared]) -> list[str]:
    ways = sorted({result.step.way for result in results})
    asked = Counter((_kind(result), result.step.way) for result in results)
    same = Counter((_kind(result), result.step.way) for result in results if result.is_same)
    lines = [f"{'kind':26}" + "".join(f"{way:>11}" for way in ways)]
    for kind in sorted({_kind(result) for result in results}):
        cells = [f"{same[kind, way]}/{asked[kind, way]}" if asked[kind, way] else "-" for way in ways]
        lines.append(f"{kind:26}" + "".join(f"{cell:>11}" for cell in cells))
    good, bad = same.total(), asked.total() - same.total()
    went = sum(result.wanted[0] < 300 for result in results)
    share = 100 * good / max(1, good + bad)
    return [*lines, f"{good} of {good + bad} steps are the same, {share:.2f} %; {went} of them were no refusals"]


def _kind(result: Compared) -> str:
    return "custom" if result.sequence.kind.is_custom else result.sequence.kind.kind


def difference(result: Compared, command: str) -> str:
    """The steps that lead to a difference, and the difference."""
    wanted, got = (json.dumps(each, indent=1, sort_keys=True).splitlines() for each in (result.wanted, result.got))
    told = [f"--- seed {result.sequence.seed}, step {result.number}; again: {command}"]
    for step in result.sequence.steps[: result.number + 1]:
        live = " (on what is there)" if step.on_live else ""
        told.append(f"{step.way}: {step.method} {step.path} {step.query}{live}\n    {json.dumps(step.body)}")
    lines = difflib.unified_diff(wanted, got, "reference", "other", n=2, lineterm="")
    return "\n".join([*told, *[line[:_COLUMNS_MAX] for line in lines][2:_LINES_MAX]])


def _again(result: Compared, options: argparse.Namespace) -> str:
    kinds = "".join(f" --kind {kind}" for kind in options.kind or ())
    return f"python -m tools.writes --reference {options.reference} --seed {result.sequence.seed}{kinds} --diff 1"


async def _run(options: argparse.Namespace) -> int:
    async with opened(options.reference) as reference, opened(options.other) as other:
        pair = Pair(reference, other)
        results = [result for made in await _made(pair, options) for result in made]
        different = [result for result in results if not result.is_same]
        for result in different[: options.diff]:
            print(difference(await shrunk(pair, result), _again(result, options)), end="\n\n")
    print(report(results, causes_max=options.causes))
    return 1 if different else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if all steps are the same, 1 if not, 2 if nothing could be asked."""
    words = argparse.ArgumentParser(prog="writes", description="Make the same random writes to two API servers.")
    words.add_argument("--reference", type=Path, required=True, metavar="KUBECONFIG", help="the server that is right")
    words.add_argument("--other", type=Path, metavar="KUBECONFIG", help="without it, one of our own in this process")
    words.add_argument("--sequences", type=int, default=200, metavar="N", help="so many sequences")
    words.add_argument("--first", type=int, default=0, metavar="SEED", help="the seed of the first one")
    words.add_argument("--seed", type=int, action="append", help="this sequence alone; may be repeated")
    kinds = [kind.kind for kind in BUILTIN]
    words.add_argument("--kind", action="append", choices=["custom", *kinds], help="only these; may be repeated")
    words.add_argument("--causes", type=int, default=50, metavar="N", help="show so many causes")
    words.add_argument("--diff", type=int, default=0, metavar="N", help="show the first N differences, shrunk")
    options = words.parse_args(arguments)
    try:
        return asyncio.run(_run(options))
    except (OSError, HardpointError, ValueError) as wrong:
        print(f"writes: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
