"""The one place where everything is put together: data directory, certificates, store, API server, socket.

    async with Cluster(Options(data_dir=Path("demo"))).running() as cluster:
        print(cluster.address)

What lower layers need from above is handed to them here; nothing else imports this module but the commands and the
test fixtures.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import resource
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hardpoint import datadir
from hardpoint.apiserver.audit.auditor import Auditor
from hardpoint.apiserver.audit.options import AuditOptions, make_auditor
from hardpoint.apiserver.authentication.contract import MASTERS
from hardpoint.apiserver.authentication.options import AuthenticationOptions
from hardpoint.apiserver.authorization.options import AuthorizationOptions
from hardpoint.apiserver.flow.options import FlowOptions
from hardpoint.apiserver.pki import FRONT_PROXY, ensure
from hardpoint.apiserver.server import ApiServer
from hardpoint.datadir import State
from hardpoint.machinery.errors import ConfigError, HardpointError
from hardpoint.machinery.messages import Handler, User
from hardpoint.serving import bind_or_any, serve
from hardpoint.serving.certificates import Authority, Pki
from hardpoint.serving.peers import Peers
from hardpoint.serving.tls import certificates_in, serving_context
from hardpoint.store.contract import Store
from hardpoint.store.open import STORE_FOLDER, open_store

log = logging.getLogger(__name__)

DEFAULT_PORT = 6443
OPEN_FILES = 65_536
ACCOUNTS_KEY = "service-accounts"
"""The file of the key that signs service accounts' tokens."""
API_SERVER, CONTROLLER_MANAGER = "apiserver", "controller-manager"
COMPONENTS = (API_SERVER, CONTROLLER_MANAGER)
"""What a cluster can run; it always runs the first."""


class PortTaken(HardpointError):
    """Somebody else listens where this cluster should."""


class ServingFiles(NamedTuple):
    """Certificates of the user's own, in place of those the cluster issues itself."""

    certificate: Path
    key: Path
    client_ca: Path


class EtcdFiles(NamedTuple):
    """What a TLS connection to etcd needs."""

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


class Options(NamedTuple):
    """What a user can say about a cluster."""

    data_dir: Path
    name: str = "default"
    host: str = "127.0.0.1"
    port: int | None = None
    """None: 6443 if it is free, else any port."""
    store: str = "sqlite"
    etcd: EtcdFiles = EtcdFiles()
    kubeconfig: Path | None = None
    """Where to write a context for this cluster's admin; None writes none."""
    make_current: bool | None = None
    """Whether that becomes the current context; None: only in a file that has none."""
    components: tuple[str, ...] = COMPONENTS
    serving: ServingFiles | None = None
    authentication: AuthenticationOptions = AuthenticationOptions()
    authorization: AuthorizationOptions = AuthorizationOptions()
    audit: AuditOptions = AuditOptions(is_log_in_data_dir=True)
    flow: FlowOptions = FlowOptions()
    from_backup: Path | None = None
    """A backup the store begins with; the data directory must not hold a store then."""


def parse_components(text: str) -> tuple[str, ...]:
    """The components in a list with commas, or `all`. Raises ConfigError."""
    if text == "all":
        return COMPONENTS
    asked = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for part in asked:
        if part not in COMPONENTS:
            raise ConfigError(f"--components: there is no {part!r}; choose from {', '.join(COMPONENTS)}, or say all")
    if API_SERVER not in asked:
        raise ConfigError(f"--components: a cluster needs its {API_SERVER}; `hardpoint {asked[0]}` runs that alone")
    return asked


