"""What a node may, and what becomes of signing requests: the real kube-apiserver and ours answer word by word alike."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from hardpoint.client.client import Client
from tests.interop.conftest import built, running_cluster
from tests.interop.kube_apiserver import running_kube_apiserver
from tests.interop.node_asks import CREDENTIALS, QUESTIONS, READS, SETUP, WRITES
from tests.interop.sides import Ask, Side
from tests.interop.signing_asks import DECISIONS, REQUESTS

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

Answers = list[tuple[int, str]]


@pytest.fixture(scope="module")
def kubeconfigs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The real one and ours, both without controllers, and with the objects of SETUP."""
    plugins = "--enable-admission-plugins=NodeRestriction"
    real, ours = tmp_path_factory.mktemp("real"), tmp_path_factory.mktemp("ours")
    with (
        running_kube_apiserver(built("kube-apiserver"), real, plugins, modes="Node,RBAC") as theirs,
        running_cluster(ours, "--components", "apiserver") as mine,
    ):
        for config in (theirs, mine):
            for ask, (status, told) in zip(SETUP, asyncio.run(_answers(config, SETUP)), strict=True):
                assert status < 300, f"{ask}: {told}"
        yield theirs, mine


async def _answers(config: Path, asked: list[Ask]) -> Answers:
    async with Client.from_kubeconfig(config) as client:
        side = Side(client)
        return [await side.answer(ask) for ask in asked]


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(READS, id="reads"),
        pytest.param(QUESTIONS, id="questions"),
        pytest.param(WRITES, id="writes"),
        pytest.param(CREDENTIALS, id="credentials"),
        pytest.param(REQUESTS, id="signing requests"),
        pytest.param(DECISIONS, id="decisions"),
    ],
)
def test_side_by_side(kubeconfigs: tuple[Path, Path], asked: list[Ask]) -> None:
    theirs, mine = (asyncio.run(_answers(config, asked)) for config in kubeconfigs)
    different = [
        f"{ask}\n  real {expected}\n  ours {said}"
        for ask, expected, said in zip(asked, theirs, mine, strict=True)
        if expected != said
    ]
    assert not different, "\n".join(different)
