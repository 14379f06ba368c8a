"""Owner references: who looks after an object, and whom a change of it concerns.

The rules are Kubernetes': one owner at most is the controller; an owner in a namespace owns objects of that namespace
only, an owner without one may own anything. What happens to objects that lose their owners is the garbage collector's
business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]


def owner_reference(owner: Json) -> Json:
    """The reference by which `owner`, as read from the server, is the controller of another object."""
    metadata = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def owned(body: Json, owner: Json) -> Json:
    """A copy of `body` that belongs to `owner`. An empty `metadata.namespace` means no namespace. Raises ValueError."""
    metadata = body["metadata"]
    home, namespace = owner["metadata"].get("namespace", ""), metadata.get("namespace", "")
    if home and namespace != home:
        raise ValueError(_cannot_own(body, owner, home, namespace))
    reference = owner_reference(owner)
    others = [known for known in metadata.get("ownerReferences") or () if known.get("uid") != reference["uid"]]
    controller = next((known for known in others if known.get("controller")), None)
    if controller is not None:
        who = f"{controller.get('kind')} {controller.get('name')}"
        raise ValueError(f"{_called(body)} already has a controller, {who}; an object has one at most")
    return {**body, "metadata": {**metadata, "ownerReferences": [*others, reference]}}


def controller_of(body: Json) -> Json | None:
    """The reference to the object's controller, if it has one."""
    references = body["metadata"].get("ownerReferences") or ()
    return next((reference for reference in references if reference.get("controller")), None)


def names_of_owner(group: str, kind: str) -> Callable[[Json], Iterator[str]]:
    """Tells from an object the name of its controller, if that is of this kind; versions of a kind are the same."""

    def name_of(body: Json) -> Iterator[str]:
        reference = controller_of(body)
        if reference is not None and reference["kind"] == kind and group_of(reference["apiVersion"]) == group:
            yield reference["name"]

    return name_of


def group_of(api_version: str) -> str:
    """`batch` of `batch/v1`, and nothing of `v1`."""
    return api_version.rpartition("/")[0]


def _called(body: Json) -> str:
    namespace = body["metadata"].get("namespace", "")
    name = body["metadata"].get("name", "")
    return f"{body['kind']} {namespace}/{name}" if namespace else f"{body['kind']} {name}"


def _cannot_own(body: Json, owner: Json, home: str, namespace: str) -> str:
    where = f"in namespace {namespace!r}" if namespace else "in no namespace"
    return (
        f"{_called(owner)} cannot own {_called(body)}, which is {where}: an owner in namespace {home!r} owns objects "
        "there only; apply it with owned=False and delete it in finalize="
    )
