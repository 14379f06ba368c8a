"""The App: what an author's file registers its functions with. Registering starts nothing.

    app = App("badges")

    @app.authenticator
    def by_badge(token: str) -> User | None: ...

Each decorator hands the function to its seam, which looks at it then and there, and returns it as it was.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, Unpack, cast, overload

from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.models import Model
from hardpoint.machinery.objects import Object
from hardpoint.runtime.authored import Authored
from hardpoint.sdk.handlers import Handlers
from hardpoint.seams.audit.guest import AuditSink, AuditSinkGuest
from hardpoint.seams.authentication.guest import Authenticator, AuthenticatorGuest
from hardpoint.seams.authorization.guest import Authorizer, AuthorizerGuest
from hardpoint.seams.controller.guest.controller import ControllerGuest, ControllerOptions, Function, Registering
from hardpoint.seams.controller.guest.follower import Follower
from hardpoint.seams.controller.guest.indexing import IndexGuest
from hardpoint.seams.credential.guest import CredentialFunction, CredentialGuest
from hardpoint.serving.webhooks import HEALTH, Guest

if TYPE_CHECKING:
    from hardpoint.seams.crd.guest.conversion import Converting
    from hardpoint.seams.crd.guest.definition import Declared, ResourceOptions
    from hardpoint.seams.crd.guest.resource import Resource

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")
_OWN_PATHS = HEALTH | {"/metrics"}

F = TypeVar("F")
A = TypeVar("A", bound=Authenticator)
Z = TypeVar("Z", bound=Authorizer)
S = TypeVar("S", bound=AuditSink)
C = TypeVar("C", bound=CredentialFunction)
M = TypeVar("M", bound=Model)
R = TypeVar("R", bound="Resource")
R2 = TypeVar("R2", bound="Resource")


class WebhookGuest(Guest, Protocol):
    """A guest that a cluster reaches through a webhook."""

    seam: ClassVar[str]
    flag: ClassVar[str]
    """The API server's flag that names the file which says where the webhook is; "" where an object does."""
    admits_anyone: ClassVar[bool]
    """Whether callers need no certificate: it tells nobody anything they did not bring themselves."""

    @property
    def function(self) -> Authored[object]: ...


