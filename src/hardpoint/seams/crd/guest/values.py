"""Types of Kubernetes' own that fields may have, beside those of Python."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypeAlias

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from hardpoint.machinery import quantity
from hardpoint.seams.crd.guest import spelling

QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)


class _QuantityType:
    """How pydantic reads, writes and describes a quantity. What was read is written in the same words."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            spelling.read_quantity,
            serialization=core_schema.plain_serializer_function_ser_schema(spelling.quantity_json),
        )

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"x-kubernetes-int-or-string": True, "pattern": QUANTITY_PATTERN}


class _MicroTime:
    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        writer = core_schema.plain_serializer_function_ser_schema(spelling.micro_time_text)
        return core_schema.datetime_schema(tz_constraint="aware", serialization=writer)


Quantity = Annotated[quantity.Quantity, _QuantityType()]
"""An amount such as `100m` or `64Mi`: it compares, adds up, and is written as it was read."""

IntOrString: TypeAlias = int | str
"""A number or a text, such as a port's number or its name."""

MicroTime = Annotated[datetime, _MicroTime()]
"""A time that is written with six digits after the second; a plain `datetime` has none."""

Int32 = Annotated[int, Field(json_schema_extra={"format": "int32"})]
Int64 = Annotated[int, Field(json_schema_extra={"format": "int64"})]
