"""What a kubelet and a scraper ask of a controller: `/healthz`, `/readyz` and `/metrics`, over plain HTTP.

    async with observed(metrics, health, metrics_address="127.0.0.1:8080", health_address=":8081"):
        ...

Addresses are controller-runtime's: `host:port`, `:port` for every address of the machine, `0` for none; where both are
the same, one socket answers both. By default nobody but the machine itself can ask. Nothing here is secret, but then
nothing here can be changed either: whatever is no such question is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from hardpoint.machinery.errors import ApiError, ConfigError
from hardpoint.machinery.exposition import CONTENT_TYPE
from hardpoint.machinery.messages import Request, Response
from hardpoint.runtime.controllermetrics import ControllerMetrics
from hardpoint.serving import HttpServer, Limits, serve
from hardpoint.serving.health import TEXT, Health

METRICS_ADDRESS = "127.0.0.1:8080"
HEALTH_ADDRESS = "127.0.0.1:8081"
NOWHERE = "0"
EVERYWHERE = "0.0.0.0"  # noqa: S104 # only where somebody says so
PORT_MAX = 65535
LIMITS = Limits(
    body_bytes_max=4096, framing_bytes_spare=4096, head_bytes_max=16 * 1024, headers_max=100, connections_max=100
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    host: str
    port: int

    @staticmethod
    def parse(text: str) -> Address | None:
        """`host:port`, `[::1]:port` or `:port`; None for `0`, which means nowhere. Raises ConfigError."""
        if text == NOWHERE:
            return None
        host, colon, port = text.rpartition(":")
        bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        is_port = port.isascii() and port.isdecimal() and int(port) <= PORT_MAX
        if not (colon and is_port) or (":" in host and bare == host):
            raise ConfigError(f"{text!r} is no address; write host:port, or :port for every address, or 0 for none")
        return Address(bare or EVERYWHERE, int(port))


@asynccontextmanager
async def observed(
    metrics: ControllerMetrics,
    health: Health,
    *,
    metrics_address: str = METRICS_ADDRESS,
    health_address: str = HEALTH_ADDRESS,
) -> AsyncIterator[Mapping[str, int]]:
    """Answer until left. Yields the ports that are listened on, by `metrics` and `health`. Raises ConfigError."""
    wanted = {"metrics": Address.parse(metrics_address), "health": Address.parse(health_address)}
    askable: dict[Address, _Askable] = {}
    for what, address in wanted.items():
        if address is not None:
            answers = askable.setdefault(address, _Askable())
            answers.metrics = metrics if what == "metrics" else answers.metrics
            answers.health = health if what == "health" else answers.health
    async with AsyncExitStack() as stack:
        ports = {
            address: (await stack.enter_async_context(await _serve(answers, address))).port
            for address, answers in askable.items()
        }
        yield {what: ports[address] for what, address in wanted.items() if address is not None}


@dataclass(slots=True)
class _Askable:
    """What can be asked at one address."""

    metrics: ControllerMetrics | None = None
    health: Health | None = None

    async def handle(self, request: Request) -> Response:
        try:
            if self.health is not None and (answer := await self.health.respond(request)) is not None:
                return answer
        except ApiError as refused:
            return Response(refused.code, f"{refused.message}\n".encode(), TEXT)
        if self.metrics is not None and request.path == "/metrics":
            if request.method not in ("GET", "HEAD"):
                return Response(405, b"only GET is answered here\n", TEXT)
            return Response(200, self.metrics.render(), CONTENT_TYPE)
        return Response(404, b"404 page not found\n", TEXT)


async def _serve(answers: _Askable, address: Address) -> HttpServer:
    try:
        return await serve(answers.handle, host=address.host, port=address.port, ssl_context=None, limits=LIMITS)
    except OSError as cause:
        where = f"{address.host} port {address.port}"
        raise ConfigError(f"cannot listen on {where}: {cause.strerror}; another address, or 0, helps") from cause
