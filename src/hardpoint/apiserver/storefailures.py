"""What a client is told when the store cannot: never a stack trace, and never that something was not stored."""

from __future__ import annotations

from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError, StoreError
from hardpoint.store.contract import Broken, Corrupt, Full


def store_failure(failed: StoreError) -> ApiError:
    """The refusal that says what the store said."""
    if isinstance(failed, Full):
        return ApiError(507, "InsufficientStorage", f"the store has no space left: {failed}")
    if isinstance(failed, Corrupt):
        return ApiError(500, "StoreReadError", str(failed))
    if isinstance(failed, Broken):
        return errors.service_unavailable(f"the store must be reopened: {failed}")
    return errors.service_unavailable(f"the store did not answer: {failed}")
