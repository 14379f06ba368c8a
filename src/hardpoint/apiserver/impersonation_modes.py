"""The ways in which somebody can be allowed to act as somebody else.

The plain way needs the verb `impersonate` on everything that makes up the other user, and then allows whatever the
other user may. The constrained ways (KEP 5284) need `impersonate:<mode>` for that, and `impersonate-on:<mode>:<verb>`
for what is then done; there is one for nodes, one for the node an account's pod runs on, one for service accounts and
one for everybody else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from hardpoint.apiserver.authentication.contract import ANONYMOUS, AUTHENTICATED, MASTERS, UNAUTHENTICATED
from hardpoint.apiserver.authorization.contract import Authorizer, Decision, Opinion, Question, refusal
from hardpoint.apiserver.target import Target
from hardpoint.machinery import names
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import User

GROUP = "authentication.k8s.io"
NODES = "system:nodes"
NODE_NAME = "authentication.kubernetes.io/node-name"
MANY = 4
"""Who wants to be in so many groups is first asked whether they may be in any."""
_NODE, _ACCOUNT = "system:node:", "system:serviceaccount:"


class Mode(NamedTuple):
    """One way. The plain one has no name."""

    name: str
    concerns: Callable[[User, User], bool]
    """Whether it can be used for the wanted user, by the one who asks."""

    @property
    def verb(self) -> str:
        return f"impersonate:{self.name}" if self.name else "impersonate"

    @property
    def constraint(self) -> str:
        return self.verb if self.name else ""

    @property
    def group(self) -> str:
        """The API group that users and groups are in."""
        return GROUP if self.name else ""


def account_of(name: str) -> tuple[str, str] | None:
    """Namespace and name of the service account that a user name stands for."""
    parts = name.removeprefix(_ACCOUNT).split(":")
    if not name.startswith(_ACCOUNT) or len(parts) != 2:
        return None
    namespace, account = parts
    return None if names.dns_label(namespace) or names.dns_subdomain(account) else (namespace, account)


def node_of(name: str) -> str | None:
    """The node that a user name stands for."""
    node = name.removeprefix(_NODE)
    return None if not name.startswith(_NODE) or names.dns_subdomain(node) else node


def _is_only_a_name(wanted: User) -> bool:
    return not (wanted.uid or wanted.groups or wanted.extra)


def _is_own_node(wanted: User, asking: User) -> bool:
    node = node_of(wanted.name)
    is_account = account_of(asking.name) is not None
    return _is_only_a_name(wanted) and node is not None and is_account and asking.extra.get(NODE_NAME) == (node,)


def _is_node(wanted: User, _: User) -> bool:
    return _is_only_a_name(wanted) and node_of(wanted.name) is not None


def _is_account(wanted: User, _: User) -> bool:
    return _is_only_a_name(wanted) and account_of(wanted.name) is not None


def _is_other(wanted: User, _: User) -> bool:
    return node_of(wanted.name) is None and account_of(wanted.name) is None


ASSOCIATED_NODE = Mode("associated-node", _is_own_node)
MODES = (
    ASSOCIATED_NODE,
    Mode("arbitrary-node", _is_node),
    Mode("serviceaccount", _is_account),
    Mode("user-info", _is_other),
    Mode("", lambda _wanted, _asking: True),
)


async def attempt(mode: Mode, wanted: User, asked: Question, authorizer: Authorizer) -> User:
    """The whole user that `wanted` becomes, if whoever asks may act as them in this way. Raises 403."""
    if mode is ASSOCIATED_NODE:
        # The answer must not depend on which node it is: an account's pods run on many.
        known = {"authentication.kubernetes.io/associated-node-keys": tuple(sorted(asked.user.extra))}
        asked = asked._replace(user=replace(asked.user, extra=known))
    if mode.name:
        await _check(authorizer, asked._replace(verb=f"impersonate-on:{mode.name}:{asked.verb}"))
    for question in _questions(mode, wanted, asked.user):
        await _check(authorizer, question)
    await _check_many(authorizer, mode, wanted, asked.user)
    return _whole(mode, wanted)


def _questions(mode: Mode, wanted: User, asking: User) -> Iterator[Question]:
    """What must be allowed for the name and the uid."""
    account, node = account_of(wanted.name), node_of(wanted.name) if mode.name else None
    if account is not None:
        target = Target("", mode.group, "v1", "serviceaccounts", account[0], account[1])
    elif node is not None:
        target = Target("", mode.group, "v1", "nodes", name="*" if mode is ASSOCIATED_NODE else node)
    else:
        target = Target("", mode.group, "v1", "users", name=wanted.name)
    yield Question(asking, mode.verb, target)
    if wanted.uid:
        yield Question(asking, mode.verb, Target("", GROUP, "v1", "uids", name=wanted.uid))


async def _check_many(authorizer: Authorizer, mode: Mode, wanted: User, asking: User) -> None:
    """Check the groups and the extra, of which there may be many."""
    groups = Question(asking, mode.verb, Target("", mode.group, "v1", "groups"))
    extra = Question(asking, mode.verb, Target("", GROUP, "v1", "userextras"))
    if mode.name:
        _refuse_odd_groups(groups, wanted.groups)
        _refuse_odd_extra(extra, wanted.extra)
    pairs = [(key, value) for key, values in wanted.extra.items() for value in values]
    for question, wishes, anything in (
        (groups, [("", group) for group in wanted.groups], ("", "*")),
        (extra, pairs, ("*", "*")),
    ):
        if mode.name and len(wishes) >= MANY:
            decision = await authorizer.authorize(_named(question, *anything))
            if decision.is_allowed:
                continue
        for part, name in wishes:
            await _check(authorizer, _named(question, part, name))


def _named(question: Question, part: str, name: str) -> Question:
    return question._replace(target=question.target._replace(subresource=part, name=name))


def _refuse_odd_groups(question: Question, groups: tuple[str, ...]) -> None:
    if "" in groups:
        raise _refused(question, "impersonating the empty string group is not allowed")
    if MASTERS in groups:
        raise _refused(_named(question, "", MASTERS), "impersonating the system:masters group is not allowed")


def _refuse_odd_extra(question: Question, extra: Mapping[str, tuple[str, ...]]) -> None:
    for key, values in extra.items():
        wrong = names.domain_prefixed_path("extra.key", key)
        if not key:
            raise _refused(question, "impersonating the empty string key in extra is not allowed")
        if wrong:
            raise _refused(question, f"impersonating an invalid key in extra is not allowed: {wrong[0]}")
        if "" in values:
            raise _refused(question, "impersonating the empty string value in extra is not allowed")


async def _check(authorizer: Authorizer, question: Question) -> None:
    decision = await authorizer.authorize(question)
    if not decision.is_allowed:
        raise _refused(question, ": ".join(text for text in (decision.error, decision.reason) if text))


def _refused(question: Question, why: str) -> ApiError:
    return refusal(question, Decision(Opinion.NONE, why))


def _whole(mode: Mode, wanted: User) -> User:
    """The user with the groups that come with a name."""
    groups, account = wanted.groups, account_of(wanted.name)
    if not groups and account is not None:
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{account[0]}")
    elif mode.name and node_of(wanted.name) is not None:
        groups = (NODES,)
    implied = UNAUTHENTICATED if wanted.name == ANONYMOUS.name else AUTHENTICATED
    if implied not in groups and not (implied == AUTHENTICATED and UNAUTHENTICATED in groups):
        groups = (*groups, implied)
    return replace(wanted, groups=groups)
