"""From a CustomResourceDefinition to the kinds it is served as, one for each version."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from hardpoint.apiserver.discovery.order import version_order
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.kinds import Kind, Subresource
from hardpoint.machinery.structural import Converter, Scale, Stored, Structure

Json = dict[str, Any]

VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_ON_PARTS = ("get", "patch", "update")


def kinds_of(
    definition: Json, *, settled_from: int, is_terminating: bool, converter: Converter | None = None
) -> list[Kind]:
    """The kinds of an established definition, one for each version that is served.

    What was stored at the revision `settled_from` or later was stored under this very definition.
    """
    group, versions = definition["spec"]["group"], definition["spec"]["versions"]
    stored = next(version for version in versions if version.get("storage"))
    served = [version for version in versions if version.get("served")]
    home = _structure(definition, stored, None, is_terminating, converter)
    if len(served) <= 1 or not home.has_defaults:
        # Another version prunes what it stores by this one's schema, but does not fill in its defaults.
        home.settled_from = settled_from
    stored_as = Stored(f"{group}/{stored['name']}", home)
    structures = {
        version["name"]: home
        if version is stored
        else _structure(definition, version, stored_as, is_terminating, converter)
        for version in versions
    }
    siblings = {f"{group}/{name}": structure for name, structure in structures.items()}
    for structure in structures.values():
        structure.versions = siblings
    return [_kind(definition, version, stored["name"], structures[version["name"]]) for version in served]


def _kind(definition: Json, version: Json, stored: str, structure: Structure) -> Kind:
    spec = definition["spec"]
    names = definition["status"]["acceptedNames"]
    group, kind = spec["group"], names["kind"]
    return Kind(
        group=group,
        version=version["name"],
        kind=kind,
        plural=names["plural"],
        singular=names["singular"],
        namespaced=spec["scope"] == "Namespaced",
        verbs=VERBS,
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        subresources=_subresources(group, version, kind),
        selectable_fields=tuple(field["jsonPath"].removeprefix(".") for field in version.get("selectableFields") or ()),
        storage_version_hash=_storage_version_hash(group, stored, kind),
        structure=structure,
    )


def _structure(
    definition: Json, version: Json, stored_as: Stored | None, is_terminating: bool, converter: Converter | None
) -> Structure:
    spec = definition["spec"]
    paths = (version.get("subresources") or {}).get("scale")
    scale = None
    if paths is not None:
        scale = Scale(paths["specReplicasPath"], paths["statusReplicasPath"], paths.get("labelSelectorPath", ""))
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    return Structure(
        encode(schema) if schema else None,
        preserves_unknown=bool(spec.get("preserveUnknownFields")),
        columns=version.get("additionalPrinterColumns") or (),
        scale=scale,
        list_kind=definition["status"]["acceptedNames"]["listKind"],
        deprecation=deprecation(spec, version),
        stored_as=stored_as,
        is_terminating=is_terminating,
        converter=converter,
    )


def _subresources(group: str, version: Json, kind: str) -> tuple[Subresource, ...]:
    said = version.get("subresources") or {}
    found = []
    if "status" in said:
        found.append(Subresource("status", _ON_PARTS, group, version["name"], kind))
    if "scale" in said:
        found.append(Subresource("scale", _ON_PARTS, "autoscaling", "v1", "Scale"))
    return tuple(found)


def deprecation(spec: Json, version: Json) -> str:
    """What whoever uses a version is told, or "": the author's words, or that there is a better one."""
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning") is not None:
        return str(version["deprecationWarning"])
    kind = spec["names"]["kind"]
    told = f"{spec['group']}/{version['name']} {kind} is deprecated"
    better = _better(spec["versions"], version["name"])
    return f"{told}; use {spec['group']}/{better[0]} {kind}" if better else told


def _better(versions: Sequence[Json], name: str) -> list[str]:
    """The versions that are served, not deprecated and ahead of one, best first."""
    fresh = [each["name"] for each in versions if each.get("served") and not each.get("deprecated")]
    return sorted((each for each in fresh if version_order(each) < version_order(name)), key=version_order)


def _storage_version_hash(group: str, version: str, kind: str) -> str:
    digest = hashlib.sha256(f"{group}/{version}/{kind}".encode()).digest()
    return b64encode(digest[:8]).decode()
