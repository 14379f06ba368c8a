"""Python source for a CustomResourceDefinition that exists: the classes an author would have written for it.

Loaded again, the classes make a definition that says the same. Left out is what means nothing to an API server: titles,
and keywords that say what goes without saying.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Mapping
from typing import Any

from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.validation.apiextensions import APPROVED
from hardpoint.seams.crd.guest import paths
from hardpoint.seams.crd.guest.drafts import Field, Model
from hardpoint.seams.crd.guest.layout import INDENT, WIDTH, Expr, call, listed, literal, mapped
from hardpoint.seams.crd.guest.naming import plural_of
from hardpoint.seams.crd.guest.source_types import Types

Json = dict[str, Any]

MODULES: Mapping[str, tuple[str, ...]] = {
    "datetime": ("date", "datetime", "timedelta"),
    "ipaddress": ("IPv4Address", "IPv6Address"),
    "typing": ("Annotated", "Any", "ClassVar", "Literal"),
    "uuid": ("UUID",),
    "hardpoint": ("App",),
    "hardpoint.crd": (
        *("Atomic", "Column", "EmbeddedResource", "Int32", "Int64", "IntOrString", "JsonName", "MapKeys"),
        *("Nullable", "PreserveUnknown", "Quantity", "Resource", "Rule", "Scale", "Unique"),
    ),
    "pydantic": ("BaseModel", "ConfigDict", "Field"),
}
"""What the source may need, by where it is, as formatters sort it."""
IMPORTED = frozenset(name for imported in MODULES.values() for name in imported)
SUBDOMAIN = re.compile(r"[a-z0-9][-a-z0-9]*(\.[a-z0-9][-a-z0-9]*)*")
LABEL = re.compile(r"[a-z][-a-z0-9]*")
STANDARD = ("datetime", "ipaddress", "typing", "uuid")
CONVERSION_HINT = "\n\n\n# A webhook converts between the versions: write functions with @app.conversion.\n"
NAMES = {
    **{name: name for name in ("kind", "plural", "singular", "scope", "categories")},
    "listKind": "list_kind",
    "shortNames": "short_names",
}
"""What the decorator calls them."""
TOP = ("apiVersion", "kind", "metadata")
SCALE = {"specReplicasPath": "spec_replicas", "statusReplicasPath": "status_replicas", "labelSelectorPath": "selector"}


def source(definition: Json, app: str) -> str:
    """The file that declares what `definition` defines, with an App of that name. Raises ConfigError."""
    if definition.get("kind") != "CustomResourceDefinition" or not definition.get("spec", {}).get("versions"):
        raise ConfigError("this is no CustomResourceDefinition with versions")
    try:
        _check_names(definition["spec"])
        return _source(definition, app)
    except KeyError as missing:
        raise ConfigError(f"the definition lacks a field that every one has: {missing}") from missing


def _source(definition: Json, app: str) -> str:
    spec = definition["spec"]
    kind = spec["names"]["kind"]
    versions = sorted(spec["versions"], key=lambda version: not version.get("storage"))
    names = [_class_name(kind, version["name"] if number else "") for number, version in enumerate(versions)]
    types = Types({"Spec", "Status", *names, *IMPORTED})
    classes = [_Class(types, definition, version, name).text() for version, name in zip(versions, names, strict=True)]
    models = [_model(model) for model in types.models.values()]
    body = "\n\n\n".join([*models, *classes])
    hint = CONVERSION_HINT if spec.get("conversion", {}).get("strategy") == "Webhook" else "\n"
    head = [f'"""{kind} of {spec["group"]}."""', _imports(body), f"app = App({literal(app).head})"]
    return "\n\n".join(head) + f"\n\n\n{body}{hint}"


def _check_names(spec: Json) -> None:
    """These become words of the source, not only texts in it. Raises ConfigError for what no API server would take."""
    named = [("spec.group", SUBDOMAIN, spec["group"]), ("spec.names.kind", LABEL, spec["names"]["kind"].lower())]
    named += [(f"spec.versions[{n}].name", LABEL, version["name"]) for n, version in enumerate(spec["versions"])]
    for field, allowed, name in named:
        if not allowed.fullmatch(name):
            raise ConfigError(f"{field}: {name!r} is no name that a CustomResourceDefinition may have here")


def _class_name(kind: str, version: str) -> str:
    """`CronTabV1Beta1`. A kind may be called as nothing in Python, or as something else already, is."""
    name = kind.replace("-", "") + re.sub(r"[a-z]+", lambda word: word[0].capitalize(), version).replace("-", "")
    return f"{name}Kind" if keyword.iskeyword(name) or name in IMPORTED else name


class _Class:
    """One version as a Resource class."""

    def __init__(self, types: Types, definition: Json, version: Json, name: str) -> None:
        self._types = types
        self._definition = definition
        self._version = version
        self._name = name
        self._schema: Json = (version.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"}

    def text(self) -> str:
        properties = self._schema.get("properties", {})
        required = self._schema.get("required", [])
        parts = [
            self._types.part(wire, wire.capitalize(), properties[wire], is_required=wire in required)
            for wire in ("spec", "status")
            if wire in properties
        ]
        own = {key: value for key, value in self._schema.items() if key not in ("properties", "required")}
        own["properties"] = {wire: child for wire, child in properties.items() if wire not in (*TOP, "spec", "status")}
        own["required"] = required
        top = self._types.model(own, self._name, is_listed=False)
        nested = [_model(model, INDENT) for model, _ in parts if model is not None]
        fields = [_at_hand(field, model) for model, field in parts] + top.fields
        extra = {**_metadata(properties), **top.extra} | ({"required": required} if "status" in required else {})
        if not fields and not extra:
            extra = {"type": "object"}  # A class without fields would be taken for a mistake.
        blocks = [
            *nested,
            "\n".join(_line(field, INDENT) for field in fields),
            _rules(top, INDENT),
            _assigned("json_schema_extra: ClassVar[dict[str, Any]]", literal(extra), INDENT) if extra else "",
        ]
        head = [self._decorator().laid_out(""), f"class {self._name}(Resource):", *_doc(top.doc, INDENT)]
        if top.doc:
            head.append("")
        return "\n".join([*head, "\n\n".join(block for block in blocks if block)])

    def _decorator(self) -> Expr:
        version = self._version
        said = {"group": self._definition["spec"]["group"], "version": version["name"], **self._names()}
        said |= {flag: False for flag in ("served", "storage") if not version.get(flag)}
        if version.get("deprecated"):
            said["deprecated"] = version.get("deprecationWarning") or True
        has_status = "status" in (version.get("subresources") or {})
        if has_status != ("status" in self._schema.get("properties", {})):
            said["status"] = has_status
        if version.get("selectableFields"):
            said["selectable"] = [field["jsonPath"] for field in version["selectableFields"]]
        named = {key: literal(value) for key, value in said.items()}
        if columns := version.get("additionalPrinterColumns"):
            named["columns"] = mapped({column["name"]: self._column(column) for column in columns})
        if scale := (version.get("subresources") or {}).get("scale"):
            named["scale"] = call("Scale", (), {SCALE[wire]: literal(path) for wire, path in scale.items() if path})
        return call("@app.resource", (), named)

    def _names(self) -> Json:
        """What is said of the kind as a whole, where it is not what follows from the class."""
        names = self._definition["spec"]["names"]
        kind = names["kind"]
        usual = {"plural": plural_of(kind), "singular": kind.lower(), "listKind": f"{kind}List"}
        found = {**usual, **names, "kind": kind, "scope": self._definition["spec"].get("scope")}
        usual |= {"kind": self._name, "scope": "Namespaced", "shortNames": [], "categories": []}
        said = {NAMES[name]: found[name] for name in NAMES if found.get(name, usual[name]) != usual[name]}
        approved = self._definition.get("metadata", {}).get("annotations", {}).get(APPROVED)
        return {**said, "annotations": {APPROVED: approved}} if approved else said

    def _column(self, column: Json) -> Expr:
        said = {key: column[key] for key in ("format", "description", "priority") if column.get(key)}
        try:
            inferred = paths.column_type(paths.find(self._schema, column["jsonPath"]))
        except paths.UnknownPath:
            inferred = ""
        if column["type"] != inferred:
            said["type"] = column["type"]
        path = literal(column["jsonPath"])
        return call("Column", [path], {key: literal(value) for key, value in said.items()}) if said else path


def _at_hand(field: Field, model: Model | None) -> Field:
    """A status whose fields may all be absent is there from the start, to be filled in."""
    is_fillable = model is not None and all(each.default is not None for each in model.fields)
    if field.name == "status" and field.type.flat() == "Status | None" and is_fillable:
        return Field("status", Expr("Status"), None)
    return field


def _metadata(properties: Json) -> Json:
    """What the schema demands of an object's name."""
    metadata = {
        key: value for key, value in properties.get("metadata", {}).items() if key not in ("type", "description")
    }
    return {"properties": {"metadata": {"type": "object", **metadata}}} if metadata else {}


