"""Create, get, update, patch: what happens to an object and its metadata."""

from __future__ import annotations

import pytest

from tests.apiserver.asking import Api, Json

MAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def config_map(name: str = "m", **data: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def deployment(name: str = "web", replicas: int = 1) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": "nginx:1"}]},
            },
        },
    }


async def test_what_is_created_is_what_is_read(api: Api) -> None:
    status, created = await api.ask("POST", MAPS, config_map(a="b"))
    assert status == 201
    assert created["metadata"]["namespace"] == "default"
    assert created["metadata"]["uid"]
    assert created["metadata"]["creationTimestamp"].endswith("Z")
    assert int(created["metadata"]["resourceVersion"]) > 0
    assert await api.ok("GET", f"{MAPS}/m") == created


async def test_a_name_is_taken_once(api: Api) -> None:
    await api.ok("POST", MAPS, config_map())
    status, refused = await api.ask("POST", MAPS, config_map())
    assert (status, refused["reason"]) == (409, "AlreadyExists")
    assert refused["message"] == 'configmaps "m" already exists'
    assert refused["details"] == {"name": "m", "kind": "configmaps"}


async def test_a_missing_object_is_named(api: Api) -> None:
    status, refused = await api.ask("GET", f"{DEPLOYMENTS}/none")
    assert status == 404
    assert refused == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'deployments.apps "none" not found',
        "reason": "NotFound",
        "details": {"name": "none", "group": "apps", "kind": "deployments"},
        "code": 404,
    }


async def test_generate_name_makes_a_name(api: Api) -> None:
    body = config_map()
    body["metadata"] = {"generateName": "m-"}
    names = {(await api.ok("POST", MAPS, body))["metadata"]["name"] for _ in range(20)}
    assert len(names) == 20
    assert all(name.startswith("m-") and len(name) == 7 for name in names)


async def test_a_namespace_must_exist_and_agree(api: Api) -> None:
    status, refused = await api.ask("POST", "/api/v1/namespaces/none/configmaps", config_map())
    assert (status, refused["message"]) == (404, 'namespaces "none" not found')
    body = config_map()
    body["metadata"]["namespace"] = "other"
    status, refused = await api.ask("POST", MAPS, body)
    assert status == 400
    assert refused["message"] == "the namespace of the provided object does not match the namespace sent on the request"


async def test_an_update_needs_no_version_but_respects_one(api: Api) -> None:
    first = await api.ok("POST", MAPS, config_map(a="1"))
    second = await api.ok("PUT", f"{MAPS}/m", config_map(a="2"))
    assert int(second["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"])
    assert second["metadata"]["uid"] == first["metadata"]["uid"]
    status, refused = await api.ask("PUT", f"{MAPS}/m", first)
    assert (status, refused["reason"]) == (409, "Conflict")
    assert refused["message"] == (
        'Operation cannot be fulfilled on configmaps "m": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


async def test_an_update_that_changes_nothing_writes_nothing(api: Api) -> None:
    created = await api.ok("POST", MAPS, config_map(a="1"))
    assert await api.ok("PUT", f"{MAPS}/m", config_map(a="1")) == created


async def test_a_lease_insists_on_its_version(api: Api) -> None:
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {}}
    await api.ok("POST", leases, lease)
    status, refused = await api.ask("PUT", f"{leases}/l", lease)
    assert status == 422
    assert "metadata.resourceVersion: Invalid value: 0: must be specified for an update" in refused["message"]


async def test_put_creates_what_may_be_created_so(api: Api) -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}, "rules": []}
    roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
    assert (await api.ask("PUT", f"{roles}/r", role))[0] == 201
    assert (await api.ask("PUT", f"{MAPS}/m", config_map()))[0] == 404


