"""Kubeconfig files: kubectl's rules for finding and merging them, and what writing a context keeps."""

from __future__ import annotations

import base64
import os
import shutil
import stat
import subprocess
import textwrap
import threading
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardpoint.client import filechange, kubeconfig
from hardpoint.client.kubeconfig import load, remove_context, search_path, write_context
from hardpoint.machinery import yamltext
from hardpoint.machinery.errors import ConfigError

OURS = {"server": "https://127.0.0.1:6443", "ca_pem": b"CA", "cert_pem": b"CERT", "key_pem": b"KEY"}


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def test_the_search_path_is_kubeconfig_then_the_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert search_path({}) == (Path("/home/ada/.kube/config"),)
    assert search_path({"KUBECONFIG": ""}) == (Path("/home/ada/.kube/config"),)
    assert search_path({"KUBECONFIG": "/a:::/b:/a"}) == (Path("/a"), Path("/b"))


def test_the_first_file_to_set_a_name_wins_whole_entries(tmp_path: Path) -> None:
    first = written(
        tmp_path / "first",
        """
        current-context: here
        users: [{name: red, user: {token: first}}]
        """,
    )
    second = written(
        tmp_path / "second",
        """
        current-context: there
        users: [{name: red, user: {token: second, username: kept-out}}, {name: blue, user: {token: third}}]
        contexts: [{name: there, context: {cluster: c, user: red}}]
        """,
    )
    merged = load(environ={"KUBECONFIG": f"{first}:{tmp_path / 'missing'}:{second}"})
    assert merged.current_context == "here"
    assert merged.users["red"].body == {"token": "first"}
    assert merged.users["blue"].file == second
    assert list(merged.contexts) == ["there"]


def test_a_file_asked_for_by_name_is_the_only_one_and_must_exist(tmp_path: Path) -> None:
    other = written(tmp_path / "other", "current-context: other")
    named = written(tmp_path / "named", "current-context: named")
    assert load(named, environ={"KUBECONFIG": str(other)}).current_context == "named"
    with pytest.raises(ConfigError, match="gone does not exist; give --kubeconfig"):
        load(tmp_path / "gone")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param("- a", "outermost level must be a mapping", id="a list"),
        pytest.param("a: [", "is not YAML: yaml: ", id="broken YAML"),
        pytest.param("[" * 100_000, "is not YAML", id="nested too deep"),
        pytest.param("users: 3", "users must be a list", id="section of a wrong type"),
        pytest.param("users: [{user: {}}]", r"users\[0\].name must be a text", id="no name"),
        pytest.param("users: [{name: a, user: 3}]", r"users\[a\].user must be a mapping", id="no body"),
        pytest.param("current-context: 3", "current-context must be text", id="number for a name"),
        pytest.param("a: " + "x" * yamltext.SIZE_MAX, "has more than 3145728 bytes", id="huge"),
        pytest.param("a: !!python/object/apply:os.system [true]", "is not YAML", id="tags run nothing"),
    ],
)
def test_a_file_that_is_no_kubeconfig_is_refused_by_name(tmp_path: Path, content: str, complaint: str) -> None:
    file = written(tmp_path / "config", content)
    with pytest.raises(ConfigError, match=complaint) as refused:
        load(file)
    assert str(file) in str(refused.value)


def test_a_broken_file_does_not_spill_its_secrets(tmp_path: Path) -> None:
    file = written(tmp_path / "config", "users: [{name: a, user: {token: hunter2\n")
    with pytest.raises(ConfigError) as refused:
        load(file)
    assert "hunter2" not in str(refused.value)


def test_a_new_file_gets_our_context_as_its_current_one(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config"
    assert write_context(path, name="lab", **OURS) == "hardpoint-lab"
    merged = load(path)
    assert merged.current_context == "hardpoint-lab"
    assert merged.contexts["hardpoint-lab"].body == {"cluster": "hardpoint-lab", "user": "hardpoint-lab"}
    assert merged.clusters["hardpoint-lab"].body["server"] == OURS["server"]
    assert base64.b64decode(merged.users["hardpoint-lab"].body["client-key-data"]) == b"KEY"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [file.name for file in path.parent.iterdir()] == ["config"]


THEIRS = """
    apiVersion: v1
    kind: Config
    preferences: {colors: true}
    current-context: work
    contexts: [{name: work, context: {cluster: work, user: me, extensions: [{name: x, extension: {y: 1}}]}}]
    clusters: [{name: work, cluster: {server: 'https://work'}}]
    users: [{name: me, user: {token: t}}]
"""


@pytest.mark.parametrize(("make_current", "current"), [(None, "work"), (False, "work"), (True, "hardpoint-lab")])
def test_an_existing_file_keeps_its_content(tmp_path: Path, make_current: bool | None, current: str) -> None:
    path = written(tmp_path / "config", THEIRS)
    before = yamltext.parse(path.read_bytes()).value
    write_context(path, name="lab", **OURS, make_current=make_current)
    write_context(path, name="lab", **(OURS | {"server": "https://moved"}), make_current=make_current)
    after = yamltext.parse(path.read_bytes()).value
    assert after["current-context"] == current
    assert [cluster["name"] for cluster in after["clusters"]] == ["work", "hardpoint-lab"]
    assert after["clusters"][1]["cluster"]["server"] == "https://moved"
    assert remove_context(path, name="lab")
    left = yamltext.parse(path.read_bytes()).value
    assert left == before | {"current-context": "" if make_current else "work"}


def test_a_file_whose_owner_chose_no_current_context_keeps_none(tmp_path: Path) -> None:
    path = written(tmp_path / "config", "contexts: [{name: a, context: {}}]")
    write_context(path, name="lab", **OURS)
    assert load(path).current_context == ""


def test_removing_what_is_not_there_changes_nothing(tmp_path: Path) -> None:
    assert not remove_context(tmp_path / "none", name="lab")
    path = written(tmp_path / "config", THEIRS)
    before = path.read_bytes()
    assert not remove_context(path, name="lab")
    assert path.read_bytes() == before


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = written(tmp_path / "dotfiles" / "kube", THEIRS)
    link = tmp_path / "config"
    link.symlink_to(real)
    write_context(link, name="lab", **OURS)
    assert link.is_symlink()
    assert "hardpoint-lab" in load(real).contexts


def test_writers_do_not_lose_each_others_contexts(tmp_path: Path) -> None:
    path = tmp_path / "config"
    threads = [threading.Thread(target=write_context, args=(path,), kwargs={"name": str(n), **OURS}) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(load(path).contexts) == {f"hardpoint-{number}" for number in range(8)}


def test_a_lock_left_behind_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filechange, "LOCK_PATIENCE_SECONDS", 0.0)
    path = written(tmp_path / "config", THEIRS)
    (tmp_path / "config.lock").touch()
    with pytest.raises(ConfigError, match=r"remove .*config\.lock"):
        write_context(path, name="lab", **OURS)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "config", THEIRS)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match="No space left on device"):
        write_context(path, name="lab", **OURS)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["config"]


