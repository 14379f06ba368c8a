"""Binding, eviction, ephemeral containers, resize, approval: endpoints with rules of their own."""

from __future__ import annotations

from hardpoint.apiserver.server import ApiServer
from hardpoint.store.contract import UnknownOutcome
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api, Json

PODS = "/api/v1/namespaces/default/pods"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
MERGE = "application/merge-patch+json"


def pod(name: str = "p", **spec: object) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "nginx:1"}], **spec},
    }


def binding(node: str = "n", **metadata: object) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "p", **metadata},
        "target": {"kind": "Node", "name": node},
    }


async def test_binding_puts_a_pod_on_a_node_once(api: Api) -> None:
    made = await api.ok("POST", PODS, pod())
    status, answer = await api.ask("POST", f"{PODS}/p/binding", binding(annotations={"by": "me"}))
    assert (status, answer["status"]) == (201, "Success")
    bound = await api.ok("GET", f"{PODS}/p")
    assert bound["spec"]["nodeName"] == "n"
    assert bound["metadata"]["annotations"] == {"by": "me"}
    scheduled = {each["type"]: each["status"] for each in bound["status"]["conditions"]}
    assert scheduled["PodScheduled"] == "True"
    assert bound["metadata"]["generation"] == made["metadata"]["generation"]
    status, refused = await api.ask("POST", f"{PODS}/p/binding", binding("m"))
    assert status == 409
    assert 'pod p is already assigned to node "n"' in refused["message"]


async def test_binding_checks_what_it_is_told(api: Api) -> None:
    await api.ok("POST", PODS, pod())
    assert (await api.ask("POST", f"{PODS}/p/binding", binding(uid="other")))[0] == 409
    assert (await api.ask("POST", f"{PODS}/p/binding", binding("")))[0] == 422
    assert (await api.ask("POST", f"{PODS}/p/binding", binding() | {"metadata": {}}))[0] == 400
    assert (await api.ask("POST", f"{PODS}/none/binding", binding() | {"metadata": {"name": "none"}}))[0] == 404


async def test_the_old_name_of_binding(api: Api) -> None:
    await api.ok("POST", PODS, pod())
    assert (await api.ask("POST", "/api/v1/namespaces/default/bindings", binding()))[0] == 201
    assert (await api.ok("GET", f"{PODS}/p"))["spec"]["nodeName"] == "n"


async def test_a_gated_pod_is_not_bound(api: Api) -> None:
    await api.ok("POST", PODS, pod(schedulingGates=[{"name": "example.com/wait"}]))
    status, refused = await api.ask("POST", f"{PODS}/p/binding", binding())
    assert status == 409
    assert "pod p has non-empty .spec.schedulingGates" in refused["message"]


async def _running_pod(api: Api) -> None:
    await api.ok("POST", PODS, pod(nodeName="n"))
    await api.ok("PATCH", f"{PODS}/p/status", {"status": {"phase": "Running"}}, content_type=MERGE)


async def _budget(api: Api, allowed: int) -> None:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    await api.ok("POST", BUDGETS, {"metadata": {"name": "b"}, "spec": spec})
    status = {"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1}
    status |= {"expectedPods": 1}
    await api.ok("PATCH", f"{BUDGETS}/b/status", {"status": status}, content_type=MERGE)


EVICTION = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}


