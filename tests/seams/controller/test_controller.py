"""What an author may declare, and what is said of what cannot work."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint import App
from hardpoint.controller import Context, PlainContext, Watch
from hardpoint.machinery.errors import ConfigError
from hardpoint.seams.controller.guest.controller import ControllerGuest
from tests.seams.controller.world import Widget


async def look_at_it(seen: Any, ctx: Context) -> None:
    return None


def test_what_is_not_said_is_the_usual() -> None:
    guest = ControllerGuest("test", look_at_it, "batch/v1 Job", finalize=look_at_it)
    assert (guest.name, guest.workers, guest.namespace) == ("look-at-it", 16, None)
    assert guest.finalizer == "test.batch/finalizer"
    assert ControllerGuest("test", look_at_it, "v1 Service", finalize=look_at_it).finalizer == (
        "test.hardpoint.dev/finalizer"
    )
    assert ControllerGuest("test", look_at_it, Widget).finalizer == ""


def test_every_resource_is_declared_once() -> None:
    watch = Watch("v1 Secret", to=lambda secret: ["a"])
    guest = ControllerGuest(
        "test", look_at_it, Widget, owns=["v1 Pod", "v1 Pod"], watches=[watch], reads=["v1 Secret", Widget]
    )
    assert [each.title for each in guest.declared] == ["example.com/v1 Widget", "v1 Pod", "v1 Secret"]


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        pytest.param("Service", {}, "'Service' names no resource; write it like 'batch/v1 Job'", id="no version"),
        pytest.param("v1 services", {}, "'v1 services' names no resource", id="a plural"),
        pytest.param(int, {}, "is no resource; use a class with @app.resource", id="another class"),
        pytest.param(Widget, {"owns": ["Job"]}, "'Job' names no resource", id="owns"),
        pytest.param(Widget, {"watches": ["v1 Pod"]}, "must be a Watch: Watch('v1 ConfigMap'", id="watches a text"),
        pytest.param(Widget, {"watches": [Watch("v1 Pod", to="a")]}, "must be a function that names", id="to a text"),  # type: ignore[arg-type]
        pytest.param(Widget, {"workers": 0}, "workers=0 must be at least 1", id="no workers"),
        pytest.param(Widget, {"label_selector": "a in b"}, "cannot be a controller", id="no selector"),
        pytest.param(Widget, {"name": "Not A Name"}, "must be lower-case letters, digits and dashes", id="no name"),
        pytest.param(Widget, {"resync_seconds": 0}, "resync_seconds=0 must be more than 0", id="always"),
        pytest.param(Widget, {"timeout_seconds": -1}, "timeout_seconds=-1 must be more than 0", id="no time"),
        pytest.param(Widget, {"wrokers": 3}, "takes no wrokers=; it may take owns, watches, reads", id="mistyped"),
        pytest.param(Widget, {"when": 3}, "when=3 must be a function", id="no predicate"),
    ],
)
def test_what_cannot_work_is_said_with_its_line(what: Any, options: Any, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ControllerGuest("test", look_at_it, what, **options)
    assert words in str(refused.value)
    assert "test_controller.py:16: @app.controller: look_at_it" in str(refused.value)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        pytest.param(3, "@app.controller goes on a function, not on 3", id="no function"),
        pytest.param(lambda seen: None, "must take two arguments, the object and the context", id="one argument"),
    ],
)
def test_what_is_no_reconcile_function_is_refused(function: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        App("test").controller(Widget)(function)


def test_two_controllers_of_an_app_have_two_names_and_one_finalizer_at_most() -> None:
    app = App("test")

    @app.controller(Widget, finalize=look_at_it)
    def first(seen: Widget, ctx: PlainContext) -> None: ...

    with pytest.raises(ConfigError, match=r"is called first, as .*test_controller.py:\d+ is; give it a name="):
        app.controller("v1 Pod")(first)
    with pytest.raises(ConfigError, match="has a finalize= like"):
        app.controller(Widget, name="second", finalize=look_at_it)(first)
    assert list(app.controllers) == ["first"]