class Cluster:
    """An embedded cluster. Entering `running` starts it, leaving stops it; nothing acknowledged is lost either way."""

    state: State
    """How it is reached."""
    handle: Handler
    """The API, for clients in the same process."""
    store: Store

    def __init__(self, options: Options, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.options = options
        self._now = now

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Cluster]:
        """Serve until left. On entry it is ready and its kubeconfig is written.

        Raises AlreadyRunning, PortTaken, ConfigError, or what the store raises when it cannot be opened.
        """
        try:
            async with AsyncExitStack() as stack:
                await self._start(stack)
                log.info("cluster ready", extra={"cluster": self.options.name, "address": self.state.address})
                yield self
                log.info("cluster stopping", extra={"cluster": self.options.name})
        except BaseExceptionGroup as group:
            # The groups are of our making; who started the cluster wants to hear what happened.
            raise _innermost(group) from None

    async def _start(self, stack: AsyncExitStack) -> None:
        options = self.options
        _allow_many_files()
        stack.enter_context(datadir.held(options.data_dir))
        pki = ensure(options.data_dir / datadir.PKI, _own_names(options.host), self._now())
        bound = stack.enter_context(_bind(options.host, options.port))
        host, port = _reachable(options.host), bound.getsockname()[1]
        address = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        self.store = await self._open_store(address)
        stack.push_async_callback(self.store.close)
        authentication = _authentication(options, pki)
        context, peers = _serving_context(pki, options.serving, authentication), _peers(authentication)
        auditor = _auditor(options)
        if auditor is not None:
            await stack.enter_async_context(auditor.running())
        server = ApiServer(
            self.store,
            host=host,
            port=port,
            authentication=authentication,
            authorization=options.authorization,
            auditor=auditor,
            flow=options.flow,
        )
        api = await stack.enter_async_context(server.running())
        self.handle = api.handle
        await stack.enter_async_context(await serve(api.handle, bound=bound, ssl_context=context, peers=peers))
        self.state = self._introduce(address, pki)
        datadir.write_state(options.data_dir, self.state)
        stack.callback(datadir.remove_state, options.data_dir)
        warming = asyncio.create_task(api.warm_up(), name="warm-up")
        stack.push_async_callback(asyncio.wait, [warming])
        if CONTROLLER_MANAGER in options.components:
            root_ca = pki.certificate("server-ca").read_text()
            authorities = partial(_authorities, pki, options.serving)
            await stack.enter_async_context(_controlled(api, root_ca, authorities, self._now))

    async def _open_store(self, address: str) -> Store:
        options = self.options
        if options.from_backup is not None:
            await _restore(options.from_backup, options)
        return await open_store(
            options.store,
            options.data_dir,
            holder=f"cluster {options.name!r} at {address}",
            ca_file=options.etcd.ca,
            cert_file=options.etcd.certificate,
            key_file=options.etcd.key,
        )

    def _introduce(self, address: str, pki: Pki) -> State:
        """Write a context for the admin, if one is wanted, and say how the cluster is reached."""
        options = self.options
        context = ""
        if options.kubeconfig is not None:
            from hardpoint.client.kubeconfig import write_context  # The API answers already; nobody waits for YAML.

            context = write_context(
                options.kubeconfig,
                name=options.name,
                server=address,
                ca_pem=pki.certificate("server-ca").read_bytes(),
                cert_pem=pki.certificate("admin").read_bytes(),
                key_pem=pki.key("admin").read_bytes(),
                make_current=options.make_current,
            )
        return State(
            name=options.name,
            pid=os.getpid(),
            address=address,
            kubeconfig=str(options.kubeconfig or ""),
            context=context,
            store=options.store,
            components=",".join(options.components),
        )


@asynccontextmanager
async def fresh_cluster() -> AsyncIterator[Handler]:
    """The API of a cluster in memory that nobody used before, gone when left: for checks, which need many of them."""
    import tempfile  # Not for `up`, which has a folder.

    with tempfile.TemporaryDirectory(prefix="hardpoint-") as folder:
        options = Options(data_dir=Path(folder), store="memory", port=0, audit=AuditOptions())
        async with Cluster(options).running() as cluster:
            yield cluster.handle


@asynccontextmanager
async def _controlled(
    api: ApiServer, root_ca: str, authorities: Callable[[], Mapping[str, Authority]], now: Callable[[], datetime]
) -> AsyncIterator[None]:
    """Run the controllers until left, beginning when there is nothing else to do: nobody waits for them."""

    async def control() -> None:
        from hardpoint.client.client import Client
        from hardpoint.controllers.manager import ControllerManager

        user = User("system:kube-controller-manager", (MASTERS,))
        client = Client.in_process(api.handle, user, user_agent="kube-controller-manager")
        manager = ControllerManager(client, root_ca=root_ca, authorities=authorities(), sign_token=api.sign, now=now)
        await manager.run()

    async with asyncio.TaskGroup() as tasks:
        controlling = tasks.create_task(control(), name=CONTROLLER_MANAGER)
        try:
            yield
        finally:
            controlling.cancel()


