"""One request as the audit log tells it, stage by stage, in the words and the order of kube-apiserver."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Any

import orjson

from hardpoint.apiserver.audit.encoding import as_go, encode, stamp
from hardpoint.apiserver.audit.policy import Verdict, holds_secrets
from hardpoint.apiserver.target import Target
from hardpoint.machinery import durations, jsontext
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request, Response, User
from hardpoint.seams.audit.contract import EVENT_HEAD, Stage

Json = dict[str, Any]

USER_AGENT_LENGTH_MAX = 1024
DECISION = "authorization.k8s.io/decision"
REASON = "authorization.k8s.io/reason"

_EVENT = b'%b"level":"%b","auditID":%b,"stage":"%b",%b%b%b,"requestReceivedTimestamp":"%b","stageTimestamp":"%b"%b}'
_STATUS_FIELDS = ("status", "message", "reason", "details", "code")
_STATUS_STARTS = (b'{"kind":"Status"', b'{\n  "kind": "Status"')
_KIND_STARTS = (b'{"kind":', b'{\n  "kind":')
_MAY_REPEAT_WHAT_WAS_SENT = frozenset((400, 422))
_PLAIN = {code: b',"responseStatus":{"metadata":{},"code":%d}' % code for code in (200, 201)}
LATENCY = "apiserver.latency.k8s.io/total"
SLOW_NANOSECONDS = 500_000_000

_ASKINGS_MAX = 4096
_REMEMBERED_LENGTH_MAX = 2048
"""Strangers write long URLs; those are not worth the memory."""
_askings: dict[tuple[Any, ...], tuple[User | None, bytes]] = {}


class Record:
    """What is known of a request so far."""

    __slots__ = (
        "_annotations",
        "_audit_id",
        "_constraint",
        "_decided",
        "_impersonated",
        "_received",
        "_reference",
        "_request",
        "_request_object",
        "_response_object",
        "_status",
        "_user",
        "_verb",
        "_where",
        "is_broken",
        "verdict",
    )

    def __init__(
        self,
        verdict: Verdict,
        audit_id: str,
        request: Request,
        where: Target,
        verb: str,
        user: User | None,
        received: int,
    ) -> None:
        """`received` is the time in nanoseconds since 1970; `user` is None if the credentials were not good."""
        self.verdict = verdict
        self._audit_id = audit_id
        self._request = request
        self._where = where
        self._verb = verb
        self._user = user
        self._received = received
        self._impersonated: User | None = None
        self._constraint = ""
        self._decided: tuple[bool, str] | None = None
        self._annotations: dict[str, str] | None = None
        self._reference: Json | None = None
        self._status = b""
        self.is_broken = False
        """Whether the server failed, rather than refused."""
        self._request_object: Any = None
        self._response_object: Any = None

    # What the steps of the walk add.

    def impersonates(self, user: User, constraint: str = "") -> None:
        """The request is made as somebody else; `constraint` is the verb that allowed it if not plain `impersonate`."""
        self._impersonated = user
        self._constraint = constraint

    def annotate(self, name: str, value: str) -> None:
        """Add an annotation; the first value of a name stays."""
        if self._annotations is None:
            self._annotations = {}
        self._annotations.setdefault(name, value)

    def decided(self, is_allowed: bool, reason: str) -> None:
        """What the authorizer said."""
        self._decided = (is_allowed, reason)

    def sent(self, obj: Json) -> None:
        """The object the client sent; at level Request and above `obj` is kept, so it must not change later."""
        reference = self._refer()
        metadata = obj.get("metadata") or {}
        for field in ("namespace", "name", "uid", "resourceVersion"):
            if not reference.get(field) and metadata.get(field):
                reference[field] = metadata[field]
        if self.verdict.tells_requests:
            self._request_object = self._lean(obj)

    def sent_as(self, value: Any) -> None:
        """What the client sent in place of an object: options."""
        if self.verdict.tells_requests:
            self._request_object = value

    def sent_patch(self) -> None:
        """The request's body is a patch; it is told as JSON, and not at all if it is neither JSON nor YAML."""
        if not self.verdict.tells_requests:
            return
        from hardpoint.machinery import yamltext  # Few policies want patches: start-up does not wait for it.

        is_yaml = "yaml" in self._request.headers.get("content-type", "")
        try:
            parsed = yamltext.parse(self._request.body) if is_yaml else jsontext.parse(self._request.body)
        except (yamltext.BadYaml, jsontext.BadJson):
            return
        self._request_object = (
            orjson.Fragment(orjson.dumps(parsed.value, option=orjson.OPT_SORT_KEYS)) if is_yaml else parsed.value
        )

    def answered(self, response: Response, refused: ApiError | None = None) -> None:
        """How the request ends, or begins to."""
        if self.is_broken:
            return
        body = response.body
        if refused is not None:
            self._status = _status(self._discreet(refused.status(), response.status))
        elif body.startswith(_STATUS_STARTS):
            self._status = _status(self._discreet(orjson.loads(body), response.status))
        else:
            self._status = _PLAIN.get(response.status) or _status({"metadata": {}, "code": response.status})
        if self.verdict.tells_responses and response.stream is None:
            self._response_object = self._told_response(response, refused)

    def took(self, now: int) -> None:
        """The answer is whole; how long that took is told if it was long."""
        if now - self._received > SLOW_NANOSECONDS:
            self.annotate(LATENCY, durations.format_go(now - self._received))

    def breaks(self, error: Exception) -> None:
        """The server has a defect. What the error says may be a secret; its kind is not."""
        self.is_broken = True
        self._status = _status(
            {
                "metadata": {},
                "status": "Failure",
                "message": f"APIServer panic'd: {type(error).__name__}",
                "reason": "InternalError",
                "code": 500,
            }
        )

    def _discreet(self, status: Json, code: int) -> Json:
        """The bounded parts of a Status. A refused Secret may be quoted in its refusal, so that is left out."""
        told = {"metadata": {}} | {field: status[field] for field in _STATUS_FIELDS if field in status}
        told["code"] = code
        if code in _MAY_REPEAT_WHAT_WAS_SENT and holds_secrets(self._where):
            told.pop("message", None)
            told.pop("details", None)
        return told

    def _told_response(self, response: Response, refused: ApiError | None) -> Any:
        if refused is not None:
            return refused.status()
        if response.content_type == "application/yaml":
            from hardpoint.machinery import yamltext  # Not before somebody wants YAML: start-up does not wait for it.

            return self._lean(yamltext.parse(response.body).value)
        if not response.body.startswith(b"{" if self._where.resource else _KIND_STARTS):
            return None  # Neither an object nor a document that says what it is.
        return self._lean(orjson.loads(response.body)) if self.verdict.omit_managed_fields else _compact(response.body)

    def _lean(self, obj: Json) -> Json:
        """The object without its managed fields, if these are not wanted."""
        if not self.verdict.omit_managed_fields:
            return obj
        lean = _without_managed_fields(obj)
        if isinstance(obj.get("items"), list):
            lean["items"] = [_without_managed_fields(item) for item in obj["items"]]
        for row in obj.get("rows") or ():
            if isinstance(row.get("object"), dict):
                row["object"] = _without_managed_fields(row["object"])
        return lean

    # The event.

    def line(self, stage: Stage, now: int) -> bytes:
        """The event of a stage as JSON, without an end of line; the request reached the stage at `now`."""
        received = stamp(self._received)
        objects = b""
        if self._request_object is not None:
            objects = b',"requestObject":%b' % encode(self._request_object)
        if self._response_object is not None:
            objects += b',"responseObject":%b' % encode(self._response_object)
        line = _EVENT % (
            EVENT_HEAD,
            self.verdict.level.encode(),
            encode(self._audit_id),
            stage.encode(),
            self._about(),
            self._status,
            objects,
            received,
            received if stage == "RequestReceived" else stamp(now),
            self._annotated(),
        )
        return as_go(line)

    def _annotated(self) -> bytes:
        if self._annotations:
            decision = _decision(*self._decided) if self._decided is not None else {}
            return b',"annotations":%b' % encode(dict(sorted({**decision, **self._annotations}.items())))
        return b"" if self._decided is None else _decision_alone(*self._decided)

    def _about(self) -> bytes:
        """Who asks for what, from where, and of which object."""
        reference = self._reference
        if reference is not None:
            told = {field: reference[field] for field in _REFERENCE_ORDER if field in reference}
            return b'%b,"objectRef":%b' % (self._asked(), encode(told))
        if self._where.resource:
            return b'%b,"objectRef":%b' % (self._asked(), _named(self._where))
        return self._asked()

    def _asked(self) -> bytes:
        """The same for all requests of one kind on one connection, so it is kept."""
        request, user = self._request, self._user
        headers = request.headers
        if self._impersonated is not None or "x-forwarded-for" in headers or "x-real-ip" in headers:
            return self._described()
        agent = headers.get("user-agent", "")
        if len(request.path) + len(request.query) + len(agent) > _REMEMBERED_LENGTH_MAX:
            return self._described()
        key = (request.path, request.query, self._verb, user.name if user else None, request.peer.address, agent)
        known = _askings.get(key)
        if known is not None and (known[0] is user or known[0] == user):
            return known[1]
        if len(_askings) >= _ASKINGS_MAX:
            _askings.clear()
        described = self._described()
        _askings[key] = (user, described)
        return described

    def _described(self) -> bytes:
        request, query = self._request, self._request.query
        told: Json = {
            "requestURI": f"{request.path}?{query}" if query else request.path,
            "verb": self._verb,
            "user": user_info(self._user),
        }
        if self._impersonated is not None:
            told["impersonatedUser"] = user_info(self._impersonated)
        if self._constraint:
            told["authenticationMetadata"] = {"impersonationConstraint": self._constraint}
        if sources := source_ips(request):
            told["sourceIPs"] = sources
        if agent := request.headers.get("user-agent"):
            is_long = len(agent) > USER_AGENT_LENGTH_MAX
            told["userAgent"] = agent[:USER_AGENT_LENGTH_MAX] + "...TRUNCATED" if is_long else agent
        return encode(told)[1:-1]

    def _refer(self) -> Json:
        if self._reference is None:
            self._reference = _reference_to(self._where)
        return self._reference


