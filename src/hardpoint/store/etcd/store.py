"""The contract kept by etcd: reads are linearizable, writes are transactions that compare one key's revision.

Everything else that etcd can do is left to others who share it: keys under the prefix asked for are all we look at.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NoReturn

import grpc
import grpc.aio

from hardpoint.machinery.errors import ConfigError, StoreError
from hardpoint.store.contract import (
    Compacted,
    Event,
    Full,
    FutureRevision,
    KeyExists,
    KeyValue,
    Mismatch,
    Page,
    Store,
)
from hardpoint.store.etcd.calls import ALL_KEYS, COMPACT, RANGE, STATUS, TXN
from hardpoint.store.etcd.endpoints import Endpoints
from hardpoint.store.etcd.leases import Leases
from hardpoint.store.etcd.watch import Watch
from hardpoint.store.etcd.wire import kv_pb2, rpc_pb2
from hardpoint.store.prefixes import end_of

FIRST_REVISION = 1
_RANGE_ITEMS = 1000
"""Large ranges are read in parts of this many keys, all at one revision."""


class EtcdStore:
    """A Store in an etcd cluster. Made by `open`."""

    @classmethod
    async def open(
        cls,
        endpoints: Sequence[str],
        *,
        ca_file: Path | None = None,
        cert_file: Path | None = None,
        key_file: Path | None = None,
    ) -> EtcdStore:
        """Connect to the members at these `host:port`s, over TLS if a CA is given.

        Raises ConfigError for files that cannot be used and Unreachable if no member answers.
        """
        store = cls(Endpoints(endpoints, _credentials(ca_file, cert_file, key_file)))
        try:
            await store._endpoints.read(STATUS, rpc_pb2.StatusRequest())
        except BaseException:
            await store.close()
            raise
        return store

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints
        self._leases = Leases(endpoints)
        self._tellers: list[tuple[str, Callable[[str], None]]] = []

    async def get(self, key: str, *, revision: int = 0) -> KeyValue | None:
        answer = await self._range(rpc_pb2.RangeRequest(key=key.encode(), revision=revision))
        return _key_value(answer.kvs[0]) if answer.kvs else None

    async def range(self, prefix: str, *, start: str = "", limit: int = 0, revision: int = 0) -> Page:
        items: list[KeyValue] = []
        request = rpc_pb2.RangeRequest(
            key=max(prefix, start).encode() or ALL_KEYS, range_end=_end(prefix), revision=revision
        )
        while True:
            request.limit = min(limit - len(items), _RANGE_ITEMS) if limit else _RANGE_ITEMS
            answer = await self._range(request)
            request.revision = request.revision or answer.header.revision
            items += map(_key_value, answer.kvs)
            if not answer.more or len(items) == limit:
                return Page(items, request.revision, answer.more)
            request.key = answer.kvs[-1].key + b"\0"

    async def count(self, prefix: str) -> int:
        request = rpc_pb2.RangeRequest(key=prefix.encode() or ALL_KEYS, range_end=_end(prefix), count_only=True)
        return (await self._range(request)).count

    async def create(self, key: str, value: bytes, *, ttl_seconds: int = 0) -> int:
        answer = await self._put(key, value, 0, ttl_seconds)
        if not answer.succeeded:
            raise KeyExists(key)
        return answer.header.revision

    async def update(self, key: str, value: bytes, *, expected: int, ttl_seconds: int = 0) -> int:
        if not expected:
            # To etcd, revision 0 means that there is no key.
            raise Mismatch(key, await self.get(key))
        answer = await self._put(key, value, expected, ttl_seconds)
        return _revision_or_mismatch(key, answer)

    async def delete(self, key: str, *, expected: int) -> int:
        if not expected:
            raise Mismatch(key, await self.get(key))
        removal = rpc_pb2.RequestOp(request_delete_range=rpc_pb2.DeleteRangeRequest(key=key.encode()))
        return _revision_or_mismatch(key, await self._compare_and_do(key, expected, removal))

    def watch(self, prefix: str, *, after: int) -> AbstractAsyncContextManager[AsyncIterator[Sequence[Event]]]:
        return Watch(self._endpoints, prefix, max(after, FIRST_REVISION))

    async def revision(self) -> int:
        answer = await self._range(rpc_pb2.RangeRequest(key=ALL_KEYS, count_only=True))
        return answer.header.revision

    def on_write(self, prefix: str, tell: Callable[[str], None]) -> None:
        self._tellers.append((prefix, tell))

    async def compact(self, revision: int) -> None:
        if revision < FIRST_REVISION:
            return
        try:
            await self._endpoints.write(COMPACT, rpc_pb2.CompactionRequest(revision=revision))
        except grpc.aio.AioRpcError as refusal:
            if not _is_compacted(refusal):
                await self._refuse(refusal, revision)

    async def close(self) -> None:
        await self._endpoints.close()

    async def _range(self, request: rpc_pb2.RangeRequest) -> rpc_pb2.RangeResponse:
        try:
            return await self._endpoints.read(RANGE, request)
        except grpc.aio.AioRpcError as refusal:
            await self._refuse(refusal, request.revision)

    async def _put(self, key: str, value: bytes, expected: int, ttl_seconds: int) -> rpc_pb2.TxnResponse:
        put = rpc_pb2.PutRequest(key=key.encode(), value=value)
        while True:
            put.lease = await self._leases.lease_for(ttl_seconds) if ttl_seconds else 0
            try:
                return await self._compare_and_do(key, expected, rpc_pb2.RequestOp(request_put=put))
            except _LeaseGone:
                # Nothing was written: with a new lease it will be.
                self._leases.forget(put.lease)

    async def _compare_and_do(self, key: str, expected: int, act: rpc_pb2.RequestOp) -> rpc_pb2.TxnResponse:
        compare = rpc_pb2.Compare(
            key=key.encode(), target=rpc_pb2.Compare.MOD, result=rpc_pb2.Compare.EQUAL, mod_revision=expected
        )
        look = rpc_pb2.RequestOp(request_range=rpc_pb2.RangeRequest(key=key.encode()))
        # A create that fails says so; an update or a delete that fails says what it found.
        request = rpc_pb2.TxnRequest(compare=[compare], success=[act], failure=[look] if expected else [])
        try:
            answer = await self._endpoints.write(TXN, request)
        except grpc.aio.AioRpcError as refusal:
            await self._refuse(refusal, 0)
        for prefix, tell in self._tellers:
            if key.startswith(prefix):
                tell(key)
        return answer

    async def _refuse(self, refusal: grpc.aio.AioRpcError, revision: int) -> NoReturn:
        """Say in the contract's words what etcd said in its own."""
        said = refusal.details() or refusal.code().name
        if _is_compacted(refusal):
            raise Compacted(revision, await self._floor(revision)) from refusal
        if "future revision" in said:
            raise FutureRevision(revision, await self.revision()) from refusal
        if "requested lease not found" in said:
            raise _LeaseGone(said) from refusal
        if "space exceeded" in said:
            raise Full(f"etcd has no space left to write: {said}") from refusal
        raise StoreError(f"etcd refused: {said}") from refusal

    async def _floor(self, revision: int) -> int:
        """The oldest revision etcd still knows. Only a watch is told."""
        try:
            async with Watch(self._endpoints, "\0", revision) as batches:
                await anext(batches)
        except Compacted as compacted:
            return compacted.floor
        return revision


