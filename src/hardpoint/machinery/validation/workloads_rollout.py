"""How controllers may replace their pods: how many more, how many fewer, in numbers or in percent."""

from __future__ import annotations

import re
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    invalids,
    json_as_go,
    not_supported,
    required,
)
from hardpoint.machinery.validation.metadata import non_negative

Json = dict[str, Any]
Errors = list[FieldError]

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_MAX_UNAVAILABLE = "maxUnavailable"


def deployment_strategy(errors: Errors, path: str, strategy: Json) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            told = "may not be specified when strategy `type` is 'Recreate'"
            errors.append(forbidden(f"{path}.rollingUpdate", told))
    elif kind != "RollingUpdate":
        shown = _internal(kind, rolling, ("MaxUnavailable", "MaxSurge"))
        errors.append(_unsupported(path, shown, ("Recreate", "RollingUpdate")))
    elif rolling is None:
        errors.append(required(f"{path}.rollingUpdate", "this should be defaulted and never be nil"))
    else:
        _rolling_deployment(errors, f"{path}.rollingUpdate", rolling)


def daemon_set_strategy(errors: Errors, path: str, strategy: Json) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "OnDelete":
        return
    if kind != "RollingUpdate":
        shown = _internal(kind, rolling, ("MaxUnavailable", "MaxSurge"))
        errors.append(_unsupported(path, shown, ("RollingUpdate", "OnDelete")))
    elif rolling is None:
        errors.append(required(f"{path}.rollingUpdate"))
    else:
        _rolling_daemon_set(errors, f"{path}.rollingUpdate", rolling)


def stateful_set_strategy(errors: Errors, path: str, strategy: Json) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if not kind:
        errors.append(required(path))
    elif kind == "OnDelete":
        if rolling is not None:
            shown = json_as_go(_internal_rolling(rolling, ("Partition", "MaxUnavailable")))
            told = "only allowed for updateStrategy 'RollingUpdate'"
            errors.append(FieldError("FieldValueInvalid", f"{path}.rollingUpdate", shown, told))
    elif kind == "RollingUpdate":
        if rolling is not None:
            _rolling_stateful_set(errors, f"{path}.rollingUpdate", rolling)
    else:
        shown = _internal(kind, rolling, ("Partition", "MaxUnavailable"))
        errors.append(FieldError("FieldValueInvalid", path, shown, "must be 'RollingUpdate' or 'OnDelete'"))


def number_or_percent(errors: Errors, path: str, value: int | str) -> None:
    """A number of pods, or a part of them."""
    if isinstance(value, int):
        non_negative(errors, path, value)
    elif wrong := names.percent(value):
        errors += invalids(path, value, wrong)


def _rolling_deployment(errors: Errors, path: str, rolling: Json) -> None:
    fewer, more = rolling.get(_MAX_UNAVAILABLE, 0), rolling.get("maxSurge", 0)
    number_or_percent(errors, f"{path}.{_MAX_UNAVAILABLE}", fewer)
    number_or_percent(errors, f"{path}.maxSurge", more)
    if not _amount(fewer) and not _amount(more):
        errors.append(invalid(f"{path}.{_MAX_UNAVAILABLE}", fewer, "may not be 0 when `maxSurge` is 0"))
    _not_more_than_all(errors, f"{path}.{_MAX_UNAVAILABLE}", fewer)


def _rolling_daemon_set(errors: Errors, path: str, rolling: Json) -> None:
    fewer, more = rolling.get(_MAX_UNAVAILABLE, 0), rolling.get("maxSurge", 0)
    number_or_percent(errors, f"{path}.{_MAX_UNAVAILABLE}", fewer)
    number_or_percent(errors, f"{path}.maxSurge", more)
    _not_more_than_all(errors, f"{path}.{_MAX_UNAVAILABLE}", fewer)
    _not_more_than_all(errors, f"{path}.maxSurge", more)
    if _amount(fewer) and _amount(more):
        errors.append(invalid(f"{path}.maxSurge", more, "may not be set when maxUnavailable is non-zero"))
    elif not _amount(fewer) and not _amount(more):
        errors.append(required(f"{path}.{_MAX_UNAVAILABLE}", "cannot be 0 when maxSurge is 0"))


def _rolling_stateful_set(errors: Errors, path: str, rolling: Json) -> None:
    non_negative(errors, f"{path}.partition", rolling.get("partition", 0))
    fewer = rolling.get(_MAX_UNAVAILABLE)
    if fewer is None:
        return
    number_or_percent(errors, f"{path}.{_MAX_UNAVAILABLE}", fewer)
    if not _amount(fewer):
        errors.append(invalid(f"{path}.{_MAX_UNAVAILABLE}", fewer, "cannot be 0"))
    _not_more_than_all(errors, f"{path}.{_MAX_UNAVAILABLE}", fewer)


def _amount(value: int | str) -> int:
    """How many, or how many percent; a text that is neither counts as none."""
    if isinstance(value, int):
        return value
    digits = value if names.percent(value) else value[:-1]
    return int(digits) if _INTEGER.fullmatch(digits) else 0


def _not_more_than_all(errors: Errors, path: str, value: int | str) -> None:
    if isinstance(value, str) and not names.percent(value) and _amount(value) > 100:
        errors.append(invalid(path, value, "must not be greater than 100%"))


def _unsupported(path: str, shown: str, supported: tuple[str, ...]) -> FieldError:
    listed = not_supported(path, "", supported)
    return FieldError(listed.reason, path, shown, listed.detail)


def _internal(kind: str, rolling: Json | None, fields: tuple[str, ...]) -> str:
    """A strategy as upstream's messages show it: in the form it has inside the server."""
    return json_as_go({"Type": kind, "RollingUpdate": None if rolling is None else _internal_rolling(rolling, fields)})


def _internal_rolling(rolling: Json, fields: tuple[str, ...]) -> Json:
    absent = {"Partition": 0, "MaxSurge": 0}
    return {field: rolling.get(field[0].lower() + field[1:], absent.get(field)) for field in fields}
