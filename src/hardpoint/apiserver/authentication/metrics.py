"""What authentication has done, for `/metrics`, under kube-apiserver's names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(slots=True)
class AuthenticationMetrics:
    """Plain counters: one is added to at every request."""

    succeeded: int = 0
    failed: int = 0
    reloads: int = 0
    """Of the configuration file."""
    reload_failures: int = 0

    def lines(self) -> Iterator[str]:
        """As `/metrics` writes them."""
        yield from _family("authentication_attempts", "Requests by how authentication went.")
        yield f'authentication_attempts{{result="success"}} {self.succeeded}'
        yield f'authentication_attempts{{result="failure"}} {self.failed}'
        name = "apiserver_authentication_config_controller_automatic_reloads_total"
        yield from _family(name, "Reloads of the authentication configuration by how they went.")
        yield f'{name}{{status="success"}} {self.reloads}'
        yield f'{name}{{status="failure"}} {self.reload_failures}'


def _family(name: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} counter"
