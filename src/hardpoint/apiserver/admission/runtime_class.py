"""A pod that names a RuntimeClass takes its overhead from there, and goes only where the class can run."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.admission.contract import Attributes, Mutates, Reader, Validates
from hardpoint.apiserver.admission.refusals import refused
from hardpoint.machinery.quantity import parse

Json = dict[str, Any]

_OTHER_OVERHEAD = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_ONLY_OVERHEAD = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


class RuntimeClass:
    async def mutate(self, attributes: Attributes, reader: Reader) -> None:
        if not _is_new_pod(attributes):
            return
        found = await _class_of(attributes, reader)
        if found is None:
            return
        spec = _spec(attributes)
        overhead = (found.get("overhead") or {}).get("podFixed")
        if found.get("overhead") is not None:
            if spec.get("overhead") and not _same_amounts(spec["overhead"], overhead):
                raise refused(attributes, _OTHER_OVERHEAD)
            if overhead:
                spec["overhead"] = dict(overhead)
        if found.get("scheduling") is not None:
            _schedule(attributes, spec, found["scheduling"])

    async def validate(self, attributes: Attributes, reader: Reader) -> None:
        if not _is_new_pod(attributes):
            return
        spec = _spec(attributes)
        found = await _class_of(attributes, reader)
        if found is not None and found.get("overhead") is not None:
            if not _same_amounts(spec.get("overhead"), found["overhead"].get("podFixed")):
                raise refused(attributes, _OTHER_OVERHEAD)
        elif "overhead" in spec:
            raise refused(attributes, _ONLY_OVERHEAD)


def _is_new_pod(attributes: Attributes) -> bool:
    return attributes.operation == "CREATE" and attributes.kind.resource == "pods" and not attributes.subresource


def _spec(attributes: Attributes) -> Json:
    assert attributes.object is not None, "a pod that is created"
    spec: Json = attributes.object["spec"]
    return spec


async def _class_of(attributes: Attributes, reader: Reader) -> Json | None:
    name = _spec(attributes).get("runtimeClassName")
    if name is None:
        return None
    found = await reader.get("node.k8s.io", "runtimeclasses", "", name)
    if found is None:
        raise refused(attributes, f'pod rejected: RuntimeClass "{name}" not found')
    return found


def _same_amounts(one: Json | None, other: Json | None) -> bool:
    one, other = one or {}, other or {}
    return one.keys() == other.keys() and all(parse(one[name]) == parse(other[name]) for name in one)


def _schedule(attributes: Attributes, spec: Json, scheduling: Json) -> None:
    selector = spec.get("nodeSelector") or {}
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        said = selector.get(key, value)
        if said != value:
            told = f"runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {said}"
            raise refused(attributes, f"conflict: {told}")
    merged = {**selector, **(scheduling.get("nodeSelector") or {})}
    if merged:
        spec["nodeSelector"] = merged
    tolerations = _merged([*(spec.get("tolerations") or ()), *map(dict, scheduling.get("tolerations") or ())])
    if tolerations:
        spec["tolerations"] = tolerations


def _merged(tolerations: list[Json]) -> list[Json]:
    """Without those that another one covers; of equal ones the first stays."""
    kept: list[Json] = []
    for index, this in enumerate(tolerations):
        later = [each for each in tolerations[index + 1 :] if each != this]
        if not any(_covers(other, this) for other in (*kept, *later)):
            kept.append(this)
    return kept


def _covers(wide: Json, narrow: Json) -> bool:
    """Whether one tolerates whatever the other does."""
    if wide == narrow:
        return True
    takes_any_key = not wide.get("key") and wide.get("operator") == "Exists"
    if narrow.get("key", "") != wide.get("key", "") and not takes_any_key:
        return False
    if wide.get("effect") and narrow.get("effect", "") != wide["effect"]:
        return False
    if wide.get("effect") == "NoExecute" and "tolerationSeconds" in wide:
        seconds = narrow.get("tolerationSeconds")
        if seconds is None or seconds > wide["tolerationSeconds"]:
            return False
    if wide.get("operator") == "Exists":
        return True
    return narrow.get("operator") == "Equal" and narrow.get("value", "") == wide.get("value", "")


_mutates: type[Mutates] = RuntimeClass
_validates: type[Validates] = RuntimeClass
