"""Objects in another version than they are stored in, converted by a webhook behind real TLS."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.apiserver.custom.reaching import ANSWER_BYTES_MAX
from hardpoint.store.contract import KeyValue
from tests.apiserver.asking import Api
from tests.apiserver.custom.converting import (
    GROUP,
    NAME,
    Converting,
    address,
    addresses,
    converting,
    definition,
    honest,
)
from tests.apiserver.custom.samples import DEFINITIONS, define, heard, until, until_gone
from tests.store.etcd_process import free_port

Json = dict[str, Any]

JSON, MERGE, APPLY = "application/json", "application/merge-patch+json", "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
ALL = f"/apis/{GROUP}/v2/addresses"


@pytest.fixture
async def converter(api: Api, tmp_path: Path) -> AsyncIterator[Converting]:
    """The converter of addresses, which are served and stored as v1."""
    async with converting(tmp_path, "conv.default.svc") as found:
        await define(api, definition(found.url))
        yield found


def refusing(review: Json) -> Json:
    review["response"]["result"] = {"status": "Failure", "message": "no way"}
    return review


async def stored(api: Api, name: str = "a") -> bytes:
    found: KeyValue | None = await api.server._store.get(f"/registry/{GROUP}/addresses/default/{name}")
    assert found is not None
    return found.value


async def test_an_object_is_read_in_either_version_and_stored_in_one(api: Api, converter: Converting) -> None:
    await api.ok("POST", addresses("v1"), address("a", hostPort="one:1"))
    made = await api.ok("POST", addresses("v2"), address("b", version="v2", host="two", port="2"))
    assert made["spec"] == {"host": "two", "port": "2", "mode": "open"}
    assert (await api.ok("GET", addresses("v2", "a")))["spec"] == {"host": "one", "port": "1"}
    assert (await api.ok("GET", addresses("v1", "b")))["spec"] == {"hostPort": "two:2", "mode": "open"}
    assert (await stored(api, "b")).startswith(b'{"apiVersion":"net.example.com/v1"')


async def test_what_needs_no_conversion_asks_nobody(api: Api, converter: Converting) -> None:
    await api.ok("POST", addresses("v1"), address())
    await api.ok("GET", addresses("v1"))
    await api.ok("PATCH", addresses("v1", "a"), {"spec": {"mode": "x"}}, content_type=MERGE)
    await api.ok("DELETE", addresses("v1", "a"))
    assert converter.sizes() == []


async def test_a_list_is_one_question(api: Api, converter: Converting) -> None:
    for number in range(5):
        await api.ok("POST", addresses("v1"), address(f"a{number}", hostPort=f"h{number}:1"))
    found = await api.ok("GET", ALL)
    assert [item["spec"]["host"] for item in found["items"]] == [f"h{number}" for number in range(5)]
    assert {item["apiVersion"] for item in found["items"]} == {f"{GROUP}/v2"}
    assert converter.sizes() == [5]


async def test_pages_tables_and_metadata_are_converted_too(api: Api, converter: Converting) -> None:
    for number in range(3):
        await api.ok("POST", addresses("v1"), address(f"a{number}", hostPort=f"h{number}:1"))
    page = await api.ok("GET", f"{addresses('v2')}?limit=2")
    rest = await api.ok("GET", f"{addresses('v2')}?limit=2&continue={page['metadata']['continue']}")
    assert [item["spec"]["host"] for item in page["items"] + rest["items"]] == ["h0", "h1", "h2"]
    table = await api.ok("GET", addresses("v2"), accept=TABLE)
    assert [row["cells"] for row in table["rows"]] == [["a0", "h0"], ["a1", "h1"], ["a2", "h2"]]

    def relabelling(review: Json) -> Json:
        for obj in review["response"]["convertedObjects"]:
            obj["metadata"]["labels"] = {"converted": "yes"}
        return review

    converter.twist = relabelling
    names = await api.ok(
        "GET", addresses("v2"), accept="application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    )
    assert {item["metadata"]["labels"]["converted"] for item in names["items"]} == {"yes"}


@pytest.mark.parametrize(
    ("version", "selector", "found"),
    [
        ("v1", "spec.hostPort=h:1", ["a"]),
        ("v2", "spec.host=h", ["a"]),
        ("v2", "spec.host!=h", ["b"]),
        ("v2", "metadata.name=b", ["b"]),
    ],
)
async def test_selected_by_the_fields_of_the_version(
    api: Api, converter: Converting, version: str, selector: str, found: list[str]
) -> None:
    await api.ok("POST", addresses("v1"), address("a", hostPort="h:1"))
    await api.ok("POST", addresses("v1"), address("b", hostPort="i:1"))
    answer = await api.ok("GET", f"{addresses(version)}?fieldSelector={selector}")
    assert [item["metadata"]["name"] for item in answer["items"]] == found
    status, _ = await api.ask("GET", f"{addresses('v2')}?fieldSelector=spec.hostPort=h:1")
    assert status == 400


async def test_defaults_are_those_of_the_stored_version(api: Api, converter: Converting) -> None:
    """As on kube-apiserver: the served version's schema prunes what comes back, and adds nothing."""
    await api.ok("POST", addresses("v1"), address())

    def inventing(review: Json) -> Json:
        for obj in review["response"]["convertedObjects"]:
            obj["spec"] |= {"unheard": "of", "mode": None}
        return review

    converter.twist = inventing
    assert (await api.ok("GET", addresses("v2", "a")))["spec"] == {"host": "h", "port": "1", "mode": None}


