"""Random owners, random deletions, random absences of the collector: in the end, exactly what a model keeps is left."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardpoint.client.options import Propagation
from tests.controllers.world import Json, World, owners_of, reference, world

NOWHERE = ""
PLACES = (NOWHERE, "default", "kube-public")
KINDS = {NOWHERE: "rbac.authorization.k8s.io/v1 ClusterRole"}
GHOST = -1
"""An owner that never was."""


@dataclass(frozen=True)
class Tie:
    """Object `owned` says that `owner` owns it."""

    owned: int
    owner: int
    blocks: bool


@dataclass(frozen=True)
class Deletion:
    """Somebody deletes an object; the collector may be away at that moment."""

    target: int
    policy: Propagation
    unseen: bool


@dataclass(frozen=True)
class Story:
    """Objects by where they are, their ties, and what happens to them."""

    places: list[str]
    ties: list[Tie]
    deletions: list[Deletion]


@st.composite
def stories(draw: st.DrawFn) -> Story:
    places = draw(st.lists(st.sampled_from(PLACES), min_size=2, max_size=7))
    numbers = range(len(places))
    ties = st.builds(Tie, st.sampled_from(numbers), st.sampled_from([GHOST, *numbers]), st.booleans())
    policies: st.SearchStrategy[Propagation] = st.sampled_from(["Background", "Foreground", "Orphan"])
    deletions = st.builds(Deletion, st.sampled_from(numbers), policies, st.booleans())
    drawn = draw(st.lists(ties, max_size=10, unique_by=lambda tie: (tie.owned, tie.owner)))
    # What is in no namespace cannot be owned by what is in one; Kubernetes leaves such objects alone.
    possible = [tie for tie in drawn if places[tie.owned] or tie.owner == GHOST or not places[tie.owner]]
    return Story(places, possible, draw(st.lists(deletions, max_size=4)))


@dataclass
class Model:
    """What Kubernetes keeps: who has never had an owner, or still has one that is there."""

    story: Story
    alive: set[int]
    owners: dict[int, set[int]] = field(default_factory=dict)

    def delete(self, deletion: Deletion) -> None:
        self.alive.discard(deletion.target)
        if deletion.policy == "Orphan":
            for number in self.alive:
                self.owners[number].discard(deletion.target)
        self.collect()

    def collect(self) -> None:
        """Take who has lost every owner, until nobody has; then forget the owners that were lost."""
        while lost := {number for number in self.alive if self.owners[number] and not self.present_owners(number)}:
            self.alive -= lost
        for number in self.alive:
            self.owners[number] = self.present_owners(number)

    def present_owners(self, number: int) -> set[int]:
        places = self.story.places
        return {owner for owner in self.owners[number] & self.alive if places[owner] in (NOWHERE, places[number])}


def model_of(story: Story) -> Model:
    numbers = set(range(len(story.places)))
    owners = {number: {tie.owner for tie in story.ties if tie.owned == number} for number in numbers}
    return Model(story, numbers, owners)


class Play:
    """A story, told to a real server."""

    def __init__(self, story: Story, world: World) -> None:
        self.story, self.world = story, world
        self.objects: dict[int, Json] = {}

    async def build(self) -> None:
        for number, place in enumerate(self.story.places):
            kind = KINDS.get(place, "v1 ConfigMap")
            self.objects[number] = await self.world.make(f"object-{number}", kind=kind, namespace=place)
        for number, obj in self.objects.items():
            owners = [self.reference(tie) for tie in self.story.ties if tie.owned == number]
            patch = {"metadata": {"ownerReferences": owners}}
            plural, metadata = self.plural(number), obj["metadata"]
            await self.world.client.patch(plural, metadata["name"], patch, namespace=metadata.get("namespace", ""))

    def plural(self, number: int) -> str:
        return "configmaps" if self.story.places[number] else "clusterroles"

    def reference(self, tie: Tie) -> Json:
        if tie.owner != GHOST:
            return reference(self.objects[tie.owner], blocks=tie.blocks)
        ghost = {"name": "ghost", "uid": str(uuid4())}
        return reference({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": ghost})

    async def state(self) -> dict[int, set[int]]:
        """Who is there, and who owns whom."""
        numbers = {obj["metadata"]["uid"]: number for number, obj in self.objects.items()}
        found = {number: await self.world.find(obj) for number, obj in self.objects.items()}
        return {
            number: {numbers.get(uid, GHOST) for uid in owners_of(obj)}
            for number, obj in found.items()
            if obj is not None
        }

    async def delete(self, deletion: Deletion, model: Model) -> None:
        if deletion.target in model.alive:
            await self.world.delete(self.objects[deletion.target], deletion.policy)
            model.delete(deletion)

    async def expect(self, model: Model) -> None:
        """The world becomes like the model, and stays so."""
        wanted = {number: model.owners[number] for number in model.alive}

        async def is_so() -> bool:
            return await self.state() == wanted

        try:
            await self.world.until(is_so)
        except TimeoutError:
            assert await self.state() == wanted
        await self.world.settle()
        assert await self.state() == wanted


async def play(story: Story) -> None:
    """One deletion at a time: what Kubernetes keeps of two at once depends on which it sees first."""
    model = model_of(story)
    async with world() as bare:
        told = Play(story, bare)
        await told.build()
        async with bare.controlled():
            model.collect()
            await told.expect(model)
        for deletion in [each for each in story.deletions if each.unseen]:
            await told.delete(deletion, model)
            async with bare.controlled():
                await told.expect(model)
        async with bare.controlled():
            await bare.settle()
            for deletion in [each for each in story.deletions if not each.unseen]:
                await told.delete(deletion, model)
                await told.expect(model)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stories())
def test_what_is_left_is_what_the_model_keeps(story: Story) -> None:
    asyncio.run(play(story))
