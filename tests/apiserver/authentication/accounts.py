"""Service accounts and their tokens, for tests."""

from __future__ import annotations

from typing import Any

from tests.apiserver.asking import Api

Json = dict[str, Any]

CORE = "/api/v1/namespaces/default"
ISSUER = "https://kubernetes.default.svc.cluster.local"


async def make_account(api: Api, name: str = "robot") -> Json:
    return await api.ok("POST", f"{CORE}/serviceaccounts", {"metadata": {"name": name}})


async def make_pod(api: Api, name: str = "web", *, account: str = "robot", node: str = "") -> Json:
    spec: Json = {"serviceAccountName": account, "containers": [{"name": "c", "image": "i"}]}
    if node:
        spec["nodeName"] = node
    return await api.ok("POST", f"{CORE}/pods", {"metadata": {"name": name}, "spec": spec})


async def request_token(api: Api, name: str = "robot", **spec: Any) -> Json:
    """The answer to a TokenRequest."""
    return await api.ok("POST", f"{CORE}/serviceaccounts/{name}/token", {"spec": spec})


async def token_of(api: Api, name: str = "robot", **spec: Any) -> str:
    token: str = (await request_token(api, name, **spec))["status"]["token"]
    return token


async def who(api: Api, token: str) -> tuple[int, Json]:
    """What the server says about who shows a token: a status, and the user or the refusal."""
    nobody = api.as_user(None)
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    status, answer = await nobody.ask("POST", path, {}, authorization=f"Bearer {token}")
    return status, answer["status"]["userInfo"] if status == 201 else answer


async def review(api: Api, token: str, *audiences: str) -> Json:
    spec: Json = {"token": token, **({"audiences": list(audiences)} if audiences else {})}
    answer = await api.ok("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": spec})
    status: Json = answer["status"]
    return status