async def test_generation_counts_changes_of_the_spec_only(api: Api) -> None:
    created = await api.ok("POST", DEPLOYMENTS, deployment())
    assert created["metadata"]["generation"] == 1
    created["metadata"]["labels"] = {"x": "y"}
    labelled = await api.ok("PUT", f"{DEPLOYMENTS}/web", created)
    assert labelled["metadata"]["generation"] == 1
    labelled["spec"]["replicas"] = 5
    assert (await api.ok("PUT", f"{DEPLOYMENTS}/web", labelled))["metadata"]["generation"] == 2


async def test_status_has_a_door_of_its_own(api: Api) -> None:
    created = await api.ok("POST", DEPLOYMENTS, deployment())
    created["status"] = {"replicas": 7}
    created["spec"]["replicas"] = 3
    main = await api.ok("PUT", f"{DEPLOYMENTS}/web", created)
    assert main["status"] == {}
    main["status"] = {"replicas": 7}
    main["spec"]["replicas"] = 9
    by_status = await api.ok("PUT", f"{DEPLOYMENTS}/web/status", main)
    assert by_status["status"] == {"replicas": 7}
    assert by_status["spec"]["replicas"] == 3
    assert by_status["metadata"]["generation"] == main["metadata"]["generation"]


async def test_dry_run_does_everything_but_store(api: Api) -> None:
    created = await api.ok("POST", f"{MAPS}?dryRun=All", config_map(a="1"))
    assert created["metadata"]["uid"]
    assert "resourceVersion" not in created["metadata"]
    assert (await api.ask("GET", f"{MAPS}/m"))[0] == 404
    status, refused = await api.ask("POST", f"{MAPS}?dryRun=Some", config_map())
    assert (status, refused["reason"]) == (422, "Invalid")


@pytest.mark.parametrize(
    ("content_type", "patch"),
    [
        ("application/merge-patch+json", {"data": {"b": "2", "a": None}}),
        ("application/strategic-merge-patch+json", {"data": {"b": "2", "a": None}}),
        (
            "application/json-patch+json",
            [{"op": "add", "path": "/data/b", "value": "2"}, {"op": "remove", "path": "/data/a"}],
        ),
    ],
)
async def test_three_languages_of_patches(api: Api, content_type: str, patch: object) -> None:
    await api.ok("POST", MAPS, config_map(a="1"))
    patched = await api.ok("PATCH", f"{MAPS}/m", patch, content_type=content_type)
    assert patched["data"] == {"b": "2"}


async def test_a_patch_can_insist_on_a_version(api: Api) -> None:
    await api.ok("POST", MAPS, config_map(a="1"))
    patch = {"metadata": {"resourceVersion": "1"}, "data": {"a": "2"}}
    status, _ = await api.ask("PATCH", f"{MAPS}/m", patch, content_type="application/merge-patch+json")
    assert status == 409


async def test_a_strategic_patch_merges_containers_by_name(api: Api) -> None:
    await api.ok("POST", DEPLOYMENTS, deployment())
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "d", "image": "busybox"}]}}}}
    patched = await api.ok("PATCH", f"{DEPLOYMENTS}/web", patch, content_type="application/strategic-merge-patch+json")
    assert [each["name"] for each in patched["spec"]["template"]["spec"]["containers"]] == ["d", "c"]


async def test_unknown_fields_are_dropped_and_told(api: Api) -> None:
    body = config_map() | {"bogus": 1}
    response = await api.send("POST", f"{MAPS}?fieldValidation=Warn", body)
    assert response.status == 201
    assert ("Warning", '299 - "unknown field \\"bogus\\""') in list(response.headers)
    status, refused = await api.ask("PUT", f"{MAPS}/m?fieldValidation=Strict", body)
    assert status == 400
    assert refused["message"] == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "bogus"'
    )


