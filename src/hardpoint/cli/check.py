"""`hardpoint check`: a seam's conformance kit against any guest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hardpoint.cli import EXIT_NO, options

if TYPE_CHECKING:
    from hardpoint.runtime.promises import Finding
    from hardpoint.sdk.checking import Access
    from hardpoint.sdk.trials import Given

SEAMS = ("authentication", "authorization", "audit", "credential", "crd", "controller")
PROGRAMS = ("credential", "controller")
EXAMPLES = """\b
Examples:
  hardpoint check authentication users.py --token-file good-token
  hardpoint check authorization https://127.0.0.1:9443/authorize --ca-file ca.crt \\
      --client-certificate caller.crt --client-key caller.key
  hardpoint check audit webhooks/audit.yaml             a file as API servers take it
  hardpoint check credential ./log-in --quiet           any program
  hardpoint check crd crontabs.yaml --against crontabs-of-last-year.yaml
  hardpoint check controller crontabs.py
  hardpoint check controller --crds crds.yaml --objects samples.yaml -- ./manager --zap-devel
"""


@click.command("check", epilog=EXAMPLES, context_settings={"ignore_unknown_options": True})
@click.argument("seam", type=click.Choice(SEAMS), metavar="SEAM")
@click.argument("target")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGUMENT...]")
@click.option("--ca-file", type=options.FILE, metavar="FILE", help="The authority that vouches for the webhook.")
@click.option("--client-certificate", type=options.FILE, metavar="FILE", help="What callers of the webhook show.")
@click.option("--client-key", type=options.FILE, metavar="FILE", help="The key of that certificate.")
@click.option("--token-file", type=options.FILE, metavar="FILE", help="A token the authenticator knows.")
@click.option("--against", type=options.FILE, metavar="FILE", help="crd: the definitions of an earlier release.")
@click.option("--conversion-url", default="", metavar="URL", help="crd: where a webhook converts between versions.")
@click.option("--crds", type=options.FILE, multiple=True, metavar="FILE", help="controller: definitions it needs.")
@click.option(
    "--objects",
    type=options.FILE,
    metavar="FILE",
    show_default="made up from the definitions",
    help="controller: what it is given to work on.",
)
@click.option(
    "--settle-seconds",
    type=click.FloatRange(min=0.1),
    default=2.0,
    show_default=True,
    help="controller: how long nothing may be written before it counts as done.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="crd, controller: another seed, other dice.")
@click.option("-o", "--output", type=click.Choice(["json", "junit"]), default=None, help="A form for machines.")
def command(
    *,
    seam: str,
    target: str,
    arguments: tuple[str, ...],
    ca_file: Path | None,
    client_certificate: Path | None,
    client_key: Path | None,
    token_file: Path | None,
    against: Path | None,
    conversion_url: str,
    crds: tuple[Path, ...],
    objects: Path | None,
    settle_seconds: float,
    seed: int,
    output: str | None,
) -> None:
    """Look whether TARGET keeps the promises of SEAM.

    SEAM is authentication, authorization, audit, credential, crd or controller. TARGET is a FILE.py or MODULE with an
    App, the address of a webhook, a file that tells an API server of it, for crd a file of CustomResourceDefinitions or
    -, and for credential and controller also any program with its arguments. Exit status 0 means that it keeps them
    all, 1 that it breaks some.
    """
    if (client_certificate is None) != (client_key is None):
        raise click.UsageError("--client-certificate and --client-key go together")
    if arguments and seam not in PROGRAMS:
        raise click.UsageError(f"{arguments[0]!r} is too much: only a program has arguments")
    access = _access(ca_file, client_certificate, client_key, token_file)
    given = None
    if seam in ("crd", "controller"):
        from hardpoint.cluster import fresh_cluster
        from hardpoint.sdk.trials import Given

        given = Given(
            fresh_cluster,
            crds=[str(file) for file in crds],
            objects=str(objects or ""),
            against=str(against or ""),
            conversion_url=conversion_url,
            ca_pem=access.ca_pem,
            settle_seconds=settle_seconds,
            seed=seed,
        )
    findings = _findings(seam, target, arguments, access, given, aloud=output is None)
    broken = [finding for finding in findings if finding.outcome == "FAIL"]
    if output == "json":
        _print_json(seam, target, findings)
    elif output == "junit":
        _print_junit(seam, target, findings)
    else:
        skipped = sum(finding.outcome == "skip" for finding in findings)
        kept = len(findings) - len(broken) - skipped
        click.echo(f"{kept} kept, {len(broken)} broken, {skipped} not looked at", err=True)
    if broken:
        raise SystemExit(EXIT_NO)


def _access(ca_file: Path | None, certificate: Path | None, key: Path | None, token_file: Path | None) -> Access:
    from hardpoint.client.credentials import ClientCertificate
    from hardpoint.sdk.checking import Access

    pair = ClientCertificate(certificate.read_bytes(), key.read_bytes()) if certificate and key else None
    settings = {"token": token_file.read_text().strip()} if token_file else {}
    return Access(ca_file.read_bytes() if ca_file else None, pair, settings)


def _findings(
    seam: str, target: str, arguments: Sequence[str], access: Access, given: Given | None, *, aloud: bool
) -> list[Finding]:
    import asyncio

    import uvloop

    from hardpoint.sdk.checking import check

    async def collect() -> list[Finding]:
        findings = []
        async for finding in check(seam, target, arguments, access, given):
            findings.append(finding)
            if aloud:
                click.echo(
                    f"{finding.outcome:<4}  {finding.promise}" + (f": {finding.detail}" if finding.detail else "")
                )
        return findings

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(collect())


def _print_json(seam: str, target: str, findings: Sequence[Finding]) -> None:
    import orjson

    report = {"seam": seam, "target": target, "findings": findings}
    click.echo(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode())


def _print_junit(seam: str, target: str, findings: Sequence[Finding]) -> None:
    from xml.etree import ElementTree as ET

    failed, skipped = (sum(finding.outcome == outcome for finding in findings) for outcome in ("FAIL", "skip"))
    suite = ET.Element(
        "testsuite",
        name=f"hardpoint check {seam} {target}",
        tests=str(len(findings)),
        failures=str(failed),
        skipped=str(skipped),
    )
    for finding in findings:
        case = ET.SubElement(suite, "testcase", classname=seam, name=finding.promise, time=f"{finding.seconds:.3f}")
        if finding.outcome != "ok":
            detail = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in finding.detail)
            ET.SubElement(case, "failure" if finding.outcome == "FAIL" else "skipped", message=detail)
    click.echo(ET.tostring(suite, encoding="unicode", xml_declaration=True))
