"""New nodes are tainted, and what stores data is protected from being deleted under its users."""

from __future__ import annotations

from tests.apiserver.asking import Api

NOT_READY = {"effect": "NoSchedule", "key": "node.kubernetes.io/not-ready"}


async def test_a_new_node_is_not_ready(api: Api) -> None:
    node = await api.ok("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    assert node["spec"]["taints"] == [NOT_READY]
    node["spec"]["taints"] = []
    node = await api.ok("PUT", "/api/v1/nodes/n1", node)
    assert "taints" not in node["spec"], "an update is nobody's registration"


async def test_a_node_that_says_so_itself_is_not_tainted_twice(api: Api) -> None:
    spec = {"taints": [{**NOT_READY, "value": "yet"}]}
    node = await api.ok("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}, "spec": spec})
    assert len(node["spec"]["taints"]) == 1


async def test_claims_and_volumes_are_kept_while_in_use(api: Api) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claims = "/api/v1/namespaces/default/persistentvolumeclaims"
    claim = await api.ok("POST", claims, {"metadata": {"name": "c"}, "spec": spec})
    assert claim["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    deleted = await api.ok("DELETE", f"{claims}/c")
    assert "deletionTimestamp" in deleted["metadata"]
    assert (await api.ask("GET", f"{claims}/c"))[0] == 200
