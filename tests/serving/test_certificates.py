"""What is issued, when it is issued again, and what is refused. Judged by openssl as well as by ourselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hardpoint.apiserver.pki import ensure
from hardpoint.machinery.errors import ConfigError
from hardpoint.serving.certificates import Pki

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
AUTHORITIES = {"server-ca", "client-ca", "front-proxy-ca", "kubelet-ca"}
LEAVES = {"apiserver": "server-ca", "admin": "client-ca", "front-proxy-client": "front-proxy-ca"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "pki"


def serials(pki: Pki) -> dict[str, int]:
    return {name: load(pki, name).serial_number for name in (*AUTHORITIES, *LEAVES)}


def load(pki: Pki, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pki.certificate(name).read_bytes())


def renewed(pki: Pki, names: list[str], now: datetime) -> set[str]:
    """Which certificates another start replaces."""
    before = serials(pki)
    ensure(pki.directory, names, now)
    after = serials(pki)
    return {name for name in before if before[name] != after[name]}


def test_everything_is_issued_by_whom_it_should_be(folder: Path) -> None:
    pki = ensure(folder, ["api.example.com", "192.0.2.7"], NOW)
    for name, issuer in LEAVES.items():
        load(pki, name).verify_directly_issued_by(load(pki, issuer))
        assert isinstance(load(pki, name).public_key(), ec.EllipticCurvePublicKey)
    keys = {pki.key(name).read_bytes() for name in (*AUTHORITIES, *LEAVES)}
    assert len(keys) == len(AUTHORITIES) + len(LEAVES), "no two share a key"


def test_the_names_of_the_server(folder: Path) -> None:
    pki = ensure(folder, ["api.example.com", "192.0.2.7", "localhost"], NOW)
    names = load(pki, "apiserver").extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == [
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        "api.example.com",
    ]
    addresses = [str(address) for address in names.get_values_for_type(x509.IPAddress)]
    assert addresses == ["127.0.0.1", "::1", "10.96.0.1", "192.0.2.7"]


def test_the_admin(folder: Path) -> None:
    admin = load(ensure(folder, [], NOW), "admin")
    subject = {attribute.oid: attribute.value for attribute in admin.subject}
    assert subject == {NameOID.COMMON_NAME: "hardpoint-admin", NameOID.ORGANIZATION_NAME: "system:masters"}
    assert admin.not_valid_after_utc == NOW + timedelta(days=365)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
@pytest.mark.parametrize(
    ("name", "purpose", "fine"),
    [
        ("apiserver", "sslserver", True),
        ("apiserver", "sslclient", False),
        ("admin", "sslclient", True),
        ("admin", "sslserver", False),
    ],
)
def test_openssl_agrees_on_the_purpose(folder: Path, name: str, purpose: str, fine: bool) -> None:
    pki = ensure(folder, [], datetime.now(UTC))
    authority = str(pki.certificate(LEAVES[name]))
    command = ["openssl", "verify", "-x509_strict", "-purpose", purpose, "-CAfile", authority]
    verdict = subprocess.run([*command, str(pki.certificate(name))], capture_output=True, check=False)
    assert (verdict.returncode == 0) is fine, verdict.stderr


def test_a_second_start_changes_nothing(folder: Path) -> None:
    pki = ensure(folder, ["a"], NOW)
    assert renewed(pki, ["a"], NOW + timedelta(days=300)) == set()


def test_what_is_about_to_expire_is_renewed(folder: Path) -> None:
    pki = ensure(folder, [], NOW)
    assert renewed(pki, [], NOW + timedelta(days=336)) == set(LEAVES)
    assert renewed(pki, [], NOW + timedelta(days=3640)) == AUTHORITIES | set(LEAVES)


def test_a_new_name_renews_the_server_only(folder: Path) -> None:
    pki = ensure(folder, ["a"], NOW)
    assert renewed(pki, ["b"], NOW) == {"apiserver"}


def test_a_file_that_was_replaced_or_lost_is_issued_again(folder: Path) -> None:
    pki = ensure(folder, [], NOW)
    shutil.copy(pki.certificate("admin"), pki.certificate("apiserver"))
    assert renewed(pki, [], NOW) == {"apiserver"}
    pki.key("front-proxy-client").unlink()
    assert renewed(pki, [], NOW) == {"front-proxy-client"}


def test_a_lost_authority_takes_its_certificates_with_it(folder: Path) -> None:
    pki = ensure(folder, [], NOW)
    old = serials(pki)
    pki.certificate("client-ca").unlink()
    pki.key("client-ca").unlink()
    ensure(folder, [], NOW)
    assert {name for name, serial in serials(pki).items() if serial != old[name]} == {"client-ca", "admin"}


def test_half_an_authority_is_refused(folder: Path) -> None:
    pki = ensure(folder, [], NOW)
    pki.key("server-ca").unlink()
    with pytest.raises(ConfigError, match=r"server-ca\.key is missing beside .*server-ca\.crt; restore it"):
        ensure(folder, [], NOW)


def test_a_start_that_died_half_way_is_repeated(folder: Path) -> None:
    pki = ensure(folder, [], NOW)
    (folder / "issued.json").unlink()
    pki.certificate("client-ca").unlink()
    assert ensure(folder, [], NOW) == pki
    load(pki, "admin").verify_directly_issued_by(load(pki, "client-ca"))


def test_a_damaged_record_is_named(folder: Path) -> None:
    ensure(folder, [], NOW)
    for damage in (b"{", b"[]", b'{"admin": {}}', b'{"admin": 3}'):
        (folder / "issued.json").write_bytes(damage)
        with pytest.raises(ConfigError, match=r"issued\.json was damaged; remove it"):
            ensure(folder, [], NOW)


def test_only_the_owner_can_read_them(folder: Path) -> None:
    previous = os.umask(0)
    try:
        ensure(folder, [], NOW)
    finally:
        os.umask(previous)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


@pytest.mark.parametrize(("what", "mode", "right"), [(".", 0o755, "700"), ("client-ca.key", 0o640, "600")])
def test_what_others_can_read_is_refused(folder: Path, what: str, mode: int, right: str) -> None:
    ensure(folder, [], NOW)
    (folder / what).chmod(mode)
    with pytest.raises(ConfigError, match=rf"is open to other users \(mode {mode:04o}\); run: chmod {right} "):
        ensure(folder, [], NOW)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ConfigError, match=r"file.* cannot be used for keys: "):
        ensure(tmp_path / "file" / "pki", [], NOW)


def test_a_start_at_which_nothing_is_due_does_without_cryptography(folder: Path) -> None:
    ensure(folder, [], datetime.now(UTC))
    program = (
        "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
        "from hardpoint.apiserver.pki import ensure\n"
        f"ensure(Path({str(folder)!r}), [], datetime.now(UTC))\n"
        "sys.exit('cryptography' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_record_holds_no_secret(folder: Path) -> None:
    pki = ensure(folder, [], NOW)
    record = (folder / "issued.json").read_bytes()
    assert set(orjson.loads(record)) == AUTHORITIES | set(LEAVES)
    assert all(pki.key(name).read_bytes().split(b"\n")[1] not in record for name in AUTHORITIES)
