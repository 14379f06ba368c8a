"""The functions expressions may call, a file for each library: those of CEL itself, and those Kubernetes adds."""

from __future__ import annotations

from hardpoint.machinery.cel.functions import by_name
from hardpoint.machinery.cel.library import (
    addresses,
    authorization,
    conversions,
    formats,
    lists,
    operators,
    optionals,
    quantities,
    regex,
    semver,
    sets,
    strings,
    times,
    urls,
)

FUNCTIONS = by_name(
    (
        *operators.OVERLOADS,
        *conversions.OVERLOADS,
        *times.OVERLOADS,
        *strings.OVERLOADS,
        *lists.OVERLOADS,
        *sets.OVERLOADS,
        *optionals.OVERLOADS,
        *regex.OVERLOADS,
        *urls.OVERLOADS,
        *quantities.OVERLOADS,
        *addresses.OVERLOADS,
        *formats.OVERLOADS,
        *semver.OVERLOADS,
        *authorization.OVERLOADS,
    )
)
