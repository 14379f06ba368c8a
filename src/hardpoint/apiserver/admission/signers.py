"""Who may act for a signer: by its name, or by its domain with a star for every signer of it."""

from __future__ import annotations

from hardpoint.apiserver.authorization.contract import Authorizer, Question
from hardpoint.apiserver.target import Target
from hardpoint.machinery.messages import User

REQUESTS = "certificatesigningrequests.certificates.k8s.io"


async def may_act_for(authorizer: Authorizer, user: User, verb: str, signer: str) -> bool:
    """Whether `user` may approve, sign or attest for `signer`."""
    for name in (signer, f"{signer.partition('/')[0]}/*"):
        target = Target("", "certificates.k8s.io", "*", "signers", name=name)
        if (await authorizer.authorize(Question(user, verb, target))).is_allowed:
            return True
    return False
