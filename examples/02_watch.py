"""Follow the pods of a namespace: what is there, then every change, whatever is cut in between.

Needs a cluster: `hardpoint up` first. Then, in two terminals:

    python examples/02_watch.py
    kubectl run web --image=nginx
"""

import asyncio

from hardpoint.client import Client


async def main() -> None:
    async with Client.from_kubeconfig() as client, client.list_then_watch("pods") as events:
        async for event in events:
            print(event.type, event.object["metadata"].get("name", ""), flush=True)


asyncio.run(main())
