"""The custom resources of an App: declaring them, converting between their versions, and their definitions."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hardpoint.machinery.errors import ConfigError
from hardpoint.seams.crd.guest import definition
from hardpoint.seams.crd.guest.conversion import ConversionGuest
from hardpoint.seams.crd.guest.definition import Declared
from hardpoint.seams.crd.guest.resource import Resource

if TYPE_CHECKING:
    from hardpoint.sdk.app import App
    from hardpoint.sdk.deployment import Deployed
    from hardpoint.sdk.serving import Served
    from hardpoint.serving.certificates import Pki

Json = dict[str, Any]
ClientConfig = Callable[[str], Json]
"""How an API server reaches the webhook at a path, as a definition says it."""


def declare(app: App, cls: type[Any], place: str, options: Mapping[str, Any]) -> None:
    """Register a class with an App, and tell it who it is. Raises ConfigError."""
    if not (isinstance(cls, type) and issubclass(cls, Resource)):
        raise ConfigError(f"{place}: @app.resource goes on a class that derives from hardpoint.crd.Resource")
    try:
        declared = Declared(resource=cls, place=place, **{"kind": cls.__name__, **options})
    except TypeError as wrong:
        raise ConfigError(f"{place}: @app.resource: {cls.__name__}: {wrong}") from wrong
    for there in app.resources:
        if (there.api_version, there.kind) == (declared.api_version, declared.kind):
            raise declared.wrong(f"is {declared.kind} of {declared.api_version}, as the class at {there.place} is")
    declared.check()
    cls.api_version, cls.kind = declared.api_version, declared.kind
    app.resources.append(declared)


def convert(app: App, function: Callable[[Any], Any], source: type[Any], target: type[Any], path: str) -> None:
    """Register a function that leads from one version of a kind to another. Raises ConfigError."""
    guest = app.webhooks.get(path, ConversionGuest(path=path))
    if not isinstance(guest, ConversionGuest):
        raise ConfigError(f"{guest.function.place} is served at {path}; give @app.conversion another path=")
    guest.add(function, source, target)
    app.webhooks[path] = guest


def definitions(app: App, conversion: ClientConfig | None = None) -> list[Json]:
    """The CustomResourceDefinitions of an App's resources, checked as an API server checks them.

    `conversion` tells how its conversion functions are reached; without it they are left out, as for a cluster that
    holds a single version. Raises ConfigError.
    """
    guests = [guest for guest in app.webhooks.values() if isinstance(guest, ConversionGuest)]

    def client_config(versions: Sequence[Declared]) -> Json | None:
        group, kind = versions[0].group, versions[0].kind
        for guest in guests:
            if guest.converts(group, kind):
                _check_ways(guest, versions)
                return conversion(guest.path) if conversion is not None else None
        return None

    return definition.definitions(app.resources, client_config)


def at_service(deployed: Deployed, pki: Pki) -> ClientConfig:
    """Webhooks behind the Service that `hardpoint manifests` prints."""
    bundle = base64.b64encode(pki.certificate("server-ca").read_bytes()).decode()
    service = {"name": deployed.name, "namespace": deployed.namespace}
    return lambda path: {"service": {**service, "path": path, "port": 443}, "caBundle": bundle}


def at_address(served: Served) -> ClientConfig:
    """Webhooks of a server that runs."""
    bundle = served.ca_bundle()
    return lambda path: {"url": f"{served.address}{path}", **({"caBundle": bundle} if bundle else {})}


def _check_ways(guest: ConversionGuest, versions: Sequence[Declared]) -> None:
    """Every version must lead to every other: any may be stored, and any asked for. Raises ConfigError."""
    for source in versions:
        for target in versions:
            if guest.way(source.api_version, target.api_version, source.kind) is None:
                names = f"{source.resource.__name__}, {target.resource.__name__}"
                raise source.wrong(
                    f"is not converted from {source.version} to {target.version}; put @app.conversion({names}) on a "
                    "function"
                )
