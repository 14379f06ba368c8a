"""CronTabs, and the controller that starts their Jobs on time: `hardpoint run examples/07_crontab.py`, and then

kubectl create -f - <<< '{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": "backup"},
                          "spec": {"cronSpec": "*/5 * * * *", "image": "my-backup"}}'
"""

from datetime import datetime
from typing import Annotated, Any

from cron import next_run
from pydantic import BaseModel, Field

from hardpoint import App
from hardpoint.controller import Context, Permanent, Requeue
from hardpoint.crd import Resource, Rule

app = App("crontabs")


@app.resource(group="stable.example.com", version="v1", short_names=["ct"], columns={"Spec": ".spec.cronSpec"})
class CronTab(Resource):
    class Spec(BaseModel):
        cron_spec: Annotated[str, Field(pattern=r"^\S+( \S+){4}$")]
        image: str
        replicas: int = 1

    class Status(BaseModel):
        last_run: datetime | None = None

    spec: Spec
    status: Status
    rules = (Rule("self.spec.replicas <= 10", "at most ten"),)


@app.controller(CronTab, owns=["batch/v1 Job"])
async def run_on_time(tab: CronTab, ctx: Context) -> Requeue:
    """Start the Job that is due; of several that nobody was there to start, the first."""
    since = tab.status.last_run or datetime.fromisoformat(tab.metadata.creationTimestamp)
    try:
        due, following = next_run(tab.spec.cron_spec, since), next_run(tab.spec.cron_spec, ctx.now)
    except ValueError as wrong:
        raise Permanent(f"spec.cronSpec: {wrong}") from wrong
    if due <= ctx.now:
        await ctx.apply(job_for(tab, due))
        tab.status.last_run = ctx.now
    return Requeue(at=following)


def job_for(tab: CronTab, due: datetime) -> dict[str, Any]:
    """The Job of a moment has the moment's name: however often it is applied, it is one."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "job", "image": tab.spec.image}]}
    spec = {"parallelism": tab.spec.replicas, "template": {"spec": pod}}
    name = f"{tab.metadata.name}-{due:%Y%m%d%H%M}"
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}
