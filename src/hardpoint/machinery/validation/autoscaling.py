"""What makes a HorizontalPodAutoscaler invalid. In v1 only its bounds and its target are its own to get wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalid, invalids, not_supported, required
from hardpoint.machinery.quantity import parse
from hardpoint.machinery.validation import resources, rules

Json = dict[str, Any]
Errors = list[FieldError]

SELECT_POLICIES = ("Disabled", "Max", "Min")
SCALING_POLICIES = ("Percent", "Pods")
TARGET_TYPES = ("Utilization", "Value", "AverageValue")
STABILIZATION_SECONDS_MAX = 3600
PERIOD_SECONDS_MAX = 1800


def _autoscaler(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    least, most = spec["minReplicas"], spec.get("maxReplicas", 0)
    if most < least:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"))
    _scale_target(errors, spec.get("scaleTargetRef") or {}, old["spec"].get("scaleTargetRef") or {} if old else None)
    if obj["apiVersion"] != "autoscaling/v1":
        _metrics(errors, "spec.metrics", spec.get("metrics") or [], least)
        for direction in ("scaleUp", "scaleDown"):
            if direction in (spec.get("behavior") or {}):
                _scaling_rules(errors, f"spec.behavior.{direction}", spec["behavior"][direction])
    elif spec.get("targetCPUUtilizationPercentage", 1) <= 0:
        # The old version has one metric, and it is told as what it became in the new one.
        percent = spec["targetCPUUtilizationPercentage"]
        place = "spec.metrics[0].resource.target.averageUtilization"
        errors.append(invalid(place, percent, "must be greater than 0"))
    errors += rules.not_negative("spec.minReplicas", least)
    if most == 0:
        errors.append(required("spec.maxReplicas"))
    elif most < 0:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than or equal to 1"))
    return errors


def _scale_target(errors: Errors, target: Json, before: Json | None) -> None:
    """The version of a target that stays what it was is not looked at; the core group has one kind that scales."""
    stays = before is not None and all(target.get(field) == before.get(field) for field in ("apiVersion", "kind"))
    needs_group = target.get("kind") != "ReplicationController"
    _reference(errors, "spec.scaleTargetRef", target, needs_group=needs_group, checks_version=not stays)


def _reference(errors: Errors, path: str, reference: Json, *, needs_group: bool, checks_version: bool = True) -> None:
    for field in ("kind", "name"):
        value = reference.get(field, "")
        if value:
            errors += invalids(f"{path}.{field}", value, names.path_segment(value))
        else:
            errors.append(required(f"{path}.{field}"))
    version = reference.get("apiVersion", "")
    if not checks_version:
        return
    if version.count("/") > 1:
        errors.append(invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}"))
    elif needs_group and not version.rpartition("/")[0]:
        errors.append(invalid(f"{path}.apiVersion", version, "apiVersion must specify API group"))


def _metrics(errors: Errors, path: str, metrics: list[Json], min_replicas: int) -> None:
    for index, metric in enumerate(metrics):
        _metric(errors, at(path, index), metric)
    if min_replicas == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        detail = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.append(forbidden(path, detail))


def _metric(errors: Errors, path: str, metric: Json) -> None:
    kind = metric.get("type", "")
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric source type"))
    if kind not in FIELD_OF_TYPE:
        errors.append(not_supported(f"{path}.type", kind, sorted(FIELD_OF_TYPE)))
    found = [field for field in SOURCES if field in metric]
    if found:
        SOURCES[found[0]](errors, f"{path}.{found[0]}", metric[found[0]])
    wanted = FIELD_OF_TYPE.get(kind, "")
    if wanted and wanted not in metric:
        errors.append(required(f"{path}.{wanted}", "must populate information for the given metric source"))
    if len(found) > 1:
        told = "must populate the given metric source only"
        errors += [forbidden(f"{path}.{field}", told) for field in found if field != wanted]


def _object(errors: Errors, path: str, source: Json) -> None:
    _reference(errors, f"{path}.describedObject", source.get("describedObject") or {}, needs_group=False)
    _identified(errors, path, source)
    target = source.get("target") or {}
    if "value" not in target and "averageValue" not in target:
        errors.append(required(f"{path}.target.averageValue", "must set either a target value or averageValue"))


def _external(errors: Errors, path: str, source: Json) -> None:
    _identified(errors, path, source)
    target = source.get("target") or {}
    if "value" not in target and "averageValue" not in target:
        detail = "must set either a target value for metric or a per-pod target"
        errors.append(required(f"{path}.target.averageValue", detail))
    if "value" in target and "averageValue" in target:
        detail = "may not set both a target value for metric and a per-pod target"
        errors.append(forbidden(f"{path}.target.value", detail))


def _pods(errors: Errors, path: str, source: Json) -> None:
    _identified(errors, path, source)
    if "averageValue" not in (source.get("target") or {}):
        errors.append(required(f"{path}.target.averageValue", "must specify a positive target averageValue"))


def _resource(errors: Errors, path: str, source: Json) -> None:
    if not source.get("name"):
        errors.append(required(f"{path}.name", "must specify a resource name"))
    _usage(errors, path, source)


def _container_resource(errors: Errors, path: str, source: Json) -> None:
    name, container = source.get("name", ""), source.get("container", "")
    if name:
        resources.container_resource_name(errors, f"{path}.name", name)
    else:
        errors.append(required(f"{path}.name", "must specify a resource name"))
    if container:
        errors += invalids(f"{path}.container", container, names.dns_label(container))
    else:
        errors.append(required(f"{path}.container", "must specify a container"))
    _usage(errors, path, source)


def _usage(errors: Errors, path: str, source: Json) -> None:
    target = source.get("target") or {}
    _target(errors, f"{path}.target", target)
    if "averageUtilization" not in target and "averageValue" not in target:
        detail = "must set either a target raw value or a target utilization"
        errors.append(required(f"{path}.target.averageUtilization", detail))
    if "averageUtilization" in target and "averageValue" in target:
        detail = "may not set both a target raw value and a target utilization"
        errors.append(forbidden(f"{path}.target.averageValue", detail))


def _identified(errors: Errors, path: str, source: Json) -> None:
    name = (source.get("metric") or {}).get("name", "")
    if name:
        errors += invalids(f"{path}.metric.name", name, names.path_segment(name))
    else:
        errors.append(required(f"{path}.metric.name", "must specify a metric name"))
    _target(errors, f"{path}.target", source.get("target") or {})


def _target(errors: Errors, path: str, target: Json) -> None:
    kind = target.get("type", "")
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric target type"))
    if kind not in TARGET_TYPES:
        errors.append(invalid(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue"))
    for field in ("value", "averageValue"):
        amount = target.get(field)
        if amount is not None and parse(amount).sign != 1:
            errors.append(invalid(f"{path}.{field}", amount, "must be positive"))
    utilization = target.get("averageUtilization")
    if utilization is not None and utilization < 1:
        errors.append(invalid(f"{path}.averageUtilization", utilization, "must be greater than 0"))


# In the order upstream looks at them: the first one found is the metric's source.
SOURCES: Mapping[str, Callable[[Errors, str, Json], None]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}
FIELD_OF_TYPE = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}


def _scaling_rules(errors: Errors, path: str, scaling: Json) -> None:
    seconds = scaling.get("stabilizationWindowSeconds", 0)
    place = f"{path}.stabilizationWindowSeconds"
    if seconds < 0:
        errors.append(invalid(place, seconds, "must be greater than or equal to zero"))
    if seconds > STABILIZATION_SECONDS_MAX:
        errors.append(invalid(place, seconds, f"must be less than or equal to {STABILIZATION_SECONDS_MAX}"))
    errors += rules.choice(f"{path}.selectPolicy", scaling["selectPolicy"], SELECT_POLICIES)
    policies = scaling.get("policies") or []
    if not policies:
        errors.append(required(f"{path}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(policies):
        _scaling_policy(errors, at(f"{path}.policies", index), policy)
    tolerance = scaling.get("tolerance", "0")
    if tolerance.startswith("-"):
        errors.append(invalid(f"{path}.tolerance", tolerance, rules.NOT_NEGATIVE))


def _scaling_policy(errors: Errors, path: str, policy: Json) -> None:
    errors += rules.choice(f"{path}.type", policy.get("type", ""), SCALING_POLICIES)
    value, seconds = policy.get("value", 0), policy.get("periodSeconds", 0)
    if value <= 0:
        errors.append(invalid(f"{path}.value", value, rules.POSITIVE))
    if seconds <= 0:
        errors.append(invalid(f"{path}.periodSeconds", seconds, rules.POSITIVE))
    if seconds > PERIOD_SECONDS_MAX:
        errors.append(invalid(f"{path}.periodSeconds", seconds, f"must be less than or equal to {PERIOD_SECONDS_MAX}"))


def _status(obj: Json, old: Json) -> Errors:
    status = obj.get("status") or {}
    errors: Errors = []
    for index, condition in enumerate(status.get("conditions") or ()):
        place = f"{at('status.conditions', index)}.observedGeneration"
        errors += rules.not_negative(place, condition.get("observedGeneration", 0))
    for field in ("currentReplicas", "desiredReplicas"):
        errors += rules.not_negative(f"status.{field}", status.get(field, 0))
    return errors


CREATE = {"HorizontalPodAutoscaler": _autoscaler}
UPDATE = CREATE
SUBRESOURCES = {"HorizontalPodAutoscaler": {"status": _status}}
