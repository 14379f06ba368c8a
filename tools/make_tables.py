"""Derive the tables of built-in kinds from a recorded Kubernetes API server.

    python tools/make_tables.py REFERENCE [--go MODULES] [--check]

REFERENCE holds what was recorded: discovery/, openapi/v3/, bootstrap/, protobuf-fields.json and table-columns.json.
MODULES is a folder with the Go sources of the API modules; without it the Go type names of the last run are kept. The
tables go to src/hardpoint/machinery/data: kinds.json, shapes.json, columns.json and bootstrap.json. They hold names,
numbers and flags, no prose.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bootstrap_table
import go_names

Json = dict[str, Any]
DATA = Path(__file__).parent.parent / "src/hardpoint/machinery/data"

# What discovery does not tell: the field selectors of each kind beyond metadata.name and metadata.namespace.
_REFERENCE_FIELDS = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
SELECTABLE = {
    ("", "Pod"): (
        "spec.nodeName",
        "spec.host",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    ("", "Node"): ("spec.unschedulable",),
    ("", "Service"): ("spec.clusterIP", "spec.type"),
    ("", "Secret"): ("type",),
    ("", "Namespace"): ("status.phase",),
    ("", "Event"): (
        *(f"involvedObject.{name}" for name in _REFERENCE_FIELDS),
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    ("events.k8s.io", "Event"): (
        *(f"regarding.{name}" for name in _REFERENCE_FIELDS),
        "reason",
        "reportingController",
        "type",
    ),
    ("", "ReplicationController"): ("status.replicas",),
    ("batch", "Job"): ("status.successful",),
    ("certificates.k8s.io", "CertificateSigningRequest"): ("spec.signerName",),
    ("certificates.k8s.io", "ClusterTrustBundle"): ("spec.signerName",),
    ("certificates.k8s.io", "PodCertificateRequest"): ("spec.signerName", "spec.podName", "spec.nodeName"),
    ("resource.k8s.io", "ResourceSlice"): ("spec.nodeName", "spec.driver", "spec.pool.name"),
}

# Kinds that no discovery lists but bodies, answers and streams are made of.
ALWAYS = (
    "admission.k8s.io/v1/AdmissionReview",
    "authentication.k8s.io/v1/TokenRequest",
    "autoscaling/v1/Scale",
    "meta.k8s.io/v1/PartialObjectMetadata",
    "meta.k8s.io/v1/PartialObjectMetadataList",
    "policy/v1/Eviction",
)

# Facts of an OpenAPI property that do not follow from its type.
FACTS = (
    "default",
    "enum",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-patch-merge-key",
)
ABOUT_MESSAGE = ("type", "format", "oneOf", "x-kubernetes-group-version-kind", "x-kubernetes-map-type")
FORMATS = {"bytes": "byte", "int32": "int32", "int64": "int64", "double": "double"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Derive the tables of built-in kinds.")
    parser.add_argument("reference", type=Path, help="folder with the recorded API server")
    parser.add_argument("--go", type=Path, help="folder with the Go sources of the API modules")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a table would change")
    arguments = parser.parse_args()
    tables = make_tables(arguments.reference, go_names.read(arguments.go) if arguments.go else None)
    if arguments.check:
        stale = [name for name, text in tables.items() if (DATA / name).read_text() != text]
        sys.exit(f"these tables would change: {', '.join(stale)}" if stale else 0)
    for name, text in tables.items():
        (DATA / name).write_text(text)
        print(f"{name}: {len(text):,} bytes")


def make_tables(reference: Path, names: dict[tuple[str, str, str], str] | None) -> dict[str, str]:
    """The text of each table by file name; every entry has its line, so that a change of one changes one line."""
    groups = read_groups(reference)
    shapes = Shapes(reference, groups)
    shapes.name_types(names)
    return {
        "kinds.json": _text(groups) + "\n",
        "columns.json": _text(_read(reference / "table-columns.json")) + "\n",
        "shapes.json": _text(shapes.table(), levels=2) + "\n",
        "bootstrap.json": _bootstrap_text(bootstrap_table.make(reference)),
    }


def _read(path: Path) -> Any:
    return json.loads(path.read_text())


def _text(table: Any, levels: int = 1) -> str:
    if isinstance(table, list):
        return "[\n" + ",\n".join(map(_line, table)) + "\n]"
    return (
        "{\n"
        + ",\n".join(
            f"{_line(key)}:{_text(entry, levels - 1) if levels > 1 else _line(entry)}" for key, entry in table.items()
        )
        + "\n}"
    )


def _bootstrap_text(table: Json) -> str:
    """A line for each object, below what is common to its resource."""
    resources = (
        f"{_line(plural)}:{_line(entry)[:-2]}{','.join(chr(10) + _line(obj) for obj in objects)}\n]}}"
        for plural, entry, objects in (
            (key, {**value, "objects": []}, value["objects"]) for key, value in table.items()
        )
    )
    return "{\n" + ",\n".join(resources) + "\n}\n"


def _line(entry: Any) -> str:
    return json.dumps(entry, separators=(",", ":"))


def read_groups(reference: Path) -> list[Json]:
    """Every served group with its versions, in the order of aggregated discovery; the core group comes first."""
    hashes = _storage_version_hashes(reference)
    groups = []
    for name in ("aggregated-v2-api.json", "aggregated-v2-apis.json"):
        for item in _read(reference / "discovery" / name)["items"]:
            group = item["metadata"].get("name", "")
            versions = [
                {"version": v["version"], "kinds": [_kind(r, group, v["version"], hashes) for r in v["resources"]]}
                for v in item["versions"]
            ]
            groups.append({"group": group, "versions": versions})
    return groups


def _storage_version_hashes(reference: Path) -> dict[tuple[str, str], str]:
    return {
        (listed["groupVersion"], resource["name"]): resource["storageVersionHash"]
        for path in sorted((reference / "discovery/groups").glob("*.json"))
        for listed in [_read(path)]
        for resource in listed["resources"]
        if "storageVersionHash" in resource
    }


def _kind(resource: Json, group: str, version: str, hashes: dict[tuple[str, str], str]) -> Json:
    """One row of kinds.json; what is empty is left out."""
    group_version = f"{group}/{version}" if group else version
    row = {
        "kind": resource["responseKind"]["kind"],
        "plural": resource["resource"],
        "singular": resource["singularResource"],
        "namespaced": resource["scope"] == "Namespaced",
        "verbs": resource["verbs"],
        "short_names": resource.get("shortNames"),
        "categories": resource.get("categories"),
        "subresources": [_subresource(entry, group, version) for entry in resource.get("subresources", [])],
        "selectable_fields": SELECTABLE.get((group, resource["responseKind"]["kind"])),
        "storage_version_hash": hashes.get((group_version, resource["resource"])),
    }
    return {key: value for key, value in row.items() if value or value is False}


def _subresource(entry: Json, group: str, version: str) -> list[Any]:
    """Name, verbs, group, version and kind; discovery leaves the parent's group and version empty."""
    body = entry["responseKind"]
    return [entry["subresource"], entry["verbs"], body["group"] or group, body["version"] or version, body["kind"]]


