"""What is asked about a request before it is served."""

from __future__ import annotations

from hardpoint.apiserver import options
from hardpoint.apiserver.authorization.contract import Question
from hardpoint.apiserver.target import Target
from hardpoint.machinery import fields, names
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.labels import BadSelector
from hardpoint.machinery.messages import User

_WITH_SELECTORS = frozenset(("list", "watch", "deletecollection"))


def question(user: User, verb: str, target: Target, query: str) -> Question:
    """The question that a request amounts to.

    Who lists or watches the one object of a name asks for that name, so that a rule for named objects is enough.
    """
    if not query or verb not in _WITH_SELECTORS or target.watches or "Selector=" not in query:
        return Question(user, verb, target)
    asked = options.parse_query(query)
    field_selector = options.first(asked, "fieldSelector")
    if verb != "deletecollection" and (name := _only_name(field_selector, query, verb)):
        target = target._replace(name=name)
    return Question(user, verb, target, field_selector, options.first(asked, "labelSelector"))


def _only_name(field_selector: str, query: str, verb: str) -> str:
    """The name that a field selector demands; nothing if it demands none, or cannot be read."""
    if "metadata.name" not in field_selector:
        return ""
    try:
        options.list_options(query, watch=verb == "watch")
        terms = fields.parse(field_selector).terms
    except (ApiError, BadSelector):
        return ""
    name = next((term.value for term in terms if term.field == "metadata.name" and term.equal), "")
    return "" if names.path_segment(name) else name
