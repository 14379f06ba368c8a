"""Values a strategic patch may leave that do not fit, and what apimachinery's converter says about them."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery import shapes
from hardpoint.machinery.shapes import restored


def deployment(path: str, value: Any) -> Any:
    for step in reversed(path.split(".")):
        value = [value] if step == "0" else {step: value}
    return value


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("metadata.name", 1, "cannot convert int64 to string"),
        ("metadata.name", True, "unrecognized type: string"),
        ("metadata.name", 1.5, "unrecognized type: string"),
        ("metadata.labels", "x", "cannot restore map from string"),
        ("metadata.labels", {"a": []}, "unrecognized type: string"),
        ("metadata.creationTimestamp", 5, "json: cannot unmarshal number into Go value of type string"),
        ("spec", [], "cannot restore struct from: slice"),
        ("spec.replicas", "x", "unrecognized type: int32"),
        ("spec.replicas", 1.5, "cannot convert float64 to int32"),
        ("spec.replicas", 2.0, ""),
        ("spec.paused", 1, "unrecognized type: bool"),
        ("spec.strategy.rollingUpdate.maxSurge", True, "json: cannot unmarshal bool into Go value of type int32"),
        ("spec.strategy.rollingUpdate.maxSurge", "25%", ""),
        ("spec.template.spec.containers", {}, "cannot restore slice from map"),
        ("spec.template.spec.containers.0", 7, "cannot restore struct from: int64"),
        ("spec.template.spec.containers.0.imagePullPolicy", 7, "cannot convert int64 to v1.PullPolicy"),
        ("spec.template.spec.containers.0.name", None, ""),
    ],
)
def test_what_the_converter_says(path: str, value: Any, told: str) -> None:
    assert restored.refusal(shapes.shape("apps/v1", "Deployment"), deployment(path, value)) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("!!", "error decoding from json: illegal base64 data at input byte 0"),
        (1, "cannot restore slice from int64"),
        ("AA==", ""),
        ("", ""),
    ],
)
def test_bytes(value: Any, told: str) -> None:
    assert restored.refusal(shapes.shape("v1", "ConfigMap"), {"binaryData": {"x": value}}) == told
