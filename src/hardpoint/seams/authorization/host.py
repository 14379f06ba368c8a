"""The cluster's side: ask a webhook whether somebody may do something.

It asks, and asks again where that is worth it. Which questions it is asked, what its failure means and how long its
answers are kept is the API server's decision (`apiserver/authorization`).
"""

from __future__ import annotations

from hardpoint.client.webhook import USUAL_WAITS, Waits, Webhook
from hardpoint.machinery.errors import ContractBroken
from hardpoint.machinery.reviews import BadReview
from hardpoint.seams.authorization.contract import (
    AccessReviewer,
    SubjectAccessReviewSpec,
    Verdict,
    Version,
    asked,
    verdict,
)

PATIENCE_SECONDS = 30.0


class WebhookReviewer:
    """Decides as a webhook decides. `close` it in the end."""

    def __init__(
        self,
        webhook: Webhook,
        *,
        version: Version = "v1",
        patience_seconds: float = PATIENCE_SECONDS,
        waits: Waits = USUAL_WAITS,
    ) -> None:
        self.name = webhook.name
        self._webhook = webhook
        self._version = version
        self._patience_seconds = patience_seconds
        self._waits = waits

    async def review(self, spec: SubjectAccessReviewSpec) -> Verdict:
        """What the guest says. An answer of both allowed and denied is Denied, with the contradiction as its error."""
        answer = await self._webhook.post_again(
            asked(self._version, spec), patience_seconds=self._patience_seconds, waits=self._waits
        )
        try:
            return verdict(answer, self._version)
        except BadReview as cause:
            raise ContractBroken(
                self._webhook.seam, self._webhook.name, f"answered no SubjectAccessReview: {cause}"
            ) from cause

    async def close(self) -> None:
        await self._webhook.close()


_conforms: type[AccessReviewer] = WebhookReviewer
