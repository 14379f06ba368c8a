"""Knows which ConfigMaps have which labels, and tells notes of those that have theirs."""

from typing import Any

import kopf


@kopf.index("v1", "configmaps")
def by_label(labels: kopf.Labels, name: str, **_: Any) -> dict[tuple[str, str], str]:
    return dict.fromkeys(labels.items(), name)


@kopf.timer("notes", interval=0.2)
def tell(by_label: kopf.Index[tuple[str, str], str], spec: kopf.Spec, patch: kopf.Patch, **_: Any) -> None:
    patch.status["about"] = " ".join(sorted(by_label.get(("about", spec["text"]), [])))
