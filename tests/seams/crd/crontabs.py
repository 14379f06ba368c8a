"""A resource with a field of every sort, for the tests that read, write and describe one."""

from __future__ import annotations

import dataclasses
import enum
from datetime import date, datetime, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import AnyUrl, BaseModel, Field

from hardpoint.crd import (
    Atomic,
    EmbeddedResource,
    Int32,
    IntOrString,
    JsonName,
    MapKeys,
    MicroTime,
    Nullable,
    PreserveUnknown,
    Quantity,
    Resource,
    Rule,
    Unique,
)


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Window:
    """When it may run."""

    from_hour: int
    to_hour: int = 24
    days: list[str] = dataclasses.field(default_factory=list)


class Port(BaseModel):
    """A port."""

    rules: ClassVar[list[Rule]] = [Rule("self.number > 0", "a port has a number")]

    name: str
    number: Annotated[int, Field(gt=0, lt=65536)]
    cluster_ip: Annotated[str, JsonName("clusterIP")] = ""


class Limits(BaseModel):
    cpu: Quantity | None = None
    burst: int = 2


class CronTab(Resource):
    """Runs something, again and again."""

    class Spec(BaseModel):
        cron_spec: Annotated[str, Field(pattern=r"^\S+( \S+){4}$", description="When.", max_length=64)]
        required_or_null: int | None
        replicas: Annotated[int, Rule("self >= oldSelf", "never fewer")] = 3
        ratio: Annotated[float, Field(ge=0.5, multiple_of=0.5)] | None = None
        ports: Annotated[list[Port], MapKeys("name"), Field(max_length=9)] = []
        windows: list[Window] = []
        color: Color = Color.RED
        policy: Literal["Allow", "Forbid"] | None = None
        one: Literal[1] = 1
        nullable: Annotated[int | None, Nullable()] = None
        started: datetime | None = None
        precise: MicroTime | None = None
        day: date | None = None
        every: timedelta = timedelta(minutes=5)
        id: UUID | None = None
        address: IPv4Address | None = None
        network: IPv4Network | None = None
        url: AnyUrl | None = None
        data: bytes | None = None
        price: Decimal | None = None
        tags: set[str] | None = None
        pair: tuple[int, ...] | None = None
        points: Annotated[list[int], Unique()] | None = None
        limits: Limits = Limits()
        port: IntOrString | None = None
        small: Int32 | None = None
        by_name: dict[str, Port] | None = None
        labels: Annotated[dict[str, str], Atomic(), Field(max_length=5)] | None = None
        anything: Any = None
        loose: dict[str, Any] | None = None
        loose_list: list[Any] | None = None
        open: Annotated[Limits, PreserveUnknown()] | None = None
        pod: Annotated[dict[str, Any], EmbeddedResource()] | None = None
        explicit: Annotated[str, Field(alias="EXPLICIT")] = "e"

    class Status(BaseModel):
        last_run: datetime | None = None
        active: list[str] = []

    spec: Spec
    status: Status
    rules = (Rule("self.spec.replicas <= 10", "at most ten", field_path=".spec.replicas"),)


class Plain(Resource):
    """Dataclasses only, and a field beside spec."""

    @dataclasses.dataclass
    class Spec:
        image: str
        replicas: int = 3
        windows: list[Window] = dataclasses.field(default_factory=list)

    spec: Spec
    data: dict[str, str] = Field(default_factory=dict)
