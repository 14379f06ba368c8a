"""Results, in the form asked for with -o."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def output_option(function: F) -> F:
    return click.option(
        "-o", "--output", type=click.Choice(["json", "yaml", "name"]), default=None, help="A form for machines."
    )(function)


def print_as(form: str, result: Mapping[str, Any], name: str) -> None:
    """Print a result as JSON, as YAML, or as nothing but its name."""
    if form == "name":
        click.echo(name)
    elif form == "json":
        import orjson

        click.echo(orjson.dumps(result, option=orjson.OPT_INDENT_2).decode())
    else:
        import yaml

        click.echo(yaml.safe_dump(dict(result), sort_keys=False), nl=False)


def print_aligned(rows: Mapping[str, str]) -> None:
    """Print names and values in two columns."""
    width = max(len(name) for name in rows)
    for name, value in rows.items():
        click.echo(f"{name:<{width}}  {value}")
