"""controller-runtime's own example of a custom resource, built from its own source, at work on our host."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.definitions import definition
from tests.interop.conftest import built
from tests.interop.kubectl import Kubectl

pytestmark = pytest.mark.interop

Json = dict[str, Any]

DEFINITION = definition("ChaosPod", group="chaosapps.metamagical.io", subresource=False)


def test_a_pod_is_made_stopped_and_made_again(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl.create(DEFINITION)
    kubectl("wait", "crd/chaospods.chaosapps.metamagical.io", "--for=condition=Established", "--timeout=30s")
    log = tmp_path / "log"
    environ = {**os.environ, "KUBECONFIG": str(kubectl.kubeconfig)}
    with log.open("w") as written, subprocess.Popen([built("chaospods")], env=environ, stderr=written) as operator:
        try:
            pod = {"spec": {"containers": [{"name": "c", "image": "chaos"}]}}
            monkey = {"apiVersion": "chaosapps.metamagical.io/v1", "kind": "ChaosPod", "metadata": {"name": "monkey"}}
            kubectl.create({**monkey, "spec": {"template": pod}})
            kubectl("wait", "pod/monkey", "--for=create", "--timeout=30s")
            first = kubectl.json("get", "pod", "monkey")
            (owner,) = first["metadata"]["ownerReferences"]
            assert (owner["kind"], owner["controller"]) == ("ChaosPod", True)

            # In ten or twenty seconds it deletes the pod, which is gone at once as nobody runs it, and makes another.
            kubectl("wait", "pod/monkey", "--for=delete", "--timeout=60s")
            kubectl("wait", "pod/monkey", "--for=create", "--timeout=30s")
            second = kubectl.json("get", "pod", "monkey")
            assert second["metadata"]["uid"] != first["metadata"]["uid"]

            kubectl("delete", "chaospod", "monkey", "--timeout=30s")
            kubectl("wait", "pod/monkey", "--for=delete", "--timeout=30s")
            assert operator.poll() is None, log.read_text()
        finally:
            operator.kill()
