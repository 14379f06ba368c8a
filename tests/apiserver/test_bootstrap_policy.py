"""The roles, bindings, flow control and API services that every cluster has, from the start and again after one."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import orjson
import pytest

from hardpoint.apiserver.managers import claim
from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.standardobjects import standard_objects
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api, Json
from tests.apiserver.authorization.roles import RBAC

LEFT_ALONE = {"annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}}
RECORDED = (
    "apiservices",
    "clusterrolebindings",
    "clusterroles",
    "flowschemas",
    "kube-system-roles",
    "prioritylevelconfigurations",
)


def path_of(kind: Kind, obj: Json) -> str:
    namespace = obj["metadata"].get("namespace")
    place = f"namespaces/{namespace}/{kind.plural}" if namespace else kind.plural
    return f"/apis/{kind.group}/{kind.version}/{place}"


def told(obj: Json) -> Json:
    """What an object says of itself, without what the server says of it."""
    own = ("name", "namespace", "labels", "annotations")
    metadata = {field: value for field, value in obj["metadata"].items() if field in own}
    return {**{field: value for field, value in obj.items() if field != "status"}, "metadata": metadata}


async def test_everything_is_there(api: Api) -> None:
    for kind, obj, _ in standard_objects():
        found = await api.ok("GET", f"{path_of(kind, obj)}/{obj['metadata']['name']}")
        assert told(found) == obj
        assert found["metadata"]["uid"]
        assert found["metadata"]["creationTimestamp"]
        assert [entry["operation"] for entry in found["metadata"]["managedFields"]] == ["Update"]


@pytest.mark.parametrize("api", ["memory"], indirect=True)
async def test_every_field_has_the_owner_it_would_have(api: Api) -> None:
    for kind, obj, fields in standard_objects():
        there = await api.ok("GET", f"{path_of(kind, obj)}/{obj['metadata']['name']}")
        assert there["metadata"]["managedFields"][0]["fieldsV1"] == fields
        again = deepcopy(obj)
        claim(kind, again, None, now="2026-01-01T00:00:00Z")
        assert again["metadata"]["managedFields"][0]["fieldsV1"] == fields


@pytest.mark.parametrize("api", ["memory"], indirect=True)
async def test_what_was_put_into_the_store_is_valid_and_whole(api: Api) -> None:
    for kind, obj, _ in standard_objects():
        url = f"{path_of(kind, obj)}/{obj['metadata']['name']}"
        there = await api.ok("GET", url)
        version = there["metadata"]["resourceVersion"]
        written = await api.ok("PUT", url, {**obj, "metadata": {**obj["metadata"], "resourceVersion": version}})
        # Nothing was missing, no default and no generation: so nothing was written.
        assert written == there


def recorded(reference: Path) -> Iterator[Json]:
    for name in RECORDED:
        yield from orjson.loads((reference / "bootstrap" / f"{name}.json").read_bytes())


def identity(obj: Json) -> tuple[str, str | None, str]:
    return obj["kind"], obj["metadata"].get("namespace"), obj["metadata"]["name"]


async def test_the_table_is_what_was_recorded(reference: Path) -> None:
    ours = {identity(obj): obj for _, obj, _ in standard_objects()}
    theirs = {identity(obj): obj for obj in recorded(reference)}
    assert {key: ours[key] for key in theirs} == theirs
    # The cluster that was recorded had lost these.
    assert set(ours) - set(theirs) == {
        ("ClusterRole", None, "system:controller:disruption-controller"),
        ("ClusterRoleBinding", None, "system:controller:disruption-controller"),
        ("Role", "kube-public", "system:controller:bootstrap-signer"),
        ("RoleBinding", "kube-public", "system:controller:bootstrap-signer"),
    }


async def test_the_server_says_when_it_is_done(api: Api) -> None:
    assert (await api.send("GET", "/readyz/poststarthook/rbac/bootstrap-roles")).body == b"ok"


VIEWERS = f"{RBAC}/clusterrolebindings/system:public-info-viewer"
DISCOVERY = f"{RBAC}/clusterroles/system:discovery"
OWN = {"verbs": ["get"], "nonResourceURLs": ["/own"]}


@pytest.mark.parametrize(
    ("path", "change", "mended"),
    [
        pytest.param(DISCOVERY, {"rules": [OWN]}, True, id="a role that lost its rules and got another"),
        pytest.param(DISCOVERY, {"metadata": {"labels": None}}, True, id="a role that lost its label"),
        pytest.param(DISCOVERY, {"rules": [OWN], "metadata": LEFT_ALONE}, False, id="a role to be left alone"),
        pytest.param(
            VIEWERS, {"subjects": [{"kind": "User", "name": "x"}]}, True, id="a binding that lost its subjects"
        ),
        pytest.param(VIEWERS, {"subjects": [], "metadata": LEFT_ALONE}, False, id="a binding to be left alone"),
    ],
)
async def test_what_was_lost_comes_back(path: str, change: Json, mended: bool) -> None:
    store = MemoryStore()
    async with ApiServer(store).running() as server:
        original = await Api(server).ok("GET", path)
        worse = await Api(server).ok("PATCH", path, change, content_type="application/merge-patch+json")
    async with ApiServer(store).running() as server:
        after = await Api(server).ok("GET", path)
    if not mended:
        assert after == worse
        return
    assert after["metadata"]["uid"] == original["metadata"]["uid"]
    assert after["metadata"]["labels"] == original["metadata"]["labels"]
    assert reads(after) == reads(worse) | reads(original)
    subjects = original.get("subjects") or []
    added = [subject for subject in worse.get("subjects") or () if subject not in subjects]
    assert (after.get("subjects") or []) == [*added, *subjects]


def reads(role: Json) -> set[str]:
    """The paths that a role may read."""
    return {path for rule in role.get("rules") or () for path in rule["nonResourceURLs"]}


async def test_a_deleted_role_comes_back() -> None:
    store = MemoryStore()
    async with ApiServer(store).running() as server:
        await Api(server).ok("DELETE", DISCOVERY)
    async with ApiServer(store).running() as server:
        assert (await Api(server).ok("GET", DISCOVERY))["rules"]


async def test_a_binding_of_another_role_is_made_anew() -> None:
    store = MemoryStore()
    async with ApiServer(store).running() as server:
        api = Api(server)
        original = await api.ok("GET", VIEWERS)
        await api.ok("DELETE", VIEWERS)
        reference = {**original["roleRef"], "name": "cluster-admin"}
        wrong = {**original, "metadata": {"name": original["metadata"]["name"]}, "roleRef": reference}
        await api.ok("POST", f"{RBAC}/clusterrolebindings", wrong)
    async with ApiServer(store).running() as server:
        again = await Api(server).ok("GET", VIEWERS)
    assert told(again) == told(original)


async def test_a_second_start_writes_nothing() -> None:
    store = MemoryStore()
    async with ApiServer(store).running():
        pass
    before = await store.range("/registry/rbac.authorization.k8s.io/")
    async with ApiServer(store).running():
        pass
    assert (await store.range("/registry/rbac.authorization.k8s.io/")).items == before.items
