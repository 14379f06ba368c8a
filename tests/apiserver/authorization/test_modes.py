"""Which authorizers are asked, and in which order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from hardpoint.apiserver.authorization.options import AuthorizationOptions, parse_modes
from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import User
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api
from tests.apiserver.authorization.roles import BOB, RBAC, rule

NODE = User("system:node:n1", ("system:nodes",))


@asynccontextmanager
async def served(modes: str) -> AsyncIterator[Api]:
    options = AuthorizationOptions(modes=parse_modes(modes))
    async with ApiServer(MemoryStore(), authorization=options).running() as server:
        yield Api(server)


@pytest.mark.parametrize(
    ("modes", "user", "path", "status"),
    [
        ("AlwaysAllow", BOB, "/api/v1/secrets", 200),
        ("AlwaysAllow", None, "/api/v1/secrets", 401),
        ("AlwaysAllow", None, "/version", 401),
        ("RBAC,AlwaysAllow", None, "/version", 401),
        ("AlwaysDeny", BOB, "/version", 403),
        ("AlwaysDeny", User("admin", ("system:masters",)), "/api/v1/secrets", 200),
        ("RBAC", NODE, "/api/v1/services", 403),
        ("Node", NODE, "/api/v1/services", 200),
        ("Node", BOB, "/version", 403),
        ("AlwaysDeny,RBAC", BOB, "/version", 200),
    ],
)
async def test_the_first_who_allows_decides(modes: str, user: User | None, path: str, status: int) -> None:
    async with served(modes) as api:
        assert (await api.as_user(user).send("GET", path)).status == status


async def test_the_reasons_of_all_are_told() -> None:
    async with served("AlwaysDeny,Node,RBAC") as api:
        _, refused = await api.as_user(NODE).ask("GET", "/api/v1/namespaces/default/secrets/x")
    who = 'User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "default"'
    assert refused["message"] == (
        f'secrets "x" is forbidden: {who}: alwaysdeny: Everything is forbidden.\n'
        "node: no relationship found between node 'n1' and this object"
    )


async def test_roles_are_not_given_away_even_where_they_do_not_count() -> None:
    role = {"metadata": {"name": "r"}, "rules": [rule("*", "*", "*")]}
    async with served("AlwaysAllow") as api:
        assert (await api.as_user(BOB).send("POST", f"{RBAC}/clusterroles", role)).status == 201
    async with served("Node") as api:
        assert (await api.as_user(BOB).send("POST", f"{RBAC}/clusterroles", role)).status == 403


@pytest.mark.parametrize("text", ["", "rbac", "RBAC,,Node", "RBAC,RBAC", "Abac"])
def test_modes_that_are_none(text: str) -> None:
    with pytest.raises(ConfigError, match="--authorization-mode"):
        parse_modes(text)
