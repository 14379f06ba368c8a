"""The list of paths at the root."""

from __future__ import annotations

from collections.abc import Callable

import orjson
import pytest

from hardpoint.apiserver.index import Index
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request


def test_paths_are_listed_once_and_in_order(request_for: Callable[..., Request]) -> None:
    index = Index(lambda: ["/version", "/api"], lambda: ["/livez", "/api"])
    answer = index.respond(request_for("/"))
    assert answer is not None
    assert orjson.loads(answer.body) == {"paths": ["/api", "/livez", "/version"]}
    assert answer.body.startswith(b'{\n  "paths": [\n    "/api"')


def test_an_unknown_path_is_not_the_indexs(request_for: Callable[..., Request]) -> None:
    assert Index(lambda: ["/api"]).respond(request_for("/nowhere")) is None


def test_the_index_cannot_be_written(request_for: Callable[..., Request]) -> None:
    with pytest.raises(ApiError):
        Index().respond(request_for("/", method="DELETE"))
