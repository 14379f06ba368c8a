"""Running a cluster until somebody stops it: here, or in a process of its own."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import orjson

from hardpoint.cli import EXIT_NO, failure_of, logs
from hardpoint.datadir import LOG, State, prepare
from hardpoint.machinery.errors import ConfigError

if TYPE_CHECKING:
    from hardpoint.cluster import Options

log = logging.getLogger(__name__)

Running = TypeVar("Running")


def run(options: Options, on_ready: Callable[[State], None]) -> None:
    """Run the cluster in this process until a signal asks to stop, and stop it in good order."""
    from hardpoint.cluster import Cluster

    run_until_stopped(Cluster(options).running, lambda cluster: on_ready(cluster.state))


def _spare_the_collector() -> None:
    """Let Python look for cycles less often: what was made by now stays, and requests leave hardly any."""
    gc.freeze()


def run_until_stopped(
    start: Callable[[], AbstractAsyncContextManager[Running]], on_ready: Callable[[Running], None]
) -> None:
    """Enter what `start` returns, and leave it when a signal asks to stop."""
    import asyncio

    import uvloop

    async def until_stopped() -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()

        def stop(number: signal.Signals) -> None:
            # A second signal is a user who does not want to wait: it ends the process, and costs nothing written.
            loop.remove_signal_handler(number)
            stopped.set()

        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, stop, number)
        async with start() as running:
            _spare_the_collector()
            on_ready(running)
            await stopped.wait()

    uvloop.run(until_stopped())


def run_detached(options: Options) -> State:
    """Run the cluster in a process of its own and return when it is ready. Exits with its words if it cannot start."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        _be_detached(options, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    if not told:
        raise ConfigError(f"the cluster ended before it was ready; see {options.data_dir / LOG}")
    news = orjson.loads(told)
    if "state" in news:
        return State(**news["state"])
    print(news["words"], file=sys.stderr)
    raise SystemExit(news["status"])


def _be_detached(options: Options, parent: int) -> None:
    """The child's whole life. It tells the parent once: that it is ready, or why it is not."""

    def tell(news: dict[str, object]) -> None:
        os.write(parent, orjson.dumps(news))
        os.close(parent)

    status = 0
    is_ready = False

    def ready(state: State) -> None:
        nonlocal is_ready
        is_ready = True
        tell({"state": state._asdict()})

    try:
        os.setsid()
        prepare(options.data_dir)
        _redirect(options.data_dir / LOG)
        logs.to_stderr()
        run(options, ready)
    except BaseException as failed:
        # This is the process's last frame: nobody is above to handle it.
        foreseen = failure_of(failed)
        words, status = foreseen or (f"hardpoint: the cluster failed; see {options.data_dir / LOG}", EXIT_NO)
        if is_ready or foreseen is None:
            log.critical("cluster failed", exc_info=failed)
        if not is_ready:
            tell({"words": words, "status": status})
    finally:
        sys.stderr.flush()
        os._exit(status)


def _redirect(path: Path) -> None:
    output = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(output)
    os.close(nothing)
