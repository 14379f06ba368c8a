"""Resources as an author may write them, for the type checker: `test_typing.py` has it looked at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, assert_type

from pydantic import BaseModel, Field

from hardpoint import App
from hardpoint.crd import Column, IntOrString, MapKeys, Resource, Rule, Scale
from hardpoint.machinery.models import Model

app = App("typed")


@dataclass
class Port:
    name: str
    number: IntOrString = 80


@app.resource(
    group="stable.example.com",
    version="v1",
    short_names=["ct"],
    columns={"Spec": ".spec.cronSpec", "Wide": Column(".spec.replicas", priority=1)},
    scale=Scale(),
)
class CronTab(Resource):
    class Spec(BaseModel):
        cron_spec: Annotated[str, Field(pattern=r"^\S+( \S+){4}$")]
        replicas: int = 3
        ports: Annotated[list[Port], MapKeys("name")] = []

    class Status(BaseModel):
        replicas: int = 0
        last_run: datetime | None = None

    spec: Spec
    status: Status
    rules = [Rule("self.spec.replicas <= 10", "at most ten")]  # noqa: RUF012 As the guide has it.


@app.resource(group="stable.example.com", version="v1beta1", kind="CronTab", storage=False)
class CronTabV1Beta1(Resource):
    class Spec(BaseModel):
        cron: str = ""

    spec: Spec


_conforms: type[Model] = CronTab

tab = CronTab.from_json({})
assert_type(tab, CronTab)
assert_type(tab.spec.replicas, int)
assert_type(tab.spec.ports[0].number, int | str)
assert_type(tab.status.last_run, datetime | None)
assert_type(tab.metadata.name, str)
assert_type(tab.metadata.labels, dict[str, str])
assert_type(tab.metadata.generation, int)
tab.metadata.labels = {"a": "b"}
made = CronTab("a", namespace="b", spec=CronTab.Spec(cron_spec="* * * * *"))
assert_type(made, CronTab)


@app.conversion(CronTabV1Beta1, CronTab)
def newer(old: CronTabV1Beta1) -> CronTab:
    return CronTab(spec=CronTab.Spec(cron_spec=old.spec.cron))


@app.conversion(CronTab, CronTabV1Beta1)
async def older(new: CronTab) -> CronTabV1Beta1:
    return CronTabV1Beta1(spec=CronTabV1Beta1.Spec(cron=new.spec.cron_spec))


assert_type(newer(CronTabV1Beta1()), CronTab)
waits: Callable[[CronTab], Awaitable[CronTabV1Beta1]] = older


tab.spec.replicas = "many"  # wrong
print(tab.spec.cronSpec)  # wrong
tab.metadata.name = 3  # wrong
CronTab.Spec(cron_spec=3)  # wrong
app.resource(group="stable.example.com")  # wrong
app.resource(group="stable.example.com", version="v1", colour="red")  # wrong


@app.conversion(CronTabV1Beta1, CronTab)  # wrong
def backwards(new: CronTab) -> CronTabV1Beta1:
    return CronTabV1Beta1()


@app.resource(group="stable.example.com", version="v1")
class NoResource:  # wrong
    pass
