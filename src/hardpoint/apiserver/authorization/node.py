"""What a node may do: what running the pods that are bound to it needs, and nothing else.

A question about an object that pods refer to is answered by the graph of what refers to what. Where the object itself
decides, which is not known yet, the answer is yes and the admission plugin NodeRestriction has the last word. The
reasons are kube-apiserver's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from hardpoint.apiserver.authorization.contract import NO_OPINION, Authorizer, Decision, Known, Opinion, Question
from hardpoint.apiserver.authorization.node_identity import node_of
from hardpoint.apiserver.hub import Hub
from hardpoint.machinery import fields
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.messages import User
from hardpoint.store.contract import Store

if TYPE_CHECKING:
    from hardpoint.apiserver.authorization.node_following import FollowedGraph

LEASES = "kube-node-lease"
"""The namespace of the nodes' heartbeats."""

_ALLOWED = Decision(Opinion.ALLOW)
_READ = frozenset(("get", "list", "watch"))
_KEEP = frozenset(("get", "create", "update", "patch", "delete"))

# What every node may do alike, whichever pods it has.
_ALIKE: Mapping[tuple[str, str], frozenset[str]] = {
    ("", "endpoints"): frozenset(("get",)),
    ("", "events"): frozenset(("create", "update", "patch")),
    ("", "services"): _READ,
    ("authentication.k8s.io", "tokenreviews"): frozenset(("create",)),
    ("authorization.k8s.io", "localsubjectaccessreviews"): frozenset(("create",)),
    ("authorization.k8s.io", "subjectaccessreviews"): frozenset(("create",)),
    ("certificates.k8s.io", "certificatesigningrequests"): _READ | {"create"},
    ("certificates.k8s.io", "clustertrustbundles"): _READ,
    ("events.k8s.io", "events"): frozenset(("create", "update", "patch")),
    ("node.k8s.io", "runtimeclasses"): _READ,
    ("storage.k8s.io", "csidrivers"): _READ,
}
_POD_PARTS = {"status": frozenset(("update", "patch")), "eviction": frozenset(("create",))}


def _no(reason: str) -> Decision:
    return Decision(Opinion.NONE, reason)


