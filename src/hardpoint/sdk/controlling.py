"""The controllers of Apps against one cluster: one connection, one cache, one leader, and an orderly end.

What runs can be replaced while it runs: the caches stay, so a file that was saved is at work a moment later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.options import ALL_NAMESPACES
from hardpoint.machinery.errors import HardpointError
from hardpoint.runtime.controllermetrics import ControllerMetrics
from hardpoint.runtime.election import LeaderElection, LeadershipLost
from hardpoint.runtime.environment import Environment, Recorder
from hardpoint.runtime.informers import Informers
from hardpoint.runtime.reconciler import Reconciler
from hardpoint.runtime.recorder import EventRecorder
from hardpoint.runtime.sharding import Shards
from hardpoint.sdk.app import App
from hardpoint.seams.controller.guest.follower import Follower
from hardpoint.seams.controller.guest.work import at_work

Json = dict[str, Any]

log = logging.getLogger(__name__)

GRACE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Lease:
    """What makes one of several processes the one at work."""

    namespace: str
    name: str
    identity: str
    """This process's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """How controllers are run."""

    namespace: str = ALL_NAMESPACES
    """Where those look that do not say it themselves."""
    dry_run: bool = False
    """Whether writes are only asked about, and told."""
    lease: Lease | None = None
    """None if nobody else is expected to do the same. A dry run is in nobody's way, and takes none."""
    shards: int = 0
    """Into how many parts the objects are divided, so that all processes work; with none of them, one leads."""
    grace_seconds: float = GRACE_SECONDS
    """How long reconciles under way may take when it is time to stop."""
    metrics: ControllerMetrics = field(default_factory=ControllerMetrics)


Installs = Callable[[Sequence[App]], Awaitable[object]]
"""Brings into the cluster what Apps need there."""


class NotReady(HardpointError):
    """Controllers have not begun yet."""


