"""One request from its first step to its last, and what the steps of the walk have found out about it."""

from __future__ import annotations

from random import getrandbits

from hardpoint.apiserver.audit.events import Record
from hardpoint.apiserver.flow.contract import Seat
from hardpoint.apiserver.target import Target
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request, User
from hardpoint.machinery.uids import BITS, uid

_AUDIT_ID_LENGTH_MAX = 64


class Errand:
    """A request on its way."""

    __slots__ = (
        "audit_id",
        "error",
        "keeps_seat",
        "record",
        "request",
        "seat",
        "user",
        "verb",
        "warnings",
        "where",
    )

    def __init__(self, request: Request, where: Target, verb: str) -> None:
        said = request.headers.get("audit-id", "")
        self.audit_id = said if 0 < len(said) <= _AUDIT_ID_LENGTH_MAX else uid(getrandbits(BITS))
        self.request = request
        self.where = where
        self.verb = verb
        self.user: User | None = None
        """Who sent it, whomever they act as."""
        self.record: Record | None = None
        """What the audit log will tell of it; None if nothing."""
        self.seat: Seat | None = None
        self.keeps_seat = False
        """Whether somebody else gives the seat back: a watch keeps it until it has told what there was."""
        self.error: ApiError | None = None
        """Why it is refused."""
        self.warnings: list[str] = []
