"""GET a collection: one page, at one revision, from stored bytes.

Where nothing is selected, nothing is decoded. With selectors the store is read in pages until enough objects match.
A continue token remembers the revision of the first page, so that all pages together are one consistent list.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from hardpoint.apiserver import answers, pages
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.freshness import wait_until_reached
from hardpoint.apiserver.options import ListOptions, list_options, resource_version
from hardpoint.apiserver.places import Place
from hardpoint.apiserver.selection import Selection, select
from hardpoint.apiserver.tokens import NEWEST, Token, read_token, write_token
from hardpoint.machinery import errors
from hardpoint.machinery.messages import Response
from hardpoint.store.contract import Compacted, FutureRevision, KeyValue, Store

Json = dict[str, Any]

CHUNK = 500
_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list "
    "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
    "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
    "modified, or deleted between the time the first chunk was returned and now may show up in the list."
)


class Found(NamedTuple):
    """One page of a list."""

    items: Sequence[KeyValue]
    revision: int
    token: Token | None


async def list_(call: Call) -> Response:
    options = list_options(call.request.query, watch=False)
    page = await find(call, options)
    meta: Json = {"resourceVersion": str(page.revision)}
    if page.token is not None:
        meta["continue"] = write_token(page.token)
        if page.token.remaining > 0:
            meta["remainingItemCount"] = page.token.remaining
    return await answer(call, page.items, meta)


async def answer(call: Call, items: Sequence[KeyValue], meta: Json) -> Response:
    """The list of these objects in the form the client takes."""
    form = answers.form_of(call)
    if form.transform:
        answers.check_transform(call, form, is_list=True)
        return answers.plain(call.request, form, await pages.as_transformed(call, form, items, meta))
    return answers.plain(call.request, form, await pages.as_objects(call, items, meta))


async def find(call: Call, options: ListOptions) -> Found:
    """The page of stored objects that the options ask for."""
    selection = select(call, options)
    store = call.services.store
    if options.token:
        token = read_token(options.token, options)
        revision = max(token.revision, 0)
    else:
        token = Token(0, "", -1)
        revision = await _revision_to_read(store, options)
    try:
        return await _page(call, selection, options, token, revision)
    except Compacted as gone:
        if options.token:
            again = write_token(Token(NEWEST, token.start, -1))
            raise errors.expired(_TOO_OLD, continue_token=again) from gone
        raise errors.expired("The resourceVersion for the provided list is too old.") from gone
    except FutureRevision as future:
        raise errors.version_too_large(future.revision, future.current, retry_after_seconds=0) from future


async def _revision_to_read(store: Store, options: ListOptions) -> int:
    """The revision to read at; 0 is the newest, and good enough for "not older than N" once N is reached."""
    wanted = resource_version(options.resource_version, "invalid resource version: ")
    if not wanted:
        return 0
    if options.match == "Exact" or (not options.match and options.limit > 0):
        return wanted
    await wait_until_reached(store, wanted)
    return 0


async def _page(call: Call, selection: Selection, options: ListOptions, token: Token, revision: int) -> Found:
    place, store = call.place, call.services.store
    # A list of "any" age may ignore the limit, and the reference's cache does; we keep it: fewer surprises.
    limit = options.limit
    if selection.key:
        return await _only(place, store, selection, revision)
    start = selection.prefix + token.start
    taken: list[KeyValue] = []
    while True:
        want = limit - len(taken) if limit else 0
        page = await store.range(
            selection.prefix,
            start=start,
            limit=max(want, CHUNK) if selection.needs_object and limit else want,
            revision=revision,
        )
        revision = page.revision
        items = await place.bring_all(page.items)
        if selection.needs_object:
            items, cut = await _matching(place, selection, items, want)
        else:
            cut = False
        taken += items
        if not page.more and not cut:
            return Found(taken, revision, None)
        if limit and len(taken) >= limit:
            break
        start = page.items[-1].key + "\0"
    following = taken[-1].key[len(selection.prefix) :] + "\0"
    remaining = -1
    if not selection.needs_object:
        known = token.remaining
        if known <= 0:
            known = await call.services.hub.count(place, selection.prefix, at=revision)
        remaining = known - len(taken)
    return Found(taken, revision, Token(revision, following, remaining))


async def _only(place: Place, store: Store, selection: Selection, revision: int) -> Found:
    """The list of at most one object that a name selects."""
    found = await store.get(selection.key, revision=revision)
    at = revision or await store.revision()
    if found is not None:
        (found,) = await place.bring_all((found,))
    if found is None or (selection.needs_object and not selection.matches(place.found(found))):
        return Found((), at, None)
    return Found((found,), max(at, found.revision) if not revision else at, None)


async def _matching(
    place: Place, selection: Selection, items: Sequence[KeyValue], want: int
) -> tuple[list[KeyValue], bool]:
    """The items that match, at most `want` if that is not 0; and whether items were left over."""
    matching: list[KeyValue] = []
    for number, item in enumerate(items):
        if number and number % CHUNK == 0:
            await asyncio.sleep(0)
        if selection.matches(place.found(item)):
            if want and len(matching) == want:
                return matching, True
            matching.append(item)
    return matching, False
