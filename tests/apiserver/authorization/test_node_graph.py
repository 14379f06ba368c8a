"""The graph of what has to do with which node, against a model that looks at everything each time."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hardpoint.apiserver.authorization.node_graph import NodeGraph

Json = dict[str, Any]

NAMES = st.sampled_from(["a", "b", "c"])
NODES = st.sampled_from(["", "n1", "n2"])


def pod(
    namespace: str, name: str, node: str, *, secrets: tuple[str, ...] = (), claim: str = "", mirror: bool = False
) -> Json:
    volumes = [{"name": each, "secret": {"secretName": each}} for each in secrets]
    if claim:
        volumes.append({"name": "claim", "persistentVolumeClaim": {"claimName": claim}})  # type: ignore[dict-item]
    annotations = {"kubernetes.io/config.mirror": "x"} if mirror else {}
    metadata = {"namespace": namespace, "name": name, "annotations": annotations}
    return {"metadata": metadata, "spec": {"nodeName": node, "volumes": volumes}}


def volume(name: str, namespace: str, claim: str, secret: str) -> Json:
    spec: Json = {"csi": {"nodeStageSecretRef": {"namespace": "vault", "name": secret}}}
    if claim:
        spec["claimRef"] = {"namespace": namespace, "name": claim}
    return {"metadata": {"name": name}, "spec": spec}


class Model:
    """What a graph knows, found out slowly."""

    def __init__(self) -> None:
        self.pods: dict[tuple[str, str], Json] = {}
        self.volumes: dict[str, Json] = {}

    def on(self, node: str) -> list[Json]:
        return [each for each in self.pods.values() if node and each["spec"]["nodeName"] == node]

    def reachable(self, node: str) -> set[tuple[str, str, str]]:
        found = set()
        for each in self.on(node):
            namespace = each["metadata"]["namespace"]
            found.add(("pods", namespace, each["metadata"]["name"]))
            if each["metadata"]["annotations"]:
                continue
            for source in each["spec"]["volumes"]:
                if "secret" in source:
                    found.add(("secrets", namespace, source["secret"]["secretName"]))
                else:
                    found.add(("persistentvolumeclaims", namespace, source["persistentVolumeClaim"]["claimName"]))
        for name, each in self.volumes.items():
            claim = each["spec"].get("claimRef")
            if claim and ("persistentvolumeclaims", claim["namespace"], claim["name"]) in found:
                found.add(("persistentvolumes", "", name))
                found.add(("secrets", "vault", each["spec"]["csi"]["nodeStageSecretRef"]["name"]))
        return found


PODS = st.builds(
    pod, NAMES, NAMES, NODES, secrets=st.tuples(NAMES), claim=st.sampled_from(["", "a", "b"]), mirror=st.booleans()
)
VOLUMES = st.builds(volume, NAMES, NAMES, st.sampled_from(["", "a", "b"]), NAMES)
STEPS = st.lists(st.one_of(PODS, VOLUMES, st.tuples(NAMES, NAMES), NAMES), max_size=30)


@given(STEPS)
def test_a_graph_knows_what_is_reachable_and_nothing_else(steps: list[Any]) -> None:
    graph, model = NodeGraph(), Model()
    for step in steps:
        _take(graph, model, step)
    every = [
        (resource, namespace, name)
        for resource in ("pods", "secrets", "persistentvolumeclaims", "persistentvolumes")
        for namespace in ("", "a", "b", "c", "vault")
        for name in ("a", "b", "c")
    ]
    for node in ("n1", "n2", "n3"):
        assert {key for key in every if graph.relates(*key, to=node)} == model.reachable(node)


def _take(graph: NodeGraph, model: Model, step: Any) -> None:
    if isinstance(step, tuple):
        graph.remove_pod(*step)
        model.pods.pop(step, None)
    elif isinstance(step, str):
        graph.remove_volume(step)
        model.volumes.pop(step, None)
    elif "csi" in step["spec"]:
        graph.set_volume(step)
        model.volumes[step["metadata"]["name"]] = step
    else:
        graph.set_pod(step)
        model.pods[step["metadata"]["namespace"], step["metadata"]["name"]] = step


@given(st.lists(PODS, max_size=10))
def test_nothing_is_left_of_what_is_gone(pods: list[Json]) -> None:
    graph = NodeGraph()
    for each in pods:
        graph.set_pod(each)
    for each in pods:
        graph.remove_pod(each["metadata"]["namespace"], each["metadata"]["name"])
    assert vars(graph) == vars(NodeGraph())


def test_a_name_with_a_slash_stays_in_its_namespace() -> None:
    graph = NodeGraph()
    graph.set_pod(pod("a", "web", "n1", secrets=("b/c",)))
    assert graph.relates("secrets", "a", "b/c", to="n1")
    assert not graph.relates("secrets", "a/b", "c", to="n1")


def test_what_names_its_node_itself() -> None:
    graph = NodeGraph()
    graph.set_owner("volumeattachments", "", "a", "n1")
    assert graph.relates("volumeattachments", "", "a", to="n1")
    assert not graph.relates("volumeattachments", "", "a", to="n2")
    graph.set_owner("volumeattachments", "", "a", "")
    assert not graph.relates("volumeattachments", "", "a", to="n1")
