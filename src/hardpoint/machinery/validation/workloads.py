"""What makes the controllers of pods invalid: selectors that miss their own pods, impossible updates, and templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, forbidden, invalid, invalids, not_supported, required
from hardpoint.machinery.selectors import from_label_selector
from hardpoint.machinery.validation import workloads_status
from hardpoint.machinery.validation.labelselectors import immutable_selector, is_empty, label_selector, shown
from hardpoint.machinery.validation.metadata import immutable, non_negative
from hardpoint.machinery.validation.podspec import pod_template
from hardpoint.machinery.validation.workloads_rollout import (
    daemon_set_strategy,
    deployment_strategy,
    stateful_set_strategy,
)
from hardpoint.machinery.validation.workloads_stateful import claims, retention, template_with_claims

Json = dict[str, Any]
Errors = list[FieldError]

MISSES_TEMPLATE = "`selector` does not match template `labels`"

_TEMPLATE = "spec.template"


def _replication_controller(obj: Json) -> Errors:
    errors: Errors = []
    spec = obj.get("spec") or {}
    _selected_by_labels(errors, spec.get("selector") or {}, spec.get("template"))
    _counted_last(errors, obj.get("metadata") or {}, spec)
    return errors


def _selected_by_labels(errors: Errors, selector: dict[str, str], template: Json | None) -> None:
    if not selector:
        errors.append(required("spec.selector"))
    if template is None:
        errors.append(required(_TEMPLATE))
    else:
        labels = _labels(template)
        if any((labels or {}).get(key) != value for key, value in selector.items()):
            errors.append(invalid(f"{_TEMPLATE}.metadata.labels", labels, MISSES_TEMPLATE))
        pod_template(errors, _TEMPLATE, template)
        _runs_for_ever(errors, template, "ReplicationController")


def _counted_last(errors: Errors, metadata: Json, spec: Json) -> None:
    """The name and the counts are told last: upstream checks them by another mechanism, after everything else."""
    name = metadata.get("name", "")
    if name:
        if names.length(name) > names.DNS_SUBDOMAIN_LENGTH_MAX:
            told = names.too_long(names.DNS_SUBDOMAIN_LENGTH_MAX, "bytes")
            errors.append(invalid("metadata.name", name, told))
        errors += invalids("metadata.name", name, names.DNS_SUBDOMAIN.problems(name))
    if "replicas" not in spec:
        errors.append(required("spec.replicas"))
    non_negative(errors, "spec.replicas", spec.get("replicas", 0))
    non_negative(errors, "spec.minReadySeconds", spec.get("minReadySeconds", 0))


def _replica_set(obj: Json) -> Errors:
    errors: Errors = []
    spec = obj.get("spec") or {}
    non_negative(errors, "spec.replicas", spec.get("replicas", 0))
    non_negative(errors, "spec.minReadySeconds", spec.get("minReadySeconds", 0))
    # Upstream says deployment here too.
    _selected_template(errors, spec, "deployment")
    return errors


def _deployment(obj: Json) -> Errors:
    errors: Errors = []
    spec = obj.get("spec") or {}
    non_negative(errors, "spec.replicas", spec.get("replicas", 0))
    _selected_template(errors, spec, "deployment")
    deployment_strategy(errors, "spec.strategy", spec.get("strategy") or {})
    ready = spec.get("minReadySeconds", 0)
    non_negative(errors, "spec.minReadySeconds", ready)
    non_negative(errors, "spec.revisionHistoryLimit", spec.get("revisionHistoryLimit", 0))
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        non_negative(errors, "spec.progressDeadlineSeconds", deadline)
        if deadline <= ready:
            told = "must be greater than minReadySeconds"
            errors.append(invalid("spec.progressDeadlineSeconds", deadline, told))
    return errors


def _selected_template(errors: Errors, spec: Json, kind: str) -> None:
    """The selector and the template of a ReplicaSet or Deployment."""
    selector, template = spec.get("selector"), spec.get("template") or {}
    if _selector(errors, selector, kind):
        _matches(errors, selector, template)
        pod_template(errors, _TEMPLATE, template)
        _runs_for_ever(errors, template, "ReplicaSet")
    else:
        errors.append(FieldError("FieldValueInvalid", "spec.selector", shown(selector), "invalid label selector"))


def _selector(errors: Errors, selector: Json | None, kind: str) -> bool:
    """Whether the selector can be used at all; None can, and selects nothing."""
    if selector is None:
        errors.append(required("spec.selector"))
        return True
    before = len(errors)
    label_selector(errors, "spec.selector", selector)
    usable = len(errors) == before
    if is_empty(selector):
        errors.append(invalid("spec.selector", selector, f"empty selector is invalid for {kind}"))
    return usable


def _matches(errors: Errors, selector: Json | None, template: Json) -> None:
    labels = _labels(template)
    if not from_label_selector(selector).matches(labels or {}):
        errors.append(invalid(f"{_TEMPLATE}.metadata.labels", labels, MISSES_TEMPLATE))


def _labels(template: Json) -> dict[str, str] | None:
    return (template.get("metadata") or {}).get("labels")


def _runs_for_ever(errors: Errors, template: Json, kind: str) -> None:
    """Pods that a controller keeps alive never end by themselves."""
    spec = template.get("spec") or {}
    policy = spec.get("restartPolicy", "")
    if policy != "Always":
        errors.append(not_supported(f"{_TEMPLATE}.spec.restartPolicy", policy, ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        told = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden(f"{_TEMPLATE}.spec.activeDeadlineSeconds", told))


def _daemon_set(obj: Json) -> Errors:
    errors: Errors = []
    spec = obj.get("spec") or {}
    selector, template = spec.get("selector"), spec.get("template") or {}
    label_selector(errors, "spec.selector", selector)
    if not errors:
        _matches(errors, selector, template)
    if selector is not None and is_empty(selector):
        errors.append(invalid("spec.selector", selector, "empty selector is invalid for daemonset"))
    pod_template(errors, _TEMPLATE, template)
    _runs_for_ever(errors, template, "DaemonSet")
    non_negative(errors, "spec.minReadySeconds", spec.get("minReadySeconds", 0))
    daemon_set_strategy(errors, "spec.updateStrategy", spec.get("updateStrategy") or {})
    non_negative(errors, "spec.revisionHistoryLimit", spec.get("revisionHistoryLimit", 0))
    return errors


def _stateful_set(obj: Json, *, is_new: bool = True) -> Errors:
    errors: Errors = []
    spec = obj.get("spec") or {}
    policy = spec.get("podManagementPolicy", "")
    if not policy:
        errors.append(required("spec.podManagementPolicy"))
    elif policy not in ("OrderedReady", "Parallel"):
        errors.append(invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"))
    stateful_set_strategy(errors, "spec.updateStrategy", spec.get("updateStrategy") or {})
    retention(errors, spec)
    if is_new:
        claims(errors, spec)
    non_negative(errors, "spec.replicas", spec.get("replicas", 0))
    non_negative(errors, "spec.minReadySeconds", spec.get("minReadySeconds", 0))
    non_negative(errors, "spec.ordinals.start", (spec.get("ordinals") or {}).get("start", 0))
    service = spec.get("serviceName", "")
    if service and (wrong := names.dns_label(service)):
        errors += invalids("spec.serviceName", service, wrong)
    selector = spec.get("selector")
    if _selector(errors, selector, "statefulset"):
        template = template_with_claims(spec)
        _matches(errors, selector, template)
        pod_template(errors, _TEMPLATE, template)
    else:
        errors.append(invalid("spec.selector", selector, ""))
    _runs_for_ever(errors, spec.get("template") or {}, "StatefulSet")
    return errors


def _controller_revision(obj: Json) -> Errors:
    errors: Errors = []
    non_negative(errors, "revision", obj.get("revision", 0))
    data = obj.get("data")
    if data is None:
        errors.append(required("data", "data is mandatory"))
    elif not isinstance(data, dict):
        errors.append(required("data", "data must be a valid JSON object"))
    return errors


def _update_replication_controller(obj: Json, old: Json) -> Errors:
    return _replication_controller(obj)


def _keeps_selector(check: Callable[[Json], Errors]) -> Callable[[Json, Json], Errors]:
    """The rules for a new object, and a selector that stays."""

    def update(obj: Json, old: Json) -> Errors:
        errors = check(obj)
        immutable_selector(errors, "spec.selector", obj["spec"].get("selector"), old["spec"].get("selector"))
        return errors

    return update


def _update_daemon_set(obj: Json, old: Json) -> Errors:
    errors: Errors = []
    immutable_selector(errors, "spec.selector", obj["spec"].get("selector"), old["spec"].get("selector"))
    return errors + _daemon_set(obj)


def _update_stateful_set(obj: Json, old: Json) -> Errors:
    # Claims cannot be changed, so what is wrong with them does not matter any more.
    errors = _stateful_set(obj, is_new=False)
    for field in ("selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy"):
        immutable(errors, f"spec.{field}", obj["spec"].get(field), old["spec"].get(field))
    return errors


def _update_controller_revision(obj: Json, old: Json) -> Errors:
    errors: Errors = []
    non_negative(errors, "revision", obj.get("revision", 0))
    immutable(errors, "data", obj.get("data"), old.get("data"))
    return errors


CREATE: Mapping[str, Callable[[Json], Errors]] = {
    "ControllerRevision": _controller_revision,
    "DaemonSet": _daemon_set,
    "Deployment": _deployment,
    "ReplicaSet": _replica_set,
    "ReplicationController": _replication_controller,
    "StatefulSet": _stateful_set,
}
UPDATE: Mapping[str, Callable[[Json, Json], Errors]] = {
    "ControllerRevision": _update_controller_revision,
    "DaemonSet": _update_daemon_set,
    "Deployment": _keeps_selector(_deployment),
    "ReplicaSet": _keeps_selector(_replica_set),
    "ReplicationController": _update_replication_controller,
    "StatefulSet": _update_stateful_set,
}
SUBRESOURCES = workloads_status.SUBRESOURCES
