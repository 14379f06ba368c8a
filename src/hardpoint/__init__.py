"""Hardpoint: every Kubernetes extension point, on both sides, in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hardpoint.sdk.app import App

__all__ = ["App"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Imported when first used: a command that runs no extension does not pay for the SDK.
    if name == "App":
        from hardpoint.sdk.app import App

        return App
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
