"""Random sequences of writes to the real kube-apiserver and to ours: nearly all answers must be the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.conftest import built
from tests.interop.kube_apiserver import running_kube_apiserver
from tools.differ.servers import opened
from tools.writes.__main__ import difference
from tools.writes.running import Pair
from tools.writes.steps import sequence

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

SEQUENCES = 150
SHARE_MIN = 0.985


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running_kube_apiserver(built("kube-apiserver"), tmp_path_factory.mktemp("real")) as kubeconfig:
        yield kubeconfig


async def test_most_writes_are_answered_alike(real: Path) -> None:
    async with opened(real) as reference, opened(None) as other:
        pair = Pair(reference, other)
        results = [result for seed in range(SEQUENCES) for result in await pair.compare(sequence(seed))]
    different = [result for result in results if not result.is_same]
    told = "\n\n".join(difference(result, f"seed {result.sequence.seed}") for result in different[:5])
    assert len(different) < (1 - SHARE_MIN) * len(results), told
