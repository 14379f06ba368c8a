"""`hardpoint status`: what runs in a data directory, and whether it is well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hardpoint import datadir
from hardpoint.cli import EXIT_NO, options, printing

PATIENCE_SECONDS = 3.0


@click.command("status", epilog="\b\nExamples:\n  hardpoint status\n  hardpoint status -o json | jq -r .address\n")
@options.data_dir
@printing.output_option
def command(*, data_dir: Path, output: str | None) -> None:
    """Tell whether a cluster runs, where, and whether it is ready.

    Exit status 0 means that it is; 1 that it is not.
    """
    state = datadir.read_state(data_dir)
    if state is None:
        held = datadir.is_held(data_dir)
        report: dict[str, Any] = {"state": "starting" if held else "stopped", "dataDir": str(data_dir)}
    else:
        why_not = _why_not_ready(state.address, data_dir)
        report = {"state": "not ready" if why_not else "ready", "dataDir": str(data_dir), **state._asdict()}
        if why_not:
            report["reason"] = why_not
    if output:
        printing.print_as(output, report, f"cluster/{report.get('name', '')}" if state else "")
    else:
        printing.print_aligned({key: str(value) for key, value in report.items() if value != ""})
    if report["state"] != "ready":
        raise SystemExit(EXIT_NO)


def _why_not_ready(address: str, data_dir: Path) -> str:
    """Ask the API server itself; "" if all is well."""
    import ssl
    import urllib.error
    import urllib.request

    try:
        context = ssl.create_default_context(cafile=str(data_dir / datadir.PKI / "server-ca.crt"))
        with urllib.request.urlopen(f"{address}/readyz", timeout=PATIENCE_SECONDS, context=context):  # noqa: S310
            return ""
    except urllib.error.HTTPError as refused:
        with refused:
            return f"/readyz answers {refused.code}"
    except OSError as failed:
        return f"/readyz cannot be reached: {failed}"
