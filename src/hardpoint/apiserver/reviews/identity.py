"""SelfSubjectReview: who am I. `kubectl auth whoami` asks this."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.call import Call
from hardpoint.machinery.messages import User
from hardpoint.machinery.timestamps import format_time

Json = dict[str, Any]


async def status_of(call: Call, obj: Json) -> Json:
    obj["metadata"] = {"creationTimestamp": format_time(call.services.now())}
    return {"userInfo": user_info(call.user)}


def user_info(user: User) -> Json:
    """A user as the API writes one."""
    info: Json = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {name: list(values) for name, values in sorted(user.extra.items())}
    return info
