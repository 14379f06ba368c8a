"""Asks cel-go about every expression of the corpus and every estimate, and writes its answers down.

    python -m tests.interop.record_cel

A line without an answer is a new expression.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from typing import Any

import orjson

from tests.interop.conftest import built
from tests.machinery.cel import estimates
from tests.machinery.cel.corpus import FILE, VARIABLES, Variables

Json = dict[str, Any]


def answers(questions: Iterable[tuple[str, Variables]]) -> list[Json]:
    """What cel-go says to expressions, each with its variables."""
    asked = (
        {"expression": expression, "variables": given.types, "values": given.values} for expression, given in questions
    )
    return [tidy(answer) for answer in _answers(asked)]


def estimated(questions: Iterable[tuple[str, estimates.Schema]]) -> list[list[int] | None]:
    """What cel-go says expressions may cost at least and at most; None for what it refuses."""
    asked = (
        {
            "expression": expression,
            "variables": dict.fromkeys(schema.variables, schema.type),
            "root": schema.variables[0],
        }
        for expression, schema in questions
    )
    return [answer.get("estimate") for answer in _answers(asked)]


def _answers(questions: Iterable[Json]) -> list[Json]:
    asked = b"".join(orjson.dumps(question) + b"\n" for question in questions)
    done = subprocess.run([built("cel")], input=asked, stdout=subprocess.PIPE, check=True)
    return [orjson.loads(line) for line in done.stdout.splitlines()]


def tidy(answer: Json) -> Json:
    """Without what cannot be compared: the cost of what has no value, the type of what is refused."""
    if "refusal" in answer:
        return {"refusal": answer["refusal"]}
    return {name: value for name, value in answer.items() if name != "cost" or "value" in answer}


def main() -> None:
    record_answers()
    record_estimates()


def record_answers() -> None:
    lines = [orjson.loads(line) for line in FILE.read_bytes().splitlines()]
    said = answers((line["expression"], VARIABLES[line["with"]]) for line in lines)
    written = [orjson.dumps({**line, "answer": answer}) for line, answer in zip(lines, said, strict=True)]
    FILE.write_bytes(b"\n".join(written) + b"\n")


def record_estimates() -> None:
    lines = [orjson.loads(line) for line in estimates.FILE.read_bytes().splitlines()]
    said = estimated((line["expression"], estimates.SCHEMAS[line["with"]]) for line in lines)
    written = [orjson.dumps({**line, "estimate": answer}) for line, answer in zip(lines, said, strict=True)]
    estimates.FILE.write_bytes(b"\n".join(written) + b"\n")


if __name__ == "__main__":
    main()
