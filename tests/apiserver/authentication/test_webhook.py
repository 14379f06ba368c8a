"""Tokens that nobody here knows go to the webhook, and what it says counts like everything else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.apiserver.authentication.options import AuthenticationOptions, WebhookOptions
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import Request, Response
from hardpoint.serving import serve
from hardpoint.serving.certificates import Wanted, ensure
from hardpoint.serving.tls import serving_context
from tests.apiserver.authentication.accounts import ISSUER, make_account, review, token_of, who
from tests.apiserver.authentication.conftest import serving

Json = dict[str, Any]

USER = {"username": "carol", "uid": "9", "groups": ["ops"], "extra": {"example.com/team": ["a"]}}


@asynccontextmanager
async def running_webhook(folder: Path, asked: list[Json]) -> AsyncIterator[Path]:
    """A webhook that knows one token. Yields the kubeconfig-format file that leads to it."""
    wanted = (
        Wanted("ca", "ca", "webhooks", "authority"),
        Wanted("webhook", "ca", "webhook", "server", names=("127.0.0.1",)),
    )
    pki = ensure(folder / "pki", wanted, datetime.now(UTC))

    async def answer(request: Request) -> Response:
        review = orjson.loads(request.body)
        asked.append(review["spec"])
        knows = review["spec"]["token"] == "webhooks-own"
        status = {"authenticated": True, "user": USER} if knows else {"authenticated": False}
        return Response(200, orjson.dumps({**review, "status": status}))

    context = serving_context(pki.certificate("webhook"), pki.key("webhook"), None)
    async with await serve(answer, ssl_context=context) as server:
        cluster = {
            "server": f"https://127.0.0.1:{server.port}/ask",
            "certificate-authority": str(pki.certificate("ca")),
        }
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "hook", "cluster": cluster}],
            "users": [{"name": "us", "user": {}}],
            "contexts": [{"name": "hook", "context": {"cluster": "hook", "user": "us"}}],
            "current-context": "hook",
        }
        file = folder / "webhook.kubeconfig"
        file.write_bytes(orjson.dumps(config))
        yield file


async def test_the_webhook_is_asked_last(tmp_path: Path) -> None:
    asked: list[Json] = []
    async with running_webhook(tmp_path, asked) as file:
        options = AuthenticationOptions(webhook=WebhookOptions(file))
        async with serving(options) as api:
            await make_account(api)
            ours = await token_of(api)
            assert (await who(api, ours))[0] == 201
            assert asked == [], "what is ours is nobody else's business"
            status, user = await who(api, "webhooks-own")
            assert (status, user) == (201, {**USER, "groups": ["ops", "system:authenticated"]})
            assert asked == [{"token": "webhooks-own", "audiences": [ISSUER]}]
            assert (await review(api, "webhooks-own"))["audiences"] == [ISSUER]
            assert len(asked) == 1, "it is remembered"
            assert (await who(api, "nobody"))[0] == 401


async def test_a_webhook_without_a_file(tmp_path: Path) -> None:
    options = AuthenticationOptions(webhook=WebhookOptions(tmp_path / "gone"))
    with pytest.raises(ConfigError, match="gone"):
        async with serving(options):
            pass
