"""The languages a patch can be told in, by media type."""

from __future__ import annotations

from hardpoint.machinery.kinds import Kind

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
ALL = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)
OF_CUSTOM_KINDS = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
"""How to merge the lists of a custom resource strategically nobody knows."""


def offered(kind: Kind) -> tuple[str, ...]:
    """The media types of the patches a kind takes."""
    return ALL if kind.structure is None else OF_CUSTOM_KINDS
