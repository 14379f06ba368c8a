"""What can be done with a kind, as OpenAPI operations: one for each verb, wherever it is served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hardpoint.apiserver import patchtypes, traits
from hardpoint.apiserver.openapi import parameters
from hardpoint.apiserver.openapi.names import group_words, meta_name, schema_name
from hardpoint.machinery.kinds import Kind, Subresource

Json = dict[str, Any]

ANSWERS = ("application/json", "application/yaml")
STREAMS = ("application/json;stream=watch",)
"""Strategic merge needs merge keys, which only built-in kinds have."""

_REASONS = {200: "OK", 201: "Created", 202: "Accepted", 401: "Unauthorized"}


@dataclass(frozen=True, slots=True)
class _Action:
    """A verb, apart from the kind it is done to."""

    method: str
    name: str
    """What x-kubernetes-action says."""
    prefix: str
    """How the operation's id begins."""
    about: str
    """With the kind in place of {}."""
    query: tuple[str, ...] = ()
    codes: tuple[int, ...] = (200,)


ON_ITEM: Mapping[str, _Action] = {
    "get": _Action("get", "get", "read", "Read a {}."),
    "update": _Action("put", "put", "replace", "Replace a {}.", parameters.WRITE, (200, 201)),
    "patch": _Action("patch", "patch", "patch", "Change parts of a {}.", (*parameters.WRITE, "force"), (200, 201)),
    "delete": _Action("delete", "delete", "delete", "Delete a {}.", parameters.DELETE, (200, 202)),
    "create": _Action("post", "post", "create", "Create a {}.", parameters.WRITE, (200, 201, 202)),
}
ON_COLLECTION: Mapping[str, _Action] = {
    "list": _Action("get", "list", "list", "List or watch objects of kind {}.", parameters.LIST),
    "create": ON_ITEM["create"],
    "deletecollection": _Action(
        "delete", "deletecollection", "deleteCollection", "Delete objects of kind {}.", parameters.DELETE_COLLECTION
    ),
}
WATCH_ITEM = _Action("get", "watch", "watch", "Watch a {}. Deprecated: watch a list.", parameters.LIST)
WATCH_LIST = _Action("get", "watchlist", "watch", "Watch objects of kind {}. Deprecated: list them.", parameters.LIST)
_CONNECT = {"create": "post", "delete": "delete", "get": "get", "patch": "patch", "update": "put"}
_PROXIED = ("head", "options")
"""A proxy passes these on too, though no verb is named after them."""


@dataclass(frozen=True, slots=True)
class Operations:
    """The operations of one kind in one scope: `Namespaced` or none, and perhaps `ForAllNamespaces` at the end."""

    kind: Kind
    scope: str
    custom: bool
    suffix: str = ""

    def operation(self, verb: str, action: _Action, part: Subresource | None = None) -> Json:
        """What a verb does to the kind, or to a part of it."""
        body = _Body.of(self.kind, part)
        is_list = action.name in ("list", "watchlist")
        ident = self._identity(action.prefix, part.name if part else "", plural=action.name == "watchlist")
        made = self._described(ident, action.about.format(body.kind), action.name, body)
        if action.query:
            made["parameters"] = parameters.in_query(action.query)
        if content := self._request(verb, body):
            made["requestBody"] = {"content": content, **({} if verb.startswith("delete") else {"required": True})}
        media = (*ANSWERS, *STREAMS) if is_list or verb == "watch" else ANSWERS
        answer = {"$ref": f"#/components/schemas/{self._answer(verb, body)}"}
        made["responses"] = _responses(action.codes, media, answer)
        return made

    def connections(self, part: Subresource, *, suffix: str = "") -> Json:
        """What passes bytes on to a node: an operation for each method."""
        options = parameters.of_options(self.kind.api_version, part.kind)
        passed_on = _PROXIED if part.name == "proxy" else ()
        made = {}
        for method in (*(_CONNECT[verb] for verb in part.verbs), *passed_on):
            ident = self._identity("connect", part.name, method=method.capitalize()) + suffix
            about = f"Connect {method.upper()} requests to {part.name} of a {self.kind.kind}."
            operation = self._described(ident, about, "connect", _Body(self.kind.group, self.kind.version, part.kind))
            operation["parameters"] = list(options)
            operation["responses"] = _responses((200,), ("*/*",), {"type": "string"})
            made[method] = operation
        return made

    def log(self, part: Subresource) -> Json:
        """Reading a log, which is text."""
        body = _Body.of(self.kind, part)
        operation = self._described(self._identity("read", "log"), "Read what a container logged.", "get", body)
        operation["parameters"] = parameters.of_options("v1", "PodLogOptions")
        operation["responses"] = _responses((200,), ("text/plain", *ANSWERS), {"type": "string"})
        return operation

    def _identity(self, prefix: str, part: str, *, plural: bool = False, method: str = "") -> str:
        """The operation's id, as in `readCoreV1NamespacedPodStatus`; generated clients name their methods after it."""
        version = self.kind.version.capitalize()
        collection = "Collection" if prefix == "deleteCollection" else ""
        prefix = prefix.removesuffix("Collection")
        place = f"{group_words(self.kind.group)}{version}{method}{collection}{self.scope}"
        return f"{prefix}{place}{self.kind.kind}{'List' if plural else ''}{_capital(part)}{self.suffix}"

    def _described(self, ident: str, about: str, action: str, body: _Body) -> Json:
        words = group_words(self.kind.group)
        return {
            "description": about,
            "operationId": ident,
            "tags": [f"{words[:1].lower()}{words[1:]}_{self.kind.version}"],
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": {"group": body.group, "kind": body.kind, "version": body.version},
        }

    def _request(self, verb: str, body: _Body) -> Json:
        if verb in ("create", "update"):
            return {"*/*": {"schema": _ref(schema_name(body.group, body.version, body.kind))}}
        if verb == "patch":
            media = patchtypes.OF_CUSTOM_KINDS if self.custom else patchtypes.ALL
            return {one: {"schema": _ref(meta_name("Patch"))} for one in media}
        if verb in ("delete", "deletecollection"):
            return {"*/*": {"schema": _ref(meta_name("DeleteOptions"))}}
        return {}

    def _answer(self, verb: str, body: _Body) -> str:
        """The name of the schema of what is answered."""
        if verb in ("watch", "watchlist"):
            return meta_name("WatchEvent")
        if verb == "list":
            return schema_name(body.group, body.version, f"{body.kind}List")
        keeps = not self.custom and body.kind in traits.ANSWERS_DELETE_WITH_OBJECT
        if verb == "deletecollection" or (verb == "delete" and not keeps):
            return meta_name("Status")
        return schema_name(body.group, body.version, body.kind)


@dataclass(frozen=True, slots=True)
class _Body:
    """Group, version and kind of what is sent and answered."""

    group: str
    version: str
    kind: str

    @staticmethod
    def of(kind: Kind, part: Subresource | None) -> _Body:
        if part is None:
            return _Body(kind.group, kind.version, kind.kind)
        return _Body(part.group, part.version, part.kind)


def _responses(codes: Sequence[int], media: Sequence[str], schema: Json) -> Json:
    content = {one: {"schema": schema} for one in media}
    answers = {str(code): {"description": _REASONS[code], "content": content} for code in codes}
    return {**answers, "401": {"description": _REASONS[401]}}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
