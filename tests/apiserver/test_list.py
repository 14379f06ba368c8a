"""Lists: pages, selectors, revisions and tokens."""

from __future__ import annotations

import pytest

from tests.apiserver.asking import Api, Json

MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name: str, labels: dict[str, str] | None = None) -> Json:
    metadata: Json = {"name": name}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


@pytest.fixture
async def seven(api: Api) -> Api:
    for number in range(7):
        await api.ok("POST", MAPS, config_map(f"m{number}", {"even": str(number % 2 == 0)}))
    return api


def names(answer: Json) -> list[str]:
    return [item["metadata"]["name"] for item in answer["items"]]


async def test_an_empty_list_has_items_and_a_version(api: Api) -> None:
    answer = await api.ok("GET", "/apis/apps/v1/deployments")
    assert (answer["kind"], answer["apiVersion"], answer["items"]) == ("DeploymentList", "apps/v1", [])
    assert int(answer["metadata"]["resourceVersion"]) > 0


async def test_items_are_in_order_and_leave_out_their_kind(seven: Api) -> None:
    answer = await seven.ok("GET", MAPS)
    assert names(answer) == [f"m{number}" for number in range(7)]
    assert all("kind" not in item and "apiVersion" not in item for item in answer["items"])
    newest = int(answer["metadata"]["resourceVersion"])
    assert all(int(item["metadata"]["resourceVersion"]) <= newest for item in answer["items"])


async def test_pages_are_one_list_at_one_revision(seven: Api) -> None:
    first = await seven.ok("GET", f"{MAPS}?limit=3")
    assert names(first) == ["m0", "m1", "m2"]
    assert first["metadata"]["remainingItemCount"] == 4
    await seven.ok("POST", MAPS, config_map("m3a"))
    await seven.ok("DELETE", f"{MAPS}/m4")
    second = await seven.ok("GET", f"{MAPS}?limit=3&continue={first['metadata']['continue']}")
    assert names(second) == ["m3", "m4", "m5"]
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    assert second["metadata"]["remainingItemCount"] == 1
    third = await seven.ok("GET", f"{MAPS}?limit=3&continue={second['metadata']['continue']}")
    assert names(third) == ["m6"]
    assert "continue" not in third["metadata"]


async def test_a_page_that_ends_at_the_end_has_no_token(seven: Api) -> None:
    answer = await seven.ok("GET", f"{MAPS}?limit=7")
    assert len(answer["items"]) == 7
    assert "continue" not in answer["metadata"]


async def test_selected_pages_are_full(seven: Api) -> None:
    first = await seven.ok("GET", f"{MAPS}?limit=3&labelSelector=even%3DTrue")
    assert names(first) == ["m0", "m2", "m4"]
    assert "remainingItemCount" not in first["metadata"]
    rest = await seven.ok("GET", f"{MAPS}?limit=3&labelSelector=even%3DTrue&continue={first['metadata']['continue']}")
    assert names(rest) == ["m6"]


async def test_an_expired_token_can_be_exchanged(seven: Api) -> None:
    first = await seven.ok("GET", f"{MAPS}?limit=3")
    for number in range(3):
        await seven.ok("POST", MAPS, config_map(f"n{number}"))
    store = seven.server._store
    await store.compact(await store.revision())
    status, refused = await seven.ask("GET", f"{MAPS}?limit=3&continue={first['metadata']['continue']}")
    assert (status, refused["reason"]) == (410, "Expired")
    assert refused["message"].startswith("The provided continue parameter is too old to display a consistent list")
    rest = await seven.ok("GET", f"{MAPS}?continue={refused['metadata']['continue']}")
    assert names(rest) == ["m3", "m4", "m5", "m6", "n0", "n1", "n2"]


@pytest.mark.parametrize(
    "token", ["x", "%00", "e30", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLi94In0"]
)
async def test_a_made_up_token_is_refused(api: Api, token: str) -> None:
    assert (await api.ask("GET", f"{MAPS}?continue={token}"))[0] == 400


async def test_exact_shows_the_past(seven: Api) -> None:
    before = (await seven.ok("GET", MAPS))["metadata"]["resourceVersion"]
    await seven.ok("DELETE", f"{MAPS}/m0")
    exact = await seven.ok("GET", f"{MAPS}?resourceVersion={before}&resourceVersionMatch=Exact")
    assert len(exact["items"]) == 7
    newer = await seven.ok("GET", f"{MAPS}?resourceVersion={before}&resourceVersionMatch=NotOlderThan")
    assert len(newer["items"]) == 6


async def test_the_future_is_waited_for_and_then_refused(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hardpoint.apiserver.freshness.PATIENCE_SECONDS", 0.01)
    status, refused = await api.ask("GET", f"{MAPS}?resourceVersion=999999")
    assert status == 504
    assert refused["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    assert refused["details"]["retryAfterSeconds"] == 1


@pytest.mark.parametrize(
    ("query", "code", "words"),
    [
        ("limit=abc", 400, "invalid syntax"),
        ("resourceVersion=abc", 400, "invalid syntax"),
        ("labelSelector=a%20b%20c", 400, "unable to parse requirement"),
        ("fieldSelector=spec.bogus%3Dx", 400, '"spec.bogus" is not a known field selector: only'),
        ("resourceVersionMatch=Exact", 422, "resourceVersionMatch is forbidden unless resourceVersion is provided"),
        ("resourceVersion=1&resourceVersionMatch=Sometimes", 422, "supported values"),
        ("resourceVersion=0&resourceVersionMatch=Exact", 422, 'forbidden for resourceVersion "0"'),
        ("sendInitialEvents=true", 422, "sendInitialEvents is forbidden for list"),
    ],
)
async def test_bad_questions(api: Api, query: str, code: int, words: str) -> None:
    status, refused = await api.ask("GET", f"{MAPS}?{query}")
    assert status == code
    assert words in refused["message"]


async def test_a_negative_limit_is_no_limit(seven: Api) -> None:
    assert len((await seven.ok("GET", f"{MAPS}?limit=-1"))["items"]) == 7


async def test_a_name_selects_one(seven: Api) -> None:
    assert names(await seven.ok("GET", f"{MAPS}?fieldSelector=metadata.name%3Dm3")) == ["m3"]
    assert names(await seven.ok("GET", f"{MAPS}?fieldSelector=metadata.name%3Dnone")) == []
    assert len(names(await seven.ok("GET", f"{MAPS}?fieldSelector=metadata.name%21%3Dm3"))) == 6


async def test_kubectl_gets_a_table(seven: Api) -> None:
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
    table = await seven.ok("GET", MAPS, accept=accept)
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert table["rows"][0]["cells"][0] == "m0"
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


async def test_metadata_only(seven: Api) -> None:
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    answer = await seven.ok("GET", MAPS, accept=accept)
    assert answer["kind"] == "PartialObjectMetadataList"
    assert set(answer["items"][0]) == {"kind", "apiVersion", "metadata"}


async def test_what_cannot_be_made_is_said(api: Api) -> None:
    status, refused = await api.ask("GET", MAPS, accept="text/html")
    assert (status, refused["reason"]) == (406, "NotAcceptable")
    response = await api.send("GET", MAPS, accept="application/yaml")
    assert response.content_type == "application/yaml"
    assert b"kind: ConfigMapList" in response.body
