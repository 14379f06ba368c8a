"""What an author may declare of handlers, and what is said of what cannot work."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint import App
from hardpoint.controller import Changed, Context
from hardpoint.machinery.errors import ConfigError
from hardpoint.seams.controller.guest.handlers.guest import HandlersGuest
from tests.seams.controller.world import Widget


async def handle(seen: Any, ctx: Context) -> None:
    return None


async def with_change(seen: Any, change: Changed, ctx: Context) -> None:
    return None


def only(app: App) -> HandlersGuest:
    (guest,) = app.controllers.values()
    assert isinstance(guest, HandlersGuest)
    return guest


def test_all_handlers_of_a_resource_are_one_in_their_order() -> None:
    app = App("test")
    app.on_update(Widget, field="spec.size", owns=["v1 Pod"])(with_change)
    app.on_create(Widget, owns=["v1 Pod", "v1 Service"])(handle)
    app.on_update("example.com/v1 Widget", field=["metadata", "labels", "example.com/x"], reads=["v1 Node"])(handle)
    app.on_delete("v1 ConfigMap")(handle)
    widgets, maps = app.controllers.values()
    assert isinstance(widgets, HandlersGuest)
    ids = ["update with_change spec.size", "create handle", "update handle metadata.labels.example.com/x"]
    assert [handler.id for handler in widgets.handlers] == ids
    assert widgets.handlers[2].path == ("metadata", "labels", "example.com/x")
    assert [each.title for each in widgets.owns] == ["v1 Pod", "v1 Service"]
    assert [each.title for each in widgets.reads] == ["v1 Node"]
    assert list(app.controllers) == ["widget-handlers", "configmap-handlers"]
    assert (widgets.finalizer, maps.finalizer) == ("", "test.hardpoint.dev/handlers")


def test_one_function_may_handle_several_things() -> None:
    app = App("test")
    app.on_create(Widget)(app.on_update(Widget)(handle))
    assert [handler.id for handler in only(app).handlers] == ["update handle", "create handle"]


def test_kinds_of_the_same_name_in_two_groups_are_told_apart() -> None:
    app = App("test")
    app.on_event("v1 Event")(handle)
    app.on_event("events.k8s.io/v1 Event")(handle)
    assert list(app.controllers) == ["event-handlers", "events-k8s-io-event-handlers"]


@pytest.mark.parametrize(
    ("decorator", "arguments", "options", "words"),
    [
        pytest.param("on_create", ["Widget"], {}, "'Widget' names no resource; write it like", id="no version"),
        pytest.param("on_create", [int], {}, "is no resource; use a class with @app.resource", id="another class"),
        pytest.param("on_create", [Widget], {"retries": 0}, "retries=0 must be a number, more than 0", id="no tries"),
        pytest.param(
            "on_delete", [Widget], {"backoff_seconds": -1}, "must be a number, more than 0", id="negative wait"
        ),
        pytest.param("on_delete", [Widget], {"timeout_seconds": 0}, "timeout_seconds=0 must", id="no time"),
        pytest.param("on_create", [Widget], {"owns": ["Pod"]}, "'Pod' names no resource", id="owns"),
        pytest.param("on_create", [Widget], {"when": 3}, "when=3 must be a function of the object", id="when"),
        pytest.param("on_create", [Widget], {"label_selector": "a in b"}, "cannot be a handler", id="selector"),
        pytest.param(
            "on_create", [Widget], {"retrys": 3}, "it takes no retrys=; it may take name, when", id="mistyped"
        ),
        pytest.param("on_event", [Widget], {"retries": 3}, "it takes no retries=", id="events are not tried again"),
        pytest.param("on_update", [Widget], {"field": "spec..x"}, "must be a path such as 'spec.image'", id="field"),
        pytest.param("on_update", [Widget], {"field": ["spec", 3]}, "must be a path such as", id="field's steps"),
        pytest.param("timer", [Widget], {"every": 0}, "every=0 must be a number", id="always"),
        pytest.param("timer", [Widget], {"every": 1, "idle": -1}, "idle=-1 must be a number, at least 0", id="idle"),
        pytest.param("timer", [Widget], {"every": "1m"}, "every='1m' must be a number", id="a text"),
    ],
)
def test_what_cannot_work_is_said_with_its_line(decorator: str, arguments: Any, options: Any, words: str) -> None:
    app = App("test")
    with pytest.raises(ConfigError) as refused:
        getattr(app, decorator)(*arguments, **options)(handle)
    assert words in str(refused.value)
    assert f"test_handlers_declared.py:16: @app.{decorator}: handle" in str(refused.value)
    assert app.controllers == {}


@pytest.mark.parametrize(
    ("decorator", "function", "words"),
    [
        pytest.param("on_create", 3, "@app.on_create goes on a function, not on 3", id="no function"),
        pytest.param("on_create", with_change, "must take two arguments, the object and the context", id="a change"),
        pytest.param("on_update", lambda seen: None, "or the object, the change and the context", id="one argument"),
        pytest.param("daemon", lambda seen, ctx: None, "must be an async function", id="plain daemon"),
        pytest.param("index", handle, "must be a plain function of one argument", id="async index"),
    ],
)
def test_what_is_no_handler_is_refused(decorator: str, function: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        getattr(App("test"), decorator)(Widget)(function)


def test_two_that_cannot_be_told_apart_are_refused() -> None:
    app = App("test")
    app.on_create(Widget)(handle)
    with pytest.raises(ConfigError, match=r"has the name of the one at .*:16; give it a name="):
        app.on_create(Widget)(handle)
    app.on_create(Widget, name="another")(handle)
    with pytest.raises(ConfigError, match="an App handles one version of a kind"):
        app.on_create("example.com/v2 Widget")(handle)

    @app.index(Widget)
    def by_size(seen: Widget) -> list[int]:
        return [seen.size]

    with pytest.raises(ConfigError, match="has the name of the index at"):
        app.index(Widget)(by_size)
