"""The words of an authorizer: `from hardpoint.authorization import AccessRequest, Allowed, Denied, NoOpinion`."""

from hardpoint.seams.authorization.contract import Allowed, Denied, NoOpinion, Verdict
from hardpoint.seams.authorization.guest import (
    AccessRequest,
    NonResourceAttributes,
    Requirement,
    ResourceAttributes,
    Selector,
)

__all__ = [
    "AccessRequest",
    "Allowed",
    "Denied",
    "NoOpinion",
    "NonResourceAttributes",
    "Requirement",
    "ResourceAttributes",
    "Selector",
    "Verdict",
]
