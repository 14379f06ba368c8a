"""The health paths: kube-apiserver's texts, byte for byte."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from hardpoint.machinery.errors import ApiError, StoreError
from hardpoint.machinery.messages import Request, Response
from hardpoint.serving import health
from hardpoint.serving.health import Health

Ask = Callable[[Health, str], "asyncio.Future[Response]"]


async def well() -> None: ...


async def broken() -> None:
    raise StoreError("the disk is gone")


async def hangs() -> None:
    await asyncio.Event().wait()


@pytest.fixture
def checks() -> Health:
    checks = Health()
    checks.add("etcd", well)
    checks.add("informer-sync", well, live=False)
    return checks


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping", "/readyz/informer-sync"])
async def test_all_is_well(checks: Health, request_for: Callable[..., Request], path: str) -> None:
    answer = await _ask(checks, request_for(path))
    assert (answer.status, answer.body, answer.content_type) == (200, b"ok", "text/plain; charset=utf-8")


@pytest.mark.parametrize(
    ("url", "body"),
    [
        pytest.param("/livez?verbose", "[+]ping ok\n[+]log ok\n[+]etcd ok\nlivez check passed\n", id="live"),
        pytest.param(
            "/readyz?verbose=1",
            "[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]informer-sync ok\nreadyz check passed\n",
            id="ready asks more",
        ),
        pytest.param(
            "/healthz?verbose&exclude=log&exclude=etcd",
            "[+]ping ok\n[+]log excluded: ok\n[+]etcd excluded: ok\nhealthz check passed\n",
            id="left out",
        ),
        pytest.param(
            "/livez?verbose&exclude=moon&exclude=a%0Ab",
            "[+]ping ok\n[+]log ok\n[+]etcd ok\n"
            'warn: some health checks cannot be excluded: no matches for "a\\nb","moon"\nlivez check passed\n',
            id="nothing to leave out",
        ),
    ],
)
async def test_verbose(checks: Health, request_for: Callable[..., Request], url: str, body: str) -> None:
    answer = await _ask(checks, request_for(url))
    assert (answer.status, answer.body.decode()) == (200, body)


async def test_a_failure_is_named_and_its_reason_withheld(checks: Health, request_for: Callable[..., Request]) -> None:
    checks.add("etcd", broken)
    answer = await _ask(checks, request_for("/livez"))
    assert answer.status == 500
    assert answer.body == b"[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\nlivez check failed\n"


async def test_a_failing_check_tells_its_reason_on_its_own_path(
    checks: Health, request_for: Callable[..., Request]
) -> None:
    checks.add("etcd", broken)
    answer = await _ask(checks, request_for("/readyz/etcd"))
    assert (answer.status, answer.body) == (500, b"internal server error: the disk is gone\n")


async def test_what_is_left_out_cannot_fail(checks: Health, request_for: Callable[..., Request]) -> None:
    checks.add("etcd", broken)
    assert (await _ask(checks, request_for("/livez?exclude=etcd"))).status == 200


async def test_a_check_that_hangs_has_failed(
    checks: Health, request_for: Callable[..., Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "PATIENCE_SECONDS", 0.01)
    checks.add("etcd", hangs)
    assert (await _ask(checks, request_for("/readyz"))).status == 500
    assert (await _ask(checks, request_for("/readyz/etcd"))).body == b"internal server error: no answer in 0.01 s\n"


async def test_a_hook_fails_until_it_is_finished(checks: Health, request_for: Callable[..., Request]) -> None:
    finish = checks.hook("rbac/bootstrap-roles")
    waiting = await _ask(checks, request_for("/readyz"))
    assert b"[-]poststarthook/rbac/bootstrap-roles failed: reason withheld\n" in waiting.body
    finish()
    assert (await _ask(checks, request_for("/readyz/poststarthook/rbac/bootstrap-roles"))).body == b"ok"


@pytest.mark.parametrize("path", ["/livez/moon", "/livez/informer-sync", "/health", "/"])
async def test_other_paths_are_left_to_others(checks: Health, request_for: Callable[..., Request], path: str) -> None:
    assert await checks.respond(request_for(path)) is None


async def test_health_cannot_be_written(checks: Health, request_for: Callable[..., Request]) -> None:
    with pytest.raises(ApiError) as refused:
        await checks.respond(request_for("/livez", method="POST"))
    assert refused.value.code == 405


def test_every_path_is_listed(checks: Health) -> None:
    paths = checks.paths()
    assert {"/healthz", "/livez/etcd", "/readyz/informer-sync"} <= set(paths)
    assert "/livez/informer-sync" not in paths


async def _ask(checks: Health, request: Request) -> Response:
    answer = await checks.respond(request)
    assert answer is not None
    return answer
