"""The objects identities rest on, by their keys in the store: accounts, and what tokens can be bound to."""

from __future__ import annotations

from collections.abc import Callable

from hardpoint.apiserver.hub import Change, Hub
from hardpoint.apiserver.places import ROOT

PLURALS = ("serviceaccounts", "pods", "secrets", "nodes")


def key_of(plural: str, namespace: str, name: str) -> str:
    """The key of an object of the core group."""
    return f"{ROOT}core/{plural}/{namespace}/{name}" if namespace else f"{ROOT}core/{plural}/{name}"


def follow(hub: Hub, forget: Callable[[str], None]) -> None:
    """Call `forget` with the key of every such object that changes."""

    def changed(change: Change) -> None:
        forget(change.key)

    for plural in PLURALS:
        hub.listen(f"{ROOT}core/{plural}/", changed)
