"""What a kubeconfig's context, or a pod's service account, comes to."""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hardpoint.client.credentials import Credentials, FixedCredentials, Proof
from hardpoint.client.endpoint import Endpoint, find_endpoint, from_kubeconfig
from hardpoint.client.kubeconfig import load
from hardpoint.machinery import yamltext
from hardpoint.machinery.errors import ConfigError


def endpoint(folder: Path, *, cluster: Any = None, user: Any = None, context: Any = None, **options: Any) -> Endpoint:
    document = {
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "https://host:6443", **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", **(context or {})}}],
    }
    path = folder / "config"
    path.write_bytes(yamltext.encode(document))
    return from_kubeconfig(load(path), **options)


def encoded(text: bytes) -> str:
    return base64.b64encode(text).decode()


@pytest.mark.parametrize(
    ("server", "meant"),
    [
        ("https://host", ("https", "host", 443, "")),
        ("https://host:6443/", ("https", "host", 6443, "")),
        ("http://127.0.0.1:8001", ("http", "127.0.0.1", 8001, "")),
        ("https://[::1]:6443", ("https", "::1", 6443, "")),
        ("https://rancher/k8s/clusters/c-1/", ("https", "rancher", 443, "/k8s/clusters/c-1")),
    ],
)
def test_servers(tmp_path: Path, server: str, meant: tuple[str, str, int, str]) -> None:
    found = endpoint(tmp_path, cluster={"server": server})
    assert (found.scheme, found.host, found.port, found.prefix) == meant


def test_an_address_of_version_six_is_written_in_brackets() -> None:
    assert Endpoint("https", "::1", 6443).url == "https://[::1]:6443"


PAIR = {"client-certificate-data": encoded(b"CERT"), "client-key-data": encoded(b"KEY")}


@pytest.mark.parametrize(
    ("user", "headers", "has_certificate"),
    [
        pytest.param({}, (), False, id="nobody"),
        pytest.param({"token": "t"}, (("authorization", "Bearer t"),), False, id="token"),
        pytest.param({"username": "a", "password": "b"}, (("authorization", "Basic YTpi"),), False, id="password"),
        pytest.param(PAIR, (), True, id="certificate"),
        pytest.param({**PAIR, "token": "t"}, (("authorization", "Bearer t"),), True, id="both"),
        pytest.param(
            {"token": "t", "as": "ada", "as-uid": "7", "as-groups": ["x", "y"], "as-user-extra": {"Reason": ["z"]}},
            (
                ("authorization", "Bearer t"),
                ("impersonate-user", "ada"),
                ("impersonate-uid", "7"),
                ("impersonate-group", "x"),
                ("impersonate-group", "y"),
                ("impersonate-extra-reason", "z"),
            ),
            False,
            id="impersonation",
        ),
    ],
)
async def test_users(tmp_path: Path, user: Any, headers: tuple[tuple[str, str], ...], has_certificate: bool) -> None:
    proof = await endpoint(tmp_path, user=user).credentials.proof()
    assert proof.headers == headers
    assert (proof.certificate is not None) == has_certificate


async def test_files_are_relative_to_the_kubeconfig_and_read_again(tmp_path: Path) -> None:
    for name in ("ca", "cert", "key", "token"):
        (tmp_path / name).write_text(f"{name} 1\n" if name != "token" else "first\n")
    user = {"client-certificate": "cert", "client-key": str(tmp_path / "key"), "tokenFile": "token", "token": "old"}
    found = endpoint(tmp_path, cluster={"certificate-authority": "ca"}, user=user)
    assert found.ca_pem == b"ca 1\n"
    proof = await found.credentials.proof()
    assert proof.headers == (("authorization", "Bearer first"),)
    assert proof.certificate is not None
    assert proof.certificate.cert_pem == b"cert 1\n"
    (tmp_path / "fresh").write_text("second")
    (tmp_path / "fresh").rename(tmp_path / "token")
    assert (await found.credentials.proof()).headers == (("authorization", "Bearer second"),)


async def test_inline_data_goes_before_files(tmp_path: Path) -> None:
    cluster = {"certificate-authority": "absent", "certificate-authority-data": encoded(b"CA")}
    assert endpoint(tmp_path, cluster=cluster).ca_pem == b"CA"


