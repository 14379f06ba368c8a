"""What happens when the process may open no more files. In a process of its own: the limit is the process's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hardpoint.serving.certificates import Pki

PROGRAM = """
import asyncio, resource, socket, ssl, sys, uvloop
from pathlib import Path
from hardpoint.serving import serve
from hardpoint.serving.tls import serving_context
from tests.serving.talking import echo, get, talking

async def main(pki):
    tls = serving_context(pki / "apiserver.crt", pki / "apiserver.key", pki / "client-ca.crt")
    client = ssl.create_default_context(cafile=str(pki / "server-ca.crt"))
    async with await serve(echo, ssl_context=tls) as server:
        async with talking(server.port, client) as early:
            early.say(get("/"))
            assert (await early.hear()).status == 200
            flood = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
            resource.setrlimit(resource.RLIMIT_NOFILE, (len(flood) + 40, 4096))
            try:
                while True:
                    flood.append(socket.create_connection(("127.0.0.1", server.port)))
            except OSError:
                pass
            await asyncio.sleep(0.2)
            early.say(get("/"))
            assert (await early.hear()).status == 200, "who was in stays in"
            for connection in flood:
                connection.close()
            async with asyncio.timeout(10), talking(server.port, client) as late:
                late.say(get("/"))
                assert (await late.hear()).status == 200, "and others come in again"

{run}(main(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("run", ["uvloop.run", "asyncio.run"])
def test_running_out_of_files_is_survived(run: str, pki: Pki) -> None:
    root = Path(__file__).parents[2]
    program = PROGRAM.replace("{run}", run)
    done = subprocess.run(
        [sys.executable, "-c", program, str(pki.directory)], cwd=root, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
