"""Subresources that lead to somewhere else: a pod's log and shell on its node, a service's endpoints.

No node agent is attached to this server yet, so these end where Kubernetes' own end when the way is cut: at a pod
without a host, a node without an address, a service without endpoints.
"""

from __future__ import annotations

from hardpoint.apiserver.call import Call
from hardpoint.apiserver.get import find
from hardpoint.machinery import errors
from hardpoint.machinery.messages import Response

SUBRESOURCES = frozenset(("attach", "exec", "log", "portforward", "proxy"))


async def connect(call: Call) -> Response:
    """An error that says how far the way leads, or the empty log of a pod that runs nowhere yet."""
    name = call.target.name
    if call.kind.kind == "Service":
        # Upstream looks for endpoints, not for the service: one that does not exist has none either.
        raise errors.service_unavailable(f'no endpoints available for service "{name}"')
    obj = call.place.found(await find(call))
    if call.kind.kind == "Pod" and not obj["spec"].get("nodeName"):
        if call.target.subresource == "log":
            # What has not begun has said nothing yet, and that is no error.
            return Response(204)
        raise errors.bad_request(f"pod {name} does not have a host assigned")
    node = obj["spec"].get("nodeName", name)
    raise errors.service_unavailable(f'node "{node}" cannot be reached: no node agent is attached to it')
