"""`hardpoint controller-manager`: the controllers in a process of their own, over the network."""

from __future__ import annotations

import signal
import ssl
import urllib.request
from typing import Any

import orjson

from tests.cli.conftest import Home


def wait_for(home: Home, address: str, resource: str, name: str) -> Any:
    """The object, as soon as it is there."""
    pki = home.data / "pki"
    context = ssl.create_default_context(cafile=str(pki / "server-ca.crt"))
    context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    url = f"{address}/api/v1/namespaces/default/{resource}?watch=true&fieldSelector=metadata.name%3D{name}"
    with urllib.request.urlopen(url, timeout=30, context=context) as events:
        return orjson.loads(events.readline())["object"]


def test_it_controls_a_cluster_that_has_no_controllers(home: Home) -> None:
    address = home.up("--store", "memory", "--components", "apiserver")
    with home.start("controller-manager") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{address}\n"
        assert wait_for(home, address, "serviceaccounts", "default")["kind"] == "ServiceAccount"
        published = wait_for(home, address, "configmaps", "kube-root-ca.crt")
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert published["data"]["ca.crt"] == (home.data / "pki" / "server-ca.crt").read_text()


def test_a_cluster_that_is_not_there_is_told(home: Home) -> None:
    home.up("--store", "memory")
    home.run("down")
    done = home.run("controller-manager")
    assert done.status == 1
    assert done.err.startswith("hardpoint: ")
    assert "127.0.0.1" in done.err


def test_a_certificate_that_is_not_there_is_told(home: Home) -> None:
    home.up("--store", "memory")
    done = home.run("controller-manager", "--root-ca-file", "nowhere.crt")
    assert done.status == 1
    assert "nowhere.crt: No such file or directory" in done.err


def test_half_of_a_signer_is_told(home: Home) -> None:
    home.up("--store", "memory")
    done = home.run("controller-manager", "--cluster-signing-cert-file", str(home.data / "pki" / "client-ca.crt"))
    assert done.status == 2
    assert done.err.startswith("hardpoint: --cluster-signing-cert-file and --cluster-signing-key-file go together")
