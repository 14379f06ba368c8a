"""Discovery against what v1.37 was recorded to say, and the rules for kinds that come later."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.apiserver.discovery import Discovery
from hardpoint.apiserver.discovery.aggregated import MEDIA_TYPE as AGGREGATED
from hardpoint.apiserver.discovery.order import version_order
from hardpoint.apiserver.registry import Registry
from hardpoint.machinery import kinds
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.kinds import Kind, Subresource
from hardpoint.machinery.messages import Response
from hardpoint.machinery.structural import Structure

ADDRESS = "192.0.2.2:16443"
CLIENT_GO = f"{AGGREGATED},application/json"

CRONTAB = Kind(
    "stable.example.com",
    "v1",
    "CronTab",
    "crontabs",
    "crontab",
    True,
    ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"),
    short_names=("ct",),
    subresources=(
        Subresource("scale", ("get", "patch", "update"), "autoscaling", "v1", "Scale"),
        Subresource("status", ("get", "patch", "update"), "stable.example.com", "v1", "CronTab"),
    ),
    storage_version_hash="7m5lV1hW5bk=",
    structure=Structure({"type": "object"}),
)


@pytest.fixture
def registry() -> Registry:
    return Registry(kinds.builtin())


@pytest.fixture
def ask(registry: Registry, request_for: Callable[..., Any]) -> Callable[..., Any]:
    discovery = Discovery(registry, ADDRESS)

    def ask(path: str, **headers: str) -> Response | None:
        return discovery.respond(request_for(path, headers=headers))

    return ask


def test_legacy_answers_are_the_recorded_ones(ask: Callable[..., Any], reference: Path) -> None:
    recorded = reference / "discovery"
    assert orjson.loads(ask("/api").body) == _read(recorded / "legacy-api.json")
    assert orjson.loads(ask("/apis").body) == _read(recorded / "legacy-apis.json")
    lists = sorted((recorded / "groups").glob("*.json"))
    assert lists
    for path in lists:
        listed = _read(path)
        group_version = listed["groupVersion"]
        base = f"/apis/{group_version}" if "/" in group_version else f"/api/{group_version}"
        assert orjson.loads(ask(base).body) == listed, base


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_aggregated_answers_are_the_recorded_ones(ask: Callable[..., Any], reference: Path, path: str) -> None:
    answer = ask(path, accept=CLIENT_GO)
    assert answer.content_type == AGGREGATED
    assert orjson.loads(answer.body) == _read(reference / f"discovery/aggregated-v2-{path[1:]}.json")


def test_a_group_is_told_on_its_own(ask: Callable[..., Any]) -> None:
    answer = orjson.loads(ask("/apis/autoscaling").body)
    assert answer["kind"] == "APIGroup"
    assert [version["version"] for version in answer["versions"]] == ["v2", "v1"]
    assert answer["preferredVersion"] == {"groupVersion": "autoscaling/v2", "version": "v2"}


@pytest.mark.parametrize(
    ("accept", "aggregated"),
    [
        pytest.param("", False, id="nothing asked"),
        pytest.param("application/json", False, id="plain json"),
        pytest.param(CLIENT_GO, True, id="client-go"),
        pytest.param(f"{AGGREGATED};profile=nopeer,{CLIENT_GO}", True, id="parameters nobody knows"),
        pytest.param(f"application/json,{AGGREGATED}", False, id="the first clause wins"),
        pytest.param(f"application/json;q=0.5,{AGGREGATED};q=0.9", True, id="the heavier clause wins"),
        pytest.param(AGGREGATED.replace("v=v2", "v=v2beta1") + ",application/json", False, id="a version that is gone"),
        pytest.param(f"application/vnd.kubernetes.protobuf,{CLIENT_GO}", True, id="protobuf is passed over"),
        pytest.param("application/yaml,*/*", False, id="yaml"),
    ],
)
def test_the_accept_header_chooses_the_form(ask: Callable[..., Any], accept: str, aggregated: bool) -> None:
    assert (ask("/apis", accept=accept).content_type == AGGREGATED) is aggregated


@pytest.mark.parametrize("accept", ["application/vnd.kubernetes.protobuf", "text/html"])
def test_what_cannot_be_written_is_refused(ask: Callable[..., Any], accept: str) -> None:
    with pytest.raises(ApiError) as refused:
        ask("/apis", accept=accept)
    assert refused.value.code == 406


def test_only_the_roots_have_an_aggregated_form(ask: Callable[..., Any]) -> None:
    assert ask("/apis/apps/v1", accept=CLIENT_GO).content_type == "application/json"


def test_an_unchanged_answer_is_not_sent_again(ask: Callable[..., Any], registry: Registry) -> None:
    first = ask("/apis", accept=CLIENT_GO)
    headers = dict(first.headers)
    assert headers["ETag"] == f'"{hashlib.sha512(first.body).hexdigest().upper()}"'
    assert (headers["Vary"], headers["Cache-Control"]) == ("Accept", "public")

    again = ask("/apis", **{"accept": CLIENT_GO, "if-none-match": headers["ETag"]})
    assert (again.status, again.body) == (304, b"")

    registry.add(CRONTAB)
    changed = ask("/apis", **{"accept": CLIENT_GO, "if-none-match": headers["ETag"]})
    assert changed.status == 200
    assert dict(changed.headers)["ETag"] != headers["ETag"]


def test_a_custom_kind_comes_and_goes(ask: Callable[..., Any], registry: Registry) -> None:
    assert ask("/apis/stable.example.com") is None
    registry.add(CRONTAB)
    listed = orjson.loads(ask("/apis/stable.example.com/v1").body)
    assert [entry["name"] for entry in listed["resources"]] == ["crontabs", "crontabs/scale", "crontabs/status"]
    assert listed["resources"][1]["group"] == "autoscaling"
    assert "group" not in listed["resources"][2]

    group = orjson.loads(ask("/apis", accept=CLIENT_GO).body)["items"][-1]
    (found,) = group["versions"][0]["resources"]
    assert group["metadata"]["name"] == "stable.example.com"
    assert found["responseKind"] == {"group": "stable.example.com", "version": "v1", "kind": "CronTab"}

    registry.remove(CRONTAB)
    assert ask("/apis/stable.example.com/v1") is None


def test_custom_groups_follow_the_built_in_ones_by_name(ask: Callable[..., Any], registry: Registry) -> None:
    for group in ("zebra.example.com", "apple.example.com"):
        registry.add(Kind(group, "v1", "Thing", "things", "thing", True, ("get",)))
    names = [group["name"] for group in orjson.loads(ask("/apis").body)["groups"]]
    assert names[-3:] == ["storagemigration.k8s.io", "apple.example.com", "zebra.example.com"]


@given(
    st.permutations(["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"])
)
def test_the_best_version_comes_first(shuffled: list[str]) -> None:
    assert sorted(shuffled, key=version_order) == [
        *("v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10")
    ]


@pytest.mark.parametrize("path", ["/api/", "/apis/", "/api/v1/", "/apis/apps/v1/"])
def test_a_slash_at_the_end_changes_nothing(ask: Callable[..., Any], path: str) -> None:
    assert ask(path).body == ask(path.rstrip("/")).body


@pytest.mark.parametrize("path", ["/", "/api/v2", "/apis/nowhere", "/apis/apps/v2", "/apis/apps/v1/deployments", "/x"])
def test_other_paths_are_left_to_others(ask: Callable[..., Any], path: str) -> None:
    assert ask(path) is None


def test_discovery_cannot_be_written_to(registry: Registry, request_for: Callable[..., Any]) -> None:
    with pytest.raises(ApiError) as refused:
        Discovery(registry, ADDRESS).respond(request_for("/apis", method="POST"))
    assert refused.value.code == 405


def _read(path: Path) -> Any:
    return json.loads(path.read_text())