class Shapes:
    """Joins the protobuf table with the OpenAPI documents, message by message."""

    def __init__(self, reference: Path, groups: list[Json]) -> None:
        recorded = _read(reference / "protobuf-fields.json")
        self.rows: dict[str, list[list[Any]]] = {_short(name): rows for name, rows in recorded["messages"].items()}
        self.null_pointers = {_short(name) for name in recorded["special"]["absentPointerIsNull"]["fields"]}
        self.schemas = _schemas(reference)
        self.embedding = {kind: name for name, rows in self.rows.items() for kind in _embedded(rows)}
        served = {f"{g['group']}/{v['version']}".lstrip("/") for g in groups for v in g["versions"]}
        self.kinds = {
            key: _short(name)
            for key, name in recorded["kinds"].items()
            if key.rpartition("/")[0] in served or key in ALWAYS
        }
        self.with_type_meta = set(self.kinds.values())
        self.go_types: dict[str, dict[str, str]] = {}

    def name_types(self, names: dict[tuple[str, str, str], str] | None) -> None:
        """Take the Go type names from the sources, or from the table of the last run."""
        if names is None:
            for message, entry in _read(DATA / "shapes.json")["messages"].items():
                self.go_types[message] = {row[1]: row[5]["go"] for row in entry["fields"] if "go" in _facts(row)}
            return
        for (package, struct, field), spelling in names.items():
            self.go_types.setdefault(f"{package.replace('/', '.')}.{struct}", {})[field] = spelling

    def table(self) -> Json:
        reachable = sorted(self._reachable())
        return {"kinds": self.kinds, "messages": {name: self._message(name) for name in reachable}}

    def _reachable(self) -> set[str]:
        found: set[str] = set()
        waiting = [*self.kinds.values(), *(name for name in self.schemas if name in self.rows)]
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            waiting += [kind for kind, _ in map(_value_type, self.rows[name]) if kind in self.rows]
        return found

    def _message(self, name: str) -> Json:
        schema = self.schemas.get(name) or self._schema_of_embedded(name)
        entry: Json = {"fields": [self._field(name, row, schema) for row in self._rows(name)]}
        if required := schema.get("required"):
            entry["required"] = required
        about = {key: schema[key] for key in schema if key in ABOUT_MESSAGE or key == "x-kubernetes-unions"}
        if about.get("type") == "object":
            del about["type"]
        if about:
            entry["about"] = about
        return entry

    def _schema_of_embedded(self, name: str) -> Json:
        """What is said of a struct that only occurs embedded: its part of the schema of one that embeds it."""
        schema = self.schemas.get(self.embedding.get(name, ""), {})
        own = {row[1] for row in self.rows[name]}
        return {
            "properties": {field: said for field, said in schema.get("properties", {}).items() if field in own},
            "required": [field for field in schema.get("required", []) if field in own],
        }

    def _rows(self, name: str) -> Iterator[list[Any]]:
        """The fields on the wire; kind and apiVersion, which are never on it, get the number 0."""
        if name in self.with_type_meta:
            yield [0, "kind", "string", "optional", "val,omitempty"]
            yield [0, "apiVersion", "string", "optional", "val,omitempty"]
        yield from self.rows[name]

    def _field(self, message: str, row: list[Any], schema: Json) -> list[Any]:
        number, name, _, label, go = row
        kind, go_type = _value_type(row)
        if f"{message}.{name}" in self.null_pointers:
            go = "ptr,null"
        property_schema = schema.get("properties", {}).get(name, {})
        facts = {key: property_schema[key] for key in FACTS if key in property_schema}
        inner = property_schema.get("items") or property_schema.get("additionalProperties") or {}
        if "enum" in inner:
            facts["enum"] = inner["enum"]
        written = inner.get("format", property_schema.get("format"))
        if written and written != FORMATS.get(kind):
            facts["format"] = written
        spelling = self.go_types.get(message, {}).get(name, go_type)
        if spelling != go_type and number:
            facts["go"] = spelling
        return [number, name, kind, label, go, *([facts] if facts else [])]


