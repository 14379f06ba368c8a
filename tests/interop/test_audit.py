"""Our audit log beside kube-apiserver's: the same requests, the same policy, event by event and field by field."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hardpoint.client.credentials import ANONYMOUS
from hardpoint.client.endpoint import from_kubeconfig
from hardpoint.client.http import HttpTransport
from hardpoint.client.kubeconfig import load
from tests.interop.conftest import built, running_cluster
from tests.interop.kube_apiserver import running_kube_apiserver

pytestmark = pytest.mark.interop

Json = dict[str, Any]
Logs = tuple[dict[tuple[str, str], Json], dict[tuple[str, str], Json]]

POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: None, users: ["system:apiserver", "system:kube-controller-manager"]}
- {level: None, nonResourceURLs: ["/readyz*"]}
- {level: RequestResponse, resources: [{resources: [configmaps]}]}
- {level: Request, resources: [{resources: [namespaces]}], omitStages: [RequestReceived]}
- {level: Metadata}
"""
MAPS = "/api/v1/namespaces/default/configmaps"
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"


class Asking(NamedTuple):
    method: str
    url: str
    body: Any = None
    content_type: str = "application/json"
    headers: dict[str, str] = {}  # noqa: RUF012 Nobody changes it.
    is_anonymous: bool = False
    agent: str = "probe/1"


def config_map(name: str, **metadata: str) -> Json:
    body = {"name": name, **metadata}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": body, "data": {"a": "<b>&é\u2028"}}


REQUESTS = (
    Asking("GET", "/api/v1/namespaces/default"),
    Asking("GET", "/api/v1/namespaces?limit=5&labelSelector=a%3Db"),
    Asking("POST", f"{MAPS}?fieldManager=x&dryRun=All", config_map("one")),
    Asking("POST", MAPS, config_map("one")),
    Asking("POST", MAPS, config_map("one")),
    Asking("POST", MAPS, {"metadata": {"generateName": "gen-"}}),
    Asking("PUT", f"{MAPS}/one", config_map("one", resourceVersion="1")),
    Asking("PUT", f"{MAPS}/one", config_map("one")),
    Asking("PATCH", f"{MAPS}/one", '{"data":{"z":"<y>"}}', MERGE),
    Asking("PATCH", f"{MAPS}/one?fieldManager=me", "apiVersion: v1\nkind: ConfigMap\ndata: {q: r}\n", APPLY),
    Asking("PATCH", f"{MAPS}/one", '[{"op":"add","path":"/data/j","value":"k"}]', "application/json-patch+json"),
    Asking("GET", f"{MAPS}/one"),
    Asking("GET", f"{MAPS}/none"),
    Asking("DELETE", f"{MAPS}/one", {"propagationPolicy": "Background"}),
    Asking("DELETE", f"{MAPS}/one"),
    Asking("GET", f"{MAPS}?watch=true&timeoutSeconds=1&resourceVersion=1000000"),
    Asking("GET", "/healthz?verbose", is_anonymous=True),
    Asking("GET", "/nope"),
    Asking("GET", "/api/v1/namespaces/default/nope"),
    Asking("GET", MAPS, is_anonymous=True),
    Asking("GET", MAPS, headers={"Authorization": "Bearer nonsense"}, is_anonymous=True),
    Asking("GET", "/api/v1/namespaces", headers={"Impersonate-User": "jane", "Impersonate-Group": "devs"}),
    Asking("GET", "/api/v1/nodes", headers={"Impersonate-User": "root", "Impersonate-Group": "system:masters"}),
    Asking("POST", MAPS, "{not json"),
    Asking("POST", MAPS, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n", "application/yaml"),
    Asking("GET", f"{MAPS}/two", headers={"Accept": "application/yaml"}),
    Asking("GET", f"{MAPS}/two", headers={"X-Forwarded-For": "1.2.3.4, 5.6.7.8", "X-Real-Ip": "9.9.9.9"}),
    Asking("GET", f"{MAPS}/two", agent="u" * 1100),
    Asking("GET", "/api/v1/nodes?fieldSelector=metadata.name%3Da"),
    Asking("GET", "/api/v1/componentstatuses"),
    Asking("OPTIONS", f"{MAPS}/two"),
    Asking("GET", "/version"),
    Asking("POST", "/api/v1/namespaces", {"metadata": {"name": "fresh"}}),
)


async def ask_all(kubeconfig: Path) -> None:
    admin = from_kubeconfig(load(kubeconfig))
    nobody = replace(admin, credentials=ANONYMOUS)
    for number, asking in enumerate(REQUESTS):
        path, _, query = asking.url.partition("?")
        body = asking.body if isinstance(asking.body, str) else json.dumps(asking.body) if asking.body else ""
        headers = {"Accept": "application/json", **asking.headers, "Audit-ID": f"probe-{number:02}"}
        if body:
            headers["Content-Type"] = asking.content_type
        transport = HttpTransport(nobody if asking.is_anonymous else admin, user_agent=asking.agent)
        await transport.request(asking.method, path, query, headers, body.encode())
        await transport.close()


def told(log: Path) -> dict[tuple[str, str], Json]:
    events = [json.loads(line) for line in log.read_text().splitlines() if '"probe-' in line]
    return {(event["auditID"], event["stage"]): event for event in events}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Logs:
    """What ours and theirs told of the same requests."""
    folder = tmp_path_factory.mktemp("audit")
    policy = folder / "policy.yaml"
    policy.write_text(POLICY)

    def flags(log: Path) -> list[str]:
        return [f"--audit-policy-file={policy}", f"--audit-log-path={log}"]

    for name in ("ours", "theirs"):
        (folder / name).mkdir()
    with running_cluster(folder / "ours", *flags(folder / "ours.log")) as config:
        asyncio.run(ask_all(config))
    program = built("kube-apiserver")
    with running_kube_apiserver(program, folder / "theirs", *flags(folder / "theirs.log"), modes="RBAC") as config:
        asyncio.run(ask_all(config))
        time.sleep(1.0)  # It has no way to say that its last line is written.
    return told(folder / "ours.log"), told(folder / "theirs.log")


def test_the_same_stages_of_the_same_requests_are_told(logs: Logs) -> None:
    ours, theirs = logs
    assert sorted(ours) == sorted(theirs)


def test_every_event_is_the_same(logs: Logs) -> None:
    ours, theirs = logs
    compared = {key: (normal(ours[key]), normal(theirs[key])) for key in theirs}
    assert {key: pair for key, pair in compared.items() if pair[0] != pair[1]} == {}


def test_fields_come_in_the_same_order(logs: Logs) -> None:
    ours, theirs = logs
    assert {key: list(event) for key, event in ours.items()} == {key: list(event) for key, event in theirs.items()}


_MOMENTARY = ("requestReceivedTimestamp", "stageTimestamp")
_OWN = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "time")


def normal(event: Json) -> Json:
    """An event without what no two servers have in common."""
    event = {name: value for name, value in event.items() if name not in _MOMENTARY}
    event["user"].get("extra", {}).pop("authentication.kubernetes.io/credential-id", None)
    if event.get("annotations"):
        event["annotations"] = {k: v for k, v in event["annotations"].items() if "latency" not in k}
    for name in ("requestObject", "responseObject", "responseStatus"):
        if name in event:
            event[name] = _without_own(event[name])
    if event["verb"] == "create" and "gen-" in json.dumps(event.get("responseObject", "")):
        event["responseObject"]["metadata"].pop("name")
    return event


def _without_own(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_own(each) for name, each in value.items() if name not in _OWN}
    return [_without_own(each) for each in value] if isinstance(value, list) else value
