"""The author's side of the authentication seam: what a function returns, and what is answered."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hardpoint import App
from hardpoint.authentication import Identified, User
from hardpoint.client.webhook import Webhook
from hardpoint.machinery.errors import ApiError, ConfigError
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.serving import Place, serving
from hardpoint.seams.authentication.guest import NOT_CHECKED, AuthenticatorGuest
from hardpoint.seams.authentication.host import WebhookAuthenticator
from tests.seams.kubeconfigs import endpoint_of

TOKEN = "s3cr3t-t0k3n"
JANE = User("jane", ("dev",), "42", {"team": ("a",)})


def asked(token: Any = TOKEN, version: str = "v1", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"authentication.k8s.io/{version}",
        "kind": "TokenReview",
        "spec": {"token": token, **spec},
    }


def known(token: str) -> User | None:
    return JANE if token == TOKEN else None


async def known_async(token: str) -> User | None:
    return known(token)


@pytest.mark.parametrize("function", [known, known_async])
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_a_user_and_nobody(function: Any, version: str) -> None:
    guest = AuthenticatorGuest(function, path="/a")
    yes, no = await guest.answer(asked(version=version)), await guest.answer(asked("other", version))
    info = {"username": "jane", "uid": "42", "groups": ["dev"], "extra": {"team": ["a"]}}
    assert yes == {
        "apiVersion": f"authentication.k8s.io/{version}",
        "kind": "TokenReview",
        "status": {"authenticated": True, "user": info},
    }
    assert no["status"] == {"authenticated": False}


@pytest.mark.parametrize(
    ("returned", "wanted", "status"),
    [
        pytest.param(JANE, ["a", "b"], ["a", "b"], id="a user is good for all"),
        pytest.param(Identified(JANE, ("b",)), ["a", "b"], ["b"], id="some"),
        pytest.param(Identified(JANE, ("c",)), ["a", "b"], None, id="none of them"),
        pytest.param(Identified(JANE, ("c",)), [], [], id="none asked for"),
    ],
)
async def test_a_function_that_knows_audiences(returned: Any, wanted: list[str], status: list[str] | None) -> None:
    told: list[Sequence[str]] = []

    async def by_audience(token: str, audiences: Sequence[str]) -> Any:
        told.append(audiences)
        return returned

    answer = (await AuthenticatorGuest(by_audience, path="/a").answer(asked(audiences=wanted)))["status"]
    assert told == [tuple(wanted)]
    assert answer["authenticated"] is (status is not None)
    assert answer.get("audiences", []) == (status or [])


async def test_a_function_that_knows_no_audiences_names_none() -> None:
    answer = await AuthenticatorGuest(known_async, path="/a").answer(asked(audiences=["a"]))
    assert answer["status"]["authenticated"]
    assert "audiences" not in answer["status"]


@pytest.mark.parametrize(
    "returned",
    [
        {"username": "jane"},
        "jane",
        True,
        User(""),
        User("jane", "dev"),  # type: ignore[arg-type]  # that is the point
        User("jane", (7,)),  # type: ignore[arg-type]
        User("jane", (), 7),  # type: ignore[arg-type]
        User("jane", extra={"team": "a"}),  # type: ignore[dict-item]
    ],
    ids=repr,
)
async def test_what_is_no_user_lets_nobody_in_and_is_told_to_the_author(
    returned: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def careless(token: str) -> Any:
        return returned

    answer = await AuthenticatorGuest(careless, path="/a").answer(asked())
    assert answer["status"] == {"authenticated": False, "error": NOT_CHECKED}
    assert "returned a" in vars(caplog.records[0])["error"]


async def test_a_function_that_fails_lets_nobody_in_and_leaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    badges: dict[str, User] = {}
    guest = AuthenticatorGuest(lambda token: badges[token], path="/a")
    answer = await guest.answer(asked())
    assert answer["status"] == {"authenticated": False, "error": NOT_CHECKED}
    assert TOKEN not in caplog.text + str([vars(record) for record in caplog.records])


@pytest.mark.parametrize(
    "review",
    [
        {},
        {**asked(), "kind": "Pod"},
        {**asked(), "apiVersion": "authentication.k8s.io/v2"},
        {**asked(), "spec": None},
        asked(7),
        asked(audiences="a"),
        asked(audiences=[7]),
    ],
    ids=str,
)
async def test_what_is_no_review_is_refused_without_its_values(review: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as refused:
        await AuthenticatorGuest(known, path="/a").answer(review)
    assert refused.value.code == 400
    assert TOKEN not in str(refused.value)


async def test_the_empty_token_is_nobodys_and_no_function_is_asked() -> None:
    async def anybody(token: str) -> User:
        return JANE

    assert (await AuthenticatorGuest(anybody, path="/a").answer(asked("")))["status"] == {"authenticated": False}


@pytest.mark.parametrize("function", [lambda: None, lambda a, b, c: None, lambda *, token: None], ids=["0", "3", "kw"])
def test_a_function_that_cannot_be_asked_is_refused_when_it_is_registered(function: Any) -> None:
    with pytest.raises(ConfigError, match=r"test_guest.py:\d+: @app.authenticator: .* must take \(token\), or"):
        App("test").authenticator(function)


async def test_host_and_guest_over_real_tls(tmp_path: Path) -> None:
    app = App("badges")
    app.authenticator(known)
    async with serving([app], Trust(tmp_path / "pki"), Place(port=0)) as served:
        (guest,) = served.guests.values()
        endpoint = endpoint_of(served.config(guest), tmp_path)
        authenticator = WebhookAuthenticator(Webhook("authentication", endpoint))
        assert await authenticator.identify(TOKEN, ()) == Identified(JANE)
        assert await authenticator.identify("other", ()) is None
        await authenticator.close()
