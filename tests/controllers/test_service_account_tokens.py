"""Secrets that hold a service account's token: filled, accepted, and gone with the account."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hardpoint.apiserver.server import ApiServer
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api
from tests.apiserver.authentication.accounts import review, who
from tests.controllers.world import World

Json = dict[str, Any]

ACCOUNT = "kubernetes.io/service-account.name"


@pytest.fixture
async def cluster() -> AsyncIterator[tuple[World, Api]]:
    """A world whose controllers sign with the server's key."""
    store = MemoryStore()
    async with ApiServer(store).running() as server:
        world = World(server.handle)
        async with world.controlled(sign_token=server.sign):
            yield world, Api(server)
    await store.close()


async def make_secret(world: World, account: str = "robot", **annotations: str) -> Json:
    told = {ACCOUNT: account, **annotations}
    kind = "kubernetes.io/service-account-token"
    return await world.make("key", kind="v1 Secret", metadata={"annotations": told}, type=kind)


async def filled(world: World, secret: Json) -> Json:
    """The Secret, once it holds a token."""
    found: Json | None = None

    async def is_filled() -> bool:
        nonlocal found
        found = await world.find(secret)
        return bool(found and (found.get("data") or {}).get("token"))

    await world.until(is_filled)
    assert found is not None
    return found


async def test_a_secret_is_filled_and_its_token_is_good(cluster: tuple[World, Api]) -> None:
    world, api = cluster
    account = await world.make("robot", kind="v1 ServiceAccount")
    secret = await filled(world, await make_secret(world))
    data = {key: b64decode(value).decode() for key, value in secret["data"].items()}
    assert (data["namespace"], data["ca.crt"]) == ("default", "A CERTIFICATE")
    assert secret["metadata"]["annotations"]["kubernetes.io/service-account.uid"] == account["metadata"]["uid"]
    assert await who(api, data["token"]) == (
        201,
        {
            "username": "system:serviceaccount:default:robot",
            "uid": account["metadata"]["uid"],
            "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
        },
    )


async def test_a_token_goes_with_its_secret(cluster: tuple[World, Api]) -> None:
    world, api = cluster
    await world.make("robot", kind="v1 ServiceAccount")
    secret = await filled(world, await make_secret(world))
    token = b64decode(secret["data"]["token"]).decode()
    await world.delete(secret)
    await world.until_gone(secret)
    assert (await review(api, token))["error"] == "[invalid bearer token, Token has been invalidated]"


async def test_a_token_that_the_secret_no_longer_holds_is_refused(cluster: tuple[World, Api]) -> None:
    world, api = cluster
    await world.make("robot", kind="v1 ServiceAccount")
    secret = await filled(world, await make_secret(world))
    token = b64decode(secret["data"]["token"]).decode()
    await world.client.update({**secret, "data": {**secret["data"], "token": "b3RoZXI="}})
    assert (await review(api, token))["error"] == "[invalid bearer token, Token does not match server's copy]"


async def test_a_token_that_was_marked_invalid_is_refused(cluster: tuple[World, Api]) -> None:
    world, api = cluster
    await world.make("robot", kind="v1 ServiceAccount")
    secret = await filled(world, await make_secret(world))
    labels = {"kubernetes.io/legacy-token-invalid-since": "2026-01-01"}
    await world.client.update({**secret, "metadata": {**secret["metadata"], "labels": labels}})
    assert (await who(api, b64decode(secret["data"]["token"]).decode()))[0] == 401


async def test_a_secret_goes_with_its_account(cluster: tuple[World, Api]) -> None:
    world, _ = cluster
    account = await world.make("robot", kind="v1 ServiceAccount")
    secret = await filled(world, await make_secret(world))
    await world.delete(account)
    await world.until_gone(secret)


@pytest.mark.parametrize("annotations", [{ACCOUNT: "nobody"}, {"kubernetes.io/service-account.uid": "another"}])
async def test_a_secret_of_an_account_that_is_not_there_is_deleted(
    cluster: tuple[World, Api], annotations: dict[str, str]
) -> None:
    world, _ = cluster
    await world.make("robot", kind="v1 ServiceAccount")
    await world.until_gone(await make_secret(world, **annotations))


async def test_other_secrets_are_left_alone(cluster: tuple[World, Api]) -> None:
    world, _ = cluster
    await world.make("robot", kind="v1 ServiceAccount")
    other = await world.make("other", kind="v1 Secret", metadata={"annotations": {ACCOUNT: "robot"}}, type="Opaque")
    await filled(world, await make_secret(world))
    found = await world.find(other)
    assert found is not None
    assert "data" not in found
