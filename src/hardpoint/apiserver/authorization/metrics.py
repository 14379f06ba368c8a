"""What the authorizers have done, for `/metrics`, under kube-apiserver's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from hardpoint.machinery.exposition import Family, Histograms, Sample

WEBHOOK_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
MATCH_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25)
_PREFIX = "apiserver_authorization"


class AuthorizationMetrics:
    """Plain counters: one is added to at every request."""

    def __init__(self) -> None:
        self.decisions: Counter[tuple[str, str, str]] = Counter()
        """By type and name of the authorizer, and whether it allowed or denied."""
        self.evaluations: Counter[tuple[str, str]] = Counter()
        """Questions that webhooks were asked, by name and how that went: success, timeout, error or canceled."""
        self.fail_open: Counter[tuple[str, str]] = Counter()
        """Questions left to the next authorizer because a webhook failed."""
        self.match_errors: Counter[str] = Counter()
        self.match_exclusions: Counter[str] = Counter()
        self.reloads: Counter[str] = Counter()
        """Of the configuration file, by success and failure."""
        self.webhook_seconds = Histograms(WEBHOOK_BUCKETS)
        self.match_seconds = Histograms(MATCH_BUCKETS)

    def families(self) -> Iterator[Family]:
        """As `Metrics` tells them."""
        decided: list[Sample] = [
            ((("decision", decision), ("name", name), ("type", type)), count)
            for (type, name, decision), count in self.decisions.items()
        ]
        yield f"{_PREFIX}_decisions_total", "counter", "Decisions by who made them.", decided
        yield from _by_result("webhook_evaluations_total", "Questions that webhooks were asked.", self.evaluations)
        failed = "Questions left to others because a webhook failed."
        yield from _by_result("webhook_evaluations_fail_open_total", failed, self.fail_open)
        yield from self.webhook_seconds.families(f"{_PREFIX}_webhook_duration_seconds", "How long webhooks took.")
        yield from _by_webhook("match_condition_evaluation_errors_total", "Conditions that failed.", self.match_errors)
        skipped = "Webhooks not asked because a condition does not hold."
        yield from _by_webhook("match_condition_exclusions_total", skipped, self.match_exclusions)
        took = "How long match conditions took."
        yield from self.match_seconds.families(f"{_PREFIX}_match_condition_evaluation_seconds", took)
        read: list[Sample] = [((("status", status),), self.reloads[status]) for status in ("success", "failure")]
        name = f"{_PREFIX}_config_controller_automatic_reloads_total"
        yield name, "counter", "Reloads of the authorization configuration by how they went.", read


def _by_result(name: str, about: str, counts: Mapping[tuple[str, str], int]) -> Iterator[Family]:
    samples: list[Sample] = [((("name", who), ("result", result)), n) for (who, result), n in counts.items()]
    yield f"{_PREFIX}_{name}", "counter", about, samples


def _by_webhook(name: str, about: str, counts: Mapping[str, int]) -> Iterator[Family]:
    samples: list[Sample] = [((("name", who), ("type", "Webhook")), n) for who, n in counts.items()]
    yield f"{_PREFIX}_{name}", "counter", about, samples
