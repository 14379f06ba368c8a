"""The words of an authenticator: `from hardpoint.authentication import User`."""

from hardpoint.machinery.messages import User
from hardpoint.seams.authentication.contract import Identified

__all__ = ["Identified", "User"]
