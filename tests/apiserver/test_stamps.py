"""Times that the server fills in, and those it leaves alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from hardpoint.apiserver.stamps import stamp
from hardpoint.machinery.kinds import by_kind

Json = dict[str, Any]

NOW = "2026-01-10T12:00:00Z"
EARLIER = "2026-01-10T11:00:00Z"


def stamped(api_version: str, kind: str, obj: Json, old: Json | None) -> Json:
    found = by_kind(api_version, kind)
    assert found is not None
    stamp(found, obj, old, lambda: datetime(2026, 1, 10, 12, tzinfo=UTC))
    return obj


def volume(phase: str, since: str | None) -> Json:
    return {"status": {"phase": phase} | ({"lastPhaseTransitionTime": since} if since else {})}


@pytest.mark.parametrize(
    ("new", "old", "since"),
    [
        pytest.param(volume("Bound", EARLIER), volume("Pending", EARLIER), NOW, id="another phase"),
        pytest.param(volume("Bound", None), volume("Pending", EARLIER), NOW, id="another phase, nothing said"),
        pytest.param(
            volume("Bound", "2025-01-01T00:00:00Z"), volume("Pending", EARLIER), "2025-01-01T00:00:00Z", id="said"
        ),
        pytest.param(volume("Bound", EARLIER), volume("Bound", EARLIER), EARLIER, id="the same phase"),
    ],
)
def test_a_volume_knows_since_when(new: Json, old: Json, since: str) -> None:
    assert stamped("v1", "PersistentVolume", new, old)["status"]["lastPhaseTransitionTime"] == since


def test_a_decision_about_a_certificate_is_dated_once() -> None:
    kept = {"type": "Approved", "status": "True", "lastUpdateTime": EARLIER, "lastTransitionTime": EARLIER}
    again = {"type": "Approved", "status": "True", "lastUpdateTime": None, "lastTransitionTime": None}
    added = {"type": "Failed", "status": "True"}
    new: Json = {"status": {"conditions": [again, added]}}
    stamped("certificates.k8s.io/v1", "CertificateSigningRequest", new, {"status": {"conditions": [kept]}})
    assert (again["lastUpdateTime"], again["lastTransitionTime"]) == (NOW, EARLIER)
    assert (added["lastUpdateTime"], added["lastTransitionTime"]) == (NOW, NOW)


def test_taints_of_devices_are_dated() -> None:
    rule = stamped("resource.k8s.io/v1", "DeviceTaintRule", {"spec": {"taint": {"key": "k"}}}, None)
    assert rule["spec"]["taint"]["timeAdded"] == NOW
    taints: list[Json] = [{"key": "k"}, {"key": "l", "timeAdded": EARLIER}]
    stamped("resource.k8s.io/v1", "ResourceSlice", {"spec": {"devices": [{"taints": taints}, {}]}}, None)
    assert [taint["timeAdded"] for taint in taints] == [NOW, EARLIER]


def test_other_kinds_are_left_alone() -> None:
    assert stamped("v1", "ConfigMap", {"status": {"phase": "x"}}, None) == {"status": {"phase": "x"}}
