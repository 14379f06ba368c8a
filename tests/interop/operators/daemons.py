"""Stays with each note as long as it is there: in a thread, and in a task that fails at first."""

import asyncio
from typing import Any

import kopf


@kopf.daemon("notes", cancellation_polling=0.1)
def watch_over(stopped: kopf.DaemonStopped, name: str, patch: kopf.Patch, **_: Any) -> None:
    print(f"with {name}", flush=True)
    while not stopped:
        stopped.wait(60)
    print(f"without {name}", flush=True)


@kopf.daemon("notes", cancellation_timeout=5, cancellation_polling=0.1)
async def count_tries(retry: int, name: str, patch: kopf.Patch, **_: Any) -> None:
    if retry < 2:
        patch.status["tries"] = retry + 1
        raise kopf.TemporaryError("not yet", delay=0.1)
    print(f"at work for {name}", flush=True)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        print(f"no work for {name}", flush=True)
        raise
