"""`serviceaccounts/token`: a token for an account, perhaps bound to a pod, a Secret or a node."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hardpoint.apiserver import answers, bodies, objectmeta
from hardpoint.apiserver.admission.contract import Attributes
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.options import write_options
from hardpoint.apiserver.reader import StoreReader
from hardpoint.machinery import errors
from hardpoint.machinery.fielderrors import FieldError, invalid
from hardpoint.machinery.messages import Response
from hardpoint.machinery.timestamps import format_time

Json = dict[str, Any]

GROUP, KIND = "authentication.k8s.io", "TokenRequest"
RESOURCE = f"{KIND}.{GROUP}"
ISSUED = "authentication.kubernetes.io/issued-credential-id"
"""By which the audit log tells where a token came from."""
DEFAULT_SECONDS, SECONDS_MIN, SECONDS_MAX = 3600, 600, 1 << 32

_BINDABLE = {"Pod": "pods", "Node": "nodes", "Secret": "secrets"}


async def create(call: Call) -> Response:
    """POST serviceaccounts/x/token."""
    options = write_options(call.request.query, kind="CreateOptions")
    request = bodies.read(call, f"{GROUP}/v1", KIND, field_validation=options.field_validation)
    await call.services.admission.mutate(_attributes(call, request, dry_run=options.dry_run))
    account = await _account(call, request)
    _complete(call, request, account)
    wrong = _wrong(request["spec"])
    if wrong:
        raise errors.invalid(RESOURCE, "", wrong)
    await call.services.admission.validate(_attributes(call, request, dry_run=options.dry_run))
    bound = await _bound(call, request["spec"].get("boundObjectRef"))
    spec, issuer = request["spec"], call.services.token_issuer
    longest = issuer.options.max_expiration_seconds
    if 0 < longest < spec["expirationSeconds"]:
        asked = spec["expirationSeconds"]
        call.warnings.append(f"requested expiration of {asked} seconds shortened to {longest} seconds")
        spec["expirationSeconds"] = longest
    seconds = spec["expirationSeconds"]
    # The time that is told is not after the token's own end.
    expires = format_time(call.services.now() + timedelta(seconds=seconds))
    issued = await issuer.issue(account, seconds, spec["audiences"], bound)
    call.annotate(ISSUED, issued.credential_id)
    request["status"] = {"token": issued.token, "expirationTimestamp": expires}
    return answers.value(call, request, status=201)


async def _account(call: Call, request: Json) -> Json:
    """The account the token is for. Raises if the request means another."""
    name, metadata = call.target.name, request["metadata"]
    if metadata.get("name", "") not in ("", name):
        mismatch = invalid("metadata.name", metadata["name"], "must match the service account name if specified")
        raise errors.invalid(RESOURCE, name, [mismatch])
    objectmeta.put_in_namespace(call.kind, request, call.target.namespace)
    account = await StoreReader(call.services.store).get("", "serviceaccounts", call.target.namespace, name)
    if account is None:
        raise errors.not_found("serviceaccounts", name)
    said, uid = metadata.get("uid", ""), account["metadata"]["uid"]
    if said not in ("", uid):
        why = f"the UID in the token request ({said}) does not match the UID of the service account ({uid})"
        raise errors.conflict(RESOURCE, name, why)
    return account


def _complete(call: Call, request: Json, account: Json) -> None:
    """Fill in what was left out."""
    found = account["metadata"]
    request["metadata"] |= {
        "name": found["name"],
        "namespace": found["namespace"],
        "uid": found["uid"],
        "creationTimestamp": format_time(call.services.now()),
    }
    spec = request["spec"]
    given = spec.get("audiences") or list(call.services.token_issuer.audiences)
    request["spec"] = {
        "audiences": given,
        "expirationSeconds": DEFAULT_SECONDS if spec.get("expirationSeconds") is None else spec["expirationSeconds"],
        "boundObjectRef": spec.get("boundObjectRef"),
        **({"attestations": spec["attestations"]} if spec.get("attestations") else {}),
    }


def _wrong(spec: Json) -> list[FieldError]:
    wrong, seconds = [], spec["expirationSeconds"]
    if seconds < SECONDS_MIN:
        wrong.append(invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"))
    if seconds > SECONDS_MAX:
        detail = "may not specify a duration larger than 2^32 seconds"
        wrong.append(invalid("spec.expirationSeconds", seconds, detail))
    if spec.get("attestations"):
        detail = "attestations may only be specified with a webhook bound object reference"
        return [invalid("spec.attestations", spec["attestations"], detail)]
    return wrong


def _attributes(call: Call, request: Json, *, dry_run: bool) -> Attributes:
    return Attributes(
        kind=call.kind,
        operation="CREATE",
        namespace=call.target.namespace,
        name=call.target.name,
        object=request,
        old=None,
        user=call.user,
        subresource="token",
        dry_run=dry_run,
        warnings=call.warnings,
    )


async def _bound(call: Call, reference: Json | None) -> dict[str, Json]:
    """The objects a token is bound to, by what its claims call them. Raises if they are not as the request says."""
    if reference is None:
        return {}
    reader, namespace = StoreReader(call.services.store), call.target.namespace
    kind, name = reference.get("kind", ""), reference.get("name", "")
    group, _, _ = reference.get("apiVersion", "").rpartition("/")
    if group or kind not in _BINDABLE:
        raise errors.bad_request(f"cannot bind token to object of type {_told(reference)}")
    plural = _BINDABLE[kind]
    found = await reader.get("", plural, "" if kind == "Node" else namespace, name) if "/" not in name else None
    if found is None or not name:
        raise errors.not_found(plural, name)
    if kind == "Pod" and found["spec"].get("serviceAccountName", "") != call.target.name:
        account = f'serviceaccount "{call.target.name}"'
        raise errors.bad_request(f"cannot bind token for {account} to pod running with different serviceaccount name.")
    said = reference.get("uid", "")
    if said not in ("", found["metadata"]["uid"]):
        why = f"the UID in the bound object reference ({said}) does not match the UID in record. "
        raise errors.conflict(kind, name, why + "The object might have been deleted and then recreated")
    bound = {kind.lower(): found}
    node = found["spec"].get("nodeName") if kind == "Pod" else None
    if node:
        # Where a node has no object its name is still worth telling.
        bound["node"] = await reader.get("", "nodes", "", node) or {"metadata": {"name": node}}
    return bound


def _told(reference: Json) -> str:
    """A kind as Go prints one."""
    group, _, version = reference.get("apiVersion", "").rpartition("/")
    return f"{group}/{version}, Kind={reference.get('kind', '')}"
