"""The controllers among the examples keep the promises that `hardpoint check controller` looks at."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from hardpoint.cluster import fresh_cluster
from hardpoint.sdk.loading import load
from hardpoint.sdk.resources import definitions
from hardpoint.seams.controller.check import Bench, crashing, promises
from tests.outside import Catalogue, Databases, Outside

# Each is a program that is started dozens of times: with other tests beside it that takes minutes.
pytestmark = pytest.mark.chaos

Json = dict[str, Any]

EXAMPLES = Path(__file__).parents[2] / "examples"
NOT_ASKED = {
    "it ends in the same state when lists show an older state",
    "it writes nothing once somebody else holds its lease, and goes on when it has it back",
}
"""What cannot happen to a controller of ours: it never asks for an older state, and alone it holds no Lease."""
OF_DEFINITIONS = "objects it does not understand do not keep it from the others: new fields, odd values"
A_FEW = (
    "given objects it does its work, and then rests",
    "it ends in the same state when writes are done but the answer is lost",
    "killed right before and right after each of its writes, it ends in the same state",
)


def crontab(name: str, schedule: str) -> Json:
    spec = {"cronSpec": schedule, "image": "my-backup"}
    body = {"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": name}, "spec": spec}
    return {**body, "status": {"lastRun": "2020-05-01T00:00:00Z"}}


def database(name: str, **spec: Any) -> Json:
    return {"apiVersion": "shop.example.com/v1", "kind": "Database", "metadata": {"name": name}, "spec": spec}


SERVICE: Json = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "labels": {"consul": "yes"}},
    "spec": {"ports": [{"port": 80}]},
}
ENDPOINTS: Json = {
    "apiVersion": "discovery.k8s.io/v1",
    "kind": "EndpointSlice",
    "metadata": {"name": "web-abc", "labels": {"kubernetes.io/service-name": "web"}},
    "addressType": "IPv4",
    "endpoints": [{"addresses": ["10.1.0.1"]}, {"addresses": ["10.1.0.2"]}],
    "ports": [{"port": 8080}],
}
GIVEN = {
    "07_crontab.py": [crontab("backup", "0 0 1 1 *"), crontab("report", "30 4 1 1 *")],
    "08_service_registry.py": [SERVICE, ENDPOINTS],
    "09_database.py": [database("orders", engine="postgres", gigabytes=5), database("users", engine="mysql")],
}
"""What each is given to work on. A schedule that comes once a year leaves it alone for the rest of the test."""


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Catalogue, Databases]]:
    catalogue, databases = Catalogue(), Databases()
    with ExitStack() as stack:
        for variable, answer in (("CONSUL", catalogue), ("DATABASES", databases)):
            monkeypatch.setenv(variable, stack.enter_context(closing(Outside(answer))).url)
        yield catalogue, databases


def bench(example: str, folder: Path) -> Bench:
    target = str(EXAMPLES / example)
    return Bench(
        command=[sys.executable, "-m", "hardpoint.cli", "run", target, "--no-crds", "--port", "0"],
        fresh_cluster=fresh_cluster,
        folder=folder,
        definitions=definitions(load(target).app),
        objects=GIVEN[example],
        settle_seconds=0.4,
    )


@pytest.mark.parametrize("example", GIVEN)
async def test_an_example_keeps_its_promises(
    example: str,
    tmp_path: Path,
    outside: tuple[Catalogue, Databases],
    is_long: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(crashing, "CRASHES_MAX", 30 if is_long else 2)
    controller = bench(example, tmp_path)
    found = [await promises.finding(each, controller) for each in (promises.words if is_long else A_FEW)]
    assert [each for each in found if each.outcome == "FAIL"] == []
    not_asked = NOT_ASKED | ({OF_DEFINITIONS} if not controller.definitions else set())
    assert {each.promise for each in found if each.outcome == "skip"} <= not_asked


@pytest.mark.parametrize("example", GIVEN)
async def test_an_example_leaves_nothing_outside(
    example: str, tmp_path: Path, outside: tuple[Catalogue, Databases]
) -> None:
    catalogue, databases = outside
    async with bench(example, tmp_path).trial() as trial:
        await trial.create_objects()
        await trial.settle()
        assert bool(catalogue.services or databases.made) == (example != "07_crontab.py")
        await trial.crash()
        await trial.delete_objects()
        await trial.expect_nothing_left()
    assert (catalogue.services, databases.made) == ({}, {})
