"""Makes a Pod for each note, which goes with it; what becomes of the Pod is told in the note's status."""

from typing import Any

import kopf
from kubernetes import client, config

config.load_kube_config()


@kopf.on.create("notes")
def make_pod(spec: kopf.Spec, namespace: str, **_: Any) -> dict[str, str]:
    pod = {"spec": {"containers": [{"name": "reader", "image": "reader", "args": [spec["text"]]}]}}
    kopf.adopt(pod)
    made = client.CoreV1Api().create_namespaced_pod(namespace, pod)
    return {"pod": made.metadata.name}


@kopf.on.field("v1", "pods", field="status.phase", labels={"follow": kopf.PRESENT})
def tell_phase(new: str | None, meta: kopf.Meta, namespace: str, **_: Any) -> None:
    phase = {"status": {"phase": new}}
    note = meta["labels"]["follow"]
    client.CustomObjectsApi().patch_namespaced_custom_object_status(
        "interop.example.com", "v1", namespace, "notes", note, phase
    )
