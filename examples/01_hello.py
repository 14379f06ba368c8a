"""Start a cluster inside this program, use it, and leave nothing behind.

python examples/01_hello.py
"""

import asyncio
import tempfile
from pathlib import Path

from hardpoint.client import Client
from hardpoint.cluster import Cluster, Options
from hardpoint.machinery.messages import User


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        options = Options(data_dir=Path(folder) / "data", port=0, store="memory")
        async with Cluster(options).running() as cluster:
            client = Client.in_process(cluster.handle, User("me", ("system:masters",)))
            await client.create(
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "greeting"}, "data": {"text": "hello"}}
            )
            found = await client.get("configmaps", "greeting")
            print(f"{found['data']['text']} from {cluster.state.address}")


asyncio.run(main())