def _authorities(pki: Pki, serving: ServingFiles | None) -> Mapping[str, Authority]:
    """Who signs which requests. Users of an authority that is not the cluster's own are signed for by its owner."""
    from hardpoint.machinery.signingrequests import CLIENT, KUBELET_CLIENT, KUBELET_SERVING

    authorities = {KUBELET_SERVING: pki.authority("kubelet-ca")}
    if serving is None:
        authorities |= dict.fromkeys((CLIENT, KUBELET_CLIENT), pki.authority("client-ca"))
    return authorities


def _auditor(options: Options) -> Auditor | None:
    audit = options.audit.with_log(options.data_dir / datadir.AUDIT)
    if audit.webhook is None:
        return make_auditor(audit)
    from hardpoint.client.webhook import Webhook

    return make_auditor(audit, Webhook.from_kubeconfig("audit", audit.webhook.config_file))


async def _restore(backup: Path, options: Options) -> None:
    if options.store != "sqlite":
        raise ConfigError(f"--from-backup needs --store sqlite, not {options.store}")
    from hardpoint.store.sqlite.backup import restore

    await restore(backup, options.data_dir / STORE_FOLDER)


def _innermost(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _innermost(first) if isinstance(first, BaseExceptionGroup) else first


def _bind(host: str, port: int | None) -> socket.socket:
    try:
        return bind_or_any(host, port, DEFAULT_PORT)
    except OSError as cause:
        if cause.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"port {port} of {host} is taken by another program; choose another --port, or leave the choice to us"
            ) from cause
        raise ConfigError(f"cannot listen on {host} port {port}: {cause.strerror}") from cause


def _authentication(options: Options, pki: Pki) -> AuthenticationOptions:
    """What the user says of authentication and, where they say nothing, what the cluster has of its own."""
    wanted = options.authentication
    accounts, proxy = wanted.service_accounts, wanted.front_proxy
    if accounts.signing_key_file is None and not accounts.key_files:
        accounts = accounts._replace(signing_key_file=pki.key(ACCOUNTS_KEY), makes_signing_key=True)
    if proxy.ca_file is None:
        proxy = proxy._replace(ca_file=pki.certificate("front-proxy-ca"), allowed_names=(FRONT_PROXY,))
    client_ca = options.serving.client_ca if options.serving is not None else pki.certificate("client-ca")
    return wanted._replace(client_ca_file=client_ca, service_accounts=accounts, front_proxy=proxy)


def _serving_context(pki: Pki, serving: ServingFiles | None, authentication: AuthenticationOptions) -> ssl.SSLContext:
    certificate, key = pki.certificate("apiserver"), pki.key("apiserver")
    if serving is not None:
        certificate, key = serving.certificate, serving.key
    return serving_context(certificate, key, authentication.client_ca_file, authentication.front_proxy.ca_file)


def _peers(authentication: AuthenticationOptions) -> Peers:
    client_ca, proxy_ca = authentication.client_ca_file, authentication.front_proxy.ca_file
    assert client_ca is not None, "a cluster has one"
    front_proxies = certificates_in(proxy_ca) if proxy_ca is not None else frozenset()
    return Peers(certificates_in(client_ca), front_proxies, authentication.front_proxy.headers.all)


def _own_names(host: str) -> list[str]:
    """What this machine is called, as far as a certificate can say it."""
    names = [socket.gethostname(), "" if host in _ANY else host]
    return [name for name in names if name and name.isascii()]


_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 The key of a table, nothing is bound to it here.


def _reachable(host: str) -> str:
    return _ANY.get(host, host)


def _allow_many_files() -> None:
    """Each watch is an open file; the usual soft limit of 1,024 is for programs that use select()."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
