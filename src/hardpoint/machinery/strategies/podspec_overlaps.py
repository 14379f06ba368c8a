"""Files of one volume that would lie upon each other: legal, but only one of them will be seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

Json = dict[str, Any]


class Target(NamedTuple):
    """A file and what it comes from, empty where that is clear."""

    path: str
    source: str = ""

    def __str__(self) -> str:
        return f'"{self.path}" ({self.source})' if self.source else f'"{self.path}"'


def overlapping_paths(volumes: Sequence[Json]) -> Iterator[str]:
    """One warning for each pair, volume by volume."""
    for volume in volumes:
        name = volume.get("name", "")
        for what, targets in _sources(volume):
            yield from (f'volume "{name}" ({what}): overlapping paths: {pair}' for pair in _pairs(targets))
        projected = volume.get("projected")
        if projected is not None:
            yield from _projected(name, projected.get("sources") or ())


def _sources(volume: Json) -> Iterator[tuple[str, list[Target]]]:
    if items := (volume.get("configMap") or {}).get("items"):
        yield f'ConfigMap "{volume["configMap"].get("name", "")}"', _targets(items)
    if items := (volume.get("secret") or {}).get("items"):
        yield f'Secret "{volume["secret"].get("secretName", "")}"', _targets(items)
    if items := (volume.get("downwardAPI") or {}).get("items"):
        yield "DownwardAPI", _targets(items)


def _projected(name: str, sources: Sequence[Json]) -> Iterator[str]:
    taken: list[Target] = []
    for source in sources:
        if not source:
            yield f'volume "{name}" (Projected) has no sources provided'
            continue
        for target in _projected_targets(source):
            here = Target(target.path.rstrip("/"), target.source)
            for other in taken:
                if _overlap(here, other):
                    yield f'volume "{name}" (Projected): overlapping paths: {here} with {other}'
            taken.append(here)


def _projected_targets(source: Json) -> list[Target]:
    for field, what in (("configMap", "ConfigMap"), ("secret", "Secret")):
        if (source.get(field) or {}).get("items"):
            return _targets(source[field]["items"], f'{what} "{source[field].get("name", "")}"')
    if (source.get("downwardAPI") or {}).get("items"):
        return _targets(source["downwardAPI"]["items"], "DownwardAPI")
    if "serviceAccountToken" in source:
        return [Target(source["serviceAccountToken"].get("path", ""), "ServiceAccountToken")]
    if bundle := source.get("clusterTrustBundle"):
        name = bundle.get("name", bundle.get("signerName", ""))
        return [Target(bundle.get("path", ""), f'ClusterTrustBundle "{name}"')]
    certificate = source.get("podCertificate") or {}
    paths = (("certificateChainPath", "chain"), ("keyPath", "key"), ("credentialBundlePath", "credential bundle"))
    return [Target(certificate[field], f"PodCertificate {what}") for field, what in paths if certificate.get(field)]


def _targets(items: Sequence[Json], source: str = "") -> list[Target]:
    return [Target(item.get("path", ""), source) for item in items]


def _pairs(targets: Sequence[Target]) -> Iterator[str]:
    taken: list[Target] = []
    for target in targets:
        here = Target(target.path.rstrip("/"), target.source)
        yield from (f"{here} with {other}" for other in taken if _overlap(here, other))
        taken.append(here)


def _overlap(one: Target, other: Target) -> bool:
    if not one.path or not other.path:
        return False
    left, right = f"{one.path}/", f"{other.path}/"
    return left.startswith(right) or right.startswith(left)