async def test_scale_is_a_view_of_replicas(api: Api) -> None:
    await api.ok("POST", DEPLOYMENTS, deployment(replicas=2))
    scale = await api.ok("GET", f"{DEPLOYMENTS}/web/scale")
    assert (scale["kind"], scale["spec"], scale["status"]["selector"]) == ("Scale", {"replicas": 2}, "app=web")
    scale["spec"]["replicas"] = 6
    assert (await api.ok("PUT", f"{DEPLOYMENTS}/web/scale", scale))["spec"]["replicas"] == 6
    assert (await api.ask("PUT", f"{DEPLOYMENTS}/web/scale", scale))[0] == 409
    patch = {"spec": {"replicas": 0}}
    scaled = await api.ok("PATCH", f"{DEPLOYMENTS}/web/scale", patch, content_type="application/merge-patch+json")
    assert scaled["spec"] == {}
    assert (await api.ok("GET", f"{DEPLOYMENTS}/web"))["spec"]["replicas"] == 0


async def test_two_faces_of_one_autoscaler(api: Api) -> None:
    v1, v2 = (f"/apis/autoscaling/{v}/namespaces/default/horizontalpodautoscalers" for v in ("v1", "v2"))
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 3, "targetCPUUtilizationPercentage": 70}
    body = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"}, "spec": spec}
    await api.ok("POST", v1, body)
    new = await api.ok("GET", f"{v2}/h")
    assert new["apiVersion"] == "autoscaling/v2"
    assert new["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 70
    assert (await api.ok("GET", f"{v1}/h"))["spec"]["targetCPUUtilizationPercentage"] == 70


async def test_a_volume_begins_its_first_phase_when_it_is_created(api: Api) -> None:
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}}
    made = await api.ok("POST", "/api/v1/persistentvolumes", {"metadata": {"name": "v"}, "spec": spec})
    began = made["metadata"]["creationTimestamp"]
    assert made["status"] == {"phase": "Pending", "lastPhaseTransitionTime": began}


@pytest.mark.parametrize(("version", "code"), [("1", 500), ("007", 500), ("0", 201), ("x", 201), ("", 201)])
async def test_what_is_new_has_no_version(api: Api, version: str, code: int) -> None:
    body = {"metadata": {"name": "new", "resourceVersion": version}}
    assert (await api.ask("POST", "/api/v1/namespaces/default/configmaps", body))[0] == code


async def test_what_a_put_makes_is_as_new_as_what_a_post_makes(api: Api) -> None:
    roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
    made = await api.ok("PUT", f"{roles}/r", {"metadata": {"name": "r", "resourceVersion": "1"}})
    assert made["metadata"]["resourceVersion"] != "1"


@pytest.mark.parametrize(
    ("spec", "families", "policy"),
    [
        pytest.param({}, ["IPv4"], "SingleStack", id="one family"),
        pytest.param({"ipFamilyPolicy": "PreferDualStack"}, ["IPv4"], "PreferDualStack", id="one, two if there were"),
        pytest.param({"clusterIP": "None"}, ["IPv4", "IPv6"], "RequireDualStack", id="whatever its endpoints will be"),
        pytest.param(
            {"clusterIP": "None", "ipFamilyPolicy": "PreferDualStack"},
            ["IPv4", "IPv6"],
            "PreferDualStack",
            id="whatever they will be, if there are two",
        ),
        pytest.param(
            {"clusterIP": "None", "ipFamilyPolicy": "SingleStack"}, ["IPv4"], "SingleStack", id="one, headless"
        ),
    ],
)
async def test_the_families_of_a_service(api: Api, spec: Json, families: list[str], policy: str) -> None:
    services = "/api/v1/namespaces/default/services"
    plain: Json = {"ports": [{"port": 80}]}
    made = await api.ok("POST", services, {"metadata": {"name": "s"}, "spec": {**plain, **spec}})
    assert (made["spec"]["ipFamilies"], made["spec"]["ipFamilyPolicy"]) == (families, policy)
    # Whoever says nothing about families leaves them as they are.
    again = await api.ok("PUT", f"{services}/s", {"metadata": {"name": "s"}, "spec": plain})
    assert (again["spec"]["ipFamilies"], again["spec"]["ipFamilyPolicy"]) == (families, policy)
