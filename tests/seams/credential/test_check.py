"""The conformance kit of the credential seam finds what is wrong with a program, and nothing in a good one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardpoint.runtime.promises import Finding
from hardpoint.seams.credential import check
from hardpoint.seams.credential.check import Program, promises
from tests.client.authority import Authority
from tests.seams.credential.plugins import script

TOKEN = "s3cr3t-t0k3n"
GOOD = """
try:
    told = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
    assert told["kind"] == "ExecCredential" and told["apiVersion"].rpartition("/")[2] in ("v1", "v1beta1")
except Exception as wrong:
    print("not told rightly", file=sys.stderr)
    sys.exit(2)
status = {"token": "s3cr3t-t0k3n", "expirationTimestamp": "2999-01-01T00:00:00Z"}
answer = {"apiVersion": told["apiVersion"], "kind": "ExecCredential", "status": status}
"""
PRINT = "print(json.dumps(answer))"


async def findings(folder: Path, body: str) -> list[Finding]:
    program = Program([str(script(folder, body))])
    return [finding async for finding in promises.findings(program, patience_seconds=30)]


async def test_a_good_program_breaks_nothing(tmp_path: Path) -> None:
    found = await findings(tmp_path, GOOD + PRINT)
    assert [finding for finding in found if finding.outcome == "FAIL"] == []


async def test_a_good_program_with_a_certificate_breaks_nothing(tmp_path: Path) -> None:
    cert, key = Authority("clients").issue("me")
    pair = {"clientCertificateData": cert.decode(), "clientKeyData": key.decode()}
    found = await findings(tmp_path, GOOD + f"answer['status'] = {pair!r}\n" + PRINT)
    assert {finding.outcome for finding in found} == {"ok"}


PRINTS = "it prints one ExecCredential on stdout, and nothing else, and ends with status 0"
MISUSE = "what it was not told rightly it refuses, with a status other than 0, words on stderr and nothing on stdout"


@pytest.mark.parametrize(
    ("defect", "promise"),
    [
        pytest.param("print('Logging in ...')", PRINTS, id="talks on stdout"),
        pytest.param("answer['kind'] = 'Credential'", PRINTS, id="another kind"),
        pytest.param("status.clear()", PRINTS, id="gives nothing"),
        pytest.param("sys.exit(1)", PRINTS, id="fails"),
        pytest.param(
            "answer['apiVersion'] = 'client.authentication.k8s.io/v1'",
            "it answers in the version it was asked in",
            id="always v1",
        ),
        pytest.param(
            "told['spec']['cluster']", "it works whether or not it is told of the cluster", id="needs the cluster"
        ),
        pytest.param(
            "status['expirationTimestamp'] = '2001-01-01T00:00:00Z'", "what it gives is still good", id="expired"
        ),
        pytest.param(
            "status.update(clientCertificateData='Yw==', clientKeyData='aw==')",
            "its certificate and key are PEM",
            id="base64 of PEM",
        ),
        pytest.param("print(status['token'], file=sys.stderr)", "its secrets are not on stderr", id="leaks"),
        pytest.param(
            f"lock = os.open({'LOCK'!r}, os.O_CREAT | os.O_EXCL); time.sleep(0.3); os.unlink('LOCK')",
            "run twice at once, it gives a credential both times",
            id="one at a time",
        ),
    ],
)
async def test_a_defect_is_found_and_named(
    tmp_path: Path, defect: str, promise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = Program([str(script(tmp_path, f"{GOOD}{defect}\n{PRINT}"))])
    found = await promises.finding(promise, program)
    assert found.outcome == "FAIL"
    assert TOKEN not in found.detail


async def test_a_program_that_does_not_look_at_what_it_is_told_is_found(tmp_path: Path) -> None:
    version = "client.authentication.k8s.io/v1"
    answer = {"apiVersion": version, "kind": "ExecCredential", "status": {"token": TOKEN}}
    found = await promises.finding(MISUSE, Program([str(script(tmp_path, f"answer = {answer!r}\n{PRINT}"))]))
    assert found.outcome == "FAIL"


async def test_a_program_that_waits_for_somebody_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "PATIENCE_SECONDS", 0.2)
    found = await promises.finding(PRINTS, Program([str(script(tmp_path, "time.sleep(60)"))]))
    assert "was not done in 0.2 s, with nobody there to be asked" in found.detail


async def test_a_program_that_is_not_there_is_found(tmp_path: Path) -> None:
    found = [finding async for finding in promises.findings(Program([str(tmp_path / "nothing")]))]
    assert {finding.detail for finding in found} == {"it cannot be run: No such file or directory"}
