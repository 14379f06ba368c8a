"""Static and bootstrap tokens, the memory of tokens that were good, and the webhook that is asked last."""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.apiserver.authentication.options import AuthenticationOptions
from hardpoint.apiserver.authentication.token_cache import TokenCache
from hardpoint.apiserver.authentication.token_file import TokenFile
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import User
from hardpoint.seams.authentication.contract import Identified, RefusedCredential
from tests.apiserver.asking import Api
from tests.apiserver.authentication.accounts import ISSUER, review, who
from tests.apiserver.authentication.conftest import serving

Json = dict[str, Any]

TOKENS = 'sesame,alice,42,"dev,ops"\nopen,bob,43\n\n,nobody,44\nempty,carol,45,""\n'


@pytest.fixture
async def known(tmp_path: Path) -> AsyncIterator[Api]:
    """A server with static tokens."""
    file = tmp_path / "tokens.csv"
    file.write_text(TOKENS)
    async with serving(AuthenticationOptions(token_file=file)) as api:
        yield api


@pytest.mark.parametrize(
    ("token", "user"),
    [
        ("sesame", {"username": "alice", "uid": "42", "groups": ["dev", "ops", "system:authenticated"]}),
        ("open", {"username": "bob", "uid": "43", "groups": ["system:authenticated"]}),
        ("empty", {"username": "carol", "uid": "45", "groups": ["system:authenticated"]}),
    ],
)
async def test_static_tokens(known: Api, token: str, user: Json) -> None:
    assert await who(known, token) == (201, user)
    assert (await review(known, token))["audiences"] == [ISSUER]
    assert await review(known, token, "vault") == {"user": {}, "error": "invalid bearer token"}


@pytest.mark.parametrize("token", ["Sesame", "sesam", "sesame1", "alice", "sesame,alice", "\udcff"])
async def test_almost_is_not_enough(known: Api, token: str) -> None:
    assert (await who(known, token))[0] == 401


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"secret-canary,alice\n", r"line 1 must have at least 3 columns \(token, user name, user uid\), and has 2"),
        (b'"secret-canary', "it is not a CSV file in UTF-8"),
        (b"secret-canary,\xff,1", "it is not a CSV file in UTF-8"),
    ],
)
def test_token_files_that_cannot_be_read(tmp_path: Path, text: bytes, words: str) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(text)
    with pytest.raises(ConfigError, match=words) as caught:
        TokenFile(file)
    assert "secret-canary" not in str(caught.value)
    with pytest.raises(ConfigError, match="No such file"):
        TokenFile(tmp_path / "gone")


SECRETS = "/api/v1/namespaces/kube-system/secrets"
TOKEN = "abcdef.0123456789abcdef"


def bootstrap(**changed: str | None) -> Json:
    """The Secret of a bootstrap token, with some of its data changed or left out."""
    data = {
        "token-id": "abcdef",
        "token-secret": "0123456789abcdef",
        "expiration": "2999-01-01T00:00:00Z",
        "usage-bootstrap-authentication": "true",
        "auth-extra-groups": "system:bootstrappers:workers,system:bootstrappers:a",
    }
    told = {**data, **{name.replace("_", "-"): value for name, value in changed.items()}}
    encoded = {name: b64encode(value.encode()).decode() for name, value in told.items() if value is not None}
    return {"metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token", "data": encoded}