async def test_a_watcher_sees_its_own_version(api: Api, converter: Converting) -> None:
    await api.ok("POST", addresses("v1"), address("a", hostPort="one:1"))
    async with api.watching(f"{addresses('v2')}?watch=1") as events, asyncio.timeout(10):
        assert (await anext(events))["object"]["spec"] == {"host": "one", "port": "1"}
        await api.ok("PATCH", addresses("v1", "a"), {"spec": {"hostPort": "two:1"}}, content_type=MERGE)
        changed = await anext(events)
        assert (changed["type"], changed["object"]["spec"]["host"]) == ("MODIFIED", "two")
        await api.ok("DELETE", addresses("v1", "a"))
        gone = await anext(events)
        assert (gone["type"], gone["object"]["apiVersion"]) == ("DELETED", f"{GROUP}/v2")
        assert gone["object"]["spec"]["host"] == "two"


async def test_watchers_share_a_conversion_and_see_changes_in_order(api: Api, converter: Converting) -> None:
    async def follow() -> list[str]:
        hosts: list[str] = []
        async with api.watching(f"{addresses('v2')}?watch=1&resourceVersion={start}") as events:
            ready.release()
            while len(hosts) < 10:
                hosts.append((await anext(events))["object"]["spec"]["host"])
        return hosts

    start = (await api.ok("GET", addresses("v1")))["metadata"]["resourceVersion"]
    ready = asyncio.Semaphore(0)
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        followers = [tasks.create_task(follow()) for _ in range(8)]
        for _ in followers:
            await ready.acquire()
        for number in range(10):
            await api.ok("POST", addresses("v1"), address(f"a{number}", hostPort=f"h{number}:1"))
    assert [each.result() for each in followers] == [[f"h{number}" for number in range(10)]] * 8
    assert sum(converter.sizes()) == 10


@pytest.mark.parametrize("leaving", [0, 1])
async def test_a_watcher_that_leaves_takes_no_conversion_with_it(api: Api, converter: Converting, leaving: int) -> None:
    async def follow() -> Json:
        async with api.watching(f"{addresses('v2')}?watch=1&resourceVersion={start}") as events:
            found: Json = await anext(events)
            return found

    start = (await api.ok("GET", addresses("v1")))["metadata"]["resourceVersion"]
    converter.answers.clear()
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        followers = [tasks.create_task(follow()) for _ in range(2)]
        await api.ok("POST", addresses("v1"), address())
        # One of them asks for both.
        await converter.asked.wait()
        followers[leaving].cancel()
        converter.answers.set()
    assert followers[1 - leaving].result()["object"]["spec"] == {"host": "h", "port": "1"}


