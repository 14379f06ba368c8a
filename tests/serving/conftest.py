"""Every test here that waits runs on both event loops: uvloop, which serves, and asyncio's own, which others embed."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import pytest
import uvloop

from hardpoint.apiserver.pki import ensure
from hardpoint.serving.certificates import Pki
from hardpoint.serving.tls import serving_context
from tests.apiserver.conftest import request_for

__all__ = ["request_for"]


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    return ensure(tmp_path_factory.mktemp("http") / "pki", [], datetime.now(UTC))


@pytest.fixture(scope="session")
def server_tls(pki: Pki) -> ssl.SSLContext:
    return serving_context(pki.certificate("apiserver"), pki.key("apiserver"), pki.certificate("client-ca"))


@pytest.fixture(scope="session")
def client_tls(pki: Pki) -> ssl.SSLContext:
    """A client without a certificate of its own."""
    return ssl.create_default_context(cafile=str(pki.certificate("server-ca")))


@pytest.fixture(scope="session")
def admin_tls(pki: Pki) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(pki.certificate("server-ca")))
    context.load_cert_chain(pki.certificate("admin"), pki.key("admin"))
    return context
