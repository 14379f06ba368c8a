"""Signing requests go when nobody needs them any more: an hour after the decision, a day where there is none.

kube-controller-manager looks once an hour; here each request is looked at when its time has come.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from hardpoint.controllers.signing_requests import REQUESTS, SigningRequests, certificate_of, conditions_of
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.timestamps import parse_time
from hardpoint.runtime.metadata import Sink

Json = dict[str, Any]

DECIDED = timedelta(hours=1)
UNDECIDED = timedelta(hours=24)
LATER_SECONDS = 1.0
"""Timestamps are whole seconds; nothing goes too early."""

_KEPT_AFTER: Mapping[str, timedelta] = {"Denied": DECIDED, "Failed": DECIDED}


class CsrCleaner(SigningRequests):
    async def look(self, request: Json) -> float | None:
        due = min(ends(request), default=None)
        if due is None:
            return None
        remaining = (due - self._now()).total_seconds()
        if remaining >= 0:
            return remaining + LATER_SECONDS
        metadata = request["metadata"]
        try:
            await self._client.delete(
                REQUESTS, metadata["name"], uid=metadata["uid"], resource_version=metadata["resourceVersion"]
            )
        except ApiError as refused:
            if refused.code != 404:
                raise
        return None


def ends(request: Json) -> Iterator[datetime]:
    """The moments after which a request is of no use."""
    conditions, certificate = conditions_of(request), certificate_of(request)
    if not conditions:
        yield parse_time(request["metadata"]["creationTimestamp"]) + UNDECIDED
    kept_after = {**_KEPT_AFTER, "Approved": DECIDED if certificate else UNDECIDED}
    for condition in conditions:
        kept, since = kept_after.get(condition.get("type", "")), condition.get("lastUpdateTime")
        if kept is not None and since:
            yield parse_time(since) + kept
        if condition.get("type") == "Approved" and certificate:
            yield from _expiry(certificate)


def _expiry(certificate: str) -> Iterator[datetime]:
    # A costly import that most clusters do without.
    from cryptography import x509

    try:
        yield x509.load_pem_x509_certificate(base64.b64decode(certificate)).not_valid_after_utc
    except ValueError:
        # Whoever signed it knows what it is.
        return


_conforms: type[Sink] = CsrCleaner