async def test_a_watch_ends_when_somebody_else_converts(api: Api, converter: Converting) -> None:
    made = await api.ok("POST", addresses("v1"), address())
    path = f"{addresses('v2')}?watch=1&resourceVersion={made['metadata']['resourceVersion']}"
    async with api.watching(path) as events, asyncio.timeout(10):
        await api.ok("PATCH", addresses("v1", "a"), {"spec": {"hostPort": "two:1"}}, content_type=MERGE)
        assert (await anext(events))["object"]["spec"]["host"] == "two"
        await _point_to(api, f"https://127.0.0.1:{free_port()}/")
        await api.ok("PATCH", addresses("v1", "a"), {"spec": {"hostPort": "three:1"}}, content_type=MERGE)
        assert [event async for event in events] == []


async def test_a_selecting_watcher_sees_objects_come_and_go(api: Api, converter: Converting) -> None:
    made = await api.ok("POST", addresses("v1"), address("a", hostPort="one:1"))
    start = made["metadata"]["resourceVersion"]
    path = f"{addresses('v2')}?watch=1&resourceVersion={start}&fieldSelector=spec.host=two"
    async with api.watching(path) as events, asyncio.timeout(10):
        for host in ("two:1", "three:1"):
            await api.ok("PATCH", addresses("v1", "a"), {"spec": {"hostPort": host}}, content_type=MERGE)
        seen = [
            (event["type"], event["object"]["spec"]["host"]) for event in [await anext(events), await anext(events)]
        ]
    assert seen == [("ADDED", "two"), ("DELETED", "two")]


async def test_a_slow_converter_holds_up_nobody_else(api: Api, converter: Converting) -> None:
    await api.ok("POST", addresses("v1"), address())
    converter.answers.clear()
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(api.ok("GET", addresses("v2", "a")))
        async with api.watching(f"{addresses('v1')}?watch=1") as events:
            assert (await anext(events))["type"] == "ADDED"
            await api.ok("PATCH", addresses("v1", "a"), {"spec": {"mode": "x"}}, content_type=MERGE)
            assert (await anext(events))["object"]["spec"]["mode"] == "x"
        assert not asking.done()
        converter.answers.set()
    assert asking.result()["spec"]["host"] == "h"


async def test_a_dead_converter_fails_who_needs_it_and_nobody_else(api: Api, converter: Converting) -> None:
    await api.ok("POST", addresses("v1"), address())
    port = free_port()
    await _point_to(api, f"https://127.0.0.1:{port}/convert")
    why = f'Post "https://127.0.0.1:{port}/convert?timeout=30s": dial tcp 127.0.0.1:{port}: connect: connection refused'
    source, target = (
        f"conversion webhook for {GROUP}/{version}, Kind=Address failed: {why}" for version in ("v1", "v2")
    )
    assert await _refusal(api, "GET", addresses("v2", "a")) == ("InternalError", f"Internal error occurred: {source}")
    told = f"failed to read one or more addresses.{GROUP} from the storage: {source}"
    assert await _refusal(api, "GET", addresses("v2")) == ("StorageReadError", told)
    assert await _refusal(api, "DELETE", addresses("v2")) == ("StorageReadError", told)
    assert await _refusal(api, "POST", addresses("v2"), address("b", version="v2")) == (None, target)
    assert (await _refusal(api, "DELETE", addresses("v2", "a")))[1].endswith(source)
    async with api.watching(f"{addresses('v2')}?watch=1") as events:
        assert (await anext(events))["object"]["message"] == told
    assert (await api.ok("GET", addresses("v1")))["items"][0]["spec"] == {"hostPort": "h:1"}
    await api.ok("DELETE", addresses("v1", "a"))


