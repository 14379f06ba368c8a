"""When an image is pulled again: what its reference says about the tag, by the grammar of container image names."""

from __future__ import annotations

import re
from functools import lru_cache

_HOST = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_DOMAIN = rf"(?:{_HOST}(?:\.{_HOST})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_PART = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"
_TAG = r"\w[\w.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE = re.compile(rf"((?:{_DOMAIN}/)?{_PART}(?:/{_PART})*)(?::({_TAG}))?(?:@({_DIGEST}))?", re.ASCII)
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")
_LENGTH_MAX = 255


@lru_cache(maxsize=4096)
def pull_policy(image: str) -> str:
    """`Always` for the tag `latest`, written or implied; `IfNotPresent` for anything else, even for no image at all."""
    parsed = _REFERENCE.fullmatch(image)
    if parsed is None or _IDENTIFIER.fullmatch(image) or len(parsed[1]) > _LENGTH_MAX:
        return "IfNotPresent"
    tag = parsed[2] or ("" if parsed[3] else "latest")
    return "Always" if tag == "latest" else "IfNotPresent"