class NodeAuthorizer:
    """Has an opinion about users that are nodes, and only where it allows."""

    def __init__(self, hub: Hub, store: Store) -> None:
        self._hub, self._store = hub, store
        self._rules: Mapping[tuple[str, str], Callable[[str, Question], Awaitable[Decision]]] = {
            ("", "configmaps"): self._read_one,
            ("", "nodes"): self._node,
            ("", "persistentvolumeclaims"): self._claim,
            ("", "persistentvolumes"): self._get_one,
            ("", "pods"): self._pod,
            ("", "secrets"): self._read_one,
            ("", "serviceaccounts"): self._account,
            ("certificates.k8s.io", "podcertificaterequests"): self._certificate,
            ("coordination.k8s.io", "leases"): self._lease,
            ("resource.k8s.io", "resourceclaims"): self._get_one,
            ("resource.k8s.io", "resourceslices"): self._slice,
            ("storage.k8s.io", "csinodes"): self._csi_node,
            ("storage.k8s.io", "volumeattachments"): self._get_one,
        }

    @cached_property
    def _graph(self) -> FollowedGraph:
        # Not before a node asks: most servers never see one.
        from hardpoint.apiserver.authorization.node_following import FollowedGraph

        return FollowedGraph(self._hub, self._store)

    async def authorize(self, question: Question) -> Decision:
        node = node_of(question.user)
        if node is None:
            return NO_OPINION
        if not node:
            return _no(f"unknown node for user {quote(question.user.name)}")
        target = question.target
        resource = (target.group, target.resource)
        rule = self._rules.get(resource)
        if rule is not None:
            return await rule(node, question)
        if not target.subresource and question.verb in _ALIKE.get(resource, ()):
            return _ALLOWED
        return NO_OPINION

    async def rules_for(self, user: User, namespace: str) -> Known:
        """Nothing that could be listed: what a node may do depends on its pods."""
        if node_of(user) is None:
            return Known()
        return Known(incomplete=True, error="node authorizer does not support user rule resolution")

    async def _related(self, node: str, question: Question) -> Decision:
        name, target = _name(question), question.target
        if not name:
            return _no("No Object name found")
        if await self._graph.relates(target.resource, target.namespace, name, to=node):
            return _ALLOWED
        return _no(f"no relationship found between node '{node}' and this object")

    async def _read_one(self, node: str, question: Question) -> Decision:
        """Reading one object in a namespace, by any verb that reads."""
        if question.verb not in _READ:
            return _no("can only read resources of this type")
        if question.target.subresource:
            return _no("cannot read subresource")
        if not question.target.namespace:
            return _no("can only read namespaced object of this type")
        return await self._related(node, question)

    async def _get_one(self, node: str, question: Question) -> Decision:
        if question.verb != "get":
            return _no("can only get individual resources of this type")
        if question.target.subresource:
            return _no("cannot get subresource")
        return await self._related(node, question)

    async def _claim(self, node: str, question: Question) -> Decision:
        if question.target.subresource != "status":
            return await self._get_one(node, question)
        if question.verb not in ("update", "patch"):
            return _no("can only get/update/patch this type")
        return await self._related(node, question)

    async def _account(self, node: str, question: Question) -> Decision:
        """Reading the accounts of its pods, and tokens for them; NodeRestriction looks at what is in the tokens."""
        target = question.target
        if question.verb == "get" and not target.subresource:
            return await self._read_one(node, question)
        if question.verb != "create" or not target.name:
            return _no("can only create tokens for individual service accounts")
        if target.subresource != "token":
            return _no("can only create token subresource of serviceaccount")
        return await self._related(node, question)

    async def _pod(self, node: str, question: Question) -> Decision:
        verb, part = question.verb, question.target.subresource
        if part:
            return _ALLOWED if verb in _POD_PARTS.get(part, ()) else NO_OPINION
        if verb == "get":
            return await self._related(node, question)
        if verb in ("list", "watch"):
            if _selects(question, "spec.nodeName", node):
                return _ALLOWED
            if _name(question):
                return await self._related(node, question)
            return _no("can only list/watch pods with spec.nodeName field selector")
        # NodeRestriction sees to it that these are mirror pods of its own.
        return _ALLOWED if verb in ("create", "delete") else NO_OPINION

    async def _node(self, node: str, question: Question) -> Decision:
        """Its own object, which NodeRestriction makes sure of where something is written."""
        verb, part, name = question.verb, question.target.subresource, _name(question)
        if part:
            return _ALLOWED if part == "status" and verb in ("update", "patch") else NO_OPINION
        if verb in _READ:
            if name == node:
                return _ALLOWED
            other = f"'{name}'" if name else "all nodes"
            return _no(f"node '{node}' cannot read {other}, only its own Node object")
        return _ALLOWED if verb in ("create", "update", "patch") else NO_OPINION

    async def _lease(self, node: str, question: Question) -> Decision:
        if question.verb not in _KEEP:
            return _no("can only get, create, update, patch, or delete a node lease")
        if question.target.namespace != LEASES:
            return _no(f"can only access leases in the {quote(LEASES)} system namespace")
        if question.verb != "create" and question.target.name != node:
            return _no("can only access node lease with the same name as the requesting node")
        return _ALLOWED

    async def _csi_node(self, node: str, question: Question) -> Decision:
        if question.target.subresource == "status":
            return _no("CSINode status access requires CSIVolumeHealth feature")
        if question.target.subresource:
            return _no("cannot authorize CSINode subresources")
        if question.verb not in _KEEP:
            return _no("can only get, create, update, patch, or delete a CSINode")
        if question.verb != "create" and question.target.name != node:
            return _no("can only access CSINode with the same name as the requesting node")
        return _ALLOWED

    async def _slice(self, node: str, question: Question) -> Decision:
        verb = question.verb
        if question.target.subresource:
            return _no("cannot authorize ResourceSlice subresources")
        if verb == "create":
            return _ALLOWED
        if verb in ("get", "update", "patch", "delete"):
            return await self._related(node, question)
        if verb in ("list", "watch", "deletecollection"):
            if _selects(question, "spec.nodeName", node):
                return _ALLOWED
            return _no("can only list/watch/deletecollection resourceslices with nodeName field selector")
        allowed = "get, watch, list, create, update, patch, delete, deletecollection"
        return _no(f"only the following verbs are allowed for a ResourceSlice: {allowed}")

    async def _certificate(self, node: str, question: Question) -> Decision:
        verb = question.verb
        if question.target.subresource:
            return _no("nodes may not access the status subresource of PodCertificateRequests")
        if verb == "create":
            return _ALLOWED
        if verb == "get":
            return await self._related(node, question)
        if verb in ("list", "watch"):
            if _selects(question, "spec.nodeName", node):
                return _ALLOWED
            return _no("can only list/watch podcertificaterequests with nodeName field selector")
        return _no(f"nodes may not {verb} podcertificaterequests")


def _name(question: Question) -> str:
    """The one object that is asked for, by the path or by a selector."""
    if question.target.name:
        return question.target.name
    return next((term.value for term in _terms(question) if term.field == "metadata.name"), "")


def _selects(question: Question, field: str, value: str) -> bool:
    return any(term.field == field and term.value == value for term in _terms(question))


def _terms(question: Question) -> list[fields.Term]:
    """What the selected objects must be equal in; nothing where the selector cannot be read."""
    if not question.field_selector:
        return []
    try:
        return [term for term in fields.parse(question.field_selector).terms if term.equal]
    except fields.BadSelector:
        return []


_conforms: type[Authorizer] = NodeAuthorizer