class _LeaseGone(StoreError):
    """The lease ended before the key was written."""


def _credentials(ca_file: Path | None, cert_file: Path | None, key_file: Path | None) -> Any | None:
    if (cert_file is None) != (key_file is None):
        raise ConfigError("etcd client certificates come in pairs: name a certificate file and its key file")
    if ca_file is None:
        if cert_file is not None:
            raise ConfigError("etcd client certificates need TLS: name the CA file of etcd's certificate as well")
        return None
    return grpc.ssl_channel_credentials(_read(ca_file), _read(key_file), _read(cert_file))


def _read(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as cause:
        raise ConfigError(f"cannot read {path}: {cause.strerror}") from cause


def _revision_or_mismatch(key: str, answer: rpc_pb2.TxnResponse) -> int:
    if answer.succeeded:
        return answer.header.revision
    found = answer.responses[0].response_range.kvs
    raise Mismatch(key, _key_value(found[0]) if found else None)


def _key_value(kv: kv_pb2.KeyValue) -> KeyValue:
    return KeyValue(kv.key.decode(), kv.value, kv.mod_revision, kv.create_revision)


def _end(prefix: str) -> bytes:
    end = end_of(prefix)
    return ALL_KEYS if end is None else end.encode()


def _is_compacted(refusal: grpc.aio.AioRpcError) -> bool:
    return "has been compacted" in (refusal.details() or "")


_conforms: type[Store] = EtcdStore