def _model(model: Model, indent: str = "") -> str:
    inner = indent + INDENT
    extra = call("ConfigDict", (), {"json_schema_extra": literal(model.extra)}) if model.extra else None
    parts = [
        _assigned("model_config", extra, inner) if extra else "",
        _rules(model, inner),
        "\n".join(_line(field, inner) for field in model.fields),
    ]
    blocks = [part for part in parts if part]
    doc = _doc(model.doc, inner)
    if doc and blocks:
        doc.append("")
    body = "\n\n".join(blocks) if blocks or doc else f"{inner}pass"
    return "\n".join([f"{indent}class {model.name}(BaseModel):", *doc, *([body] if body else [])])


def _doc(doc: str, indent: str) -> list[str]:
    if not doc:
        return []
    lines = [line and indent + line for line in doc.split("\n")]
    quoted = f'{indent}"""{chr(10).join(lines)[len(indent) :]}'
    return [f'{quoted}"""' if len(lines) == 1 else f'{quoted}\n{indent}"""']


def _line(field: Field, indent: str) -> str:
    """`name: Type = default`, on several lines where one does not hold it."""
    start = f"{field.name}: "
    default = field.default
    whole = start + field.type.flat() + (f" = {default.flat()}" if default else "")
    if len(indent) + len(whole) <= WIDTH:
        return indent + whole
    if field.type.is_optional and (default is None or not default.items):
        return _in_parentheses(field, indent)
    if default is None:
        return f"{indent}{start}{field.type.laid_out(indent, len(start))}"
    typed = f"{start}{field.type.flat()} = "
    if default.items and len(indent) + len(typed) + len(default.head) <= WIDTH:
        return f"{indent}{typed}{default.laid_out(indent, len(typed))}"
    room = len(start) + len(f" = {default.flat()}")
    return f"{indent}{start}{field.type.laid_out(indent, room)} = {default.flat()}"


