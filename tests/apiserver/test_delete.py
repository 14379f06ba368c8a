"""Deletion: at once, after finalizers, after a grace period, with or without dependents."""

from __future__ import annotations

import pytest

from tests.apiserver.asking import Api, Json

MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"


def config_map(name: str = "m", **metadata: object) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}}


def pod(name: str = "p", **spec: object) -> Json:
    containers = [{"name": "c", "image": "nginx:1"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}


async def test_what_is_deleted_is_gone(api: Api) -> None:
    made = await api.ok("POST", MAPS, config_map())
    answer = await api.ok("DELETE", f"{MAPS}/m")
    assert answer["status"] == "Success"
    assert answer["details"] == {"name": "m", "kind": "configmaps", "uid": made["metadata"]["uid"]}
    assert (await api.ask("GET", f"{MAPS}/m"))[0] == 404
    assert (await api.ask("DELETE", f"{MAPS}/m"))[0] == 404


async def test_a_finalizer_holds_an_object_until_it_is_removed(api: Api) -> None:
    await api.ok("POST", MAPS, config_map(finalizers=["example.com/wait"]))
    held = await api.ok("DELETE", f"{MAPS}/m")
    assert held["kind"] == "ConfigMap"
    assert held["metadata"]["deletionTimestamp"]
    assert held["metadata"]["deletionGracePeriodSeconds"] == 0
    status, refused = await api.ask("POST", MAPS, config_map())
    assert status == 409
    assert refused["message"] == 'object is being deleted: configmaps "m" already exists'
    patch = {"metadata": {"finalizers": None}}
    last = await api.ok("PATCH", f"{MAPS}/m", patch, content_type="application/merge-patch+json")
    assert last["metadata"]["deletionTimestamp"]
    assert (await api.ask("GET", f"{MAPS}/m"))[0] == 404


@pytest.mark.parametrize(
    ("policy", "finalizers"),
    [("Orphan", ["orphan"]), ("Foreground", ["foregroundDeletion"])],
)
async def test_the_policy_becomes_a_finalizer(api: Api, policy: str, finalizers: list[str]) -> None:
    await api.ok("POST", MAPS, config_map())
    held = await api.ok("DELETE", f"{MAPS}/m", {"propagationPolicy": policy})
    assert held["metadata"]["finalizers"] == finalizers


async def test_a_job_orphans_by_default(api: Api) -> None:
    jobs = "/apis/batch/v1/namespaces/default/jobs"
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}}
    await api.ok("POST", jobs, {"metadata": {"name": "j"}, "spec": {"template": template}})
    assert (await api.ok("DELETE", f"{jobs}/j"))["metadata"]["finalizers"] == ["orphan"]


async def test_preconditions(api: Api) -> None:
    made = await api.ok("POST", MAPS, config_map())
    status, refused = await api.ask("DELETE", f"{MAPS}/m", {"preconditions": {"uid": "other"}})
    assert status == 409
    assert "the UID in the precondition (other) does not match the UID in record" in refused["message"]
    status, _ = await api.ask("DELETE", f"{MAPS}/m", {"preconditions": {"resourceVersion": "1"}})
    assert status == 409
    await api.ok("DELETE", f"{MAPS}/m", {"preconditions": {"uid": made["metadata"]["uid"]}})


async def test_a_pod_on_a_node_is_given_time(api: Api) -> None:
    await api.ok("POST", PODS, pod(nodeName="n", terminationGracePeriodSeconds=5))
    ending = await api.ok("DELETE", f"{PODS}/p")
    assert ending["metadata"]["deletionGracePeriodSeconds"] == 5
    longer = await api.ok("DELETE", f"{PODS}/p?gracePeriodSeconds=50")
    assert longer["metadata"] == ending["metadata"]
    shorter = await api.ok("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 2})
    assert shorter["metadata"]["deletionGracePeriodSeconds"] == 2
    await api.ok("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 0})
    assert (await api.ask("GET", f"{PODS}/p"))[0] == 404


async def test_a_pod_nowhere_goes_at_once(api: Api) -> None:
    await api.ok("POST", PODS, pod())
    assert (await api.ok("DELETE", f"{PODS}/p"))["kind"] == "Pod"
    assert (await api.ask("GET", f"{PODS}/p"))[0] == 404


async def test_a_collection_is_deleted_by_selector(api: Api) -> None:
    for name, colour in (("a", "red"), ("b", "blue"), ("c", "red")):
        await api.ok("POST", MAPS, config_map(name, labels={"colour": colour}))
    answer = await api.ok("DELETE", f"{MAPS}?labelSelector=colour%3Dred")
    assert [item["metadata"]["name"] for item in answer["items"]] == ["a", "c"]
    left = await api.ok("GET", MAPS)
    assert [item["metadata"]["name"] for item in left["items"]] == ["b"]


async def test_dry_run_deletes_nothing(api: Api) -> None:
    await api.ok("POST", MAPS, config_map())
    await api.ok("DELETE", f"{MAPS}/m?dryRun=All")
    await api.ok("GET", f"{MAPS}/m")


async def test_a_namespace_waits_to_be_finalized(api: Api) -> None:
    await api.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "x"}})
    ending = await api.ok("DELETE", "/api/v1/namespaces/x")
    assert ending["status"]["phase"] == "Terminating"
    assert "deletionGracePeriodSeconds" not in ending["metadata"]
    status, refused = await api.ask("POST", "/api/v1/namespaces/x/configmaps", config_map())
    assert status == 403
    assert refused["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    ending["spec"]["finalizers"] = []
    await api.ok("PUT", "/api/v1/namespaces/x/finalize", ending)
    assert (await api.ask("GET", "/api/v1/namespaces/x"))[0] == 404


async def test_some_namespaces_stay(api: Api) -> None:
    status, refused = await api.ask("DELETE", "/api/v1/namespaces/default")
    assert status == 403
    assert refused["message"] == 'namespaces "default" is forbidden: this namespace may not be deleted'


async def test_orphans_and_policies_contradict(api: Api) -> None:
    await api.ok("POST", MAPS, config_map())
    body = {"orphanDependents": True, "propagationPolicy": "Foreground"}
    assert (await api.ask("DELETE", f"{MAPS}/m", body))[0] == 422
    assert (await api.ask("DELETE", f"{MAPS}/m", {"propagationPolicy": "Sideways"}))[0] == 422


@pytest.mark.parametrize(
    ("field", "value"), [("deletionTimestamp", "2026-01-01T00:00:00Z"), ("deletionGracePeriodSeconds", 7)]
)
async def test_only_a_delete_says_when_an_object_goes(api: Api, field: str, value: object) -> None:
    await api.ok("POST", MAPS, config_map())
    code, refused = await api.ask("PUT", f"{MAPS}/m", config_map(**{field: value}))
    told = f'"{value}"' if isinstance(value, str) else value
    why = f"metadata.{field}: Invalid value: {told}: field is immutable"
    assert (code, refused["message"]) == (422, f'ConfigMap "m" is invalid: {why}')
