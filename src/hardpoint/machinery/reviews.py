"""What all reviews on the wire have in common: a kind, and a version of its group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class BadReview(ValueError):
    """What came is no review of the kind that was expected; the text says which field, and never holds a value."""


def version_of(review: Any, group: str, kind: str, versions: Sequence[str]) -> str:
    """Which of the versions a review is of. Raises BadReview."""
    if not isinstance(review, dict) or review.get("kind") != kind:
        raise BadReview(f"kind must be {kind}")
    said_group, _, version = str(review.get("apiVersion")).rpartition("/")
    if said_group != group or version not in versions:
        raise BadReview(f"apiVersion must be {' or '.join(f'{group}/{known}' for known in versions)}")
    return version