def _embedded(rows: list[list[Any]]) -> Iterator[str]:
    return (_short(row[2]) for row in rows if row[4] == "inline")


def _facts(row: list[Any]) -> Json:
    return row[5] if len(row) > 5 else {}


def _schemas(reference: Path) -> dict[str, Json]:
    """Every OpenAPI schema by its short name; the core document wins where two documents differ."""
    schemas: dict[str, Json] = {}
    for path in sorted((reference / "openapi/v3").glob("api*.json"), reverse=True):
        document = _read(path)
        schemas |= {_short(name): schema for name, schema in document["components"]["schemas"].items()}
    return schemas


def _short(name: str) -> str:
    """`api.core.v1.Pod` for both `k8s.io.api.core.v1.Pod` and `io.k8s.api.core.v1.Pod`."""
    short = name.removeprefix("k8s.io.").removeprefix("io.k8s.")
    return short.replace("apiextensions_apiserver", "apiextensions-apiserver").replace(
        "kube_aggregator", "kube-aggregator"
    )


def _value_type(row: list[Any]) -> tuple[str, str]:
    """The type of a field's value, of a list's items or of a map's values; and how Go would print the whole field."""
    kind = row[2]
    if row[3] == "map":
        kind = kind.removeprefix("map<string,").removesuffix(">")
    kind = _short(kind)
    plain = {"bytes": "[]uint8", "double": "float64"}.get(kind, kind)
    printed = ".".join(plain.rsplit(".", 2)[-2:]) if "." in plain else plain
    return kind, {"optional": "", "repeated": "[]", "map": "map[string]"}[row[3]] + printed


if __name__ == "__main__":
    main()
