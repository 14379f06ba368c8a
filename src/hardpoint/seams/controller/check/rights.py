"""Which rights a controller needs: those it used, and no others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from hardpoint.runtime.promises import Promises
from hardpoint.seams.controller.check.trial import Bench
from hardpoint.seams.controller.check.undisturbed import undisturbed
from hardpoint.seams.controller.host import Asked

_ORDER = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")

promises: Promises[Bench] = Promises()


@promises("the rights it needs can be told")
async def _rights(bench: Bench) -> str:
    await undisturbed(bench)
    return "; ".join(rules(each for record in bench.records for each in record.asked))


def rules(asked: Iterable[Asked]) -> list[str]:
    """The rules of a least-privilege role, one text each: `group resources: verbs`."""
    used: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in asked:
        if each.where.resource:
            resource = "/".join(filter(None, (each.where.resource, each.where.subresource)))
            used[each.where.group, resource].add(each.verb)
    return [
        f"{group or 'core'} {resource}: {','.join(sorted(verbs, key=_place))}"
        for (group, resource), verbs in sorted(used.items())
    ]


def _place(verb: str) -> int:
    return _ORDER.index(verb) if verb in _ORDER else len(_ORDER)
