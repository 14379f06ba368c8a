"""The part of an object's metadata that belongs to the server."""

from __future__ import annotations

import random
from typing import Any

from hardpoint.apiserver.traits import NEVER_CHANGES_GENERATION, TRACKS_CHANGES, has_status, tracks_generation
from hardpoint.machinery import errors, fielderrors
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.uids import BITS, uid

Json = dict[str, Any]

NAME_LENGTH_MAX = 63
SUFFIX_LENGTH = 5
# No vowels and nothing that reads like another letter: no words are made by accident.
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SERVERS_OWN = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "selfLink",
    "uid",
)
_KEPT_ON_UPDATE = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
)
_REPEATED_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+,"
    " and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed"
)
# Names and uids are unique, not secret; asking the kernel for each letter costs more than the object.
_random = random.Random()  # noqa: S311


def generated_name(base: str) -> str:
    """`base`, shortened if it must be, and five random letters."""
    suffix = "".join(_random.choices(_SUFFIX_LETTERS, k=SUFFIX_LENGTH))
    return base[: NAME_LENGTH_MAX - SUFFIX_LENGTH] + suffix


def new_uid() -> str:
    return uid(_random.getrandbits(BITS))


def put_in_namespace(kind: Kind, obj: Json, namespace: str) -> None:
    """Give the object the namespace of the URL. Raises 400 if it says another."""
    metadata = obj["metadata"]
    if not kind.namespaced:
        metadata.pop("namespace", None)
        return
    if metadata.get("namespace", namespace) != namespace:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    metadata["namespace"] = namespace


def without_repeated_owners(obj: Json, warnings: list[str]) -> None:
    """Keep each owner once, the first time, and say so."""
    owners = obj["metadata"].get("ownerReferences")
    if not owners or len(owners) == len({owner.get("uid", "") for owner in owners}):
        return
    kept: list[Json] = []
    repeated: dict[str, None] = {}
    for owner in owners:
        if owner in kept:
            repeated[owner.get("uid", "")] = None
        else:
            kept.append(owner)
    if repeated:
        obj["metadata"]["ownerReferences"] = kept
        warnings.append(f"{_REPEATED_OWNERS}: {', '.join(repeated)}")


def wipe(obj: Json) -> None:
    """Take out what only the server may say about an object that is to be created."""
    for name in _SERVERS_OWN:
        obj["metadata"].pop(name, None)


def begin(kind: Kind, obj: Json, *, now: str) -> None:
    """Fill the server's own fields of an object that is about to be created."""
    metadata = obj["metadata"]
    version = metadata.pop("resourceVersion", "")
    # One that is no number is as good as none.
    if version.isascii() and version.isdigit() and version.strip("0"):
        raise errors.ApiError(500, "", "resourceVersion should not be set on objects to be created")
    wipe(obj)
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = generated_name(metadata["generateName"])
    metadata["uid"] = new_uid()
    metadata["creationTimestamp"] = now
    if tracks_generation(kind):
        metadata["generation"] = 1


def check_name(obj: Json, name: str) -> None:
    """Raises 400 unless the object says the name of the URL."""
    said = obj["metadata"].get("name")
    if not said:
        raise errors.bad_request(
            f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )
    if said != name:
        raise errors.bad_request(f"the name of the object ({said}) does not match the name on the URL ({name})")


def check_uid_kept(kind: Kind, obj: Json, old: Json) -> None:
    """Another uid is a conflict in a PUT, but in a patch it is a change of what cannot change. Raises 422."""
    said, metadata = obj["metadata"].get("uid"), old["metadata"]
    if said and said != metadata.get("uid"):
        wrong = fielderrors.invalid("metadata.uid", said, "field is immutable")
        raise errors.invalid(kind.qualified, metadata["name"], [wrong])


def carry_over(kind: Kind, obj: Json, old: Json, *, name: str, namespace: str) -> None:
    """Keep the server's own fields of an object that is about to replace `old`. Raises 400 or 409."""
    metadata, before = obj["metadata"], old["metadata"]
    check_name(obj, name)
    put_in_namespace(kind, obj, namespace)
    uid = metadata.get("uid")
    if uid and uid != before.get("uid"):
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {before.get('uid')}"
        raise errors.conflict(kind.resource, name, why)
    metadata.pop("selfLink", None)
    for field in _KEPT_ON_UPDATE:
        if field in before:
            metadata[field] = before[field]
        else:
            metadata.pop(field, None)
    # Whoever says when an object is to go, where nobody did, is told that this is not how it is done.
    if "deletionTimestamp" in before:
        metadata["deletionTimestamp"] = before["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in before:
        metadata.setdefault("deletionGracePeriodSeconds", before["deletionGracePeriodSeconds"])


def bump_generation(kind: Kind, obj: Json, old: Json) -> None:
    """Count one more generation if what the object asks for has changed."""
    tracked = tracks_generation(kind) or kind.known_as in TRACKS_CHANGES
    if kind.known_as in NEVER_CHANGES_GENERATION:
        return
    if tracked and (_asked(kind, obj) != _asked(kind, old) or _labels_count(kind, obj, old)):
        obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _labels_count(kind: Kind, obj: Json, old: Json) -> bool:
    """A slice's labels say which Service it belongs to: a change of them is a change of the slice."""
    return kind.known_as == "EndpointSlice" and obj["metadata"].get("labels") != old["metadata"].get("labels")


def _asked(kind: Kind, obj: Json) -> Json:
    """What an object asks for: all but metadata, and status where that is told elsewhere."""
    rest = {name: value for name, value in obj.items() if name != "metadata"}
    if has_status(kind):
        rest.pop("status", None)
    return rest


def is_terminating(obj: Json) -> bool:
    return "deletionTimestamp" in obj["metadata"]


def is_gone(obj: Json) -> bool:
    """Whether a terminating object has nothing left to wait for."""
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    if (obj["apiVersion"], obj["kind"]) == ("v1", "Namespace") and obj["spec"].get("finalizers"):
        return False
    return not metadata.get("deletionGracePeriodSeconds")
