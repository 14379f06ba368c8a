"""Stays with each note as long as it is there: in a thread, and in a task that fails at first."""

import asyncio
from typing import Any

import kopf


@kopf.daemon("notes", cancellation_polling=0.1)
def watch_over(stopped: kopf.DaemonStopped, name: str, **_: Any) -> None:
    say(f"with {name}")
    while not stopped:
        stopped.wait(60)
    say(f"without {name}")


@kopf.daemon("notes", cancellation_timeout=5, cancellation_polling=0.1)
async def count_tries(retry: int, name: str, patch: kopf.Patch, **_: Any) -> None:
    if retry < 2:
        patch.status["tries"] = retry + 1
        raise kopf.TemporaryError("not yet", delay=0.1)
    say(f"at work for {name}")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        say(f"no work for {name}")
        raise


def say(line: str) -> None:
    """In one piece: threads and tasks write to the same pipe."""
    print(f"{line}\n", end="", flush=True)
