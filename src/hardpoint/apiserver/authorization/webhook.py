"""The authorizer that asks a webhook, and remembers for a while what it said.

A webhook that fails has no opinion, or denies, as its failure policy says; either way the failure is told. Only what
the webhook gives as a reason ever reaches a client; see `client/webhook.py` for what it may not do.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

import orjson

from hardpoint.apiserver.authorization.configuration import Keeping
from hardpoint.apiserver.authorization.contract import NO_OPINION, Authorizer, Decision, Known, Opinion, Question
from hardpoint.apiserver.authorization.matching import Matcher, MatchFailed
from hardpoint.apiserver.authorization.metrics import AuthorizationMetrics
from hardpoint.apiserver.authorization.review import spec_of
from hardpoint.machinery.errors import GuestError
from hardpoint.machinery.messages import User
from hardpoint.seams.authorization.contract import (
    AccessReviewer,
    Allowed,
    Denied,
    SubjectAccessReviewSpec,
    Verdict,
)

log = logging.getLogger(__name__)

ENTRIES_MAX = 8192
ASKED_LENGTH_MAX = 10_000
"""Answers to longer questions are not kept: whoever asks chooses how long names and paths are."""
_UNLISTED = Known(incomplete=True, error="webhook authorizer does not support user rule resolution")


class _Entry(NamedTuple):
    decision: Decision
    until: float


class WebhookAuthorizer:
    """Decides as a webhook decides."""

    def __init__(
        self,
        name: str,
        reviewer: AccessReviewer,
        *,
        on_failure: Opinion = Opinion.NONE,
        matcher: Matcher | None = None,
        keeping: Keeping = Keeping(),  # noqa: B008  # It is frozen.
        metrics: AuthorizationMetrics | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._reviewer = reviewer
        self._on_failure = on_failure
        self._matcher = matcher
        self._keeping = keeping
        self._metrics = metrics or AuthorizationMetrics()
        self._clock = clock
        self._kept: dict[bytes, _Entry] = {}

    async def authorize(self, question: Question) -> Decision:
        spec = spec_of(question)
        if self._matcher is not None:
            try:
                if not self._matches(self._matcher, spec):
                    return NO_OPINION
            except MatchFailed as failed:
                return Decision(self._on_failure, error=str(failed))
        key = orjson.dumps(spec)
        kept = self._kept.get(key)
        if kept is not None and kept.until > self._clock():
            return kept.decision
        try:
            decision = _decision(await self._ask(spec))
        except GuestError as failed:
            return self._failed(failed)
        self._keep(key, question, decision)
        return decision

    async def rules_for(self, user: User, namespace: str) -> Known:
        return _UNLISTED

    def _matches(self, matcher: Matcher, spec: SubjectAccessReviewSpec) -> bool:
        labels = (("name", self._name), ("type", "Webhook"))
        started = time.perf_counter()
        try:
            matches = matcher.matches(spec)
        except MatchFailed:
            self._metrics.match_errors[self._name] += 1
            raise
        finally:
            self._metrics.match_seconds.observe(labels, time.perf_counter() - started)
        if not matches:
            self._metrics.match_exclusions[self._name] += 1
        return matches

    async def _ask(self, spec: SubjectAccessReviewSpec) -> Verdict:
        result: Literal["success", "timeout", "error", "canceled"] = "success"
        started = time.perf_counter()
        try:
            return await self._reviewer.review(spec)
        except GuestError as failed:
            result = "timeout" if isinstance(failed.__cause__, TimeoutError) else "error"
            raise
        except asyncio.CancelledError:
            result = "canceled"
            raise
        finally:
            self._metrics.evaluations[self._name, result] += 1
            labels = (("name", self._name), ("result", result))
            self._metrics.webhook_seconds.observe(labels, time.perf_counter() - started)

    def _failed(self, failed: GuestError) -> Decision:
        log.error("authorization webhook failed", extra={"webhook": self._name, "why": str(failed)})
        if self._on_failure is Opinion.NONE:
            result = "timeout" if isinstance(failed.__cause__, TimeoutError) else "error"
            self._metrics.fail_open[self._name, result] += 1
        return Decision(self._on_failure, error=str(failed))

    def _keep(self, key: bytes, question: Question, decision: Decision) -> None:
        seconds = self._keeping.allowed_seconds if decision.is_allowed else self._keeping.other_seconds
        if not seconds or _asked_length(question) > ASKED_LENGTH_MAX:
            return
        self._kept.pop(key, None)
        while len(self._kept) >= ENTRIES_MAX:
            self._kept.pop(next(iter(self._kept)))
        self._kept[key] = _Entry(decision, self._clock() + seconds)


def _decision(said: Verdict) -> Decision:
    if isinstance(said, Denied):
        return Decision(Opinion.DENY, said.reason, said.error)
    # What a webhook calls an evaluation error is its own business, as it is for kube-apiserver.
    return Decision(Opinion.ALLOW if isinstance(said, Allowed) else Opinion.NONE, said.reason)


def _asked_length(question: Question) -> int:
    target = question.target
    texts = (question.verb, target.path, target.namespace, target.group, target.version, target.resource)
    return sum(map(len, (*texts, target.subresource, target.name)))


_conforms: type[Authorizer] = WebhookAuthorizer
