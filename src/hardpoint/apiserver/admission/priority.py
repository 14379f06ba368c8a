"""A pod's priority is the number its class stands for; nobody writes the number themselves."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.admission.contract import Attributes, Mutates, Reader, Validates
from hardpoint.apiserver.admission.refusals import refused

Json = dict[str, Any]

_GROUP = "scheduling.k8s.io"
_CLASSES = f"priorityclasses.{_GROUP}"
_COMPUTED = "must not be provided in pod spec; priority admission controller computed"
# What pods without a class get where no class is the default.
_NO_CLASS: Json = {"value": 0, "preemptionPolicy": "PreemptLowerPriority"}


class Priority:
    async def mutate(self, attributes: Attributes, reader: Reader) -> None:
        if attributes.kind.resource != "pods" or attributes.subresource or attributes.object is None:
            return
        spec = attributes.object["spec"]
        if attributes.operation == "CREATE":
            _set_priority(attributes, spec, await _class_of(attributes, spec, reader))
        elif attributes.operation == "UPDATE":
            before = (attributes.old or {}).get("spec") or {}
            for field in ("priority", "preemptionPolicy"):
                if field not in spec and field in before:
                    spec[field] = before[field]

    async def validate(self, attributes: Attributes, reader: Reader) -> None:
        """One class at most is the default."""
        if attributes.kind.resource != _CLASSES or attributes.subresource:
            return
        if attributes.object is None or not attributes.object.get("globalDefault"):
            return
        default = await _default_class(reader)
        if default is None:
            return
        name = default["metadata"]["name"]
        if attributes.operation == "CREATE" or name != attributes.object["metadata"].get("name"):
            raise refused(attributes, f"PriorityClass {name} is already marked as default. Only one default can exist")


async def _class_of(attributes: Attributes, spec: Json, reader: Reader) -> Json:
    name = spec.get("priorityClassName", "")
    if not name:
        return await _default_class(reader) or _NO_CLASS
    found = await reader.get(_GROUP, "priorityclasses", "", name)
    if found is None:
        raise refused(attributes, f"no PriorityClass with name {name} was found")
    return found


async def _default_class(reader: Reader) -> Json | None:
    """The least of those that say they are the default."""
    defaults = [each for each in await reader.list(_GROUP, "priorityclasses") if each.get("globalDefault")]
    return min(defaults, key=lambda each: int(each.get("value", 0)), default=None)


def _set_priority(attributes: Attributes, spec: Json, of_class: Json) -> None:
    if name := (of_class.get("metadata") or {}).get("name"):
        spec["priorityClassName"] = name
    value = of_class.get("value", 0)
    if spec.get("priority", value) != value:
        told = f"the integer value of priority ({spec['priority']}) {_COMPUTED} {value}"
        raise refused(attributes, f"{told} from the given PriorityClass name")
    spec["priority"] = value
    policy = of_class.get("preemptionPolicy")
    if policy is None:
        return
    if spec.get("preemptionPolicy", policy) != policy:
        told = f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) {_COMPUTED} {policy}"
        raise refused(attributes, f"{told} from the given PriorityClass name")
    spec["preemptionPolicy"] = policy


_mutates: type[Mutates] = Priority
_validates: type[Validates] = Priority
