"""ClusterRoles that gather others: `admin`, `edit`, `view`, and whatever has an aggregationRule.

Such a role has the rules of all roles that its selectors match. Roles are few and seldom change, and which of them
depends on which is not known before they are looked at: whenever one changes, all are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from hardpoint.client.client import Client
from hardpoint.client.events import Event
from hardpoint.client.resources import Resource
from hardpoint.machinery import selectors
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.labels import BadSelector
from hardpoint.runtime.metadata import MetadataFollower, Sink
from hardpoint.runtime.workqueue import WorkQueue

Json = dict[str, Any]

CLUSTER_ROLES = Resource("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", namespaced=False)
FIELD_MANAGER = "clusterrole-aggregation-controller"


class ClusterRoleAggregation:
    """Keeps the rules of aggregated roles. Hears of changes from `follower`."""

    def __init__(self, client: Client, follower: MetadataFollower) -> None:
        self.queue: WorkQueue[str] = WorkQueue("aggregated cluster roles")
        self._client = client
        follower.subscribe(self)

    def saw(self, resource: Resource, event: Event) -> None:
        if resource.plural == CLUSTER_ROLES.plural and resource.api_version == CLUSTER_ROLES.api_version:
            self.queue.add(CLUSTER_ROLES.plural)

    def lost(self, resource: Resource) -> None:
        """Roles that are no longer served need no rules."""

    async def run(self) -> None:
        """Gather rules until cancelled."""
        await self.queue.work(self._look)

    async def _look(self, _: str) -> None:
        roles = (await self._client.list(CLUSTER_ROLES))["items"]
        for role in roles:
            if "aggregationRule" not in role:
                continue
            rules = gathered(role, roles)
            if rules is not None and rules != (role.get("rules") or []):
                await self._give(role, rules)

    async def _give(self, role: Json, rules: Sequence[Json]) -> None:
        metadata = role["metadata"]
        body: Json = {
            "apiVersion": CLUSTER_ROLES.api_version,
            "kind": CLUSTER_ROLES.kind,
            # With its uid, a role that is gone meanwhile is not made again.
            "metadata": {"name": metadata["name"], "uid": metadata["uid"]},
            **({"rules": rules} if rules else {}),
        }
        try:
            await self._client.apply(body, field_manager=FIELD_MANAGER, force=True)
        except ApiError as refused:
            if refused.code not in (404, 409):
                raise
            self.queue.add(CLUSTER_ROLES.plural)


def gathered(role: Mapping[str, Any], roles: Iterable[Json]) -> list[Json] | None:
    """The rules that a role gathers, each once: by selector, by the names of the others; None if one cannot be read."""
    name = role["metadata"]["name"]
    others = sorted((each for each in roles if each["metadata"]["name"] != name), key=_name)
    found: dict[bytes, Json] = {}
    for wanted in role["aggregationRule"].get("clusterRoleSelectors") or ():
        try:
            selector = selectors.from_label_selector(wanted)
        except BadSelector:
            return None
        for other in others:
            if selector.matches(other["metadata"].get("labels") or {}):
                for rule in other.get("rules") or ():
                    found.setdefault(orjson.dumps(rule, option=orjson.OPT_SORT_KEYS), rule)
    return list(found.values())


def _name(role: Json) -> str:
    name: str = role["metadata"]["name"]
    return name


_conforms: type[Sink] = ClusterRoleAggregation
