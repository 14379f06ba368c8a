"""A controller is not alone: others own fields of its objects, and objects may be newer, or odder, than it knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.structural.samples import Sampler
from hardpoint.runtime.promises import NotAsked, Promises, expect
from hardpoint.seams.controller.check.state import CHECK_PREFIX, is_of_the_cluster
from hardpoint.seams.controller.check.trial import Bench, Trial
from hardpoint.seams.controller.check.undisturbed import GRACE_SECONDS, undisturbed

Json = dict[str, Any]

OWN = f"{CHECK_PREFIX}not-yours"
CONDITION = "HardpointCheck"
FUTURE_FIELD = "hardpointCheckFieldOfTomorrow"
ODD_OBJECTS = 6

promises: Promises[Bench] = Promises()


@promises("fields that others set stay as they are: labels, annotations, conditions")
async def _leaves_others_alone(bench: Bench) -> None:
    await undisturbed(bench)
    async with bench.trial() as trial:
        await trial.create_objects()
        await trial.settle()
        marked = await _mark(trial)
        await _have_it_work(trial)
        now = {_path(each): each for each in await trial.objects()}
        lost = [f"{what} of {path}" for path, what in marked if path in now and not _has(now[path], what)]
        expect(not lost, f"it removed {', '.join(lost[:5])}, which somebody else had set")


async def _mark(trial: Trial) -> list[tuple[str, str]]:
    """Have somebody else set something on every object; tells what on which."""
    marked: list[tuple[str, str]] = []
    for each in await trial.objects():
        if is_of_the_cluster(each) or "deletionTimestamp" in each["metadata"]:
            continue
        await _patch(trial, each, {"metadata": {"annotations": {OWN: "1"}, "labels": {OWN: "1"}}})
        marked += [(_path(each), "an annotation"), (_path(each), "a label")]
        condition = _condition(trial.bench.definitions, each)
        if condition is not None:
            conditions = [*((each.get("status") or {}).get("conditions") or ()), condition]
            await _patch(trial, each, {"status": {"conditions": conditions}}, subresource="status")
            marked.append((_path(each), "a condition"))
    return marked


async def _have_it_work(trial: Trial) -> None:
    """Give it reasons to write everything once more: changed objects, and a new life."""
    await trial.settle()
    for each in trial.bench.objects:
        for changed in _changed_numbers(each):
            if await _is_accepted(trial, each, changed):
                break
    await trial.settle()
    await trial.program.stop(grace_seconds=GRACE_SECONDS)
    await trial.free_leases()
    trial.program.resume()
    await trial.settle()


async def _is_accepted(trial: Trial, obj: Json, spec: Json) -> bool:
    try:
        await _patch(trial, obj, {"spec": spec})
    except ApiError as refused:
        if refused.code != 422:
            raise
        return False
    return True


async def _patch(trial: Trial, obj: Json, patch: Json, subresource: str = "") -> None:
    await trial.client.patch(
        f"{obj['apiVersion']} {obj['kind']}",
        obj["metadata"]["name"],
        patch,
        namespace=obj["metadata"].get("namespace"),
        subresource=subresource,
    )


def _changed_numbers(obj: Json) -> Iterator[Json]:
    """The spec with one number changed, in every way that may be allowed."""
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return
    for name, value in spec.items():
        if isinstance(value, int) and not isinstance(value, bool):
            yield {name: value + 1}
            yield {name: value - 1}


def _condition(definitions: Sequence[Json], obj: Json) -> Json | None:
    """A condition of ours, if the status of the object has conditions as most have."""
    for version in _versions(definitions, obj):
        schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        status = (schema.get("properties") or {}).get("status") or {}
        items = ((status.get("properties") or {}).get("conditions") or {}).get("items") or {}
        if {"type", "status"} <= set(items.get("properties") or ()) and "status" in (version.get("subresources") or {}):
            made: Json = Sampler(items, fullness=1.0).value()
            return made | {"type": CONDITION, "status": "True"}
    return None


def _versions(definitions: Sequence[Json], obj: Json) -> Iterator[Json]:
    group, _, version = obj["apiVersion"].rpartition("/")
    for each in definitions:
        if each["spec"]["group"] == group and each["spec"]["names"]["kind"] == obj["kind"]:
            yield from (found for found in each["spec"]["versions"] if found["name"] == version)


def _has(obj: Json, what: str) -> bool:
    if what == "a condition":
        return any(each.get("type") == CONDITION for each in (obj.get("status") or {}).get("conditions") or ())
    names = "annotations" if what == "an annotation" else "labels"
    return OWN in (obj["metadata"].get(names) or {})


def _path(obj: Json) -> str:
    metadata = obj["metadata"]
    return f"{obj['kind']} {metadata.get('namespace', '')}/{metadata['name']}"


@promises("objects it does not understand do not keep it from the others: new fields, odd values")
async def _survives(bench: Bench) -> None:
    expected = (await undisturbed(bench)).expected
    if not bench.definitions:
        raise NotAsked("it was given no custom resources; name their definitions with --crds")
    async with bench.trial(definitions=[_of_tomorrow(each) for each in bench.definitions]) as trial:
        strange = await _create_strange(trial)
        await trial.create_objects()
        await trial.settle()
        ended = "".join(map(str, trial.program.exits[:1]))
        expect(not trial.program.exits, f"the program {ended} with {', '.join(strange)} there")
        await trial.converge(expected, with_more=True)


async def _create_strange(trial: Trial) -> list[str]:
    """Objects with a field of tomorrow, and as odd as the schema allows; those that rules refuse are left out."""
    made: list[str] = []
    for each in _strange_objects(trial.bench):
        try:
            await trial.client.create(each)
        except ApiError as refused:
            if refused.code != 422:
                raise
        else:
            made.append(_path(each))
    return made


def _strange_objects(bench: Bench) -> Iterator[Json]:
    for number, each in enumerate(bench.objects):
        if any(_versions(bench.definitions, each)) and isinstance(each.get("spec"), dict):
            newer = deepcopy(each)
            newer["metadata"]["name"] = f"check-of-tomorrow-{number}"
            newer["spec"][FUTURE_FIELD] = "unheard of"
            yield newer
    for definition in bench.definitions:
        spec = definition["spec"]
        stored = next(version for version in spec["versions"] if version.get("storage"))
        schema = (stored.get("schema") or {}).get("openAPIV3Schema") or {}
        namespace = "default" if spec["scope"] == "Namespaced" else ""
        for number in range(ODD_OBJECTS):
            sampler = Sampler(schema, seed=f"{bench.seed} {number}", fullness=number / (ODD_OBJECTS - 1), odd=True)
            api_version = f"{spec['group']}/{stored['name']}"
            yield sampler.object(api_version, spec["names"]["kind"], f"check-odd-{number}", namespace=namespace)


def _of_tomorrow(definition: Json) -> Json:
    """The definition as a later release may have it: with one more field in the spec of every version."""
    newer = deepcopy(definition)
    for version in newer["spec"]["versions"]:
        schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        spec = (schema.get("properties") or {}).get("spec") or {}
        if spec.get("properties") is not None:
            spec["properties"][FUTURE_FIELD] = {"type": "string"}
    return newer
