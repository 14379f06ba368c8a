"""ConfigMaps with the label `mirror` as files outside of the cluster, kept as things happen to them.

MIRROR=/tmp/mirror hardpoint run examples/10_handlers.py, and then
kubectl create configmap words --from-literal=hello=world && kubectl label configmap words mirror=yes
"""

import asyncio
import json
import os
from pathlib import Path

from hardpoint import App
from hardpoint.controller import Changed, Context, PlainContext
from hardpoint.objects import ConfigMap

app = App("mirror")


def file_of(found: ConfigMap) -> Path:
    return Path(os.environ["MIRROR"]) / f"{found.metadata.namespace}.{found.metadata.name}.json"


@app.on_create(ConfigMap, label_selector="mirror")
@app.timer(ConfigMap, label_selector="mirror", every=60)
def write(found: ConfigMap, ctx: PlainContext) -> None:
    """Write what is new, and every minute what somebody may have removed."""
    file_of(found).write_text(json.dumps(found.json.get("data") or {}, sort_keys=True))


@app.on_update(ConfigMap, label_selector="mirror", field="data", retries=5)
def rewrite(found: ConfigMap, change: Changed, ctx: PlainContext) -> None:
    """However often it changed while nobody looked, this is one change, from what the file holds."""
    gone = sorted((change.old or {}).keys() - (change.new or {}).keys())
    write(found, ctx)
    ctx.event("Normal", "Mirrored", f"{file_of(found).name} is rewritten" + (f" without {gone}" if gone else ""))


@app.on_delete(ConfigMap, label_selector="mirror")
def remove(found: ConfigMap, ctx: PlainContext) -> None:
    """The ConfigMap is there until this is done."""
    file_of(found).unlink(missing_ok=True)


@app.daemon(ConfigMap, label_selector="mirror=live")
async def watch_the_file(found: ConfigMap, ctx: Context) -> None:
    """For as long as the ConfigMap lives, say that its file is not there."""
    while True:
        if not file_of(found).exists():
            ctx.event("Warning", "Lost", f"{file_of(found).name} is gone until the next minute")
        await asyncio.sleep(1)
