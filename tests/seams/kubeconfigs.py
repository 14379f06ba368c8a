"""What a guest's server writes down for an API server, read as an API server reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from hardpoint.client.endpoint import Endpoint, from_kubeconfig
from hardpoint.client.kubeconfig import load


def endpoint_of(config: dict[str, Any], folder: Path) -> Endpoint:
    file = folder / "webhook.yaml"
    file.write_text(yaml.safe_dump(config))
    return from_kubeconfig(load(file))
