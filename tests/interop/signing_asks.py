"""What is asked about signing requests: new ones, and what approvers and signers say of them."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import pem
from tests.interop.sides import ADMIN, MERGE, NODE, Ask, admin
from tests.signing_requests import COLLECTION, encoded, pem_request, signing_request

Json = dict[str, Any]

NODES = ("system:nodes",)
OF_NODE = pem_request("system:node:mine", organizations=NODES)


def _broken(text: bytes) -> bytes:
    """The same request with a signature that is not its own."""
    block = pem.first(text)
    assert block is not None
    return pem.encoded(block.kind, block.der[:-1] + bytes([block.der[-1] ^ 1]))


def request(text: bytes, user: str = ADMIN, **spec: Any) -> Ask:
    asked = signing_request("dry", text)
    asked["spec"] |= spec
    return Ask("POST", f"{COLLECTION}?dryRun=All", asked, user)


GOOD = pem_request("ann")
KUBELET = "kubernetes.io/kube-apiserver-client-kubelet"
REQUESTS = [
    request(GOOD),
    request(b""),
    request(b"hello"),
    request(GOOD.replace(b"REQUEST", b"THING")),
    request(b"words\n" + GOOD),
    request(b" " + GOOD),
    request(GOOD + GOOD),
    request(GOOD.replace(b"-----\n", b"-----\nA: b\n\n", 1)),
    request(_broken(GOOD)),
    request(pem.encoded("CERTIFICATE REQUEST", b"")),
    request(pem.encoded("CERTIFICATE REQUEST", b"0\0")),
    request(pem_request("ann", organizations=["system:masters"])),
    *(
        request(GOOD, **spec)
        for spec in (
            {"signerName": ""},
            {"signerName": "x"},
            {"signerName": "kubernetes.io/legacy-unknown"},
            {"signerName": "example.com/a/b"},
            {"usages": []},
            {"usages": ["x"]},
            {"usages": ["client auth", "client auth"]},
            {"expirationSeconds": 599},
        )
    ),
    request(OF_NODE, NODE, signerName=KUBELET),
    request(GOOD, NODE, signerName=KUBELET),
    request(pem_request("system:node:other", organizations=NODES), NODE, signerName=KUBELET),
    request(b"hello", NODE, signerName=KUBELET),
    request(GOOD, NODE),
    request(GOOD, "nobody"),
]


def condition(kind: str, status: str = "True") -> Json:
    return {"type": kind, "status": status}


def decide(part: str, status: Json, user: str = ADMIN, *, name: str = "open") -> Ask:
    return Ask("PATCH", f"{COLLECTION}/{name}/{part}?dryRun=All", {"status": status}, user, MERGE)


CERTIFICATE = pem.encoded("CERTIFICATE", b"0\x82")
DECISIONS = [
    admin("POST", COLLECTION, signing_request("open", GOOD)),
    admin("POST", COLLECTION, signing_request("approved", GOOD)),
    Ask("PATCH", f"{COLLECTION}/approved/approval", {"status": {"conditions": [condition("Approved")]}}, ADMIN, MERGE),
    *(
        decide(part, {"conditions": conditions}, name=name)
        for name in ("open", "approved")
        for part in ("approval", "status")
        for conditions in (
            [condition("Approved")],
            [condition("Denied")],
            [condition("Failed")],
            [condition("Failed", "False")],
            [condition("Approved"), condition("Denied")],
            [condition("Denied"), condition("Approved")],
            [condition("Approved"), condition("Approved")],
            [condition("Approved"), condition("Failed")],
            [condition("")],
            [condition("Approved", "")],
            [condition("Approved", "Unknown")],
            [condition("Other", "Unknown")],
            [condition("Other", "Nope")],
            [],
        )
    ),
    *(
        decide("status", {"certificate": encoded(text)})
        for text in (b"junk", GOOD, CERTIFICATE, CERTIFICATE.replace(b"-----\n", b"-----\nA: b\n\n", 1))
    ),
    decide("approval", {"certificate": encoded(b"junk")}),
    decide("approval", {"conditions": [condition("Approved")]}, "nobody"),
    decide("status", {"conditions": [condition("Failed")]}, "nobody"),
]
