"""What makes the finer points of a device invalid: how its capacity may be shared out, and what it waits for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    at,
    duplicate,
    forbidden,
    invalid,
    invalids,
    required,
    too_many,
)
from hardpoint.machinery.quantity import Quantity, parse
from hardpoint.machinery.validation import rules

Json = dict[str, Any]
Errors = list[FieldError]

CONDITIONS_MAX = 4
VALID_VALUES_MAX = 10
ONE_POLICY = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'


def capacity(errors: Errors, path: str, amount: Json, *, is_shared: bool) -> None:
    """One capacity of a device. Only devices that are allocated many times share it out by a policy."""
    policy = amount.get("requestPolicy")
    if policy is None:
        return
    place = f"{path}.requestPolicy"
    if not is_shared:
        errors.append(forbidden(place, "allowMultipleAllocations must be true"))
    elif policy.get("validValues") and policy.get("validRange") is not None:
        errors.append(forbidden(place, ONE_POLICY))
    else:
        _policy(errors, place, policy, parse(amount["value"]))


def _policy(errors: Errors, path: str, policy: Json, most: Quantity) -> None:
    given = "validValues" if policy.get("validValues") else "validRange"
    if policy.get(given) is None:
        return
    if policy.get("default") is None:
        errors.append(required(f"{path}.default", f"required when {given} is defined"))
    elif given == "validValues":
        _valid_values(errors, f"{path}.{given}", policy[given], parse(policy["default"]), most)
    else:
        _valid_range(errors, f"{path}.{given}", policy[given], parse(policy["default"]), most)


def _valid_values(errors: Errors, path: str, texts: Sequence[str], default: Quantity, most: Quantity) -> None:
    amounts = [parse(text) for text in texts]
    for index in range(1, len(amounts)):
        if amounts[index - 1] > amounts[index]:
            errors.append(invalid(at(path, index), texts[index], "values must be sorted in ascending order"))
    if len(amounts) > VALID_VALUES_MAX:
        errors.append(too_many(path, len(amounts), VALID_VALUES_MAX))
    else:
        for index, amount in enumerate(amounts):
            if amount > most:
                told = f"option is larger than capacity value: {most}"
                errors.append(invalid(at(path, index), texts[index], told))
        for index, amount in enumerate(amounts):
            if amount in amounts[:index]:
                errors.append(duplicate(at(path, index), texts[index]))
    if default not in amounts:
        errors.append(invalid(path, str(default), "default value is not valid according to the requestPolicy"))


def _valid_range(errors: Errors, path: str, limits: Json, default: Quantity, most: Quantity) -> None:
    if limits.get("min") is None:
        errors.append(required(f"{path}.min", "required when validRange is defined"))
        return
    least = parse(limits["min"])
    if least > most:
        errors.append(invalid(f"{path}.min", limits["min"], f"min is larger than capacity value: {most}"))
    if default < least:
        errors.append(invalid(f"{path}.default", str(default), f"default is less than min: {least}"))
    greatest = parse(limits["max"]) if limits.get("max") is not None else None
    if greatest is not None:
        if least > greatest:
            errors.append(invalid(f"{path}.max", limits["min"], f"min is larger than max: {greatest}"))
        if greatest > most:
            errors.append(invalid(f"{path}.max", limits["max"], f"max is larger than capacity value: {most}"))
        if default > greatest:
            errors.append(invalid(f"{path}.default", str(default), f"default is more than max: {greatest}"))
    if limits.get("step") is not None:
        _step(errors, path, {"default": default, "min": least, "max": greatest, "step": parse(limits["step"])}, most)


def _step(errors: Errors, path: str, amounts: dict[str, Quantity | None], most: Quantity) -> None:
    default, least, greatest, step = amounts["default"], amounts["min"], amounts["max"], amounts["step"]
    assert default is not None
    assert least is not None
    assert step is not None
    if step.sign <= 0:
        errors.append(invalid(f"{path}.step", str(step), rules.POSITIVE))
        return
    if least + step > most:
        told = f"one step {least + step} is larger than capacity value: {most}"
        errors.append(invalid(f"{path}.step", str(step), told))
    negative = [name for name, amount in amounts.items() if amount is not None and amount.sign < 0]
    for name in negative:
        errors.append(invalid(f"{path}.{name}", str(amounts[name]), rules.NOT_NEGATIVE))
    if negative:
        return
    for amount in (default, greatest):
        if amount is not None and (amount.value() - least.value()) % step.value():
            told = f"value is not a multiple of a given step ({step}) from ({least})"
            errors.append(invalid(f"{path}.step", str(amount), told))


def binding_conditions(errors: Errors, path: str, device: Json) -> None:
    """What must be true, and what must not, before a pod is bound: both are said, or neither."""
    fields = ("bindingConditions", "bindingFailureConditions")
    wanted, failures = (device.get(field) or [] for field in fields)
    for field, conditions in zip(fields, (wanted, failures), strict=True):
        if len(conditions) > CONDITIONS_MAX:
            errors.append(too_many(f"{path}.{field}", len(conditions), CONDITIONS_MAX))
            continue
        for index, condition in enumerate(conditions):
            errors += invalids(at(f"{path}.{field}", index), condition, names.label_key(condition))
    for index, condition in enumerate(wanted):
        if condition in wanted[:index]:
            errors.append(duplicate(at(f"{path}.{fields[0]}", index), condition))
    for index, condition in enumerate(failures):
        place = at(f"{path}.{fields[1]}", index)
        if condition in failures[:index]:
            errors.append(duplicate(place, condition))
        if condition in wanted:
            errors.append(invalid(place, condition, "bindingFailureConditions must not overlap with bindingConditions"))
    for field, other in (fields, fields[::-1]):
        if device.get(other) and not device.get(field):
            errors.append(invalid(f"{path}.{field}", device.get(field), f"{field} are required to use {other}"))
