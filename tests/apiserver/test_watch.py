"""Watches: every change once, in order, as the selection sees it."""

from __future__ import annotations

import asyncio

import pytest

from hardpoint.apiserver import hub as hub_module
from tests.apiserver.asking import Api, Json

MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name: str, **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}}


def short(event: Json) -> tuple[str, str]:
    return event["type"], event["object"]["metadata"].get("name", "")


async def test_the_present_then_the_changes(api: Api) -> None:
    await api.ok("POST", MAPS, config_map("a"))
    async with api.watching(f"{MAPS}?watch=true") as events:
        assert short(await anext(events)) == ("ADDED", "a")
        await api.ok("POST", MAPS, config_map("b"))
        await api.ok("PUT", f"{MAPS}/b", config_map("b", x="y"))
        await api.ok("DELETE", f"{MAPS}/b")
        assert [short(await anext(events)) for _ in range(3)] == [("ADDED", "b"), ("MODIFIED", "b"), ("DELETED", "b")]


async def test_from_a_revision_nothing_older_is_told(api: Api) -> None:
    made = await api.ok("POST", MAPS, config_map("a"))
    version = made["metadata"]["resourceVersion"]
    await api.ok("POST", MAPS, config_map("b"))
    async with api.watching(f"{MAPS}?watch=1&resourceVersion={version}") as events:
        await api.ok("POST", MAPS, config_map("c"))
        told = [short(event) async for event in _take(events, 2)]
    assert told == [("ADDED", "b"), ("ADDED", "c")]


async def _take(events, count):  # type: ignore[no-untyped-def]
    got = 0
    async for event in events:
        if event is None or event["type"] == "BOOKMARK":
            continue
        yield event
        got += 1
        if got == count:
            return


async def test_a_deleted_object_carries_the_revision_of_its_end(api: Api) -> None:
    made = await api.ok("POST", MAPS, config_map("a", x="1"))
    async with api.watching(f"{MAPS}?watch=1&resourceVersion={made['metadata']['resourceVersion']}") as events:
        await api.ok("DELETE", f"{MAPS}/a")
        event = await anext(events)
    assert event["type"] == "DELETED"
    assert event["object"]["metadata"]["labels"] == {"x": "1"}
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])


async def test_events_are_relative_to_the_selector(api: Api) -> None:
    version = (await api.ok("GET", MAPS))["metadata"]["resourceVersion"]
    async with api.watching(f"{MAPS}?watch=1&labelSelector=on%3Dyes&resourceVersion={version}") as events:
        await api.ok("POST", MAPS, config_map("a", on="no"))
        await api.ok("PUT", f"{MAPS}/a", config_map("a", on="yes"))
        await api.ok("PUT", f"{MAPS}/a", config_map("a", on="yes", more="1"))
        await api.ok("PUT", f"{MAPS}/a", config_map("a", on="no", more="2"))
        await api.ok("DELETE", f"{MAPS}/a")
        await api.ok("POST", MAPS, config_map("b", on="yes"))
        told = [await anext(events) for _ in range(4)]
    assert [short(event) for event in told] == [
        ("ADDED", "a"),
        ("MODIFIED", "a"),
        ("DELETED", "a"),
        ("ADDED", "b"),
    ]
    assert told[2]["object"]["metadata"]["labels"] == {"on": "yes", "more": "1"}


async def test_other_namespaces_and_kinds_are_not_told(api: Api) -> None:
    version = (await api.ok("GET", MAPS))["metadata"]["resourceVersion"]
    async with api.watching(f"{MAPS}?watch=1&resourceVersion={version}") as events:
        await api.ok("POST", "/api/v1/namespaces/kube-system/configmaps", config_map("elsewhere"))
        await api.ok("POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": "other"}})
        await api.ok("POST", MAPS, config_map("here"))
        assert short(await anext(events)) == ("ADDED", "here")


async def test_a_streaming_list_ends_with_a_marked_bookmark(api: Api) -> None:
    await api.ok("POST", MAPS, config_map("a"))
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    async with api.watching(f"{MAPS}?{query}") as events:
        assert short(await anext(events)) == ("ADDED", "a")
        bookmark = await anext(events)
        assert bookmark["type"] == "BOOKMARK"
        assert bookmark["object"]["kind"] == "ConfigMap"
        assert bookmark["object"]["apiVersion"] == "v1"
        assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        await api.ok("POST", MAPS, config_map("b"))
        assert short(await anext(events)) == ("ADDED", "b")