async def test_a_budget_can_refuse_an_eviction(api: Api) -> None:
    await _running_pod(api)
    await _budget(api, 0)
    status, refused = await api.ask("POST", f"{PODS}/p/eviction", EVICTION)
    assert (status, refused["reason"]) == (429, "TooManyRequests")
    assert refused["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
    cause = refused["details"]["causes"][0]
    assert cause["reason"] == "DisruptionBudget"
    assert cause["message"] == "The disruption budget b needs 1 healthy pods and has 1 currently"


async def test_an_eviction_spends_the_budget(api: Api) -> None:
    await _running_pod(api)
    await _budget(api, 1)
    assert (await api.ask("POST", f"{PODS}/p/eviction", EVICTION))[0] == 201
    budget = await api.ok("GET", f"{BUDGETS}/b")
    assert budget["status"]["disruptionsAllowed"] == 0
    assert list(budget["status"]["disruptedPods"]) == ["p"]
    ending = await api.ok("GET", f"{PODS}/p")
    assert ending["metadata"]["deletionTimestamp"]
    assert any(each["reason"] == "EvictionByEvictionAPI" for each in ending["status"]["conditions"])


async def test_ephemeral_containers_are_added_and_nothing_else(api: Api) -> None:
    made = await api.ok("POST", PODS, pod())
    made["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "busybox:1"}]
    made["spec"]["containers"][0]["image"] = "evil"
    changed = await api.ok("PUT", f"{PODS}/p/ephemeralcontainers", made)
    assert [each["name"] for each in changed["spec"]["ephemeralContainers"]] == ["debug"]
    assert changed["spec"]["containers"][0]["image"] == "nginx:1"


async def test_resize_changes_resources_and_nothing_else(api: Api) -> None:
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}}
    await api.ok("POST", PODS, pod(containers=[{"name": "c", "image": "nginx:1", "resources": resources}]))
    patch = {"spec": {"containers": [{"name": "c", "image": "evil", "resources": {"requests": {"cpu": "2"}}}]}}
    media = "application/strategic-merge-patch+json"
    changed = await api.ok("PATCH", f"{PODS}/p/resize", patch, content_type=media)
    container = changed["spec"]["containers"][0]
    assert container["image"] == "nginx:1"
    assert container["resources"]["requests"] == {"cpu": "2", "memory": "1Gi"}
    assert changed["metadata"]["generation"] == 2


async def test_services_are_allotted_what_only_one_may_have(api: Api) -> None:
    services = "/api/v1/namespaces/default/services"

    def service(name: str, **spec: object) -> Json:
        return {"metadata": {"name": name}, "spec": {"type": "NodePort", "ports": [{"port": 80}], **spec}}

    first = await api.ok("POST", services, service("a"))
    ip, port = first["spec"]["clusterIP"], first["spec"]["ports"][0]["nodePort"]
    assert first["spec"]["clusterIPs"] == [ip]
    assert 30000 <= port < 32768
    status, refused = await api.ask("POST", services, service("b", clusterIP=ip))
    assert status == 422
    assert f"failed to allocate IP {ip}: provided IP is already allocated" in refused["message"]
    status, refused = await api.ask("POST", services, service("b", ports=[{"port": 80, "nodePort": port}]))
    assert status == 422
    assert "spec.ports[0].nodePort" in refused["message"]
    assert "provided port is already allocated" in refused["message"]
    await api.ok("GET", f"/apis/networking.k8s.io/v1/ipaddresses/{ip}")
    await api.ok("DELETE", f"{services}/a")
    assert (await api.ask("GET", f"/apis/networking.k8s.io/v1/ipaddresses/{ip}"))[0] == 404
    again = await api.ok("POST", services, service("c", clusterIP=ip, ports=[{"port": 80, "nodePort": port}]))
    assert again["spec"]["clusterIP"] == ip


async def test_a_refused_service_gives_back_its_address(api: Api) -> None:
    before = await api.ok("GET", "/apis/networking.k8s.io/v1/ipaddresses")
    body = {"metadata": {"name": "kubernetes"}, "spec": {"ports": [{"port": 80}]}}
    assert (await api.ask("POST", "/api/v1/namespaces/default/services", body))[0] == 409
    after = await api.ok("GET", "/apis/networking.k8s.io/v1/ipaddresses")
    assert len(after["items"]) == len(before["items"])


async def test_an_address_outside_the_network_is_refused(api: Api) -> None:
    wanted = {"metadata": {"name": "a"}, "spec": {"clusterIP": "10.97.0.1", "ports": [{"port": 80}]}}
    status, refused = await api.ask("POST", "/api/v1/namespaces/default/services", wanted)
    assert status == 422
    assert refused["details"]["causes"][0]["message"] == (
        'Invalid value: ["10.97.0.1"]: failed to allocate IP 10.97.0.1: '
        "the provided network does not match the current range"
    )


