"""A server under a flood: the rest is served, the flood is told to come back, and nothing piles up."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from hardpoint.apiserver.flow.options import FlowOptions
from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery.messages import Peer, Request, User
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api

DEVS = {
    "metadata": {"name": "devs"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "devs"}],
}
FLOODER, POLITE = User("flooder", ("devs",)), User("polite", ("devs",))
NODE = User("system:node:n1", ("system:nodes", "devs"))
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with ApiServer(MemoryStore()).running() as server:
        await server.warm_up()
        admin = Api(server)
        await admin.ok("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", DEVS)
        yield admin


@pytest.mark.parametrize(
    ("user", "path"),
    [
        pytest.param(POLITE, "/api/v1/namespaces/kube-system", id="another user of the same level"),
        pytest.param(NODE, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1", id="a node's lease"),
        pytest.param(None, "/livez", id="a health check"),
    ],
)
async def test_others_are_served_while_one_floods(api: Api, user: User | None, path: str) -> None:
    flooder = api.as_user(FLOODER)
    answered = 0

    async def flood() -> None:
        nonlocal answered
        await flooder.send("GET", "/api/v1/namespaces/default")
        answered += 1

    tasks = [asyncio.create_task(flood()) for _ in range(300)]
    await asyncio.sleep(0)
    await api.as_user(user).send("GET", path)
    assert answered < 200, "it came last and was not served last"
    await asyncio.gather(*tasks)


async def test_a_flood_is_told_to_come_back(api: Api) -> None:
    flooder = api.as_user(FLOODER)
    answers = await asyncio.gather(*(flooder.send("GET", "/api/v1/namespaces/default") for _ in range(600)))
    assert set(Counter(answer.status for answer in answers)) == {200, 429}
    refused = next(answer for answer in answers if answer.status == 429)
    headers = dict(refused.headers)
    assert (refused.body, refused.content_type) == (
        b"Too many requests, please try again later.\n",
        "text/plain; charset=utf-8",
    )
    assert headers["Retry-After"] == "1"
    schemas = await api.ok("GET", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/global-default")
    assert headers["X-Kubernetes-Pf-Flowschema-Uid"] == schemas["metadata"]["uid"]
    assert headers["X-Content-Type-Options"] == "nosniff"


async def test_bad_credentials_are_refused_at_a_bounded_rate(api: Api) -> None:
    stranger = api.as_user(None)
    loop = asyncio.get_running_loop()
    began = loop.time()
    headers = {"authorization": "Bearer nonsense"}
    answers = await asyncio.gather(*(stranger.send("GET", CONFIG_MAPS, **headers) for _ in range(200)))
    assert {answer.status for answer in answers} == {401}
    assert loop.time() - began > 0.1


async def test_a_watch_counts_only_while_it_begins(api: Api) -> None:
    metric = (
        'apiserver_flowcontrol_current_executing_requests{flow_schema="global-default",priority_level="global-default"}'
    )
    await api.ok("POST", CONFIG_MAPS, {"metadata": {"name": "one"}})
    polite = api.as_user(POLITE)

    async def executing() -> str:
        lines = (await api.send("GET", "/metrics")).body.decode().splitlines()
        return next(line.removeprefix(metric).strip() for line in lines if line.startswith(metric))

    async with polite.watching(f"{CONFIG_MAPS}?watch=true&resourceVersion=0") as events:
        assert await executing() == "1"
        assert (await anext(events))["type"] == "ADDED"
        await api.ok("POST", CONFIG_MAPS, {"metadata": {"name": "two"}})
        assert (await anext(events))["type"] == "ADDED"
        assert await executing() == "0"


async def test_schemas_count_as_soon_as_they_are_stored(api: Api) -> None:
    schema = {
        "metadata": {"name": "polite"},
        "spec": {
            "matchingPrecedence": 10,
            "priorityLevelConfiguration": {"name": "workload-high"},
            "rules": [
                {
                    "subjects": [{"kind": "User", "user": {"name": "polite"}}],
                    "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/version"]}],
                }
            ],
        },
    }
    stored = await api.ok("POST", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", schema)
    await asyncio.sleep(0)
    answer = await api.as_user(POLITE).send("GET", "/version")
    assert dict(answer.headers)["X-Kubernetes-Pf-Flowschema-Uid"] == stored["metadata"]["uid"]


async def test_a_large_answer_keeps_its_seat_until_it_is_taken(api: Api) -> None:
    for number in range(6):
        body = {"metadata": {"name": f"c{number}"}, "data": {"x": "y" * 100_000}}
        await api.ok("POST", CONFIG_MAPS, body)
    answer = await api.as_user(POLITE).send("GET", CONFIG_MAPS)
    assert answer.taken is not None
    level = 'apiserver_flowcontrol_current_executing_seats{priority_level="global-default"}'
    assert f"{level} 0" not in (await api.send("GET", "/metrics")).body.decode()
    answer.taken()
    assert f"{level} 0" in (await api.send("GET", "/metrics")).body.decode()


async def test_without_fairness_two_numbers_count() -> None:
    flow = FlowOptions(is_fair=False, reads_max=1, writes_max=1)
    async with ApiServer(MemoryStore(), flow=flow).running() as server:
        admin = Api(server)
        assert "X-Kubernetes-Pf-Flowschema-Uid" not in dict((await admin.send("GET", "/version")).headers)
        stuck = admin.as_user(FLOODER)
        blocking = asyncio.Event()

        async def block(_question: object) -> None:
            await blocking.wait()

        server.handle.__self__._services.authorization.authorize = block  # type: ignore[attr-defined]  # a walk's method
        first = asyncio.create_task(stuck.send("GET", "/version"))
        await asyncio.sleep(0)
        answer = await stuck.send("GET", "/version")
        assert (answer.status, dict(answer.headers)["Retry-After"]) == (429, "1")
        first.cancel()
        await asyncio.wait([first])


async def test_a_list_takes_no_longer_than_it_may() -> None:
    async with ApiServer(MemoryStore(), flow=FlowOptions(request_seconds_max=0.05)).running() as server:
        store = server._store

        async def never(*_: object, **__: object) -> None:
            await asyncio.Event().wait()

        store.range = never  # type: ignore[method-assign,assignment]  # A store that hangs.
        status, answer = await Api(server).ask("GET", CONFIG_MAPS)
        assert (status, answer["reason"]) == (504, "Timeout")


async def test_a_request_whose_client_leaves_gives_its_seat_back(api: Api) -> None:
    peer = Peer("127.0.0.1:1", FLOODER)
    tasks = [
        asyncio.create_task(api.server.handle(Request("GET", "/api/v1/namespaces", "", {}, b"", peer)))
        for _ in range(200)
    ]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    metrics = (await api.send("GET", "/metrics")).body.decode()
    assert 'apiserver_flowcontrol_current_executing_seats{priority_level="global-default"} 0' in metrics
    assert 'current_inqueue_requests{flow_schema="global-default",priority_level="global-default"} 0' in metrics


async def test_metrics_are_in_prometheus_form(api: Api) -> None:
    parser = pytest.importorskip("prometheus_client.parser", reason="prometheus-client is not installed")
    flooder = api.as_user(FLOODER)
    await asyncio.gather(*(flooder.send("GET", "/version") for _ in range(400)))
    text = (await api.send("GET", "/metrics")).body.decode()
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    waits = families["apiserver_flowcontrol_request_wait_duration_seconds"]
    assert waits.type == "histogram"
    assert {sample.name.rpartition("_")[2] for sample in waits.samples} == {"bucket", "sum", "count"}


@pytest.mark.parametrize(
    ("level", "status", "reason", "words"),
    [("workload-high", "False", "Found", "and it exists"), ("gone", "True", "NotFound", "but there is no such object")],
)
async def test_a_schema_says_whether_its_level_exists(
    api: Api, level: str, status: str, reason: str, words: str
) -> None:
    url = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
    spec = {"matchingPrecedence": 10, "priorityLevelConfiguration": {"name": level}}
    async with api.watching(f"{url}?watch=true&fieldSelector=metadata.name%3Dmine") as events:
        await api.ok("POST", url, {"metadata": {"name": "mine"}, "spec": spec})
        await anext(events)
        conditions = (await anext(events))["object"]["status"]["conditions"]
    assert [(each["type"], each["status"], each["reason"]) for each in conditions] == [("Dangling", status, reason)]
    assert conditions[0]["message"] == (
        f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" {words}'
    )


async def test_the_schemas_of_every_cluster_have_their_levels(api: Api) -> None:
    stored = await api.ok("GET", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas")
    assert {each["status"]["conditions"][0]["status"] for each in stored["items"]} == {"False"}
