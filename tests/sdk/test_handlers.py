"""Handlers as part of an App: what they may do in a cluster, and that they run like any controller."""

from __future__ import annotations

from typing import Any

from hardpoint import App
from hardpoint.controller import Context, PlainContext
from hardpoint.sdk.permissions import READ, rules_by_namespace
from tests.seams.controller.world import Widget


async def handle(seen: Any, ctx: Context) -> None: ...


def verbs(app: App) -> dict[str, list[str]]:
    return {rule["resources"][0]: rule["verbs"] for rule in rules_by_namespace([app])[""]}


def test_who_remembers_may_patch_the_objects_and_who_does_not_may_not() -> None:
    app = App("test")
    app.on_create(Widget, owns=["batch/v1 Job"], reads=["v1 Secret"])(handle)
    app.timer("v1 Node", every=60)(handle)
    granted = verbs(app)
    assert granted["widgets"] == [*READ, "patch"]
    assert granted["nodes"] == [*READ]
    assert granted["jobs"] == [*READ, "create", "patch", "delete"]
    assert granted["secrets"] == [*READ]


def test_a_finalizer_is_a_patch_too() -> None:
    app = App("test")
    app.daemon("v1 Node")(handle)
    assert verbs(app)["nodes"] == [*READ, "patch"]


def test_indexes_are_read_by_all_that_may_ask_them() -> None:
    app = App("test")

    @app.controller(Widget)
    def look(seen: Widget, ctx: PlainContext) -> None: ...

    @app.index("v1 Pod")
    def by_node(pod: Any) -> list[str]:
        return [pod.spec.nodeName]

    assert verbs(app)["pods"] == [*READ]
    assert [each.title for each in app.controllers["look"].declared] == ["example.com/v1 Widget", "v1 Pod"]
