"""Which connection carries the next request: one that is idle, else a new one.

Connections belong to the client certificate they were opened with; a new certificate retires them.
"""

from __future__ import annotations

import asyncio
import ssl

from hardpoint.client.connection import Connection
from hardpoint.client.credentials import ClientCertificate
from hardpoint.client.endpoint import Endpoint
from hardpoint.client.tls import client_context
from hardpoint.client.transport import Closed, TimedOut, Unreachable

# Shorter than servers keep idle connections, so that they rarely close one just as we use it.
IDLE_SECONDS_MAX = 30.0
IDLE_MAX = 32


class Pool:
    """Connections to one endpoint."""

    def __init__(self, endpoint: Endpoint, *, connect_seconds: float) -> None:
        self._endpoint = endpoint
        self._connect_seconds = connect_seconds
        self._certificate: ClientCertificate | None = None
        self._context: ssl.SSLContext | None = None
        self._idle: list[Connection] = []
        self._busy: dict[Connection, ClientCertificate | None] = {}
        self._is_closed = False

    async def take(self, certificate: ClientCertificate | None) -> Connection:
        """A connection for one exchange; hand it back with `give_back`. Raises TransportError, ConfigError."""
        if certificate is not self._certificate and certificate != self._certificate:
            self._retire_idle()
            self._certificate, self._context = certificate, None
        connection = self._take_idle() or await self._connect()
        if self._is_closed:
            connection.abort()
            raise Closed(self._endpoint.url, "the client was closed")
        self._busy[connection] = certificate
        return connection

    def give_back(self, connection: Connection) -> None:
        """The exchange is over: keep the connection for the next one if it can carry one."""
        if connection not in self._busy:
            return
        opened_with = self._busy.pop(connection)
        if connection.is_reusable and opened_with == self._certificate and len(self._idle) < IDLE_MAX:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)
        else:
            connection.abort()

    def close(self) -> None:
        """Close all connections, those in use too, and open no more."""
        self._is_closed = True
        self._retire_idle()
        for connection in self._busy:
            connection.abort()
        self._busy.clear()

    def _take_idle(self) -> Connection | None:
        oldest = asyncio.get_running_loop().time() - IDLE_SECONDS_MAX
        while self._idle:
            connection = self._idle.pop()
            if connection.is_reusable and connection.idle_since > oldest:
                return connection
            connection.abort()
        return None

    def _retire_idle(self) -> None:
        while self._idle:
            self._idle.pop().abort()

    async def _connect(self) -> Connection:
        endpoint = self._endpoint
        loop = asyncio.get_running_loop()
        if endpoint.scheme == "https" and self._context is None:
            self._context = client_context(endpoint, self._certificate)
        name = (endpoint.tls_server_name or endpoint.host) if self._context else None
        try:
            async with asyncio.timeout(self._connect_seconds):
                _, connection = await loop.create_connection(
                    lambda: Connection(endpoint.url),
                    endpoint.host,
                    endpoint.port,
                    ssl=self._context,
                    server_hostname=name,
                )
        except TimeoutError as cause:
            raise TimedOut(endpoint.url, f"no connection within {self._connect_seconds:g} s") from cause
        except ssl.SSLCertVerificationError as cause:
            why = f"its certificate is not trusted: {cause.verify_message}"
            raise Unreachable(endpoint.url, f"{why}; check the cluster's certificate-authority-data") from cause
        except OSError as cause:
            raise Unreachable(endpoint.url, f"no connection: {cause.strerror or cause}") from cause
        return connection