async def test_a_pod_that_runs_nowhere_has_an_empty_log(api: Api) -> None:
    await api.ok("POST", PODS, pod())
    answer = await api.send("GET", f"{PODS}/p/log")
    assert (answer.status, answer.body) == (204, b"")
    assert (await api.ask("GET", f"{PODS}/p/exec"))[0] == 400


async def test_a_scale_has_a_row_of_its_own(api: Api) -> None:
    deployments = "/apis/apps/v1/namespaces/default/deployments"
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod()["spec"]}
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    await api.ok("POST", deployments, {"metadata": {"name": "web"}, "spec": spec})
    asked = "application/json;as=Table;v=v1;g=meta.k8s.io"
    told = await api.ok("GET", f"{deployments}/web/scale", accept=asked)
    assert [column["name"] for column in told["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
    assert told["rows"][0]["cells"][:3] == ["web", 3, 0]


async def test_a_local_load_balancer_is_allotted_a_port_for_health_checks(api: Api) -> None:
    services = "/api/v1/namespaces/default/services"
    spec = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": [{"port": 80}]}
    first = await api.ok("POST", services, {"metadata": {"name": "a"}, "spec": spec})
    port = first["spec"]["healthCheckNodePort"]
    assert port != first["spec"]["ports"][0]["nodePort"]
    asked = {"metadata": {"name": "b"}, "spec": {**spec, "healthCheckNodePort": port}}
    status, refused = await api.ask("POST", services, asked)
    assert (status, refused["details"]["causes"][0]["field"]) == (422, "spec.healthCheckNodePort")
    changed = await api.ok("PATCH", f"{services}/a", {"spec": {"externalTrafficPolicy": "Cluster"}}, content_type=MERGE)
    assert "healthCheckNodePort" not in changed["spec"]
    await api.ok("POST", services, asked)


async def test_services_of_other_families_are_refused(api: Api) -> None:
    services = "/api/v1/namespaces/default/services"
    spec = {"ports": [{"port": 80}], "ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv4", "IPv6"]}
    status, refused = await api.ask("POST", services, {"metadata": {"name": "a"}, "spec": spec})
    assert status == 422
    assert [each["message"] for each in refused["details"]["causes"]] == [
        'Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
        'Invalid value: "IPv6": not configured on this cluster',
    ]
    await api.ok("POST", services, {"metadata": {"name": "a"}, "spec": {**spec, "clusterIP": "None"}})


async def test_nothing_is_routed_to_an_external_name(api: Api) -> None:
    services = "/api/v1/namespaces/default/services"
    await api.ok("POST", services, {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}})
    spec = {"type": "ExternalName", "externalName": "example.com", "clusterIP": None, "clusterIPs": None}
    changed = await api.ok("PATCH", f"{services}/a", {"spec": spec}, content_type=MERGE)
    assert "internalTrafficPolicy" not in changed["spec"]


async def test_a_service_that_may_be_stored_keeps_its_address() -> None:
    """After a lost answer nobody knows; giving the address to another Service would be worse than losing it."""

    class Lost(MemoryStore):
        async def create(self, key: str, value: bytes, *, ttl_seconds: int = 0) -> int:
            revision = await super().create(key, value, ttl_seconds=ttl_seconds)
            if key.endswith("/services/default/lost"):
                raise UnknownOutcome("the answer to a write was lost")
            return revision

    async with ApiServer(Lost()).running() as server:
        api = Api(server)
        spec = {"clusterIP": "10.96.7.7", "ports": [{"port": 80}]}
        services = "/api/v1/namespaces/default/services"
        status, _ = await api.ask("POST", services, {"metadata": {"name": "lost"}, "spec": spec})
        assert status >= 500
        status, refused = await api.ask("POST", services, {"metadata": {"name": "other"}, "spec": spec})
        assert status == 422
        assert "provided IP is already allocated" in refused["message"]
