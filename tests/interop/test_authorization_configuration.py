"""What we say about a bad AuthorizationConfiguration, kube-apiserver says too."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from hardpoint.apiserver.pki import ensure
from tests.apiserver.authorization.test_configuration import BAD
from tests.apiserver.authorization.webhooks import Json, configuration
from tests.interop.conftest import built

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The flags that kube-apiserver wants before it looks at anything else."""
    pki = ensure(tmp_path_factory.mktemp("keys"), [], datetime.now(UTC))
    return [
        "--etcd-servers=http://127.0.0.1:1",
        f"--cert-dir={pki.directory}",
        "--service-account-issuer=https://x",
        f"--service-account-key-file={pki.certificate('front-proxy-client')}",
        f"--service-account-signing-key-file={pki.key('front-proxy-client')}",
    ]


@pytest.mark.parametrize(("authorizers", "told"), BAD.values(), ids=BAD)
def test_the_same_words(tmp_path: Path, keys: list[str], authorizers: Callable[[Path], list[Json]], told: str) -> None:
    kubeconfig = tmp_path / "hook.kubeconfig"
    kubeconfig.write_text("{}")
    file = configuration(tmp_path / "c.json", *authorizers(kubeconfig))
    done = subprocess.run(
        [built("kube-apiserver"), *keys, f"--authorization-config={file}"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    logged = done.stderr.replace("\n\t", "\n")
    # What has several lines is logged as it is, all else as a quoted text.
    assert told in logged or orjson.dumps(told).decode()[1:-1] in logged