def _status(status: Json) -> bytes:
    return b',"responseStatus":%b' % encode(status)


def _decision(is_allowed: bool, reason: str) -> dict[str, str]:
    return {DECISION: "allow" if is_allowed else "forbid", REASON: reason}


@lru_cache(maxsize=1024)
def _decision_alone(is_allowed: bool, reason: str) -> bytes:
    return b',"annotations":%b' % encode(_decision(is_allowed, reason))


_REFERENCE_ORDER = ("resource", "namespace", "name", "uid", "apiGroup", "apiVersion", "resourceVersion", "subresource")


def _named(where: Target) -> bytes:
    return encode(_reference_to(where))


def _reference_to(where: Target) -> Json:
    reference = {"resource": where.resource}
    if where.namespace:
        reference["namespace"] = where.namespace
    if where.name:
        reference["name"] = where.name
    if where.group:
        reference["apiGroup"] = where.group
    reference["apiVersion"] = where.version
    if where.subresource:
        reference["subresource"] = where.subresource
    return reference


def _without_managed_fields(obj: Json) -> Json:
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return dict(obj)
    return {**obj, "metadata": {name: value for name, value in metadata.items() if name != "managedFields"}}


def _compact(body: bytes) -> Any:
    """A JSON answer as part of an event: as it is, unless it was indented for a person."""
    return orjson.loads(body) if body.startswith(b"{\n") else orjson.Fragment(body)


def user_info(user: User | None) -> Json:
    """A user as events tell them; nothing for a request whose credentials were not good."""
    if user is None:
        return {}
    info: Json = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    if user.groups:
        info["groups"] = user.groups
    if user.extra:
        info["extra"] = dict(sorted(user.extra.items()))
    return info


def source_ips(request: Request) -> list[str]:
    """Where a request comes from: what proxies claim, then the peer. Nothing for a request of this process."""
    peer = request.peer.address.rpartition(":")[0].strip("[]")
    headers = request.headers
    if "x-forwarded-for" not in headers and "x-real-ip" not in headers:
        return [peer] if peer else []
    claimed = [text for part in headers.get("x-forwarded-for", "").split(",") if (text := _address(part))]
    if (real := _address(headers.get("x-real-ip", ""))) and real not in claimed:
        claimed.append(real)
    return claimed if not peer or claimed[-1:] == [peer] else [*claimed, peer]


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text.strip()))
    except ValueError:
        return ""
