"""Options that several commands share."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from hardpoint.datadir import default_data_dir

F = TypeVar("F", bound=Callable[..., Any])

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

FILE = click.Path(path_type=Path)


def data_dir(function: F) -> F:
    return click.option(
        "--data-dir",
        type=FILE,
        default=default_data_dir,
        show_default="$XDG_DATA_HOME/hardpoint/default",
        help="Where the cluster keeps everything. One directory, one cluster.",
        callback=lambda _ctx, _param, value: Path(os.path.abspath(value.expanduser())),
    )(function)


def store(function: F) -> F:
    return click.option(
        "--store",
        default="sqlite",
        show_default=True,
        metavar="sqlite|memory|etcd://HOST:PORT[,HOST:PORT]",
        help="Where objects are kept: durably in the data directory, only in memory, or in an etcd cluster.",
        callback=_store,
    )(function)


def etcd_files(function: F) -> F:
    for flag, about in (
        ("--etcd-keyfile", "The key of that certificate."),
        ("--etcd-certfile", "The client certificate shown to etcd."),
        ("--etcd-cafile", "The authority that vouches for etcd."),
    ):
        function = click.option(flag, type=FILE, metavar="FILE", help=about)(function)
    return function


def port(*names: str) -> Callable[[F], F]:
    return click.option(
        *names,
        type=click.IntRange(0, 65535),
        metavar="PORT",
        default=None,
        show_default="6443 if free, else any",
        help="The API server's port; 0 takes any free one.",
    )


def check_name(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    if not _NAME.fullmatch(value):
        raise click.BadParameter(
            f"{value!r} is not a cluster name; use up to 63 lower-case letters, digits and dashes, e.g. dev-1"
        )
    return value


def check_address(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    try:
        ipaddress.ip_address(value)
    except ValueError as wrong:
        raise click.BadParameter(f"{value!r} is not an IP address") from wrong
    return value


def _store(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    if value not in ("sqlite", "memory") and not value.startswith("etcd://"):
        raise click.BadParameter(f"{value!r} is not a store; write sqlite, memory or etcd://HOST:PORT[,HOST:PORT]")
    return value
