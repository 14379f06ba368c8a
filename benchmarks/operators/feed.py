"""An API server whose objects change from behind: `python -m benchmarks.operators.feed DATA_DIR KUBECONFIG`.

A change that is put into the store costs a tenth of one that is asked for, so an operator meets more of them than it
could if users sent them to this server. Each line of the input is a revision, how many objects get it, and how many a
second, 0 for as fast as possible; "done" answers it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic_ns
from typing import Any

import orjson
import uvloop

from benchmarks.operators.load import at_once, paced
from benchmarks.operators.widgets import key_of
from hardpoint.apiserver.pki import ensure
from hardpoint.apiserver.server import ApiServer
from hardpoint.client.kubeconfig import write_context
from hardpoint.machinery.stored import to_stored
from hardpoint.serving.server import serve
from hardpoint.serving.tls import serving_context
from hardpoint.store.contract import Mismatch, Store
from hardpoint.store.open import STORE_FOLDER
from hardpoint.store.sqlite import SqliteStore

WORKERS = 128


async def change(store: Store, number: int, revision: int) -> None:
    """One user's change of one object."""
    while True:
        there = await store.get(key_of(number))
        assert there is not None, "all objects were there from the start"
        found = orjson.loads(there.value)
        found["metadata"]["generation"] += 1
        found["spec"] |= {"revision": revision, "sent": monotonic_ns()}
        try:
            await store.update(key_of(number), to_stored(found), expected=there.revision)
        except Mismatch:
            continue  # The operator was faster.
        return


async def obey(store: Store, command: str) -> None:
    revision, count, pace = map(int, command.split())

    def one(number: int) -> Coroutine[Any, Any, None]:
        return change(store, number, revision)

    await (paced(one, range(count), pace) if pace else at_once(one, range(count), workers=WORKERS))


async def main(data_dir: Path, kubeconfig: Path) -> None:
    pki = ensure(data_dir / "pki", [], datetime.now(UTC))
    context = serving_context(pki.certificate("apiserver"), pki.key("apiserver"), pki.certificate("client-ca"))
    store = await SqliteStore.open(data_dir / STORE_FOLDER, holder="benchmark")
    async with AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        api = await stack.enter_async_context(ApiServer(store).running())
        server = await stack.enter_async_context(await serve(api.handle, host="127.0.0.1", port=0, ssl_context=context))
        write_context(
            kubeconfig,
            name="bench",
            server=f"https://127.0.0.1:{server.port}",
            ca_pem=pki.certificate("server-ca").read_bytes(),
            cert_pem=pki.certificate("admin").read_bytes(),
            key_pem=pki.key("admin").read_bytes(),
            make_current=True,
        )
        print("ready", flush=True)
        next_line: Callable[[], str] = sys.stdin.readline
        while command := await asyncio.get_running_loop().run_in_executor(None, next_line):
            await obey(store, command)
            print("done", flush=True)


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
