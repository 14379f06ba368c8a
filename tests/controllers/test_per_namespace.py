"""What every namespace has: the account `default` and the certificate of the API server."""

from __future__ import annotations

import pytest

from hardpoint.machinery.errors import ApiError
from tests.controllers.world import Json, World

DESCRIBED = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)
OBJECTS = [("serviceaccounts", "default"), ("configmaps", "kube-root-ca.crt")]


async def look_up(world: World, resource: str, name: str, namespace: str) -> Json | None:
    try:
        return await world.client.get(resource, name, namespace=namespace)
    except ApiError as refused:
        if refused.code != 404:
            raise
        return None


async def until_there(world: World, resource: str, name: str, namespace: str) -> Json:
    found: list[Json] = []

    async def is_there() -> bool:
        obj = await look_up(world, resource, name, namespace)
        found[:] = [obj] if obj is not None else []
        return bool(found)

    await world.until(is_there)
    return found[0]


@pytest.mark.parametrize(("resource", "name"), OBJECTS)
async def test_every_namespace_has_it(world: World, resource: str, name: str) -> None:
    for namespace in ("default", "kube-system", "kube-public", "kube-node-lease"):
        await until_there(world, resource, name, namespace)
    await world.make("team", kind="v1 Namespace")
    await until_there(world, resource, name, "team")


@pytest.mark.parametrize(("resource", "name"), OBJECTS)
async def test_it_comes_back(world: World, resource: str, name: str) -> None:
    first = await until_there(world, resource, name, "default")
    await world.client.delete(resource, name)
    await world.until_gone(first)
    second = await until_there(world, resource, name, "default")
    assert second["metadata"]["uid"] != first["metadata"]["uid"]


@pytest.mark.parametrize(("resource", "name"), OBJECTS)
async def test_it_does_not_come_back_to_a_namespace_that_goes(world: World, resource: str, name: str) -> None:
    team = await world.make("team", kind="v1 Namespace", spec={"finalizers": ["kubernetes"]})
    await until_there(world, resource, name, "team")
    await world.delete(team)
    await world.until_gone(team)


async def test_the_certificate_is_as_kubernetes_publishes_it(world: World) -> None:
    found = await until_there(world, "configmaps", "kube-root-ca.crt", "default")
    assert found["data"] == {"ca.crt": "A CERTIFICATE"}
    assert found["metadata"]["annotations"] == {"kubernetes.io/description": DESCRIBED}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"data": {"ca.crt": "ANOTHER"}}, id="another certificate"),
        pytest.param({"data": {"more": "of it"}}, id="one more key"),
        pytest.param({"metadata": {"annotations": {"kubernetes.io/description": None}}}, id="no description"),
    ],
)
async def test_a_changed_certificate_is_put_right(world: World, change: Json) -> None:
    await until_there(world, "configmaps", "kube-root-ca.crt", "default")
    await world.client.patch("configmaps", "kube-root-ca.crt", change)

    async def is_right() -> bool:
        found = await look_up(world, "configmaps", "kube-root-ca.crt", "default")
        assert found is not None
        described = found["metadata"].get("annotations", {}).get("kubernetes.io/description")
        return found["data"] == {"ca.crt": "A CERTIFICATE"} and described == DESCRIBED

    await world.until(is_right)


async def test_an_account_that_is_there_is_left_alone(bare: World) -> None:
    mine = await bare.make("default", kind="v1 ServiceAccount", secrets=[{"name": "mine"}])
    async with bare.controlled():
        await until_there(bare, "serviceaccounts", "default", "kube-public")
        await bare.settle()
    assert await bare.find(mine) == mine
