"""One trial: a fresh cluster, an API in front of it that misbehaves by plan, the controller, and the objects it gets.

    async with bench.trial(Plan((faults.CONFLICT,))) as trial:
        await trial.create_objects()
        await trial.converge()

A trial ends with everything it began: the process, the socket, the cluster.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.options import ALL_NAMESPACES
from hardpoint.client.resources import Resource
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Handler, User
from hardpoint.runtime.promises import Broken
from hardpoint.seams.controller.check.program import Program
from hardpoint.seams.controller.check.state import Difference, Expected, State, state_of
from hardpoint.seams.controller.host import SOMEBODY_ELSE, Plan, Record, UnrulyApi, make_pki, reachable
from hardpoint.serving.certificates import Pki

Json = dict[str, Any]
FreshCluster = Callable[[], AbstractAsyncContextManager[Handler]]
"""Starts a cluster that nobody used before, with the controllers that every cluster has, and yields its API."""

LOOK_SECONDS = 0.03
"""How often the world is looked at while waiting for it; what is asked of the API arrives by itself."""
TOLD_MAX = 5
CRDS = Resource("apiextensions.k8s.io/v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False)
LEASES = Resource("coordination.k8s.io/v1", "leases", "Lease")
ADMIN = User(SOMEBODY_ELSE, ("system:masters",))


@dataclass(slots=True)
class Bench:
    """A controller to be checked, and everything it is checked with."""

    command: Sequence[str]
    fresh_cluster: FreshCluster
    folder: Path
    definitions: Sequence[Json] = ()
    """The CustomResourceDefinitions it works with."""
    objects: Sequence[Json] = ()
    """What it is given to work on."""
    settle_seconds: float = 2.0
    """For how long nothing may be written before the world counts as settled."""
    patience_seconds: float = 30.0
    """How long the world may take to become what it should."""
    start_seconds: float = 30.0
    """How long the program may take from its start to its first look at the world."""
    seed: int = 0
    records: list[Record] = field(default_factory=list)
    """What was asked, in each trial so far."""
    memory: dict[str, Any] = field(default_factory=dict)
    """What trials found out that others build on."""
    _numbers: Iterable[int] = field(default_factory=itertools.count)
    _pki: Pki | None = None

    @asynccontextmanager
    async def trial(
        self, plan: Plan | None = None, *, definitions: Sequence[Json] | None = None
    ) -> AsyncIterator[Trial]:
        """A world of its own with the definitions in it, and the controller running and looking at it."""
        self._pki = self._pki or make_pki(self.folder)
        folder = self.folder / f"trial-{next(iter(self._numbers))}"
        folder.mkdir()
        program = Program(self.command, folder)
        async with self.fresh_cluster() as handler:
            api = UnrulyApi(handler, plan)
            self.records.append(api.record)
            client = Client.in_process(handler, ADMIN, user_agent=SOMEBODY_ELSE)
            async with reachable(api.handle, self._pki, program.kubeconfig):
                trial = Trial(self, api, client, program)
                await trial.prepare(self.definitions if definitions is None else definitions)
                async with program.running():
                    await trial.wait_until_it_looks()
                    yield trial


class Trial:
    """A world with the controller in it."""

    def __init__(self, bench: Bench, api: UnrulyApi, client: Client, program: Program) -> None:
        self.bench = bench
        self.api = api
        self.client = client
        self.program = program
        self.record = api.record
        self._looks_count_from = 0.0
        self._given: set[str] = set()
        """The uids of the objects it was given."""

    async def prepare(self, definitions: Iterable[Json]) -> None:
        """Have the definitions served, and the namespaces of the objects there."""
        for each in definitions:
            await self.client.create(each, resource=CRDS)
        for each in definitions:
            await self._wait_until_established(each["metadata"]["name"])
        for namespace in {each["metadata"].get("namespace") or "default" for each in self.bench.objects} - {"default"}:
            await self.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})

    async def _wait_until_established(self, name: str) -> None:
        async def is_established() -> bool:
            conditions = ((await self.client.get(CRDS, name)).get("status") or {}).get("conditions") or ()
            return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)

        await self._wait(is_established, f"the definition {name} was not established")

    async def wait_until_it_looks(self) -> None:
        """Wait until this life of the controller has asked for some collection."""

        async def looks() -> bool:
            return self._first_look_seconds() is not None

        await self._wait(looks, "it listed and watched nothing", self.bench.start_seconds)

    async def wait_until_it_looks_again(self) -> None:
        """Wait until it asks for some collection after now."""
        self._looks_count_from = self.api.seconds
        await self.wait_until_it_looks()

    def _first_look_seconds(self) -> float | None:
        lived_seconds = time.monotonic() - self.program.started_at
        began = max(self.api.seconds - lived_seconds, self._looks_count_from)
        looks = (each.seconds for each in reversed(self.record.asked) if each.is_watch or each.is_list)
        return min(itertools.takewhile(lambda seconds: seconds >= began, looks), default=None)

    async def wait_until_it_writes(self) -> None:
        """Wait until it writes something after now."""
        began = self.api.seconds

        async def writes() -> bool:
            return bool(self.record.writes(began))

        await self._wait(writes, "it wrote nothing")

    async def pass_time(self, seconds: float) -> None:
        """Let it do what it does."""
        await asyncio.sleep(seconds)

    async def create_objects(self, objects: Sequence[Json] | None = None) -> None:
        for each in self.bench.objects if objects is None else objects:
            made = await self.client.create(each)
            self._given.add(made["metadata"]["uid"])
            if each.get("status", made.get("status")) != made.get("status"):
                await self._give_status(each)

    async def _give_status(self, obj: Json) -> None:
        """A status is not taken at creation, but some objects are given with one: as if they had lived for a while."""
        name, namespace = obj["metadata"]["name"], obj["metadata"].get("namespace")
        patch = {"status": obj["status"]}
        kind = _kind_of(obj)
        await self.client.patch(kind, name, patch, strategy="merge", namespace=namespace, subresource="status")

    async def settle(self, seconds: float | None = None) -> None:
        """Wait until nothing has been written for a while. Raises Broken if that never comes."""
        enough = self.bench.settle_seconds if seconds is None else seconds

        async def is_quiet() -> bool:
            look = self._first_look_seconds()
            if look is None or self.record.writes_open:
                return False
            return self.api.seconds - max(self.record.last_change_seconds, look) >= enough

        await self.wait_until_it_looks()
        began = self.api.seconds
        try:
            await self._wait(is_quiet, "")
        except Broken:
            request, times = self.record.most_repeated(began)
            raise Broken(
                f"it did not come to rest in {self.bench.patience_seconds:g} s: {times} times {request}{self._words()}"
            ) from None

    async def converge(self, expected: Expected, *, with_more: bool = False) -> None:
        """Wait until the world is, and stays, as it is without faults. Raises Broken that tells what is not.

        `with_more` does not mind objects that are not expected.
        """
        began = self.api.seconds
        while True:
            await self.settle()
            found = list(expected.differences(await self.state(), with_more=with_more))
            if not found:
                return
            if self._is_over(began, self.bench.patience_seconds):
                raise Broken(self._told(found))
            await asyncio.sleep(min(self.bench.settle_seconds, 0.5))

    def _told(self, differences: Sequence[Difference]) -> str:
        told = "; ".join(str(each) for each in differences[:TOLD_MAX])
        more = f" and {len(differences) - TOLD_MAX} more" if len(differences) > TOLD_MAX else ""
        blamed = self.blamed({each.key.kind for each in differences})
        return f"{told}{more}{blamed}{self._words()}"

    def blamed(self, kinds: set[str]) -> str:
        """The last fault that something of these kinds suffered, or the last of all."""
        plurals = {kind.lower() for kind in kinds}
        faults = self.record.faults()
        near = [each for each in faults if any(each.where.resource.startswith(plural) for plural in plurals)]
        writes = [each for each in near if each.is_write]
        last = (writes or near or faults)[-1:]
        return f"; {last[0]}, seed {self.bench.seed}" if last else ""

    def _words(self) -> str:
        if not self.program.exits:
            return ""
        return f"; the program {self.program.exits[-1]}"

    async def state(self) -> State:
        return state_of(await self.objects())

    async def objects(self) -> list[Json]:
        """Every object of the kinds that were given to it, or that it wrote in this or an undisturbed run."""
        written = self.bench.memory.setdefault("written", set())
        written |= self.record.resources()
        kinds = {Resource.of(await self.client.discovery.find(_kind_of(each))) for each in self.bench.objects}
        for group, version, plural in sorted(written):
            kinds |= set(await self._served(group, version, plural))
        found: list[Json] = []
        for kind in sorted(kinds, key=lambda each: (each.api_version, each.plural)):
            found += (await self.client.list(kind, namespace=ALL_NAMESPACES))["items"]
        return found

    async def _served(self, group: str, version: str, plural: str) -> Iterable[Resource]:
        if (group, plural) == ("apiextensions.k8s.io", CRDS.plural):
            return ()
        for kind in await self.client.discovery.kinds():
            if (kind.group, kind.version, kind.plural) == (group, version, plural) and "list" in kind.verbs:
                return (Resource.of(kind),)
        return ()

    async def delete_objects(self, objects: Sequence[Json] | None = None) -> None:
        for each in self.bench.objects if objects is None else objects:
            try:
                await self.client.delete(
                    _kind_of(each),
                    each["metadata"]["name"],
                    namespace=each["metadata"].get("namespace"),
                    propagation="Background",
                )
            except ApiError as refused:
                if refused.code != 404:
                    raise

    async def expect_nothing_left(self) -> None:
        """Wait until what was given to it, and all that it made, is gone. Raises Broken that lists what is not."""
        theirs = self._given | self.record.made

        async def left() -> list[Json]:
            return [each for each in await self.objects() if each["metadata"]["uid"] in theirs]

        async def is_empty() -> bool:
            return not await left()

        try:
            await self._wait(is_empty, "")
        except Broken:
            there = await left()
            told = ", ".join(_left_over(each, is_given=each["metadata"]["uid"] in self._given) for each in there)
            raise Broken(f"left behind: {told}{self.blamed({each['kind'] for each in there})}{self._words()}") from None

    async def crash(self) -> None:
        """End the controller as a power cut does. Its leases are free at once: nobody waits for them to expire."""
        self.program.kill()
        await self.free_leases()

    async def free_leases(self) -> None:
        """Let go of what the controller holds, as time would."""
        for each in {each.path for each in self.record.asked if each.is_of_a_lease and each.where.name}:
            free = {"spec": {"holderIdentity": "", "leaseDurationSeconds": 1}}
            await self.client.patch(LEASES, each.rpartition("/")[2], free, namespace=each.split("/")[5])

    async def _wait(
        self, is_so: Callable[[], Awaitable[bool]], otherwise: str, patience_seconds: float | None = None
    ) -> None:
        """Wait until it is so, as long as patience lasts."""
        enough = self.bench.patience_seconds if patience_seconds is None else patience_seconds
        began = self.api.seconds
        while not await is_so():
            if self._is_over(began, enough):
                said = self.program.words
                told = f"{otherwise} in {enough:g} s"
                raise Broken(f"{told}; it says {said!r}" if said else told)
            await asyncio.sleep(LOOK_SECONDS)

    def _is_over(self, began: float, enough: float) -> bool:
        """Whether it had time enough since `began`, and since the last blow, after which it gets its time anew."""
        return self.api.seconds - max(began, self.api.last_blow_seconds) >= enough


def _left_over(obj: Json, *, is_given: bool) -> str:
    metadata = obj["metadata"]
    name = f"{obj['kind']} {metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else obj["kind"]
    finalizers = metadata.get("finalizers")
    if is_given and finalizers:
        return f"{name} (its finalizers {finalizers} were not removed)"
    return name if metadata.get("ownerReferences") else f"{name} (no owner)"


def _kind_of(obj: Mapping[str, Any]) -> str:
    return f"{obj['apiVersion']} {obj['kind']}"