def _in_parentheses(field: Field, indent: str) -> str:
    """A long `X | None`: formatters put the default on a line of its own, and if that is not enough the type."""
    inner = indent + INDENT
    start = f"{indent}{field.name}: {field.type.flat()} = ("
    if field.default is not None and len(start) <= WIDTH:
        return f"{start}\n{inner}{field.default.flat()}\n{indent})"
    default = "" if field.default is None else f" = {field.default.flat()}"
    return f"{indent}{field.name}: (\n{inner}{field.type.laid_out(inner)}\n{indent}){default}"


def _rules(model: Model, indent: str) -> str:
    return _assigned("rules: ClassVar[list[Rule]]", listed(model.rules), indent) if model.rules else ""


def _assigned(name: str, value: Expr, indent: str) -> str:
    return f"{indent}{name} = {value.laid_out(indent, len(f'{name} = '))}"


def _imports(body: str) -> str:
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)} | {"App"}
    lines = {module: _import(module, [name for name in names if name in used]) for module, names in MODULES.items()}
    groups = [
        [line for module, line in lines.items() if line and (module in STANDARD) is standard]
        for standard in (True, False)
    ]
    return "\n\n".join("\n".join(group) for group in groups if group)


def _import(module: str, names: Iterable[str]) -> str:
    items = tuple(Expr(name) for name in names)
    if not items:
        return ""
    flat = f"from {module} import {', '.join(item.head for item in items)}"
    return flat if len(flat) <= WIDTH else Expr(f"from {module} import (", items, ")").laid_out("")
