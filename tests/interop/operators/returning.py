"""The smallest operator of all: what its function returns is told in the status."""

from typing import Any

import kopf


@kopf.on.create("notes")
def welcome(spec: kopf.Spec, **_: Any) -> dict[str, str]:
    return {"message": f"hello {spec['text']}"}
