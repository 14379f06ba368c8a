"""`hardpoint credential`: a credential plugin, for a kubeconfig's exec section to run."""

from __future__ import annotations

import contextlib
import sys

import click

from hardpoint.machinery.errors import ConfigError

EXAMPLES = """\b
Example:
  hardpoint credential /home/me/log_in.py
\b
In a kubeconfig:
  users:
  - name: me
    user:
      exec:
        apiVersion: client.authentication.k8s.io/v1
        command: hardpoint
        args: [credential, /home/me/log_in.py]
        interactiveMode: IfAvailable
"""


@click.command("credential", epilog=EXAMPLES)
@click.argument("target")
def command(*, target: str) -> None:
    """Print the credential that the @app.credential function of TARGET gets.

    Clients run it, and tell it in KUBERNETES_EXEC_INFO what they want.
    """
    import asyncio
    import os

    from hardpoint.cli import logs
    from hardpoint.sdk.loading import load

    logs.to_stderr()
    # Whatever the file prints is for people; stdout belongs to the credential.
    with contextlib.redirect_stdout(sys.stderr):
        plugin = load(target).app.credential_plugin
        if plugin is None:
            raise ConfigError(f"{target} holds no credential plugin; put @app.credential on a function")
        printed = asyncio.run(plugin.output(os.environ))
    sys.stdout.buffer.write(printed)