async def test_a_forgotten_revision_is_an_error_event(api: Api) -> None:
    made = await api.ok("POST", MAPS, config_map("a"))
    for number in range(5):
        await api.ok("PUT", f"{MAPS}/a", config_map("a", x=str(number)))
    store = api.server._store
    await store.compact(await store.revision())
    version = int(made["metadata"]["resourceVersion"]) - 1
    # A server that has just started knows nothing of the past but what the store does.
    api.server.hub._logs.clear()
    api.server.hub._began = await store.revision()
    async with api.watching(f"{MAPS}?watch=1&resourceVersion={version}") as events:
        event = await anext(events)
    assert event["type"] == "ERROR"
    assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
    assert event["object"]["message"].startswith(f"too old resource version: {version} (")


async def test_a_restarted_server_reads_the_past_from_the_store(api: Api) -> None:
    made = await api.ok("POST", MAPS, config_map("a"))
    await api.ok("PUT", f"{MAPS}/a", config_map("a", x="1"))
    api.server.hub._logs.clear()
    api.server.hub._began = await api.server._store.revision()
    async with api.watching(f"{MAPS}?watch=1&resourceVersion={made['metadata']['resourceVersion']}") as events:
        assert short(await anext(events)) == ("MODIFIED", "a")
        await api.ok("DELETE", f"{MAPS}/a")
        assert short(await anext(events)) == ("DELETED", "a")


async def test_a_watch_ends_when_its_time_is_up(api: Api) -> None:
    version = (await api.ok("GET", MAPS))["metadata"]["resourceVersion"]
    query = f"watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion={version}"
    async with asyncio.timeout(5), api.watching(f"{MAPS}?{query}") as events:
        told = [event["type"] async for event in events]
    assert set(told) <= {"BOOKMARK"}


async def test_a_slow_watcher_is_closed_and_costs_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "LOG_EVENTS_MAX", 4)
    version = (await api.ok("GET", MAPS))["metadata"]["resourceVersion"]
    async with asyncio.timeout(5), api.watching(f"{MAPS}?watch=1&resourceVersion={version}") as events:
        await api.ok("POST", MAPS, config_map("first"))
        assert short(await anext(events)) == ("ADDED", "first")
        for number in range(20):
            await api.ok("POST", MAPS, config_map(f"m{number}"))
        assert [event async for event in events] == []


async def test_many_watchers_share_the_bytes_of_an_event(api: Api) -> None:
    version = (await api.ok("GET", MAPS))["metadata"]["resourceVersion"]
    responses = [await api.send("GET", f"{MAPS}?watch=1&resourceVersion={version}") for _ in range(5)]
    streams = [response.stream for response in responses]
    for stream in streams:
        assert stream is not None
        assert await anext(stream) == b""
    await api.ok("POST", MAPS, config_map("a"))
    lines = [await anext(stream) for stream in streams if stream is not None]
    assert len({id(line) for line in lines}) == 1 or len(set(lines)) == 1
    for stream in streams:
        await stream.aclose()  # type: ignore[union-attr]


async def test_a_table_is_watched_with_columns_once(api: Api) -> None:
    await api.ok("POST", MAPS, config_map("a"))
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
    async with api.watching(f"{MAPS}?watch=1", accept=accept) as events:
        first = await anext(events)
        assert first["object"]["columnDefinitions"]
        assert first["object"]["rows"][0]["cells"][0] == "a"
        await api.ok("POST", MAPS, config_map("b"))
        assert not (await anext(events))["object"]["columnDefinitions"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("resourceVersionMatch=NotOlderThan", "forbidden for watch unless sendInitialEvents is provided"),
        ("sendInitialEvents=true", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
    ],
)
async def test_bad_questions(api: Api, query: str, words: str) -> None:
    status, refused = await api.ask("GET", f"{MAPS}?watch=1&{query}")
    assert status == 422
    assert words in refused["message"]
