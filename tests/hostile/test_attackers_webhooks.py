"""Webhooks that hang, redirect, lie, flood or are somebody else: each is refused in its time, and nobody else waits."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import time
from collections.abc import AsyncIterator, Callable
from statistics import median

import orjson
import pytest
import pytest_asyncio

from hardpoint.machinery.messages import Request, Response
from tests.chaos.wire import Answer, Wire
from tests.hostile.besieged import ADVISED, HERS, JUDGED, VAULT, Besieged
from tests.hostile.strangers import FLOOD_BYTES, MISBEHAVIOURS

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("siege")]

NEVER_ENDING = ("hang", "drip")
IMPOSTORS = ("expired", "wrong-name", "strangers", "self-signed", "a-clients", "plain")
ASKED_AGAIN = ("answers-500",)
"""What is asked again after a while, as kube-apiserver does."""
PROMPT_SECONDS_MAX = 3.0
"""More than the second that a webhook of this cluster has, on a machine that is busy with other things."""
ASKED_AGAIN_SECONDS_MAX = 10.0
UNDECIDED = 500
"""What kube-apiserver answers as well if nobody allows a request and somebody who should decide could not."""
UNAUTHORIZED = b'"reason":"Unauthorized"'


def seconds_max(misbehaviour: str) -> float:
    return ASKED_AGAIN_SECONDS_MAX if misbehaviour in ASKED_AGAIN else PROMPT_SECONDS_MAX


@pytest_asyncio.fixture(scope="module", loop_scope="session", autouse=True)
async def roles(siege: Besieged) -> None:
    """Whoever webhooks decide about may read ConfigMaps as far as roles are concerned, and no Secrets."""
    read = {"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"]}
    group = {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "judged"}
    await siege.allow("judged", group, read, namespace="hers")


async def asked(siege: Besieged, user: str, path: str, seconds: float) -> Answer:
    async with asyncio.timeout(seconds):
        return await siege.ask(siege.person(user, "judged"), "GET", path)


@pytest.mark.parametrize("misbehaviour", MISBEHAVIOURS)
async def test_a_webhook_that_decides(siege: Besieged, misbehaviour: str) -> None:
    """Where its failure means no, roles are not even asked; where it means nothing, roles decide as if it were not."""
    seconds = seconds_max(misbehaviour)
    answers = await asyncio.gather(
        asked(siege, JUDGED + misbehaviour, f"{VAULT}/secrets/s", seconds),
        asked(siege, JUDGED + misbehaviour, f"{HERS}/configmaps/open", seconds),
        asked(siege, ADVISED + misbehaviour, f"{VAULT}/secrets/s", seconds),
        asked(siege, ADVISED + misbehaviour, f"{HERS}/configmaps/open", seconds),
    )
    assert [answer.status for answer in answers] == [UNDECIDED, UNDECIDED, UNDECIDED, 200]


@pytest.mark.parametrize("impostor", IMPOSTORS)
async def test_a_webhook_that_is_somebody_else(siege: Besieged, impostor: str) -> None:
    answer = await asked(siege, f"impostor:{impostor}", f"{HERS}/configmaps/open", PROMPT_SECONDS_MAX)
    assert answer.status == UNDECIDED


async def test_a_webhook_that_says_yes(siege: Besieged) -> None:
    """Else the refusals would prove nothing."""
    for user in (f"{JUDGED}honestly", f"{ADVISED}honestly"):
        assert (await asked(siege, user, f"{VAULT}/secrets/s", PROMPT_SECONDS_MAX)).status == 200


@pytest.mark.parametrize("misbehaviour", [name for name in MISBEHAVIOURS if name not in NEVER_ENDING])
async def test_a_webhook_that_knows_tokens(siege: Besieged, misbehaviour: str) -> None:
    token = f"{misbehaviour}.{siege.canaries.make('a token for a webhook')}"
    async with asyncio.timeout(seconds_max(misbehaviour)):
        answer = await siege.ask(siege.nobody, "GET", "/api", authorization=f"Bearer {token}")
    assert answer.status == 401
    assert UNAUTHORIZED in answer.body


async def test_a_webhook_that_knows_a_token(siege: Besieged) -> None:
    token = f"good.{siege.canaries.make('a token that a webhook knows')}"
    status, user = await siege.whoami(siege.nobody, authorization=f"Bearer {token}")
    assert (status, user["username"]) == (201, "hook:good")


DOCUMENT, KEYS, MOVED = "/.well-known/openid-configuration", "/keys", "/moved"


def _redirect(siege: Besieged) -> Response:
    return Response(302, _keys(siege), headers=(("Location", siege.other_issuer.url + MOVED),))


def _keys(siege: Besieged) -> bytes:
    return orjson.dumps({"keys": [key.jwk() for key in siege.other_issuer.keys]})


def _leading(siege: Besieged, address: str) -> Response:
    return Response(200, orjson.dumps({"issuer": siege.other_issuer.url, "jwks_uri": address}))


ISSUERS: dict[str, tuple[str, Callable[[Besieged], Response]]] = {
    "redirects": (DOCUMENT, _redirect),
    "redirects to its keys": (KEYS, _redirect),
    "leads to keys without TLS": (DOCUMENT, lambda siege: _leading(siege, f"http://{_elsewhere(siege)}/keys")),
    "leads to keys of one that is not trusted": (
        DOCUMENT,
        lambda siege: _leading(siege, f"https://{_elsewhere(siege)}/keys"),
    ),
    "is another": (DOCUMENT, lambda siege: Response(200, orjson.dumps({"issuer": "x", "jwks_uri": "https://x"}))),
    "sends 5 MB": (KEYS, lambda siege: Response(200, _keys(siege) + b" " * FLOOD_BYTES)),
    "compresses": (
        KEYS,
        lambda siege: Response(200, gzip.compress(_keys(siege)), headers=(("Content-Encoding", "gzip"),)),
    ),
    "fails": (KEYS, lambda siege: Response(500, _keys(siege))),
}
"""Each holds the keys that an honest one would send. There are as many as a cluster may fetch in a row, less two."""


def _elsewhere(siege: Besieged) -> str:
    return f"127.0.0.1:{siege.hooks.elsewhere.port}"


@pytest.mark.parametrize("way", ISSUERS)
async def test_an_issuer_that(siege: Besieged, way: str) -> None:
    path, respond = ISSUERS[way]
    issuer = siege.other_issuer

    async def misbehave(_: Request) -> Response:
        return respond(siege)

    issuer.asked.clear()
    issuer.answers[path] = misbehave
    token = siege.canaries.add_token(f"a token of an issuer that {way}", issuer.token())
    async with asyncio.timeout(PROMPT_SECONDS_MAX):
        assert (await siege.whoami(siege.nobody, authorization=f"Bearer {token}"))[0] == 401
    assert path in issuer.asked
    assert MOVED not in issuer.asked
    del issuer.answers[path]


async def test_an_issuer_that_behaves_again(siege: Besieged) -> None:
    token = siege.canaries.add_token("a token of an issuer", siege.other_issuer.token())
    assert (await siege.whoami(siege.nobody, authorization=f"Bearer {token}"))[0] == 201


HANGING = 100
OTHERS_SECONDS_MAX = 1.0
"""For the slowest of a hundred, on a machine that is busy with other things; in the middle it is a few milliseconds."""
OTHERS_MEDIAN_SECONDS_MAX = 0.1


@pytest_asyncio.fixture(loop_scope="session")
async def hanging(siege: Besieged) -> AsyncIterator[list[Wire]]:
    """So many requests that wait for a webhook which never answers, each with a token and a connection of its own."""
    wires = [await Wire.open(siege.server, siege.nobody) for _ in range(HANGING)]
    for number, wire in enumerate(wires):
        misbehaviour = NEVER_ENDING[number % len(NEVER_ENDING)]
        token = f"{misbehaviour}.{siege.canaries.make('a token that nobody answers for')}"
        wire.send("GET", "/api", Authorization=f"Bearer {token}")
    yield wires
    for wire in wires:
        wire.cut()


async def test_others_do_not_wait_for_a_webhook_that_hangs(siege: Besieged, hanging: list[Wire]) -> None:
    nora = siege.person("nora-who-waits")
    seconds: list[float] = []
    for who, path in ((None, f"{VAULT}/secrets/s"), (nora, "/api"), (siege.nobody, "/readyz")) * 34:
        seconds.append(await _seconds(siege, who, path))
    assert max(seconds) < OTHERS_SECONDS_MAX, sorted(seconds)[-5:]
    assert median(seconds) < OTHERS_MEDIAN_SECONDS_MAX
    # A token that somebody does know is not behind them in a queue either.
    token = f"good.{siege.canaries.make('a token beside those that hang')}"
    async with asyncio.timeout(PROMPT_SECONDS_MAX):
        assert (await siege.whoami(siege.nobody, authorization=f"Bearer {token}"))[0] == 201


async def _seconds(siege: Besieged, who: ssl.SSLContext | None, path: str) -> float:
    started = time.monotonic()
    assert (await siege.ask(who, "GET", path)).status == 200
    return time.monotonic() - started


@pytest.mark.chaos
async def test_a_webhook_that_never_answers_is_given_up(siege: Besieged, hanging: list[Wire]) -> None:
    async with asyncio.timeout(35):
        for wire in hanging:
            assert (await wire.answer()).status == 401


async def test_nobody_was_sent_elsewhere(siege: Besieged) -> None:
    assert siege.hooks.elsewhere.connections == 0
    assert siege.hooks.elsewhere.asked == []
