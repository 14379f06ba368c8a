"""Every error Hardpoint raises.

HardpointError
├── ApiError             the server said no and sent this Status: NotFound, Conflict, Gone, Invalid ...
├── GuestError           an extension failed: which seam, which guest
│   ├── Unavailable      asking again may help
│   └── ContractBroken   it answered with something the contract forbids
├── StoreError           the store could not do it; the tree below is drawn in `hardpoint.store`
├── TransportError       no answer came from the server; drawn, with its tree, in `hardpoint.client.transport`
├── Costly               to be done where nobody else waits
└── ConfigError          what the user wrote cannot work: which file, which field

An ApiError is made by the functions below, one for each row of the table of Status answers, so that code, reason,
message and details always belong together. The words are kube-apiserver's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.machinery.fielderrors import FieldError, quote

Json = dict[str, Any]


class HardpointError(Exception):
    """The root: catch this to catch everything Hardpoint raises on purpose."""


class ConfigError(HardpointError):
    """What the user wrote cannot work; the message names the file, the field and the way out."""


class Costly(HardpointError):
    """What was asked takes a while: ask again, with patience, where nobody else waits. It never leaves the server."""


class StoreError(HardpointError):
    """The store could not do what was asked."""


class GuestError(HardpointError):
    """An extension failed."""

    def __init__(self, seam: str, guest: str, message: str) -> None:
        super().__init__(f"{seam} guest {guest!r} {message}")
        self.seam = seam
        self.guest = guest


class Unavailable(GuestError):
    """The guest gave no answer; asking again may help."""


class ContractBroken(GuestError):
    """The guest answered with something its contract forbids."""


class ApiError(HardpointError):
    """A request was refused; `status()` is the answer's body."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        *,
        details: Json | None = None,
        continue_token: str = "",
        retry_after_seconds: int = 0,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.continue_token = continue_token
        self.retry_after_seconds = retry_after_seconds

    def status(self) -> Json:
        """The `v1 Status` object of this error, its keys in the order Go writes them."""
        metadata: Json = {"continue": self.continue_token} if self.continue_token else {}
        body: Json = {"kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Failure"}
        if self.message:
            body["message"] = self.message
        if self.reason:
            body["reason"] = self.reason
        details = dict(self.details) if self.details else {}
        if self.retry_after_seconds:
            details["retryAfterSeconds"] = self.retry_after_seconds
        if self.details is not None or details:
            body["details"] = details
        body["code"] = self.code
        return body

    @staticmethod
    def from_status(status: Json) -> ApiError:
        """The error a server's Status stands for."""
        details = status.get("details")
        return ApiError(
            status.get("code", 500),
            status.get("reason", ""),
            status.get("message", ""),
            details=details,
            continue_token=(status.get("metadata") or {}).get("continue", ""),
            retry_after_seconds=(details or {}).get("retryAfterSeconds", 0),
        )


def _about(resource: str, name: str = "") -> Json:
    """Details that name a resource. `resource` is `plural` or `plural.group`."""
    plural, _, group = resource.partition(".")
    details: Json = {}
    if name:
        details["name"] = name
    if group:
        details["group"] = group
    details["kind"] = plural
    return details


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def forbidden(resource: str, name: str, why: str) -> ApiError:
    """403; `resource` is empty for a path that is not a resource."""
    if not resource:
        return ApiError(403, "Forbidden", f"forbidden: {why}", details={})
    named = f"{resource} {quote(name)}" if name else resource
    return ApiError(403, "Forbidden", f"{named} is forbidden: {why}", details=_about(resource, name))


def not_found(resource: str, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{resource} "{name}" not found', details=_about(resource, name))


def no_such_path() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource", details={})


def method_not_supported(resource: str, action: str) -> ApiError:
    message = f'{action} is not supported on resources of kind "{resource}"'
    return ApiError(405, "MethodNotAllowed", message, details=_about(resource))


def method_not_allowed() -> ApiError:
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message, details={})


def not_acceptable(accepted: Sequence[str]) -> ApiError:
    return ApiError(406, "NotAcceptable", f"only the following media types are accepted: {', '.join(accepted)}")


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    message = "the body of the request was in an unknown format - accepted media types include: " + ", ".join(accepted)
    return ApiError(415, "UnsupportedMediaType", message)


def already_exists(resource: str, name: str, *, terminating: bool = False) -> ApiError:
    message = f'{resource} "{name}" already exists'
    if terminating:
        message = f"object is being deleted: {message}"
    return ApiError(409, "AlreadyExists", message, details=_about(resource, name))


def name_not_generated(resource: str, name: str) -> ApiError:
    message = f'{resource} "{name}" already exists, the server was not able to generate a unique name for the object'
    return ApiError(409, "AlreadyExists", message, details=_about(resource, name), retry_after_seconds=1)


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def conflict(resource: str, name: str, why: str = MODIFIED) -> ApiError:
    message = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
    return ApiError(409, "Conflict", message, details=_about(resource, name))


def expired(message: str, *, continue_token: str = "") -> ApiError:
    return ApiError(410, "Expired", message, continue_token=continue_token)


def too_large(limit: int) -> ApiError:
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}")


def invalid(kind: str, name: str, errors: Sequence[FieldError]) -> ApiError:
    """422; `kind` is `Kind` or `Kind.group`. The message tells repeated errors once; each is a cause of its own."""
    texts = list(dict.fromkeys(map(str, errors)))
    told = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    plain, _, group = kind.partition(".")
    details: Json = {"name": name} if name else {}
    if group:
        details["group"] = group
    if plain:
        details["kind"] = plain
    details["causes"] = [error.cause() for error in errors]
    return ApiError(422, "Invalid", f'{kind} "{name}" is invalid: {told}', details=details)


def unprocessable() -> ApiError:
    """422 for a patch that cannot be applied."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", details={})


def too_many_requests(message: str, *, retry_after_seconds: int = 1, details: Json | None = None) -> ApiError:
    return ApiError(429, "TooManyRequests", message, details=details, retry_after_seconds=retry_after_seconds)


def internal_error(why: str) -> ApiError:
    details: Json = {"causes": [{"message": why}]}
    return ApiError(500, "InternalError", f"Internal error occurred: {why}", details=details)


def service_unavailable(message: str) -> ApiError:
    return ApiError(503, "ServiceUnavailable", message)


def timeout(why: str, *, retry_after_seconds: int = 0) -> ApiError:
    return ApiError(504, "Timeout", f"Timeout: {why}", details={}, retry_after_seconds=retry_after_seconds)


def version_too_large(wanted: int, current: int, *, retry_after_seconds: int = 1) -> ApiError:
    """504 for a read at a resourceVersion that the store has not reached."""
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    message = f"Timeout: Too large resource version: {wanted}, current: {current}"
    return ApiError(504, "Timeout", message, details={"causes": [cause]}, retry_after_seconds=retry_after_seconds)
