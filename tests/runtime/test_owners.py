"""Who may own what, and whom a change concerns."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.runtime.owners import controller_of, names_of_owner, owned

Json = dict[str, Any]


def thing(kind: str = "Widget", namespace: str = "", **metadata: Any) -> Json:
    placed = {"namespace": namespace} if namespace else {}
    metadata = {"name": kind.lower(), "uid": f"{kind}-uid", **placed, **metadata}
    return {"apiVersion": "example.com/v1", "kind": kind, "metadata": metadata}


def test_the_owner_is_the_controller_and_blocks_its_own_deletion() -> None:
    body = thing("Part", "home")
    made = owned(body, thing("Widget", "home"))
    assert made["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "example.com/v1",
            "kind": "Widget",
            "name": "widget",
            "uid": "Widget-uid",
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    assert "ownerReferences" not in body["metadata"], "the author's object stays theirs"
    assert owned(made, thing("Widget", "home")) == made


@pytest.mark.parametrize(
    ("owner", "body", "refused"),
    [
        pytest.param("home", "home", "", id="the same namespace"),
        pytest.param("", "home", "", id="a cluster's object owns what is in a namespace"),
        pytest.param("", "", "", id="a cluster's object owns another"),
        pytest.param("home", "", "in no namespace", id="what is in a namespace owns nothing of the cluster's"),
        pytest.param("home", "away", "in namespace 'away'", id="nor of another namespace"),
    ],
)
def test_owners_keep_to_their_namespace(owner: str, body: str, refused: str) -> None:
    if not refused:
        assert controller_of(owned(thing("Part", body), thing("Widget", owner)))
        return
    with pytest.raises(ValueError, match=refused):
        owned(thing("Part", body), thing("Widget", owner))


def test_nobody_takes_an_object_from_its_controller() -> None:
    taken = owned(thing("Part"), thing("Other"))
    with pytest.raises(ValueError, match="already has a controller, Other other"):
        owned(taken, thing("Widget"))


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        pytest.param({}, ["widget"], id="the controller"),
        pytest.param({"apiVersion": "example.com/v2"}, ["widget"], id="in another version"),
        pytest.param({"apiVersion": "example.org/v1"}, [], id="the same kind of another group"),
        pytest.param({"kind": "Gadget"}, [], id="another kind"),
        pytest.param({"controller": False}, [], id="an owner that is not the controller"),
    ],
)
def test_a_change_concerns_the_controller_of_the_kind(changed: Json, names: list[str]) -> None:
    part = owned(thing("Part"), thing("Widget"))
    part["metadata"]["ownerReferences"][0] |= changed
    assert list(names_of_owner("example.com", "Widget")(part)) == names
