"""GET one object: the stored bytes, with their revision put in."""

from __future__ import annotations

from hardpoint.apiserver import answers
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.freshness import wait_until_reached
from hardpoint.apiserver.options import first, resource_version
from hardpoint.machinery import errors
from hardpoint.machinery.messages import Response
from hardpoint.store.contract import KeyValue


async def get(call: Call) -> Response:
    """The object, not older than the resourceVersion asked for."""
    if call.request.query:
        wanted = resource_version(first(call.query, "resourceVersion"))
        if first(call.query, "export"):
            raise errors.bad_request("the export parameter, deprecated since v1.14, is no longer supported")
        if wanted:
            await wait_until_reached(call.services.store, wanted)
    found = await find(call)
    return answers.one(call, call.place.wire(found.value, found.revision))


async def find(call: Call) -> KeyValue:
    """What the store holds for the call's target, in its version. Raises 404."""
    found = await call.services.store.get(call.key)
    if found is None:
        raise errors.not_found(call.kind.resource, call.target.name)
    return await call.place.bring(found)
