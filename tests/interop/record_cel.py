"""Asks cel-go about every expression of the corpus, and writes its answers down.

    python -m tests.interop.record_cel

A line without an answer is a new expression.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from typing import Any

import orjson

from tests.interop.conftest import built
from tests.machinery.cel.corpus import FILE, VARIABLES, Variables

Json = dict[str, Any]


def answers(questions: Iterable[tuple[str, Variables]]) -> list[Json]:
    """What cel-go says to expressions, each with its variables."""
    asked = b"".join(
        orjson.dumps({"expression": expression, "variables": given.types, "values": given.values}) + b"\n"
        for expression, given in questions
    )
    done = subprocess.run([built("cel")], input=asked, stdout=subprocess.PIPE, check=True)
    return [tidy(orjson.loads(line)) for line in done.stdout.splitlines()]


def tidy(answer: Json) -> Json:
    """Without what cannot be compared: the cost of what has no value, the type of what is refused."""
    if "refusal" in answer:
        return {"refusal": answer["refusal"]}
    return {name: value for name, value in answer.items() if name != "cost" or "value" in answer}


def main() -> None:
    lines = [orjson.loads(line) for line in FILE.read_bytes().splitlines()]
    said = answers((line["expression"], VARIABLES[line["with"]]) for line in lines)
    written = [orjson.dumps({**line, "answer": answer}) for line, answer in zip(lines, said, strict=True)]
    FILE.write_bytes(b"\n".join(written) + b"\n")


if __name__ == "__main__":
    main()