class Controllers:
    """Controllers at work. `replace` puts others in their place."""

    def __init__(self, environment: Environment, control: Control, installs: Installs) -> None:
        self._installs = installs
        self._environment = environment
        self._control = control
        self._wanted: asyncio.Queue[Sequence[App]] = asyncio.Queue()
        self._recorders: dict[str, Recorder] = {}
        self._preparing: int | None = None
        """How many controllers are not ready yet, once it is known which there are."""
        self._at_work: list[Reconciler] = []

    @property
    def is_ready(self) -> bool:
        """Whether all caches are filled."""
        return self._preparing == 0

    async def check_ready(self) -> None:
        """Raises NotReady while a cache is not filled; whether this process leads does not count."""
        if not self.is_ready:
            raise NotReady("not all caches are filled")

    def replace(self, apps: Sequence[App]) -> None:
        """Have the controllers of these Apps work from now on; what is under way is finished first."""
        self._wanted.put_nowait(apps)

    async def run(self) -> None:
        """Work until cancelled. Then nothing is under way any more, unless it took longer than its grace."""
        async with AsyncExitStack() as until_the_end:
            apps = await self._wanted.get()
            while True:
                await self._ensure_recorders(apps, until_the_end)
                apps = await self._work_until_replaced(apps)
                await self._install(apps)

    async def _install(self, apps: Sequence[App]) -> None:
        try:
            await self._installs(apps)
        except HardpointError as wrong:
            # Whoever saved the file will save it again; what it is about may be there from before.
            log.error("definitions not applied", extra={"error": str(wrong)})

    async def _work_until_replaced(self, apps: Sequence[App]) -> Sequence[App]:
        working = asyncio.create_task(self._work(apps), name="controllers")
        replaced = asyncio.create_task(self._wanted.get(), name="controllers to come")
        try:
            await asyncio.wait([working, replaced], return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                working.result()
            return await replaced
        finally:
            replaced.cancel()
            await self._stop(working)

    async def _work(self, apps: Sequence[App]) -> None:
        share = self._shards()
        guests = [guest for app in apps for guest in app.controllers.values()]
        self._preparing = len(guests)
        async with asyncio.TaskGroup() as tasks:
            # Caches are filled before there is an election, so that a new leader begins at once; and one controller
            # whose resource is not served yet does not keep the others waiting.
            prepared = [tasks.create_task(self._prepared(guest, share), name=guest.name) for guest in guests]
            while True:
                try:
                    async with self._election() if share is None else share.running():
                        await self._reconcile(prepared)
                except LeadershipLost as lost:
                    log.warning("somebody else leads", extra={"why": str(lost)})

    async def _prepared(self, guest: Follower, share: Shards | None) -> Reconciler:
        environment = replace(self._environment, recorder=self._recorders[guest.app], share=share)
        reconciler = await at_work(guest, environment)
        await reconciler.wait_until_synced()
        told = {"app": guest.app, "controller": guest.name, "resource": guest.resource.title}
        log.info("controller is ready", extra=told | {"objects": len(reconciler.sources[0].informer)})
        self._at_work.append(reconciler)
        self._preparing = (self._preparing or 0) - 1
        return reconciler

    def _shards(self) -> Shards | None:
        lease, client = self._control.lease, self._environment.client
        if lease is None or not self._control.shards or self._control.dry_run:
            return None
        names = (lease.name, lease.namespace, lease.identity)
        shards = Shards(client, *names, self._control.shards, on_gain=lambda gained: self._look_at(shards, gained))
        return shards

    def _look_at(self, shards: Shards, gained: frozenset[int]) -> None:
        for reconciler in self._at_work:
            reconciler.add_all(lambda key: shards.shard_of(key) in gained)

    @asynccontextmanager
    async def _election(self) -> AsyncIterator[None]:
        """Entered when it is this process's turn."""
        lease, metrics = self._control.lease, self._control.metrics
        if lease is None or self._control.dry_run:
            yield
            return
        election = LeaderElection(
            self._environment.client,
            lease.name,
            lease.namespace,
            lease.identity,
            on_change=lambda leads: metrics.leads(lease.name, leads),
        )
        async with election.leading():
            yield

    async def _reconcile(self, prepared: Sequence[asyncio.Task[Reconciler]]) -> None:
        """Reconcile until cancelled, though all be drained: who leads gives that up only when it is over."""
        async with asyncio.TaskGroup() as tasks:
            for each in prepared:
                tasks.create_task(_run(each), name=each.get_name())
            await asyncio.get_running_loop().create_future()

    async def _stop(self, working: asyncio.Task[None]) -> None:
        """Take no more keys, let the reconciles under way finish, then end, and give the Lease back."""
        try:
            async with asyncio.timeout(self._control.grace_seconds):
                for reconciler in self._at_work:
                    await reconciler.queue.drain()
        except TimeoutError:
            log.warning("reconciles did not end in time", extra={"seconds": self._control.grace_seconds})
        working.cancel()
        await asyncio.wait([working])
        self._at_work, self._preparing = [], None

    async def _ensure_recorders(self, apps: Sequence[App], until_the_end: AsyncExitStack) -> None:
        """One voice for each App. They are flushed last."""
        for app in apps:
            if app.name not in self._recorders and self._control.dry_run:
                self._recorders[app.name] = _Silent()
            elif app.name not in self._recorders:
                recorder = EventRecorder(self._environment.client, app.name)
                self._recorders[app.name] = await until_the_end.enter_async_context(recorder.running())


async def _run(prepared: asyncio.Task[Reconciler]) -> None:
    # Whoever loses an election keeps what is prepared for the next.
    reconciler = await asyncio.shield(prepared)
    async with reconciler.listening():
        await reconciler.run()


async def _nothing(_: Sequence[App]) -> None: ...


@asynccontextmanager
async def controlling(
    apps: Sequence[App], client: Client, control: Control, *, installs: Installs = _nothing
) -> AsyncIterator[Controllers]:
    """Run the controllers of Apps until left. Entering waits for nothing; what cannot go on comes out here.

    What `apps` need must be in the cluster; `installs` is called for those that replace them.
    """
    client = client.dry_run() if control.dry_run else client
    try:
        async with Informers(client).running() as informers, asyncio.TaskGroup() as tasks:
            environment = Environment(
                client,
                informers,
                _Silent(),
                namespace=control.namespace,
                dry_run=control.dry_run,
                metrics=control.metrics,
            )
            controllers = Controllers(environment, control, installs)
            controllers.replace(apps)
            running = tasks.create_task(controllers.run(), name="controllers")
            try:
                yield controllers
            finally:
                running.cancel()
    except ExceptionGroup as failures:
        raise _only(failures) from None


def _only(failures: ExceptionGroup) -> Exception:
    """The one thing that went wrong, if it was one, however many noticed."""
    found = {id(failure): failure for failure in _each(failures)}
    return found.popitem()[1] if len(found) == 1 else failures


def _each(failure: Exception) -> Iterator[Exception]:
    if isinstance(failure, ExceptionGroup):
        for part in failure.exceptions:
            yield from _each(part)
    else:
        yield failure


class _Silent:
    """Tells people nothing, and logs what it would have told them."""

    def event(self, about: Json, type: str, reason: str, message: str, *, action: str = "") -> None:
        told = {"object": about["metadata"]["name"], "type": type, "reason": reason, "note": message}
        log.info("would tell", extra=told)


_conforms: tuple[type[Recorder], ...] = (_Silent, EventRecorder)
