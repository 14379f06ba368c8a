"""Say whose bearer token it is, and what they may do: two webhooks for an API server.

Try it, in two terminals:

    hardpoint run examples/03_authenticator.py --write-config webhooks
    hardpoint up --authentication-token-webhook-config-file webhooks/authentication.yaml

    kubectl --token open-sesame auth whoami
"""

from hardpoint import App
from hardpoint.authentication import User
from hardpoint.authorization import AccessRequest, Allowed, Denied, NoOpinion, Verdict

app = App("badges")

BADGES = {"open-sesame": User("ali", groups=("forty-thieves",))}


@app.authenticator
def by_badge(token: str) -> User | None:
    return BADGES.get(token)


@app.authorizer
async def treasures(request: AccessRequest) -> Verdict:
    asked = request.resourceAttributes
    if "forty-thieves" not in request.groups or asked is None:
        return NoOpinion()
    if asked.resource == "secrets":
        return Denied("the treasure stays in the cave")
    return Allowed() if asked.verb in ("get", "list", "watch") else NoOpinion()
