"""CustomResourceDefinitions, made of what authors declare: classes, and what the decorator says of them.

Each class is one version of a kind. What all versions share (names, scope) may be said at any of them, and must not be
said differently. Every definition is looked at with the API server's own validation before anybody sends it anywhere.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from hardpoint.machinery.defaults.apiextensions import DEFAULTS
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.validation.apiextensions import CREATE
from hardpoint.seams.crd.guest import paths
from hardpoint.seams.crd.guest.naming import plural_of
from hardpoint.seams.crd.guest.resource import Resource
from hardpoint.seams.crd.guest.wire import NotStructural

Json = dict[str, Any]
Scope = Literal["Namespaced", "Cluster"]

REVIEW_VERSIONS = ("v1",)
KIND = "CustomResourceDefinition"

_SCHEMA = re.compile(r"^spec\.(?:validation|versions\[\d+\]\.schema)\.openAPIV3Schema\.?(?=properties|items)")
_PROPERTY = re.compile(r"\.?properties\[(\w+)\]")
"""How paths of a schema's own are turned into those of an object's fields."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`. Its type follows from the schema unless it is said; then any path will do."""

    path: str
    """`.spec.replicas`."""
    type: str = ""
    format: str = ""
    description: str = ""
    priority: int = 0
    """Above 0 it is shown with `-o wide` only."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Where the scale subresource finds its numbers, so that `kubectl scale` and autoscalers work."""

    spec_replicas: str = ".spec.replicas"
    status_replicas: str = ".status.replicas"
    selector: str = ""
    """Where the status holds a label selector as a text."""


class ResourceOptions(TypedDict, total=False):
    """What `@app.resource` may be told beyond group and version."""

    kind: str
    """The class's own name, if not said."""
    plural: str
    singular: str
    list_kind: str
    scope: Scope
    short_names: Sequence[str]
    categories: Sequence[str]
    """Names of groups that `kubectl get` knows, such as all."""
    columns: Mapping[str, str | Column]
    """By heading: a path, or a Column."""
    served: bool
    storage: bool
    """Whether objects are stored in this version; of several exactly one is."""
    deprecated: bool | str
    """Whoever uses it is warned, in these words."""
    status: bool
    """Whether status is a subresource, if not just where there is one."""
    scale: Scale
    selectable: Sequence[str]
    """Paths that field selectors may name."""
    annotations: Mapping[str, str]
    """Of the definition itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One version of a kind, as its author declared it."""

    resource: type[Resource]
    place: str
    """The file and line of the declaration."""
    group: str
    version: str
    kind: str
    plural: str = ""
    singular: str = ""
    list_kind: str = ""
    scope: Scope = "Namespaced"
    short_names: Sequence[str] = ()
    categories: Sequence[str] = ()
    columns: Mapping[str, str | Column] = field(default_factory=dict)
    served: bool = True
    storage: bool = True
    deprecated: bool | str = False
    status: bool | None = None
    scale: Scale | None = None
    selectable: Sequence[str] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)

    def wrong(self, why: str) -> ConfigError:
        return ConfigError(f"{self.place}: @app.resource: {self.resource.__name__} {why}")

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"

    def check(self) -> None:
        """Say what is wrong with this version by itself. Raises ConfigError."""
        for name in ("group", "version", "kind", "plural", "singular", "list_kind"):
            if not isinstance(getattr(self, name), str):
                raise self.wrong(f"has {name}={getattr(self, name)!r}, which is no text")
        for name in ("short_names", "categories", "selectable"):
            if isinstance(getattr(self, name), str):
                raise self.wrong(f"has {name}={getattr(self, name)!r}; give a list of texts")
        complain(self, _definition([self], alone=True))

    def version_json(self) -> Json:
        """Its entry in `spec.versions`. Raises ConfigError."""
        schema = self.schema()
        version: Json = {"name": self.version, "served": self.served, "storage": self.storage}
        if self.deprecated:
            version["deprecated"] = True
        if isinstance(self.deprecated, str) and self.deprecated:
            version["deprecationWarning"] = self.deprecated
        version["schema"] = {"openAPIV3Schema": schema}
        if subresources := self._subresources(schema):
            version["subresources"] = subresources
        if self.columns:
            version["additionalPrinterColumns"] = [
                self._column(schema, name, said) for name, said in self.columns.items()
            ]
        if self.selectable:
            version["selectableFields"] = [{"jsonPath": self._known(schema, path)} for path in self.selectable]
        return version

    def schema(self) -> Json:
        try:
            return self.resource.codec().schema
        except NotStructural as wrong:
            where = f".{wrong.path}" if wrong.path else ""
            raise ConfigError(f"{self.place}: @app.resource: {self.resource.__name__}{where} {wrong}") from wrong

    def _subresources(self, schema: Json) -> Json:
        has_status = "status" in schema.get("properties", {}) if self.status is None else self.status
        subresources: Json = {"status": {}} if has_status else {}
        if self.scale is not None:
            said = {
                "specReplicasPath": self.scale.spec_replicas,
                "statusReplicasPath": self.scale.status_replicas,
                "labelSelectorPath": self.scale.selector,
            }
            subresources["scale"] = {name: self._known(schema, path) for name, path in said.items() if path}
        return subresources

    def _column(self, schema: Json, name: str, said: str | Column) -> Json:
        column = said if isinstance(said, Column) else Column(said)
        type_of = column.type or paths.column_type(self._found(schema, column.path))
        printed: Json = {"name": name, "type": type_of, "jsonPath": column.path}
        more = {"format": column.format, "description": column.description, "priority": column.priority}
        return printed | {key: value for key, value in more.items() if value}

    def _known(self, schema: Json, path: str) -> str:
        self._found(schema, path)
        return path

    def _found(self, schema: Json, path: str) -> Json:
        try:
            return paths.find(schema, path)
        except paths.UnknownPath as wrong:
            raise self.wrong(f"has no field {path}: {wrong}") from wrong