SETS = {
    "first wins": [
        {"current-context": "a", "users": [{"name": "u", "user": {"token": "1"}}]},
        {"current-context": "b", "users": [{"name": "u", "user": {"token": "2", "username": "x"}}]},
    ],
    "empty current context does not count": [
        {"current-context": "", "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}]},
        {"current-context": "a", "clusters": [{"name": "c", "cluster": {"server": "https://c"}}]},
    ],
    "everything at once": [
        {
            "clusters": [
                {"name": "c", "cluster": {"server": "https://1"}},
                {"name": "d", "cluster": {"server": "https://d"}},
            ]
        },
        {"clusters": [{"name": "c", "cluster": {"server": "https://2", "insecure-skip-tls-verify": True}}]},
        {"users": [{"name": "x", "user": {"client-certificate": "certs/me.pem", "client-key": "certs/me.key"}}]},
    ],
}


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl to compare with")
@pytest.mark.parametrize("documents", SETS.values(), ids=SETS.keys())
def test_files_merge_as_kubectl_merges_them(tmp_path: Path, documents: list[dict[str, Any]]) -> None:
    files = [tmp_path / str(number) / "config" for number in range(len(documents))]
    for file, document in zip(files, documents, strict=True):
        written(file, yamltext.encode({"apiVersion": "v1", "kind": "Config"} | document).decode())
    listed = os.pathsep.join(map(str, [*files, tmp_path / "missing"]))
    theirs = kubectl("view", "--raw", "-o", "json", environ={"KUBECONFIG": listed})
    ours = load(environ={"KUBECONFIG": listed})
    assert ours.current_context == theirs["current-context"]
    for section, body in kubeconfig.SECTIONS.items():
        merged = {item["name"]: item[body] for item in theirs[section] or ()}
        assert {name: dict(entry.body) for name, entry in getattr(ours, section).items()} == merged


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl to compare with")
def test_kubectl_and_we_change_the_same_file_in_turn(tmp_path: Path) -> None:
    path = tmp_path / "config"
    environ = {"KUBECONFIG": str(path)}
    write_context(path, name="lab", **OURS)
    kubectl("set-context", "theirs", "--cluster=hardpoint-lab", "--user=hardpoint-lab", environ=environ)
    kubectl("use-context", "theirs", environ=environ)
    write_context(path, name="other", **OURS)
    seen = kubectl("view", "--raw", "-o", "json", environ=environ)
    assert seen["current-context"] == "theirs"
    assert {context["name"] for context in seen["contexts"]} == {"hardpoint-lab", "hardpoint-other", "theirs"}
    assert seen["users"][0]["user"]["client-key-data"] == base64.b64encode(b"KEY").decode()


def kubectl(*arguments: str, environ: dict[str, str]) -> Any:
    done = subprocess.run(
        ["kubectl", "config", *arguments],
        env=environ | {"PATH": os.environ["PATH"]},
        capture_output=True,
        check=True,
        timeout=30,
    )
    return orjson.loads(done.stdout) if "json" in arguments else None


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)
documents = st.fixed_dictionaries(
    {
        "users": st.lists(st.builds(lambda n, t: {"name": n, "user": {"token": t}}, names, st.text()), max_size=4),
        "contexts": st.lists(st.builds(lambda n: {"name": n, "context": {}}, names), min_size=1, max_size=4),
        "current-context": names,
        "extensions": st.lists(st.dictionaries(names, st.integers() | st.booleans() | st.none() | names), max_size=2),
    }
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents)
def test_adding_and_removing_a_context_gives_back_any_file(tmp_path: Path, document: dict[str, object]) -> None:
    path = tmp_path / "config"
    path.write_bytes(yamltext.encode(document))
    before = yamltext.parse(path.read_bytes()).value
    write_context(path, name="lab", **OURS)
    assert remove_context(path, name="lab")
    assert yamltext.parse(path.read_bytes()).value == before | {"clusters": []}