async def test_objects_in_another_order_are_nobodys(api: Api, converter: Converting) -> None:
    for name in "ab":
        await api.ok("POST", addresses("v1"), address(name))

    def reversing(review: Json) -> Json:
        review["response"]["convertedObjects"].reverse()
        return review

    converter.twist = reversing
    told = f"conversion webhook for {GROUP}/v1, Kind=Address returned invalid converted object at index 0: "
    assert (await _refusal(api, "GET", ALL))[1].endswith(f"{told}must have the same name: a != b")


async def test_an_answer_without_end_is_cut_off(api: Api, converter: Converting) -> None:
    await api.ok("POST", addresses("v1"), address())
    converter.twist = lambda review: b" " * (ANSWER_BYTES_MAX + 1)
    assert "answered more than" in (await _refusal(api, "GET", addresses("v2", "a")))[1]
    assert (await api.ok("GET", addresses("v1", "a")))["spec"] == {"hostPort": "h:1"}


async def test_what_is_refused_is_not_stored(api: Api, converter: Converting) -> None:
    await api.ok("POST", addresses("v1"), address())
    before = await stored(api)
    converter.twist = refusing
    for method, body, media in (("PUT", address(version="v2"), JSON), ("PATCH", {"spec": {"host": "x"}}, MERGE)):
        _, told = await _refusal(api, method, addresses("v2", "a"), body, media=media)
        assert told.endswith("failed: no way")
    assert await stored(api) == before


async def test_writes_through_another_version(api: Api, converter: Converting) -> None:
    await api.ok("POST", addresses("v1"), address(hostPort="h:1", replicas=2))
    patched = await api.ok("PATCH", addresses("v2", "a"), {"spec": {"port": "9"}}, content_type=MERGE)
    assert patched["spec"] == {"host": "h", "port": "9", "count": 2, "mode": "open"}
    put = await api.ok("PUT", addresses("v2", "a"), patched | {"spec": {"host": "i", "port": "9"}})
    assert put["metadata"]["generation"] == 3
    assert (await api.ok("GET", addresses("v1", "a")))["spec"] == {"hostPort": "i:9", "mode": "open"}
    dry = await api.ok("PATCH", f"{addresses('v2', 'a')}?dryRun=All", {"spec": {"host": "j"}}, content_type=MERGE)
    assert (dry["spec"]["host"], dry["metadata"]["resourceVersion"]) == ("j", put["metadata"]["resourceVersion"])
    same = await api.ok("PATCH", addresses("v2", "a"), {"spec": {"host": "i"}}, content_type=MERGE)
    assert same["metadata"]["resourceVersion"] == put["metadata"]["resourceVersion"]


async def test_parts_of_an_object_in_another_version(api: Api, converter: Converting) -> None:
    await api.ok("POST", addresses("v1"), address(hostPort="h:1", replicas=2))
    assert (await api.ok("GET", addresses("v2", "a", "scale")))["spec"] == {"replicas": 2}
    await api.ok("PATCH", addresses("v2", "a", "scale"), {"spec": {"replicas": 4}}, content_type=MERGE)
    await api.ok("PATCH", addresses("v2", "a", "status"), {"status": {"seen": "x"}}, content_type=MERGE)
    found = await api.ok("GET", addresses("v1", "a"))
    assert (found["spec"]["replicas"], found["status"]) == (4, {"seen": "x"})


