"""The calls of etcd's API that the store makes, typed; `wire/` holds their messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from google.protobuf.message import Message

from hardpoint.store.etcd.wire import rpc_pb2 as rpc

Request = TypeVar("Request", bound=Message)
Answer = TypeVar("Answer", bound=Message)


@dataclass(frozen=True)
class Call(Generic[Request, Answer]):
    """One method of the API."""

    path: str
    request: type[Request]
    answer: type[Answer]


RANGE = Call("/etcdserverpb.KV/Range", rpc.RangeRequest, rpc.RangeResponse)
TXN = Call("/etcdserverpb.KV/Txn", rpc.TxnRequest, rpc.TxnResponse)
COMPACT = Call("/etcdserverpb.KV/Compact", rpc.CompactionRequest, rpc.CompactionResponse)
WATCH = Call("/etcdserverpb.Watch/Watch", rpc.WatchRequest, rpc.WatchResponse)
LEASE_GRANT = Call("/etcdserverpb.Lease/LeaseGrant", rpc.LeaseGrantRequest, rpc.LeaseGrantResponse)
STATUS = Call("/etcdserverpb.Maintenance/Status", rpc.StatusRequest, rpc.StatusResponse)

ALL_KEYS = b"\0"
"""As both ends of a range: every key there is."""
