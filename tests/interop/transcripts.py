"""Runs of kubectl commands from transcripts/, and what a server said to each, made comparable.

A line of a transcript is a command. `#> reason` after it says that two servers may answer it differently, and why.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from tests.interop.kubectl import Kubectl, Said

FOLDER = Path(__file__).parent / "transcripts"

VARYING = [
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uid>"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?", "<time>"),
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "<time>"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}", "<time>"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC", "<time>"),
    (r"([rR]esource ?Version: +)\S+", r"\1<version>"),
    (r"(kube-api-access|debugger|LIVE|MERGED)-\w+", r"\1-<random>"),
    (r"\b(\d+[smh]){1,2}(?= |$)", "<age>"),
    (r"\b10\.96\.\d+\.\d+", "<address>"),
    (r"\b3[012]\d{3}/TCP", "<port>/TCP"),
    (r"(?<=[eE]Port: )3[012]\d{3}\b", "<port>"),
    (r"(?<=targetPort: )\d{5}\b", "<port>"),
    (r"127\.0\.0\.1:\d+", "<server>"),
    (r"X509SHA256=[0-9a-f]{64}", "<certificate>"),
    (r"^[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", "<log> "),
    (r" +$", ""),
]
"""What differs between two runs against the same server, and what stands for it."""

# Columns are as wide as what varied in them. An indent is not a gap between columns.
_GAPS = re.compile(r"(?<=[^\n ]) {2,}|-{4,}")


@dataclass(frozen=True)
class Step:
    """A command, in words, and why servers may answer it differently; "" if they must not."""

    words: list[str]
    excuse: str

    def say(self, kubectl: Kubectl) -> Said:
        """What kubectl says to it; the files it names are in the transcripts' folder."""
        words = (str(FOLDER / word) if word.endswith(".yaml") else word for word in self.words)
        return _comparable(kubectl.attempt(*words))


def steps(name: str) -> list[Step]:
    """A transcript, in order."""
    lines = (FOLDER / f"{name}.txt").read_text().splitlines()
    return [_step(line) for line in lines if line and not line.startswith("#")]


def _step(line: str) -> Step:
    command, _, excuse = line.partition("#>")
    return Step(shlex.split(command), excuse.strip())


def _comparable(said: Said) -> Said:
    return replace(said, out=_without_varying(said.out), err=_without_varying(said.err))


def _without_varying(text: str) -> str:
    for pattern, instead in VARYING:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return _GAPS.sub(lambda gap: gap[0][:2], text)