async def test_managers_keep_to_their_version(api: Api, converter: Converting) -> None:
    def applied(version: str, **spec: Any) -> Json:
        return address(version=version, **spec)

    await api.ok("PATCH", f"{addresses('v1', 'a')}?fieldManager=one", applied("v1", hostPort="h:1"), content_type=APPLY)
    status, answer = await api.ask(
        "PATCH", f"{addresses('v2', 'a')}?fieldManager=two", applied("v2", host="i", port="1"), content_type=APPLY
    )
    assert (status, answer["details"]["causes"][0]["field"]) == (409, ".spec.hostPort")
    forced = f"{addresses('v2', 'a')}?fieldManager=two&force=true"
    found = await api.ok("PATCH", forced, applied("v2", host="i", port="1"), content_type=APPLY)
    managed = {entry["manager"]: entry["apiVersion"] for entry in found["metadata"]["managedFields"]}
    assert managed == {"two": f"{GROUP}/v2"}


async def test_a_failing_converter_takes_no_managers_away(api: Api, converter: Converting) -> None:
    await api.ok("POST", f"{addresses('v2')}?fieldManager=two", address(version="v2"))
    before = (await api.ok("GET", addresses("v1", "a")))["metadata"]["managedFields"]
    converter.twist = refusing
    patched = await api.ok("PATCH", addresses("v1", "a"), {"spec": {"mode": "x"}}, content_type=MERGE)
    assert patched["metadata"]["managedFields"] == before
    config = address(mode="y")
    refused = await _refusal(api, "PATCH", f"{addresses('v1', 'a')}?fieldManager=me&force=true", config, media=APPLY)
    assert refused == (None, f"conversion webhook for {GROUP}/v1, Kind=Address failed: no way")


async def test_another_version_is_stored_from_now_on(api: Api, converter: Converting) -> None:
    await api.ok("POST", addresses("v1"), address("a", hostPort="one:1"))
    found = await api.ok("GET", f"{DEFINITIONS}/{NAME}")
    for version in found["spec"]["versions"]:
        version["storage"] = version["name"] == "v2"
    changed = await api.ok("PUT", f"{DEFINITIONS}/{NAME}", found)
    await heard(api)
    assert changed["status"]["storedVersions"] == ["v1", "v2"]
    await api.ok("POST", addresses("v1"), address("b", hostPort="two:2"))
    assert (await stored(api, "b")).startswith(b'{"apiVersion":"net.example.com/v2"')
    for version, told in (("v1", ["one:1", "two:2"]), ("v2", ["one", "two"])):
        items = (await api.ok("GET", addresses(version)))["items"]
        assert [item["spec"].get("hostPort") or item["spec"]["host"] for item in items] == told
    # Whoever migrates writes everything once as it is.
    await api.ok("PUT", addresses("v2", "a"), await api.ok("GET", addresses("v2", "a")))
    assert (await stored(api, "a")).startswith(b'{"apiVersion":"net.example.com/v2"')


async def test_deleting_all_in_another_version(api: Api, converter: Converting) -> None:
    for name in "ab":
        await api.ok("POST", addresses("v1"), address(name))
    gone = await api.ok("DELETE", addresses("v2"))
    assert [item["apiVersion"] for item in gone["items"]] == [f"{GROUP}/v2"] * 2
    assert (await api.ok("GET", addresses("v1")))["items"] == []


@pytest.mark.parametrize("stored", ["v1", "v2"])
async def test_a_definition_goes_although_its_converter_is_dead(api: Api, stored: str) -> None:
    await define(api, definition(f"https://127.0.0.1:{free_port()}/", stored=stored))
    await api.ok("POST", addresses(stored), address(version=stored))
    await api.ok("DELETE", f"{DEFINITIONS}/{NAME}")
    await until_gone(api, f"{DEFINITIONS}/{NAME}")


