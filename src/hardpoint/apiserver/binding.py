"""`pods/binding`, and `bindings`, its older name: a scheduler puts a pod on a node."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace as with_changes
from typing import Any

from hardpoint.apiserver import answers, bodies
from hardpoint.apiserver.admitting import admit_part
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.objectmeta import is_terminating
from hardpoint.apiserver.options import write_options
from hardpoint.apiserver.update import replace_object
from hardpoint.machinery import errors, fielderrors
from hardpoint.machinery.messages import Response
from hardpoint.machinery.timestamps import format_time

Json = dict[str, Any]


async def bind(call: Call) -> Response:
    """POST pods/x/binding."""
    options = write_options(call.request.query, kind="CreateOptions")
    binding = bodies.read(call, "v1", "Binding", field_validation=options.field_validation)
    wrong = _wrong(binding)
    name = call.target.name
    if wrong:
        raise errors.invalid("Binding", binding["metadata"].get("name", ""), wrong)
    if binding["metadata"].get("name", "") != name:
        raise errors.bad_request("name in URL does not match name in Binding object")
    await admit_part(call, binding, dry_run=options.dry_run)

    async def successor(old: Json) -> Json:
        return _bound(call, old, binding)

    # The binding's own endpoint may change what the main one must leave: it is an inner write of the pod.
    inner = with_changes(call, target=call.target._replace(subresource=""))
    await replace_object(inner, successor, options, raw=True)
    return answers.created(call)


async def bind_by_body(call: Call) -> Response:
    """POST bindings: the pod is named in the body."""
    pods = call.services.registry.find("", "v1", "pods")
    assert pods is not None, "a built-in kind"
    binding = bodies.read(call, "v1", "Binding")
    name = binding["metadata"].get("name", "")
    if not name:
        raise errors.bad_request("Name parameter required.")
    target = call.target._replace(resource="pods", name=name, subresource="binding")
    return await bind(with_changes(call, kind=pods, target=target))


def _wrong(binding: Json) -> list[fielderrors.FieldError]:
    target = binding.get("target") or {}
    wrong = []
    if target.get("kind", "") not in ("", "Node"):
        wrong.append(fielderrors.not_supported("target.kind", target["kind"], ("Node", "<empty>")))
    if not target.get("name"):
        wrong.append(fielderrors.required("target.name"))
    return wrong


def _bound(call: Call, old: Json, binding: Json) -> Json:
    name = call.target.name
    metadata = old["metadata"]
    for field, shown in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        said = binding["metadata"].get(field)
        if said and said != metadata[field]:
            why = f"Precondition failed: {shown} in precondition: {said}, {shown} in object meta: {metadata[field]}"
            raise errors.conflict(call.kind.resource, name, why)
    why = _why_not(old)
    if why:
        raise errors.conflict("pods/binding", name, why)
    new = deepcopy(old)
    new["spec"]["nodeName"] = binding["target"]["name"]
    for field in ("annotations", "labels"):
        if binding["metadata"].get(field):
            new["metadata"][field] = {**(new["metadata"].get(field) or {}), **binding["metadata"][field]}
    status = new.setdefault("status", {})
    status.pop("nominatedNodeName", None)
    now = format_time(call.services.now())
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    others = [each for each in status.get("conditions") or [] if each["type"] != "PodScheduled"]
    status["conditions"] = [*others, scheduled]
    return new


def _why_not(pod: Json) -> str:
    name = pod["metadata"]["name"]
    if is_terminating(pod):
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if pod["spec"].get("nodeName"):
        return f'pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"'
    if pod["spec"].get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""
