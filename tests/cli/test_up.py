"""`up`, `down` and `status` against a real cluster."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import subprocess
import urllib.error
from pathlib import Path

import orjson
import pytest
import yaml

from tests.cli.conftest import Home

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}, "data": {"a": "b"}}
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def test_a_cluster_comes_goes_and_keeps_everything(home: Home) -> None:
    address = home.up()
    home.ask(address, CONFIG_MAPS, method="POST", body=CONFIG_MAP)
    assert home.run("status").status == 0
    assert home.run("down").status == 0
    assert home.run("status").status == 1
    address = home.up()
    assert orjson.loads(home.ask(address, f"{CONFIG_MAPS}/kept"))["data"] == {"a": "b"}


def test_nothing_acknowledged_is_lost_to_kill(home: Home) -> None:
    address = home.up()
    home.ask(address, CONFIG_MAPS, method="POST", body=CONFIG_MAP)
    os.kill(orjson.loads(home.run("status", "-o", "json").out)["pid"], signal.SIGKILL)
    assert home.run("status").out.split()[:2] == ["state", "stopped"]
    address = home.up()
    assert orjson.loads(home.ask(address, f"{CONFIG_MAPS}/kept"))["data"] == {"a": "b"}


def test_what_up_says(home: Home) -> None:
    done = home.run("up", "--detach", "--port", "0", "--name", "dev")
    api, kubeconfig = done.out.splitlines()
    assert api.startswith("API         https://127.0.0.1:")
    assert kubeconfig == f"kubeconfig  {home.kubeconfig} (context hardpoint-dev)"
    assert "kubectl get namespaces" in done.err
    assert "hardpoint down\n" in done.err


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_the_command_it_recommends_works(home: Home) -> None:
    home.kubeconfig.parent.mkdir()
    home.kubeconfig.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: mine\ncontexts: [{name: mine, context: {}}]\n"
    )
    said = home.run("up", "--detach", "--port", "0").err
    command = next(line for line in said.splitlines() if "kubectl" in line).removeprefix("Try:").split()
    told = subprocess.run(command, env=home.environment, capture_output=True, text=True, timeout=30, check=False)
    assert told.returncode == 0, told.stderr
    assert "kube-system" in told.stdout


def test_a_second_cluster_in_the_same_place_is_told_who_is_there(running: Home) -> None:
    pid = orjson.loads(running.run("status", "-o", "json").out)["pid"]
    for arguments in (["up"], ["up", "--detach"]):
        done = running.run(*arguments)
        assert done.status == 1
        assert f"process {pid} at {running.address}" in done.err
        assert "hardpoint down" in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_in_good_order(home: Home, number: signal.Signals) -> None:
    process = home.start("up", "--port", "0")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("API")
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert err.endswith("Stopped. Everything written is kept.\n")
    assert not (home.data / "cluster.json").exists()


def test_two_clusters_side_by_side(home: Home) -> None:
    first = home.up()
    second = home.up("--data-dir", "other", "--name", "other")
    assert first != second
    contexts = yaml.safe_load(home.kubeconfig.read_text())
    assert [context["name"] for context in contexts["contexts"]] == ["hardpoint-default", "hardpoint-other"]
    assert contexts["current-context"] == "hardpoint-default"


def test_the_current_context_changes_only_when_asked(home: Home) -> None:
    home.kubeconfig.parent.mkdir()
    home.kubeconfig.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: mine\ncontexts: [{name: mine, context: {}}]\n"
    )
    home.up()
    assert yaml.safe_load(home.kubeconfig.read_text())["current-context"] == "mine"
    home.run("down")
    home.up("--use-context")
    assert yaml.safe_load(home.kubeconfig.read_text())["current-context"] == "hardpoint-default"


def test_the_first_file_of_kubeconfig_is_written(home: Home) -> None:
    home.environment["KUBECONFIG"] = f"{home.path}/a:{home.path}/b"
    home.up()
    assert (home.path / "a").exists()
    assert not home.kubeconfig.exists()


def test_nobody_else_can_read_anything(home: Home) -> None:
    home.up()
    home.run("backup", "copy.db")
    home.run("down")
    files = [path for path in home.path.rglob("*") if path.name not in (".kube", "data")]
    assert len(files) > 15
    open_to_others = {
        str(path): oct(path.stat().st_mode) for path in files if stat.S_IMODE(path.stat().st_mode) & 0o077
    }
    assert open_to_others == {}


def test_only_the_loopback_is_listened_on(running: Home) -> None:
    port = int(running.address.rpartition(":")[2])
    sockets = Path("/proc/net/tcp").read_text().splitlines()[1:]
    if not sockets:
        pytest.skip("there is no /proc/net/tcp here")
    listening = [line.split()[1] for line in sockets if line.split()[3] == "0A"]
    assert [address for address in listening if address.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


def test_a_taken_port(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = home.run("up", "--port", str(port))
    assert done.status == 1
    assert f"port {port} of 127.0.0.1 is taken by another program; choose another --port" in done.err


def test_the_usual_port_being_taken_is_no_problem(home: Home) -> None:
    try:
        taken = socket.create_server(("127.0.0.1", 6443))
    except OSError:
        taken = socket.socket()  # Somebody else took it, which is as good.
    with taken:
        done = home.run("up", "--detach")
    assert done.status == 0
    assert ":6443" not in done.out


def test_memory_forgets(home: Home) -> None:
    address = home.up("--store", "memory")
    home.ask(address, CONFIG_MAPS, method="POST", body=CONFIG_MAP)
    home.run("down")
    address = home.up("--store", "memory")
    assert b'"kept"' not in home.ask(address, CONFIG_MAPS)


def test_a_backup_begins_a_new_cluster(home: Home) -> None:
    address = home.up()
    home.ask(address, CONFIG_MAPS, method="POST", body=CONFIG_MAP)
    done = home.run("backup", "monday.db")
    assert (done.status, done.out) == (0, "monday.db\n")
    assert home.run("backup", "monday.db").status == 1, "a backup is never written over"
    again = home.path / "again"
    address = home.up("--data-dir", str(again), "--name", "again", "--from-backup", "monday.db")
    assert orjson.loads(home.ask(address, f"{CONFIG_MAPS}/kept", data=again))["data"] == {"a": "b"}


def test_status_for_machines(running: Home) -> None:
    report = orjson.loads(running.run("status", "-o", "json").out)
    assert report == yaml.safe_load(running.run("status", "-o", "yaml").out)
    assert (report["state"], report["address"], report["name"]) == ("ready", running.address, "default")
    assert running.run("status", "-o", "name").out == "cluster/default\n"


def test_status_of_a_cluster_that_hangs(running: Home) -> None:
    pid = orjson.loads(running.run("status", "-o", "json").out)["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        done = running.run("status")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert done.status == 1
    assert "not ready" in done.out


def test_down_says_when_it_did_not_work(home: Home) -> None:
    home.up()
    pid = orjson.loads(home.run("status", "-o", "json").out)["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        done = home.run("down", "--timeout", "0.1")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert done.status == 1
    assert f"kill -9 {pid}" in done.err


def test_down_with_nothing_to_stop_is_fine(home: Home) -> None:
    assert home.run("down").status == 0


def test_the_api_server_alone(home: Home) -> None:
    process = home.start("apiserver", "--store", "memory", "--secure-port", "0")
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert b"kube-system" in home.ask(address, "/api/v1/namespaces")
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 0
    assert not home.kubeconfig.exists()


def test_the_api_server_with_certificates_of_ones_own(home: Home) -> None:
    home.up("--data-dir", "other", "--store", "memory")
    pki = home.path / "other" / "pki"
    process = home.start(
        *("apiserver", "--store", "memory", "--secure-port", "0", "--tls-cert-file", str(pki / "apiserver.crt")),
        *("--tls-private-key-file", str(pki / "apiserver.key"), "--client-ca-file", str(pki / "client-ca.crt")),
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert b"kube-system" in home.ask(address, "/api/v1/namespaces", data=home.path / "other")
    process.terminate()
    process.communicate(timeout=20)


def test_a_store_that_cannot_keep_its_word_ends_the_cluster(home: Home) -> None:
    home.up()
    home.run("down")
    home.environment["HARDPOINT_FAILPOINTS"] = "store.before_commit=error"
    process = home.start("up", "--port", "0")
    assert process.stdout is not None
    address = process.stdout.readline().split()[1]
    with pytest.raises((urllib.error.HTTPError, ConnectionError)) as refused:
        home.ask(address, CONFIG_MAPS, method="POST", body=CONFIG_MAP)
    if isinstance(refused.value, urllib.error.HTTPError):
        refused.value.close()
        assert refused.value.code >= 500
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "restart to go on" in err
    assert "Traceback" not in err