class App(Handlers):
    """The extensions of one file."""

    def __init__(self, name: str) -> None:
        """`name` is what clusters and people call it: lower-case letters, digits and dashes."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ConfigError(f"{_caller()}: App({name!r}): use up to 63 lower-case letters, digits and dashes")
        self.name = name
        self.webhooks: dict[str, WebhookGuest] = {}
        """By path."""
        self.credential_plugin: CredentialGuest | None = None
        self.controllers: dict[str, Follower] = {}
        """By name; all handlers of a resource are one of them."""
        self.indexes: dict[str, IndexGuest] = {}
        self.resources: list[Declared] = []

    def __repr__(self) -> str:
        return f"App({self.name!r})"

    @overload
    def authenticator(self, function: A, /) -> A: ...
    @overload
    def authenticator(self, /, *, path: str = ...) -> Callable[[A], A]: ...
    def authenticator(self, function: A | None = None, /, *, path: str = "/authenticate") -> A | Callable[[A], A]:
        """A function that says whose bearer token it is: a User, or None for a token it does not know.

        It takes the token; if it takes a second argument, also the audiences that were asked for.
        """
        register: Callable[[A], A] = self._registering(
            "@app.authenticator", path, lambda function: AuthenticatorGuest(function, path=path)
        )
        return register if function is None else register(function)

    @overload
    def authorizer(self, function: Z, /) -> Z: ...
    @overload
    def authorizer(self, /, *, path: str = ...) -> Callable[[Z], Z]: ...
    def authorizer(self, function: Z | None = None, /, *, path: str = "/authorize") -> Z | Callable[[Z], Z]:
        """A function that decides whether somebody may do something: Allowed(), Denied() or NoOpinion()."""
        register: Callable[[Z], Z] = self._registering(
            "@app.authorizer", path, lambda function: AuthorizerGuest(function, path=path)
        )
        return register if function is None else register(function)

    @overload
    def audit_sink(self, function: S, /) -> S: ...
    @overload
    def audit_sink(self, /, *, path: str = ...) -> Callable[[S], S]: ...
    def audit_sink(self, function: S | None = None, /, *, path: str = "/audit") -> S | Callable[[S], S]:
        """A function that is told what was asked of the cluster, in batches; each event at least once."""
        register: Callable[[S], S] = self._registering(
            "@app.audit_sink", path, lambda function: AuditSinkGuest(function, path=path)
        )
        return register if function is None else register(function)

    def credential(self, function: C, /) -> C:
        """A function that gets a client's credential: a Token or a ClientCertificate. An App has one at most."""
        guest = CredentialGuest(function)
        if self.credential_plugin is not None:
            raise guest.function.wrong(f"is the second one; {self.credential_plugin.function.place} has the first")
        self.credential_plugin = guest
        return function

    def resource(self, *, group: str, version: str, **options: Unpack[ResourceOptions]) -> Callable[[type[R]], type[R]]:
        """A class that is one version of a custom resource: its definition follows from it, and its objects are typed.

        The kind is the class's name unless `kind=` says otherwise; several versions are several classes of one kind.
        """
        # Not above: whoever has no resources does not pay for pydantic.
        from hardpoint.sdk import resources

        place = _caller()

        def register(cls: type[R]) -> type[R]:
            resources.declare(self, cls, place, {"group": group, "version": version, **options})
            return cls

        return register

    def conversion(self, source: type[R], target: type[R2], /, *, path: str = "/convert") -> Converting[R, R2]:
        """A function that makes an object of `target` of one of `source`, another version of the same kind.

        All versions must lead to each other, if need be over a third. Metadata is carried over by itself.
        """
        from hardpoint.sdk import resources

        _check_path("@app.conversion", path)

        def register(function: Any) -> Any:
            resources.convert(self, function, source, target, path)
            return function

        return register

    @overload
    def controller(
        self, what: type[M], /, *, finalize: Function[M] | None = ..., **options: Unpack[ControllerOptions]
    ) -> Registering[M]: ...
    @overload
    def controller(
        self, what: str, /, *, finalize: Function[Object] | None = ..., **options: Unpack[ControllerOptions]
    ) -> Registering[Object]: ...
    def controller(
        self,
        what: type[Any] | str,
        /,
        *,
        finalize: Function[Any] | None = None,
        **options: Unpack[ControllerOptions],
    ) -> Registering[Any]:
        """A function that makes the world look like an object of `what`: a class, or a name such as "v1 Service".

        It is called with the object and a Context whenever the object changes, or something that it `owns` or
        `watches`. With `finalize`, an object that is deleted stays until that function is done with it.
        """

        def register(function: Function[Any]) -> Function[Any]:
            guest = ControllerGuest(self.name, function, what, finalize=finalize, **options)
            for there in self.controllers.values():
                if there.name == guest.name:
                    raise guest.function.wrong(f"is called {guest.name}, as {there.function.place} is; give it a name=")
                if guest.finalizer and there.finalizer == guest.finalizer:
                    raise guest.function.wrong(f"has a finalize= like {there.function.place}; an App has one of a kind")
            guest.indexes = self.indexes
            self.controllers[guest.name] = guest
            return function

        return cast("Registering[Any]", register)

    def _registering(self, decorator: str, path: str, guest_of: Callable[[F], WebhookGuest]) -> Callable[[F], F]:
        """What makes a guest of a function and keeps it at `path`."""
        _check_path(decorator, path)

        def register(function: F) -> F:
            guest = guest_of(function)
            there = self.webhooks.get(path)
            if there is not None:
                raise guest.function.wrong(f"is served at {path}, where {there.function.place} is; give it a path=")
            self.webhooks[path] = guest
            return function

        return register


def _check_path(decorator: str, path: str) -> None:
    if not isinstance(path, str) or not _PATH.fullmatch(path) or path in _OWN_PATHS:
        raise ConfigError(f"{_caller()}: {decorator}: path={path!r} must be a path of its own, such as /badges")


def _caller() -> str:
    """The line of the author's file that called us."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
