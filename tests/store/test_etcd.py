"""What only etcd can do to us: restart, move, refuse strangers, answer late or not at all."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from hardpoint.store.contract import Closed, Compacted, Event, KeyExists, UnknownOutcome, Unreachable
from tests.store.etcd_process import ETCD, MISSING, Etcd, free_port, running_etcd
from tests.store.relay import relay_to

pytest.importorskip("grpc", reason="grpcio is not installed")

from hardpoint.store.etcd import EtcdStore, endpoints

pytestmark = pytest.mark.skipif(not os.access(ETCD, os.X_OK), reason=MISSING)


@pytest.fixture
def own_etcd(folder: Path) -> Iterator[Etcd]:
    """An etcd that the test may stop."""
    with running_etcd(folder) as etcd:
        yield etcd


async def test_a_watch_outlives_a_restart(own_etcd: Etcd) -> None:
    store = await EtcdStore.open([own_etcd.address])
    async with store.watch("/registry/", after=await store.revision()) as batches:
        for number in range(50):
            await store.create(f"/registry/{number:02d}", b"before")
        seen = await take(batches, 1)
        own_etcd.stop()
        waiting = asyncio.create_task(take(batches, 52 - len(seen)))
        own_etcd.start()
        await write_when_back(store, "/registry/x")
        await store.create("/registry/y", b"after")
        seen += await waiting
    expected = [f"/registry/{number:02d}" for number in range(50)] + ["/registry/x", "/registry/y"]
    assert [event.key for event in seen] == expected
    await store.close()


async def test_a_cancelled_read_loses_nothing(etcd: Etcd) -> None:
    store = await EtcdStore.open([etcd.address])
    async with store.watch("/cancelled/", after=await store.revision()) as batches:
        reading = asyncio.ensure_future(anext(batches))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        created = await store.create("/cancelled/a", b"x")
        assert [event.revision for event in await take(batches, 1)] == [created]
        await store.delete("/cancelled/a", expected=created)
    await store.close()


async def test_a_watch_that_begins_too_late_says_so_each_time(own_etcd: Etcd) -> None:
    store = await EtcdStore.open([own_etcd.address])
    begin = await store.revision()
    for number in range(5):
        await store.create(f"/registry/{number}", b"x")
    newest = await store.revision()
    await store.compact(newest)
    async with store.watch("/registry/", after=begin) as batches:
        for _ in range(2):
            with pytest.raises(Compacted) as refusal:
                await take(batches, 1)
            assert refusal.value.floor == newest
    await store.close()


async def test_the_other_member_answers_when_one_is_gone(etcd: Etcd) -> None:
    async with relay_to(etcd.port) as first, relay_to(etcd.port) as second:
        store = await EtcdStore.open([f"127.0.0.1:{first.port}", f"127.0.0.1:{second.port}"])
        async with store.watch("/moved/", after=await store.revision()) as batches:
            created = await store.create("/moved/a", b"x")
            await take(batches, 1)
            await first.cut()
            found = await store.get("/moved/a")
            assert found is not None
            deleted = await store.delete("/moved/a", expected=created)
            assert [event.revision for event in await take(batches, 1)] == [deleted]
        await store.close()


async def test_a_lost_answer_to_a_write_is_an_unknown_outcome(etcd: Etcd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "WRITE_SECONDS", 0.3)
    direct = await EtcdStore.open([etcd.address])
    async with relay_to(etcd.port) as relay:
        store = await EtcdStore.open([f"127.0.0.1:{relay.port}"])
        relay.is_deaf = True
        with pytest.raises(UnknownOutcome, match="may have happened"):
            await store.create("/unknown/a", b"x")
        await store.close()
    found = await direct.get("/unknown/a")
    assert found is not None, "only the answer was lost"
    await direct.delete("/unknown/a", expected=found.revision)
    await direct.close()


async def test_nobody_there_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "CONNECT_SECONDS", 0.3)
    port = free_port()
    with pytest.raises(Unreachable, match=f"no etcd answers at 127.0.0.1:{port}"):
        await EtcdStore.open([f"127.0.0.1:{port}"])


async def test_closing_ends_watches_and_calls(etcd: Etcd) -> None:
    store = await EtcdStore.open([etcd.address])
    async with store.watch("/closed/", after=await store.revision()) as batches:
        waiting = asyncio.create_task(take(batches, 1))
        await asyncio.sleep(0)
        await store.close()
        with pytest.raises(Closed):
            await waiting
    with pytest.raises(Closed):
        await store.get("/closed/a")
    await store.close()


async def test_keys_of_one_ttl_share_a_lease(etcd: Etcd, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await EtcdStore.open([etcd.address])
    granted: list[int] = []
    grant = store._leases.lease_for

    async def lease_for(ttl_seconds: int) -> int:
        granted.append(await grant(ttl_seconds))
        return granted[-1]

    monkeypatch.setattr(store._leases, "lease_for", lease_for)
    for number in range(5):
        await store.create(f"/leased/{number}", b"x", ttl_seconds=3600)
    await store.create("/leased/other", b"x", ttl_seconds=60)
    assert len(set(granted[:5])) == 1
    assert granted[5] != granted[0]
    for item in (await store.range("/leased/")).items:
        await store.delete(item.key, expected=item.revision)
    await store.close()


async def test_tls_wants_a_certificate_from_both_sides(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "CONNECT_SECONDS", 0.5)
    files = write_certificates(folder)
    options = [
        *("--cert-file", str(files["server.pem"]), "--key-file", str(files["server.key"])),
        *("--trusted-ca-file", str(files["ca.pem"]), "--client-cert-auth"),
    ]
    with running_etcd(folder / "etcd", scheme="https", options=options) as etcd:
        with pytest.raises(Unreachable):
            await EtcdStore.open([etcd.address])
        with pytest.raises(Unreachable):
            await EtcdStore.open([etcd.address], ca_file=files["ca.pem"])
        monkeypatch.undo()
        store = await EtcdStore.open(
            [etcd.address], ca_file=files["ca.pem"], cert_file=files["client.pem"], key_file=files["client.key"]
        )
        revision = await store.create("/registry/a", b"private")
        async with store.watch("/registry/", after=revision - 1) as batches:
            assert [event.value for event in await take(batches, 1)] == [b"private"]
        await store.close()


async def take(batches: AsyncIterator[Sequence[Event]], count: int) -> list[Event]:
    """The next events, at least this many."""
    events: list[Event] = []
    async with asyncio.timeout(30):
        while len(events) < count:
            events += await anext(batches)
    return events


async def write_when_back(store: EtcdStore, key: str) -> None:
    """Create a key, however often it takes while etcd comes back."""
    async with asyncio.timeout(30):
        while await store.get(key) is None:
            try:
                await store.create(key, b"x")
            except (Unreachable, UnknownOutcome, KeyExists):
                continue


def write_certificates(folder: Path) -> dict[str, Path]:
    """A CA, and a server and a client it vouches for."""
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca = certificate("test ca", ca_key, "test ca", ca_key, is_ca=True)
    files = {"ca.pem": ca.public_bytes(serialization.Encoding.PEM)}
    for name in ("server", "client"):
        key = ec.generate_private_key(ec.SECP256R1())
        signed = certificate(name, key, "test ca", ca_key, is_ca=False)
        files[f"{name}.pem"] = signed.public_bytes(serialization.Encoding.PEM)
        files[f"{name}.key"] = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in files}


def certificate(
    name: str, key: ec.EllipticCurvePrivateKey, issuer: str, issuer_key: ec.EllipticCurvePrivateKey, *, is_ca: bool
) -> x509.Certificate:
    now = dt.datetime.now(dt.UTC)
    usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
