"""Bootstrap tokens: `abcdef.0123456789abcdef`, with which a machine joins. Each is a Secret in kube-system."""

from __future__ import annotations

import hmac
import logging
import re
from base64 import b64decode
from collections.abc import Callable, Sequence
from datetime import datetime

from hardpoint.apiserver.admission.contract import Reader
from hardpoint.apiserver.authentication.objects import key_of
from hardpoint.machinery.messages import User
from hardpoint.machinery.timestamps import BadTimestamp, parse_time
from hardpoint.seams.authentication.contract import Identified, TokenAuthenticator

log = logging.getLogger(__name__)

NAMESPACE = "kube-system"
TYPE = "bootstrap.kubernetes.io/token"
GROUP = "system:bootstrappers"

_TOKEN = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})")
_EXTRA_GROUP = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]")


class BootstrapTokens:
    """Knows the tokens that Secrets describe. Why one is not good is told in the log only, as kube-apiserver does."""

    def __init__(self, reader: Reader, now: Callable[[], datetime]) -> None:
        self._reader = reader
        self._now = now

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
        parts = _TOKEN.fullmatch(token)
        if parts is None:
            return None
        name = f"bootstrap-token-{parts[1]}"
        secret = await self._reader.get("", "secrets", NAMESPACE, name)
        if secret is None or secret.get("type") != TYPE or "deletionTimestamp" in secret["metadata"]:
            return None
        data = {key: b64decode(value) for key, value in (secret.get("data") or {}).items()}
        if not hmac.compare_digest(data.get("token-secret", b""), parts[2].encode()):
            return None
        # Only who knows the secret part learns, in the log, what else is wrong.
        why = self._why_not({key: value.decode("utf-8", "replace") for key, value in data.items()}, parts[1])
        if why:
            log.info("bootstrap token refused", extra={"secret": name, "why": why})
            return None
        groups = _groups(data.get("auth-extra-groups", b"").decode("utf-8", "replace"))
        return Identified(User(f"system:bootstrap:{parts[1]}", groups), rests_on=(key_of("secrets", NAMESPACE, name),))

    def _why_not(self, data: dict[str, str], token_id: str) -> str:
        if data.get("token-id") != token_id:
            return "it has another token-id"
        if data.get("expiration") and not self._is_ahead(data["expiration"]):
            return "it has expired"
        if data.get("usage-bootstrap-authentication") != "true":
            return "it is not for authentication"
        extra = data.get("auth-extra-groups", "")
        if extra and not all(_EXTRA_GROUP.fullmatch(group) for group in extra.split(",")):
            return "it has groups that are not for bootstrappers"
        return ""

    def _is_ahead(self, text: str) -> bool:
        try:
            return self._now() < parse_time(text)
        except BadTimestamp:
            return False


def _groups(extra: str) -> tuple[str, ...]:
    return tuple(sorted({GROUP, *(extra.split(",") if extra else ())}))


_conforms: type[TokenAuthenticator] = BootstrapTokens
