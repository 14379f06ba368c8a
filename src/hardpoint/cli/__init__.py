"""The command line: a file a command. A command parses, calls the library and prints.

Results go to stdout, words to stderr. Exit 0 is yes, 1 is no, 2 is misuse. Commands are imported when they are named,
and import what they need when they run: `hardpoint up` should not wait for what it does not use.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys

import click

from hardpoint.machinery.errors import ConfigError, HardpointError

COMMANDS = (
    "up",
    "down",
    "status",
    "backup",
    "apiserver",
    "controller-manager",
    "run",
    "check",
    "manifests",
    "credential",
    "new",
)

EXIT_NO, EXIT_MISUSE = 1, 2


class _Lazy(click.Group):
    """Finds each command in the module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"hardpoint.cli.{cmd_name.replace('-', '_')}")
        command = module.command
        assert isinstance(command, click.Command)
        return command


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Try `hardpoint up`, and in another terminal `kubectl get namespaces`.",
)
@click.version_option(None, "--version", package_name="hardpoint", message="hardpoint %(version)s")
def _cli() -> None:
    """Kubernetes' extension points, on both sides, in Python."""


def main() -> None:
    """Run a command. Whatever goes wrong in a foreseeable way ends in one sentence, never in a traceback."""
    # Everything a command creates is its owner's alone.
    os.umask(0o077)
    # Python would look for garbage again and again in what is only being imported; a tenth of the start went there.
    gc.set_threshold(50_000, 20, 20)
    try:
        _cli.main(prog_name="hardpoint", standalone_mode=False)
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(wrong.exit_code)
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_NO)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except (HardpointError, OSError) as failed:
        words, status = failure_of(failed) or (str(failed), EXIT_NO)
        click.echo(words, err=True)
        sys.exit(status)


def failure_of(failed: BaseException) -> tuple[str, int] | None:
    """The sentence and the exit status for a failure that can be foreseen; None for a bug."""
    if isinstance(failed, HardpointError):
        return f"hardpoint: {failed}", EXIT_MISUSE if isinstance(failed, ConfigError) else EXIT_NO
    if isinstance(failed, OSError):
        where = f"{failed.filename}: " if failed.filename else ""
        return f"hardpoint: {where}{failed.strerror or failed}", EXIT_NO
    return None
