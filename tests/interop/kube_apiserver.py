"""The real kube-apiserver over a real etcd: what ours is held up against.

It has no controllers beside it.
"""

from __future__ import annotations

import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from hardpoint.apiserver.pki import ensure
from hardpoint.client.kubeconfig import write_context
from hardpoint.serving.certificates import Pki
from tests.store.etcd_process import free_port, running_etcd

PATIENCE_SECONDS = 90


@contextmanager
def running_kube_apiserver(program: str, folder: Path, *more: str, modes: str = "AlwaysAllow") -> Iterator[Path]:
    """A fresh cluster of one kube-apiserver, with `more` options. Yields the kubeconfig of its admin when it is ready.

    `modes` are its authorizers; by default it allows everybody everything.
    """
    pki = ensure(folder / "pki", [], datetime.now(UTC))
    port = free_port()
    with (
        running_etcd(folder / "etcd") as etcd,
        (folder / "log").open("w") as log,
        subprocess.Popen(
            [program, *_options(pki, etcd.address, port, modes), *more], stdout=log, stderr=log
        ) as process,
    ):
        try:
            _wait_until_ready(process, pki, port, folder / "log")
            yield _write_kubeconfig(folder / "kubeconfig", pki, port)
        finally:
            process.kill()


def _options(pki: Pki, etcd: str, port: int, modes: str) -> list[str]:
    return [
        f"--etcd-servers=http://{etcd}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={pki.directory}",
        f"--tls-cert-file={pki.certificate('apiserver')}",
        f"--tls-private-key-file={pki.key('apiserver')}",
        f"--client-ca-file={pki.certificate('client-ca')}",
        # Any key pair of the right kind signs tokens.
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={pki.certificate('front-proxy-client')}",
        f"--service-account-signing-key-file={pki.key('front-proxy-client')}",
        "--service-cluster-ip-range=10.96.0.0/16",
        f"--authorization-mode={modes}",
        "--shutdown-delay-duration=0",
    ]


def _wait_until_ready(process: subprocess.Popen[bytes], pki: Pki, port: int, log: Path) -> None:
    context = ssl.create_default_context(cafile=str(pki.certificate("server-ca")))
    context.load_cert_chain(pki.certificate("admin"), pki.key("admin"))
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            with urllib.request.urlopen(f"https://127.0.0.1:{port}/readyz", timeout=5, context=context):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise AssertionError(f"kube-apiserver was not ready in {PATIENCE_SECONDS} s: {log.read_text()[-2000:]}")


def _write_kubeconfig(path: Path, pki: Pki, port: int) -> Path:
    write_context(
        path,
        name="real",
        server=f"https://127.0.0.1:{port}",
        ca_pem=pki.certificate("server-ca").read_bytes(),
        cert_pem=pki.certificate("admin").read_bytes(),
        key_pem=pki.key("admin").read_bytes(),
    )
    return path
