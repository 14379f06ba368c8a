"""managedFields of everything else that writes: creates, updates, patches, and the server itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.asking import Api

Json = dict[str, Any]

MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
MERGE = "application/merge-patch+json"

pytestmark = pytest.mark.parametrize("api", ["memory"], indirect=True)


def managers(obj: Json) -> dict[str, Json]:
    """The fields of each manager; what was written through a subresource is marked with it."""
    return {
        f"{entry['manager']}{'/' if 'subresource' in entry else ''}{entry.get('subresource', '')}": entry["fieldsV1"]
        for entry in obj["metadata"].get("managedFields") or ()
    }


async def test_who_creates_manages_what_it_said_and_what_was_filled_in(api: Api) -> None:
    await api.ok("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    made = await api.ok("POST", f"{PODS}?fieldManager=me", pod)
    container = {
        ".": {},
        "f:image": {},
        "f:imagePullPolicy": {},
        "f:name": {},
        "f:resources": {},
        "f:terminationMessagePath": {},
        "f:terminationMessagePolicy": {},
    }
    assert managers(made) == {
        "me": {
            "f:spec": {
                "f:containers": {'k:{"name":"c"}': container},
                "f:dnsPolicy": {},
                "f:enableServiceLinks": {},
                "f:restartPolicy": {},
                "f:schedulerName": {},
                "f:securityContext": {},
                "f:terminationGracePeriodSeconds": {},
            }
        }
    }


@pytest.mark.parametrize(
    ("agent", "manager"),
    [
        ("kubectl/v1.37.0 (linux/amd64)", "kubectl"),
        ("my agent/1", "my agent"),
        ("a\u00adb/1", "ab"),
        ("é" * 100, "é" * 64),
        ("", "unknown"),
        ("/1", "unknown"),
    ],
)
async def test_who_does_not_say_its_name_is_called_by_its_agent(api: Api, agent: str, manager: str) -> None:
    made = await api.ok("POST", MAPS, {"metadata": {"name": "c"}, "data": {"a": "1"}}, user_agent=agent)
    assert list(managers(made)) == [manager]


async def test_an_update_takes_what_it_changes(api: Api) -> None:
    made = await api.ok("POST", f"{MAPS}?fieldManager=one", {"metadata": {"name": "c"}, "data": {"a": "1", "b": "1"}})
    made["data"]["a"] = "2"
    changed = await api.ok("PUT", f"{MAPS}/c?fieldManager=two", made)
    assert managers(changed) == {"one": {"f:data": {".": {}, "f:b": {}}}, "two": {"f:data": {"f:a": {}}}}
    again = await api.ok("PATCH", f"{MAPS}/c?fieldManager=three", {"data": {"a": "2"}}, content_type=MERGE)
    assert again == changed


async def test_a_write_that_changes_nothing_does_not_move_time(api: Api) -> None:
    """Not even if it takes a field from its manager and gives it back."""
    made = await api.ok("POST", f"{MAPS}?fieldManager=one", {"metadata": {"name": "c"}, "data": {"a": "1"}})
    same = await api.ok("PUT", f"{MAPS}/c?fieldManager=one", {"metadata": {"name": "c"}, "data": {"a": "1"}})
    assert same == made


async def test_status_is_nobodys_on_the_main_endpoint_and_spec_on_that_of_status(api: Api) -> None:
    nodes = "/api/v1/nodes"
    obj = {"metadata": {"name": "n"}, "spec": {"providerID": "p"}, "status": {"phase": "Running"}}
    made = await api.ok("POST", f"{nodes}?fieldManager=me", obj)
    assert managers(made) == {"me": {"f:spec": {"f:providerID": {}}}}
    change = {"spec": {"unschedulable": True}, "status": {"phase": "Pending"}}
    after = await api.ok("PATCH", f"{nodes}/n/status?fieldManager=kubelet", change, content_type=MERGE)
    assert managers(after) == {**managers(made), "kubelet/status": {"f:status": {"f:phase": {}}}}


@pytest.mark.parametrize("said", [[], [{}]])
async def test_a_client_may_have_all_managers_forgotten(api: Api, said: list[Json]) -> None:
    await api.ok("POST", MAPS, {"metadata": {"name": "c"}, "data": {"a": "1"}})
    change = {"metadata": {"managedFields": said}}
    after = await api.ok("PATCH", f"{MAPS}/c", change, content_type=MERGE)
    assert "managedFields" not in after["metadata"]
    later = await api.ok("PATCH", f"{MAPS}/c", {"data": {"a": "2"}}, content_type=MERGE)
    assert "managedFields" not in later["metadata"]


async def test_null_forgets_nobody(api: Api) -> None:
    made = await api.ok("POST", MAPS, {"metadata": {"name": "c"}, "data": {"a": "1"}})
    after = await api.ok("PATCH", f"{MAPS}/c", {"metadata": {"managedFields": None}}, content_type=MERGE)
    assert after == made


async def test_managers_a_client_names_are_checked(api: Api) -> None:
    await api.ok("POST", MAPS, {"metadata": {"name": "c"}, "data": {"a": "1"}})
    entry = {"manager": "z" * 200, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    fields = {"fieldsV1": {"f:data": {"f:a": {}}}}
    change = {"metadata": {"managedFields": [entry | fields]}}
    code, refused = await api.ask("PATCH", f"{MAPS}/c", change, content_type=MERGE)
    assert code == 422
    assert "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes" in refused["message"]


async def test_managers_that_cannot_be_read_change_nothing(api: Api) -> None:
    made = await api.ok("POST", MAPS, {"metadata": {"name": "c"}, "data": {"a": "1"}})
    entry = {"manager": "z", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    change = {"metadata": {"managedFields": [{**entry, "fieldsV1": {"q": {}}}]}}
    assert await api.ok("PATCH", f"{MAPS}/c", change, content_type=MERGE) == made


async def test_a_binding_and_a_deletion_manage_nothing(api: Api) -> None:
    await api.ok("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    pod = {"metadata": {"name": "p", "finalizers": ["x.io/y"]}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    made = await api.ok("POST", f"{PODS}?fieldManager=me", pod)
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    bound = await api.ok("POST", f"{PODS}/p/binding?fieldManager=scheduler", binding)
    assert (bound["status"], bound["code"]) == ("Success", 201)
    await api.ok("DELETE", f"{PODS}/p")
    left = await api.ok("GET", f"{PODS}/p")
    assert left["spec"]["nodeName"] == "n"
    assert managers(left) == managers(made)


async def test_scaling_takes_the_replicas_only(api: Api) -> None:
    home = "/apis/apps/v1/namespaces/default/deployments"
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }
    made = await api.ok("POST", f"{home}?fieldManager=me", {"metadata": {"name": "d"}, "spec": spec})
    await api.ok("PATCH", f"{home}/d/scale?fieldManager=me", {"spec": {"replicas": 1}}, content_type=MERGE)
    assert await api.ok("GET", f"{home}/d") == made
    await api.ok("PATCH", f"{home}/d/scale?fieldManager=hpa", {"spec": {"replicas": 2}}, content_type=MERGE)
    after = managers(await api.ok("GET", f"{home}/d"))
    assert after["hpa/scale"] == {"f:spec": {"f:replicas": {}}}
    assert managers(made)["me"]["f:spec"].keys() - after["me"]["f:spec"].keys() == {"f:replicas"}


async def test_items_that_cannot_be_told_apart_are_left_to_validation(api: Api) -> None:
    obj = {"metadata": {"name": "c", "finalizers": [None, "x.io/y"]}, "data": {"a": "1"}}
    code, refused = await api.ask("POST", MAPS, obj)
    assert (code, refused["reason"]) == (422, "Invalid")


async def test_the_templates_of_a_daemon_set_are_counted_in_somebodys_name(api: Api) -> None:
    home = "/apis/apps/v1/namespaces/default/daemonsets"
    count = {"f:annotations": {".": {}, "f:deprecated.daemonset.template.generation": {}}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    obj = {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    made = await api.ok("POST", f"{home}?fieldManager=one", obj)
    assert managers(made)["one"]["f:metadata"] == count
    assert managers(await api.ok("PUT", f"{home}/d?fieldManager=two", obj))["two"] == {
        "f:metadata": {"f:annotations": {"f:deprecated.daemonset.template.generation": {}}}
    }


@pytest.mark.parametrize(
    ("path", "manager"),
    [
        ("/api/v1/namespaces/kube-system", "kube-apiserver"),
        ("/api/v1/namespaces/default/services/kubernetes", "kube-apiserver"),
        ("/apis/networking.k8s.io/v1/ipaddresses/10.96.0.1", "kube-apiserver"),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles/view", "kube-apiserver"),
        ("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/exempt", "api-priority-and-fairness-config-producer-v1"),
    ],
)
async def test_the_server_names_itself(api: Api, path: str, manager: str) -> None:
    assert list(managers(await api.ok("GET", path))) == [manager]


async def test_an_eviction_spends_as_the_server(api: Api) -> None:
    await api.ok("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    pod = {"metadata": {"name": "p", "labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    await api.ok("POST", PODS, pod)
    await api.ok("PATCH", f"{PODS}/p/status", {"status": {"phase": "Running"}}, content_type=MERGE)
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}}
    await api.ok("POST", f"{budgets}?fieldManager=me", budget)
    seen = {"status": {"observedGeneration": 1, "disruptionsAllowed": 1}}
    await api.ok("PATCH", f"{budgets}/b/status?fieldManager=controller", seen, content_type=MERGE)
    await api.ok("POST", f"{PODS}/p/eviction", {"metadata": {"name": "p"}})
    spent = managers(await api.ok("GET", f"{budgets}/b"))["kube-apiserver/status"]
    assert spent == {"f:status": {"f:disruptedPods": {".": {}, "f:p": {}}, "f:disruptionsAllowed": {}}}


async def test_a_role_without_rules_belongs_to_who_says_so(api: Api) -> None:
    roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
    made = await api.ok("POST", f"{roles}?fieldManager=me", {"metadata": {"name": "r"}, "rules": []})
    assert (managers(made), made["rules"]) == ({"me": {"f:rules": {}}}, None)
    changed = await api.ok("PATCH", f"{roles}/r?fieldManager=other", {"rules": []}, content_type=MERGE)
    assert managers(changed) == {"other": {"f:rules": {}}}
    quiet = await api.ok("POST", f"{roles}?fieldManager=me", {"metadata": {"name": "q"}})
    assert managers(quiet) == {}