async def test_a_converter_behind_a_service(api: Api, converter: Converting) -> None:
    await api.ok("POST", addresses("v1"), address())
    found = await api.ok("GET", f"{DEFINITIONS}/{NAME}")
    config = found["spec"]["conversion"]["webhook"]["clientConfig"]
    service = {"namespace": "default", "name": "conv", "path": "/convert"}
    found["spec"]["conversion"]["webhook"]["clientConfig"] = {"service": service, "caBundle": config["caBundle"]}
    await api.ok("PUT", f"{DEFINITIONS}/{NAME}", found)
    await heard(api)
    prefix = 'Post "https://conv.default.svc:443/convert?timeout=30s": '
    assert (await _refusal(api, "GET", addresses("v2", "a")))[1].endswith(f'{prefix}service "conv" not found')
    ports = [{"name": "https", "port": 443}]
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "conv"},
        "spec": {"ports": ports, "clusterIP": "None"},
    }
    await api.ok("POST", "/api/v1/namespaces/default/services", body)
    told = f'{prefix}no endpoints available for service "conv"'
    assert (await _refusal(api, "GET", addresses("v2", "a")))[1].endswith(told)
    # The API takes no endpoints on the loopback, where the converter of a test is.
    key = "/registry/discovery.k8s.io/endpointslices/default/conv-1"
    await api.server._store.create(key, orjson.dumps(_slice(converter.server.port)))
    assert (await api.ok("GET", addresses("v2", "a")))["spec"] == {"host": "h", "port": "1"}


def _slice(port: int) -> Json:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "conv-1", "labels": {"kubernetes.io/service-name": "conv"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": False}}, {"addresses": ["127.0.0.1"]}],
        "ports": [{"name": "https", "port": port}],
    }


async def test_a_bundle_without_certificates_is_never_established(api: Api, tmp_path: Path) -> None:
    async with converting(tmp_path) as found:
        await api.ok("POST", DEFINITIONS, definition(found.url, bundle=b"no pem"))
        refused = await until(api, NAME, "Established", "False")
        (told,) = (each for each in refused["status"]["conditions"] if each["type"] == "Established")
        assert (told["reason"], told["message"]) == ("InvalidCABundle", "The conversion webhook CABundle is invalid")


@pytest.mark.parametrize(
    ("versions", "told"),
    [
        (["v7"], 'Invalid value: ["v7"]: must include at least one of v1, v1beta1'),
        ([], "Required value"),
    ],
)
async def test_versions_of_the_review_that_nobody_knows(api: Api, versions: list[str], told: str) -> None:
    body = definition("https://127.0.0.1:1/", conversionReviewVersions=versions)
    status, answer = await api.ask("POST", DEFINITIONS, body)
    assert status == 422
    assert answer["message"].endswith(f"spec.conversion.conversionReviewVersions: {told}")


async def test_what_converters_did_is_in_the_metrics(api: Api, converter: Converting) -> None:
    await api.ok("POST", addresses("v1"), address())
    await api.ok("GET", addresses("v2", "a"))
    converter.twist = refusing
    await api.ask("GET", addresses("v2", "a"))
    converter.twist = honest
    text = (await api.send("GET", "/metrics")).body.decode()
    for result, failure in (("success", ""), ("failure", "conversion_webhook_malformed_response_failure")):
        labels = f'failure_type="{failure}",result="{result}"'
        assert f"apiserver_conversion_webhook_request_total{{{labels}}} 1\n" in text
    labels = f'crd_name="{NAME}",from_version="v1",succeeded="true",to_version="v2"'
    assert f"apiserver_crd_conversion_webhook_duration_seconds_count{{{labels}}} 1\n" in text


async def _point_to(api: Api, url: str) -> None:
    """Have another address asked from now on."""
    found = await api.ok("GET", f"{DEFINITIONS}/{NAME}")
    found["spec"]["conversion"]["webhook"]["clientConfig"]["url"] = url
    await api.ok("PUT", f"{DEFINITIONS}/{NAME}", found)
    await heard(api)


async def _refusal(
    api: Api, method: str, url: str, body: Json | None = None, *, media: str = JSON
) -> tuple[str | None, str]:
    status, answer = await api.ask(method, url, body, content_type=media)
    assert status == 500, answer
    return answer.get("reason"), answer["message"]