def definitions(
    declared: Sequence[Declared], conversion: Callable[[Sequence[Declared]], Json | None] = lambda versions: None
) -> list[Json]:
    """The CustomResourceDefinitions of these versions, one a kind.

    `conversion` gives the clientConfig of the webhook that converts between the versions of a kind, or None if none
    does. Raises ConfigError.
    """
    kinds: dict[tuple[str, str], list[Declared]] = {}
    for one in declared:
        kinds.setdefault((one.group, one.kind), []).append(one)
    made = [_whole(versions, conversion(versions)) for versions in kinds.values()]
    named: dict[str, Declared] = {}
    for definition, versions in zip(made, kinds.values(), strict=True):
        there = named.setdefault(definition["metadata"]["name"], versions[0])
        if there is not versions[0]:
            raise versions[0].wrong(f"has the plural of the class at {there.place}; give one of them a plural=")
    return made


def _whole(versions: Sequence[Declared], client: Json | None) -> Json:
    definition = _definition(versions)
    if client is not None:
        webhook = {"clientConfig": client, "conversionReviewVersions": list(REVIEW_VERSIONS)}
        definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    complain(versions[0], definition)
    return definition


def _definition(versions: Sequence[Declared], *, alone: bool = False) -> Json:
    first = versions[0]
    names = _names(versions)
    listed = [one.version_json() | ({"storage": True} if alone else {}) for one in versions]
    stored = [one for one in versions if one.storage]
    if len(stored) != 1 and not alone:
        raise _storage(versions, stored)
    metadata: Json = {"name": f"{names['plural']}.{first.group}"}
    if annotations := {key: value for one in versions for key, value in one.annotations.items()}:
        metadata["annotations"] = annotations
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": KIND,
        "metadata": metadata,
        "spec": {"group": first.group, "scope": first.scope, "names": names, "versions": listed},
    }


def _storage(versions: Sequence[Declared], stored: Sequence[Declared]) -> ConfigError:
    if not stored:
        return versions[0].wrong("is stored in no version; exactly one has storage=True")
    first, second = stored[:2]
    return second.wrong(
        f"is a second version that {first.kind} is stored in, beside that at {first.place}; give all but one "
        "storage=False"
    )


def _names(versions: Sequence[Declared]) -> Json:
    kind = versions[0].kind
    names: Json = {"kind": kind, "plural": _agreed(versions, "plural") or plural_of(kind)}
    names["singular"] = _agreed(versions, "singular") or kind.lower()
    names["listKind"] = _agreed(versions, "list_kind") or f"{kind}List"
    for name, said in (("shortNames", "short_names"), ("categories", "categories")):
        if found := _agreed(versions, said):
            names[name] = list(found)
    if len({one.scope for one in versions}) > 1:
        raise versions[-1].wrong(f"has another scope than {versions[0].place}; all versions of a kind have one scope")
    return names


def _agreed(versions: Sequence[Declared], name: str) -> Any:
    """What the versions say of a name; those that say nothing agree with all."""
    said = [(one, getattr(one, name)) for one in versions if getattr(one, name)]
    for one, value in said[1:]:
        if list(value) != list(said[0][1]):
            raise one.wrong(f"has {name}={value!r}, and {said[0][0].place} says {said[0][1]!r}; say it at one of them")
    return said[0][1] if said else None


def complain(declared: Declared, definition: Json) -> None:
    """Say what an API server would say of the definition. Raises ConfigError."""
    tried = copy.deepcopy(definition)
    DEFAULTS[KIND](tried)
    problems = [_SCHEMA.sub("", str(problem)) for problem in CREATE[KIND](tried)]
    if problems:
        told = "; ".join(_PROPERTY.sub(r".\1", problem) for problem in problems)
        raise declared.wrong(f"makes no CustomResourceDefinition: {told}")
