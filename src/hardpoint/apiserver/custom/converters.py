"""The converters of all definitions that have a webhook for that, and what they did, for `/metrics`."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from hardpoint.apiserver.reader import StoreReader
from hardpoint.machinery.exposition import Family, Histograms, Sample

if TYPE_CHECKING:
    from hardpoint.apiserver.custom.reaching import Reach
    from hardpoint.machinery.structural import Converter

Json = dict[str, Any]

BUCKETS = tuple(0.001 * 2**power for power in range(15))
CLOSING_SECONDS = 34.0
"""No request takes longer: after this time nobody uses a converter that was replaced."""


class _Kept(NamedTuple):
    webhook: Json
    converter: Converter
    reach: Reach


class Converters:
    """Who converts the objects of which definition."""

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader
        self._kept: dict[str, _Kept] = {}
        self._retired: asyncio.Queue[tuple[float, Reach]] = asyncio.Queue()
        """What is to be closed, and when, in this order."""
        self._by_kind = Histograms(BUCKETS)
        self._by_result = Histograms(BUCKETS)
        self._requests: Counter[tuple[tuple[str, str], ...]] = Counter()

    def of(self, definition: Json) -> Converter | None:
        """Who converts for a definition, the same as before if it says the same; None if nobody needs to."""
        name = definition["metadata"]["name"]
        conversion = definition["spec"].get("conversion") or {}
        if conversion.get("strategy") != "Webhook":
            self.forget(name)
            return None
        webhook: Json = conversion["webhook"]
        kept = self._kept.get(name)
        if kept is None or kept.webhook != webhook:
            self.forget(name)
            kept = self._kept[name] = self._made(name, webhook)
        return kept.converter

    def forget(self, name: str) -> None:
        """A definition is gone, or has another converter from now on."""
        kept = self._kept.pop(name, None)
        if kept is not None:
            self._retired.put_nowait((monotonic() + CLOSING_SECONDS, kept.reach))

    async def run(self) -> None:
        """Give up connections that nobody uses any more, and when cancelled all of them."""
        try:
            while True:
                when, reach = await self._retired.get()
                try:
                    await asyncio.sleep(when - monotonic())
                finally:
                    await reach.close()
        finally:
            while not self._retired.empty():
                await self._retired.get_nowait()[1].close()
            for kept in self._kept.values():
                await kept.reach.close()

    def _made(self, name: str, webhook: Json) -> _Kept:
        # Not before there are webhooks that convert: start-up does not wait for an HTTP client.
        from hardpoint.apiserver.custom.reaching import Reach, url_of
        from hardpoint.seams.crd.host import SEAM, WebhookConverter

        config, versions = webhook["clientConfig"], webhook["conversionReviewVersions"]
        reach = Reach(SEAM, config, self._reader)
        observe = partial(self._observe, name)
        return _Kept(webhook, WebhookConverter(url_of(config), reach, versions, observe=observe), reach)

    def _observe(self, name: str, source: str, target: str, failure: str, seconds: float) -> None:
        succeeded = "false" if failure else "true"
        labels = (("crd_name", name), ("from_version", source), ("succeeded", succeeded), ("to_version", target))
        self._by_kind.observe(labels, seconds)
        told = f"conversion_webhook_{failure}_failure" if failure else ""
        result = (("failure_type", told), ("result", "failure" if failure else "success"))
        self._by_result.observe(result, seconds)
        self._requests[result] += 1

    def families(self) -> Iterator[Family]:
        """As `Metrics` tells them."""
        asked: list[Sample] = [(labels, count) for labels, count in self._requests.items()]
        yield (
            "apiserver_conversion_webhook_request_total",
            "counter",
            "Conversions that webhooks were asked for.",
            asked,
        )
        about = "How long conversion webhooks took."
        yield from self._by_result.families("apiserver_conversion_webhook_duration_seconds", about)
        about = "How long conversion webhooks took, by definition."
        yield from self._by_kind.families("apiserver_crd_conversion_webhook_duration_seconds", about)
