"""A custom resource in two versions, as classes: schema, defaults, rules, columns and conversion follow from them.

Try it, in two terminals:

    hardpoint up
    hardpoint run examples/06_resource.py

    kubectl explain backups.spec
    kubectl create -f - <<< '{"apiVersion": "shop.example.com/v1", "kind": "Backup", "metadata": {"name": "nightly"},
        "spec": {"database": "orders", "schedule": "0 3 * * *"}}'
    kubectl get backups.v1beta1.shop.example.com nightly -o yaml
"""

from datetime import datetime, timedelta
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, Field

from hardpoint import App
from hardpoint.crd import Quantity, Resource, Rule

app = App("backups")

Name = Annotated[str, Field(min_length=1, max_length=63)]
Cron = Annotated[str, Field(pattern=r"^\S+( \S+){4}$", description="When, as cron has it.")]
Count = Annotated[int, Field(ge=1, le=100)]


class Target(BaseModel):
    """Where backups are kept."""

    rules: ClassVar[list[Rule]] = [Rule("self.kind != 'bucket' || has(self.bucket)", "a bucket needs a name")]

    kind: Literal["disk", "bucket"] = "disk"
    bucket: Name | None = None
    size: Quantity | None = None


@app.resource(
    group="shop.example.com",
    version="v1",
    columns={"Database": ".spec.database", "Schedule": ".spec.schedule", "Last": ".status.lastRun"},
)
class Backup(Resource):
    """Keeps copies of a database."""

    class Spec(BaseModel):
        database: Annotated[Name, Rule("self == oldSelf", "another database is another backup")]
        schedule: Cron
        keep: Count = 7
        patience: timedelta = timedelta(minutes=10)
        target: Target = Target()

    class Status(BaseModel):
        last_run: datetime | None = None

    spec: Spec
    status: Status


@app.resource(group="shop.example.com", version="v1beta1", kind="Backup", storage=False, deprecated=True)
class BackupV1Beta1(Resource):
    class Spec(BaseModel):
        database: Name
        cron: Cron
        copies: Count = 7
        patience: timedelta = timedelta(minutes=10)
        target: Target = Target()

    spec: Spec
    status: Backup.Status


@app.conversion(BackupV1Beta1, Backup)
def newer(old: BackupV1Beta1) -> Backup:
    was = old.spec
    spec = Backup.Spec(
        database=was.database, schedule=was.cron, keep=was.copies, patience=was.patience, target=was.target
    )
    return Backup(spec=spec, status=old.status)


@app.conversion(Backup, BackupV1Beta1)
def older(new: Backup) -> BackupV1Beta1:
    was = new.spec
    spec = BackupV1Beta1.Spec(
        database=was.database, cron=was.schedule, copies=was.keep, patience=was.patience, target=was.target
    )
    return BackupV1Beta1(spec=spec, status=new.status)