async def test_no_secret_travels_over_plain_http(tmp_path: Path) -> None:
    found = endpoint(tmp_path, cluster={"server": "http://host"}, user={"token": "t"})
    assert (await found.credentials.proof()).headers == ()


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    found = endpoint(tmp_path, user={"token": "hunter2", "client-certificate-data": encoded(b"C"), **PAIR})
    assert "hunter2" not in repr(found)
    assert "KEY" not in repr(found)


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        pytest.param({"cluster": {"server": "host:6443"}}, "server must start with https://", id="no scheme"),
        pytest.param({"cluster": {"server": "https://"}}, "server must start with https://", id="no host"),
        pytest.param({"cluster": {"server": "https://h:port"}}, "server is no URL", id="bad port"),
        pytest.param({"cluster": {"server": "https://u:p@h"}}, "must hold no user", id="user in the URL"),
        pytest.param({"cluster": {"server": 3}}, "server must be text", id="number"),
        pytest.param({"cluster": {"proxy-url": "socks5://x"}}, "proxy-url is not supported; name a server", id="proxy"),
        pytest.param(
            {"cluster": {"insecure-skip-tls-verify": True, "certificate-authority-data": encoded(b"x")}},
            "contradicts its certificate authority; remove one",
            id="trust nobody and somebody",
        ),
        pytest.param({"cluster": {"insecure-skip-tls-verify": "yes"}}, "must be true or false", id="flag"),
        pytest.param({"cluster": {"certificate-authority-data": "%"}}, "is not base64", id="not base64"),
        pytest.param({"cluster": {"certificate-authority": "no"}}, r"names .*no, which cannot be read", id="no file"),
        pytest.param({"user": {"client-certificate-data": encoded(b"x")}}, "client-key is missing", id="no key"),
        pytest.param(
            {"user": {"client-key-data": encoded(b"x")}}, "client-certificate is missing", id="no certificate"
        ),
        pytest.param({"user": {"auth-provider": {"name": "gcp"}}}, "use an exec plugin instead", id="auth provider"),
        pytest.param({"user": {"exec": {"command": "aws"}}}, "names a credential plugin", id="no plugins here"),
        pytest.param({"user": {"exec": {"args": []}}}, "exec.command must name a program", id="no command"),
        pytest.param({"user": {"token": "a\nb"}}, "token is no token", id="token in two lines"),
        pytest.param({"user": {"as-groups": [True]}}, "as-groups must be a list of texts", id="groups"),
        pytest.param({"user": {"as-user-extra": ["x"]}}, "as-user-extra must be a mapping", id="extra"),
        pytest.param({"context": {"cluster": "x"}}, r"is 'x', which no file defines \(there are: c\)", id="cluster"),
        pytest.param({"context": {"user": "x"}}, r"is 'x', which no file defines \(there are: u\)", id="user"),
        pytest.param({"context": {"cluster": ""}}, "cluster is missing; name one of the clusters", id="no cluster"),
    ],
)
def test_what_cannot_work_is_refused_with_file_field_and_a_way_out(tmp_path: Path, parts: Any, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as refused:
        endpoint(tmp_path, **parts)
    assert str(tmp_path / "config") in str(refused.value)


def test_contexts_are_chosen_by_name(tmp_path: Path) -> None:
    assert endpoint(tmp_path, context={"namespace": "web"}).namespace == "web"
    with pytest.raises(ConfigError, match=r"--context is 'x', which no file defines \(there are: c\)"):
        from_kubeconfig(load(tmp_path / "config"), "x")
    (tmp_path / "none").write_text("contexts: [{name: a, context: {}}]")
    with pytest.raises(ConfigError, match=r"sets no current-context; choose one with --context \(there are: a\)"):
        from_kubeconfig(load(tmp_path / "none"))


def test_skipping_verification_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert endpoint(tmp_path, cluster={"insecure-skip-tls-verify": True}).skip_tls_verify
    assert [record.message for record in caplog.records] == ["server certificate is not verified"]


@pytest.mark.parametrize(
    ("cluster", "compress"),
    [
        ({"server": "https://far"}, True),
        ({"server": "https://far", "disable-compression": True}, False),
        ({"server": "https://localhost"}, False),
        ({"server": "https://127.0.0.2"}, False),
        ({"server": "https://[::1]"}, False),
    ],
)
def test_answers_are_compressed_only_where_that_pays(tmp_path: Path, cluster: Any, compress: bool) -> None:
    assert endpoint(tmp_path, cluster=cluster).compress == compress


def test_a_plugin_is_told_what_it_may_ask_for(tmp_path: Path) -> None:
    told: list[tuple[Mapping[str, object], Mapping[str, object]]] = []

    def plugins(exec_section: Mapping[str, object], cluster: Mapping[str, object]) -> Credentials:
        told.append((exec_section, cluster))
        return FixedCredentials(Proof())

    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    cluster = {
        "certificate-authority-data": encoded(b"CA"),
        "tls-server-name": "kubernetes",
        "extensions": [extension, {"name": "other", "extension": 1}],
    }
    for command in ("aws", "./bin/login"):
        endpoint(tmp_path, cluster=cluster, user={"exec": {"command": command, "args": ["a"]}}, plugins=plugins)
    endpoint(tmp_path, user={"exec": {"command": "unused"}, "token": "t"}, plugins=plugins)
    assert [exec_section["command"] for exec_section, _ in told] == ["aws", str(tmp_path / "bin/login")]
    assert told[0][1] == {
        "server": "https://host:6443",
        "tls-server-name": "kubernetes",
        "certificate-authority-data": encoded(b"CA"),
        "config": {"audience": "x"},
    }


async def test_a_pod_finds_its_own_cluster_when_there_is_no_kubeconfig(tmp_path: Path) -> None:
    inside = {"KUBECONFIG": str(tmp_path / "none"), "KUBERNETES_SERVICE_HOST": "10.96.0.1"}
    inside["KUBERNETES_SERVICE_PORT"] = "443"
    for name, content in {"token": "secret\n", "ca.crt": "CA", "namespace": "web\n"}.items():
        (tmp_path / name).write_text(content)
    found = find_endpoint(environ=inside, service_account=tmp_path)
    assert (found.url, found.ca_pem, found.namespace) == ("https://10.96.0.1:443", b"CA", "web")
    assert (await found.credentials.proof()).headers == (("authorization", "Bearer secret"),)


def test_without_anything_the_way_out_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="names no cluster; start one with `hardpoint up`, or set KUBECONFIG"):
        find_endpoint(environ={"KUBECONFIG": str(tmp_path / "none")}, service_account=tmp_path)
