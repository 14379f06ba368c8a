"""What authentication has done, for `/metrics`, under kube-apiserver's names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hardpoint.machinery.exposition import Family


@dataclass(slots=True)
class AuthenticationMetrics:
    """Plain counters: one is added to at every request."""

    succeeded: int = 0
    failed: int = 0
    reloads: int = 0
    """Of the configuration file."""
    reload_failures: int = 0

    def families(self) -> Iterator[Family]:
        """As `Metrics` tells them."""
        tried = [((("result", "success"),), self.succeeded), ((("result", "failure"),), self.failed)]
        yield "authentication_attempts", "counter", "Requests by how authentication went.", tried
        name = "apiserver_authentication_config_controller_automatic_reloads_total"
        read = [((("status", "success"),), self.reloads), ((("status", "failure"),), self.reload_failures)]
        yield name, "counter", "Reloads of the authentication configuration by how they went.", read
