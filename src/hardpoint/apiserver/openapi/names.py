"""How OpenAPI names things: `io.k8s.api.core.v1.Pod` for a kind, `RbacAuthorization` for a group."""

from __future__ import annotations

from hardpoint.machinery import shapes


def schema_name(group: str, version: str, kind: str) -> str:
    """The name of a kind's schema: that of its Go type, or for custom resources its group turned around."""
    api_version = f"{group}/{version}" if group else version
    shape = shapes.find(api_version, kind)
    if shape is not None:
        return f"io.k8s.{shape.name}"
    return ".".join([*reversed(group.split(".")), version, kind])


def meta_name(kind: str) -> str:
    """The name of the schema of something that belongs to no group, such as Status or Patch."""
    return f"io.k8s.apimachinery.pkg.apis.meta.v1.{kind}"


def group_words(group: str) -> str:
    """A group in the middle of an operation's id."""
    return "".join(word[:1].upper() + word[1:] for word in group.removesuffix(".k8s.io").split(".")) or "Core"
