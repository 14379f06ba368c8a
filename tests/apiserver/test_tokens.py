"""Continue tokens: what was written is read, and what was not is refused in kube-apiserver's words."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.apiserver.options import ListOptions
from hardpoint.apiserver.tokens import NEWEST, Token, read_token, write_token
from hardpoint.machinery.errors import ApiError

ANY = ListOptions()
NAMES = st.text("abc.-09", min_size=1).filter(lambda name: name not in (".", ".."))


def written(body: Any) -> str:
    return urlsafe_b64encode(orjson.dumps(body)).decode().rstrip("=")


def token(**fields: Any) -> str:
    return written({"v": "meta.k8s.io/v1", "rv": 5, "start": "a"} | fields)


@given(st.integers(1, 2**63 - 1), st.lists(NAMES, min_size=1, max_size=2), st.integers(-1, 2**31))
def test_what_is_written_is_read(revision: int, start: list[str], remaining: int) -> None:
    made = Token(revision, "/".join(start) + "\0", remaining)
    assert read_token(write_token(made), ANY) == made


@pytest.mark.parametrize("revision", [-1, -2])
def test_a_token_may_ask_for_the_newest(revision: int) -> None:
    assert read_token(token(rv=revision), ANY).revision == NEWEST


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bogus", "illegal base64 data at input byte 4"),
        ("a=", "illegal base64 data at input byte 1"),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}", "illegal base64 data at input byte 0"),
        ("aa", "invalid character 'i' looking for beginning of value"),
        ("ew", "unexpected end of JSON input"),
        (written([]), "json: cannot unmarshal array into Go value of type storage.continueToken"),
        (written({}), "server does not recognize this encoded version "),
        (written(None), "server does not recognize this encoded version "),
        (token(v="v2"), "server does not recognize this encoded version v2"),
        (token(rv="x"), "json: cannot unmarshal string into Go struct field continueToken.rv of type int64"),
        (token(rv=0), "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
        (token(start=""), "encoded start key empty (version meta.k8s.io/v1)"),
        (token(start="../x"), "../x"),
        (token(start="a/../../x"), "a/../../x"),
        (token(start="//x"), "//x"),
    ],
)
def test_a_made_up_token_is_refused(text: str, why: str) -> None:
    with pytest.raises(ApiError) as refused:
        read_token(text, ANY)
    assert refused.value.code == 400
    assert refused.value.message == f"invalid continue token: continue key is not valid: {why}"


def test_a_token_knows_its_revision_best() -> None:
    with pytest.raises(ApiError, match="specifying resource version is not allowed when using continue"):
        read_token(token(), ListOptions(resource_version="7"))