async def test_bootstrap_tokens(api: Api) -> None:
    await api.ok("POST", SECRETS, bootstrap())
    groups = ["system:bootstrappers", "system:bootstrappers:a", "system:bootstrappers:workers", "system:authenticated"]
    assert await who(api, TOKEN) == (201, {"username": "system:bootstrap:abcdef", "groups": groups})
    for other in ("abcdef.0123456789abcdee", "abcdeg.0123456789abcdef", "ABCDEF.0123456789abcdef", f"{TOKEN}0"):
        assert (await who(api, other))[0] == 401


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"expiration": "2020-01-01T00:00:00Z"}, id="over"),
        pytest.param({"expiration": "tomorrow"}, id="an end nobody understands"),
        pytest.param({"usage_bootstrap_authentication": "false"}, id="for something else"),
        pytest.param({"usage_bootstrap_authentication": None}, id="for nothing"),
        pytest.param({"token_id": "other1"}, id="another id"),
        pytest.param({"token_secret": None}, id="no secret"),
        pytest.param({"auth_extra_groups": "system:masters"}, id="groups of others"),
        pytest.param({"auth_extra_groups": "system:bootstrappers:a,system:masters"}, id="a group of others"),
    ],
)
async def test_bootstrap_tokens_that_are_not_good(
    api: Api, changed: dict[str, str | None], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await api.ok("POST", SECRETS, bootstrap(**changed))
    assert (await who(api, TOKEN))[0] == 401
    assert "0123456789abcdef" not in "\n".join(str(record.__dict__) for record in caplog.records)


async def test_a_bootstrap_token_without_an_end_and_groups(api: Api) -> None:
    await api.ok("POST", SECRETS, bootstrap(expiration=None, auth_extra_groups=None))
    assert (await who(api, TOKEN))[1]["groups"] == ["system:bootstrappers", "system:authenticated"]
    await api.ok("DELETE", f"{SECRETS}/bootstrap-token-abcdef")
    assert await api.server.hub.wait_until_reached(await api.server.hub._store.revision(), seconds=5)
    assert (await who(api, TOKEN))[0] == 401


async def test_a_secret_of_another_type_is_no_token(api: Api) -> None:
    await api.ok("POST", SECRETS, {**bootstrap(), "type": "Opaque"})
    assert (await who(api, TOKEN))[0] == 401


async def test_bootstrap_tokens_can_be_switched_off() -> None:
    async with serving(AuthenticationOptions(bootstrap_tokens=False)) as api:
        await api.ok("POST", SECRETS, bootstrap())
        assert (await who(api, TOKEN))[0] == 401


class Book:
    """Knows what is written in it, and counts who looks."""

    def __init__(self) -> None:
        self.users: dict[str, User] = {}
        self.looks = 0

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
        self.looks += 1
        if token == "bad":
            raise RefusedCredential("it is bad")
        user = self.users.get(token)
        return Identified(user, rests_on=(f"user/{user.name}",)) if user else None


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_good_tokens_are_remembered_for_a_while() -> None:
    book, clock = Book(), Clock()
    book.users["t"] = User("jane")
    cache = TokenCache(book, seconds=10, clock=clock)
    for _ in range(5):
        assert await cache.identify("t", ("a",)) == Identified(User("jane"), rests_on=("user/jane",))
    assert book.looks == 1
    assert await cache.identify("t", ("b",)) is not None
    assert book.looks == 2, "for another audience it is another question"
    clock.now = 10.0
    assert await cache.identify("t", ("a",)) is not None
    assert book.looks == 3


async def test_failures_are_not_remembered() -> None:
    book = Book()
    cache = TokenCache(book)
    assert await cache.identify("t", ()) is None
    with pytest.raises(RefusedCredential):
        await cache.identify("bad", ())
    book.users["t"] = User("jane")
    assert await cache.identify("t", ()) is not None
    assert len(cache) == 1


async def test_what_an_identity_rests_on_takes_it_along() -> None:
    book = Book()
    book.users |= {"1": User("jane"), "2": User("jane"), "3": User("joe")}
    cache = TokenCache(book)
    for token in book.users:
        await cache.identify(token, ())
    cache.forget("user/jane")
    assert len(cache) == 1
    cache.forget_all()
    assert len(cache) == 0


@pytest.mark.parametrize(("changed", "remembered"), [("user/jane", 0), ("user/joe", 1), ("", 0)])
async def test_what_changes_while_a_token_is_looked_at(changed: str, remembered: int) -> None:
    """What it rests on may have been found out before it changed; what others rest on does not matter."""
    book = Book()
    book.users["t"] = User("jane")

    class Meanwhile(Book):
        async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
            found = await book.identify(token, audiences)
            if changed:
                cache.forget(changed)
            else:
                cache.forget_all()
            return found

    cache = TokenCache(Meanwhile())
    assert await cache.identify("t", ()) is not None
    assert len(cache) == remembered
    assert not cache._changed, "nobody looks any more"


@given(st.lists(st.integers(0, 30), max_size=100), st.integers(1, 8))
async def test_the_memory_has_bounds(tokens: list[int], size: int) -> None:
    book = Book()
    book.users = {str(number): User(f"u{number % 3}") for number in range(31)}
    cache = TokenCache(book, entries_max=size)
    for number in tokens:
        await cache.identify(str(number), ())
        assert len(cache) <= size
    resting = {key for keys in cache._resting.values() for key in keys}
    assert resting == set(cache._entries), "nothing is followed for nobody"


async def test_the_memory_holds_no_tokens() -> None:
    book = Book()
    book.users["secret-canary"] = User("jane")
    cache = TokenCache(book)
    await cache.identify("secret-canary", ())
    assert "secret-canary" not in repr(cache.__dict__["_entries"])
