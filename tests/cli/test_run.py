"""`hardpoint run`, `check` and `credential` as a user has them."""

from __future__ import annotations

import base64
import contextlib
import json
import signal
import threading
import time
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from hardpoint.cli.check import SEAMS
from hardpoint.sdk.checking import TRIALS, WEBHOOKS
from tests.cli.conftest import Done, Home

EXAMPLES = Path(__file__).parents[2] / "examples"
BADGES = str(EXAMPLES / "03_authenticator.py")
SESAME = str(EXAMPLES / "05_credential.py")


@contextmanager
def serving(home: Home, *arguments: str) -> Iterator[dict[str, str]]:
    """Run a target and yield the addresses it prints, by seam. It must end well when it is stopped."""
    with home.start("run", *arguments, "--port", "0", "--write-config", "configs") as process:
        assert process.stdout is not None
        try:
            printed = [process.stdout.readline().split() for _ in range(2)]
            yield dict(printed)
        finally:
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "Traceback" not in err


def test_run_serves_says_where_and_writes_private_files(home: Home) -> None:
    with serving(home, BADGES) as addresses:
        assert set(addresses) == {"authentication", "authorization"}
        for title, address in addresses.items():
            config = home.path / "configs" / f"{title}.yaml"
            assert config.stat().st_mode & 0o077 == 0
            assert address in config.read_text()
        done = home.run("check", "authorization", "configs/authorization.yaml")
    assert done.status == 0, done.out
    assert done.out.splitlines()[0].startswith("ok    ")


def test_run_is_where_it_was_and_known_as_it_was_the_next_time(home: Home) -> None:
    with serving(home, BADGES):
        first = (home.path / "configs" / "authentication.yaml").read_text()
    with serving(home, BADGES):
        second = (home.path / "configs" / "authentication.yaml").read_text()
    authority = [[line for line in text.splitlines() if "authority" in line] for text in (first, second)]
    assert authority[0] == authority[1] != []
    assert (home.path / "data" / "hardpoint" / "apps" / "badges" / "server.key").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["run", "missing.py"], "missing.py is no file", id="no file"),
        pytest.param(["run", "empty.py"], "must hold one App, and there is none", id="no App"),
        pytest.param(["run", "idle.py"], "idle.py registers nothing to run", id="nothing registered"),
        pytest.param(["run", "wrong.py"], "wrong.py:4: @app.authenticator: nobody must take", id="wrong line"),
        pytest.param(["run", SESAME], "is a credential plugin, which clients run: `hardpoint credential", id="plugin"),
        pytest.param(
            ["run", "idle.py", "--client-ca-file", "a", "--allow-any-client"], "exclude each other", id="both"
        ),
        pytest.param(["check", "nothing", BADGES], "Invalid value for 'SEAM'", id="no such seam"),
        pytest.param(["check", "audit", BADGES], "has no guest for the seam audit (it has: auth", id="another seam"),
        pytest.param(["check", "credential", "idle.py"], "idle.py holds no credential plugin", id="no plugin"),
        pytest.param(["check", "authentication", "http://h"], "must be https://HOST", id="plain HTTP"),
        pytest.param(["check", "authentication", BADGES, "--client-key", "k"], "go together", id="half a pair"),
        pytest.param(["check", "audit", BADGES, "more"], "'more' is too much", id="arguments"),
        pytest.param(["credential", "idle.py"], "idle.py holds no credential plugin", id="credential of none"),
        pytest.param(["credential", SESAME], "KUBERNETES_EXEC_INFO is not set", id="run by hand"),
    ],
)
def test_what_cannot_work_is_one_sentence_and_status_2(home: Home, arguments: list[str], words: str) -> None:
    (home.path / "empty.py").write_text("x = 1\n")
    (home.path / "idle.py").write_text('from hardpoint import App\napp = App("idle")\n')
    wrong = 'from hardpoint import App\napp = App("wrong")\n\n@app.authenticator\ndef nobody(): ...\n'
    (home.path / "wrong.py").write_text(wrong)
    done = home.run(*arguments)
    assert (done.status, done.out) == (2, "")
    assert words in done.err


def test_check_knows_every_seam_that_has_a_kit() -> None:
    assert set(SEAMS) == {*WEBHOOKS, *TRIALS, "credential"}


def checked(home: Home, *arguments: str) -> Done:
    (home.path / "token").write_text("open-sesame\n")
    return home.run("check", "authentication", BADGES, "--token-file", "token", *arguments)


def test_check_says_ok_and_exits_0(home: Home) -> None:
    done = checked(home)
    assert done.status == 0, done.out
    assert {line[:6] for line in done.out.splitlines()} == {"ok    "}
    assert done.err.strip().endswith("0 broken, 0 not looked at")


BROKEN = """
from hardpoint import App
from hardpoint.authentication import User
app = App("broken")

@app.authenticator
async def anybody(token: str) -> User | None:
    return User(token)
"""


def test_check_names_the_broken_promise_and_exits_1(home: Home) -> None:
    (home.path / "broken.py").write_text(BROKEN)
    done = home.run("check", "authentication", "broken.py")
    assert done.status == 1
    first = "FAIL  a token nobody knows is not authenticated: authenticated a token that was made up"
    assert done.out.splitlines()[0] == first


def test_check_for_machines(home: Home) -> None:
    (home.path / "broken.py").write_text(BROKEN)
    report = json.loads(home.run("check", "authentication", "broken.py", "-o", "json").out)
    assert report["seam"] == "authentication"
    assert report["findings"][0]["outcome"] == "FAIL"
    suite = ET.fromstring(home.run("check", "authentication", "broken.py", "-o", "junit").out)
    assert suite.attrib["tests"] == str(len(report["findings"]))
    assert suite[0].find("failure") is not None


def test_check_of_a_webhook_that_is_not_there_breaks_everything(home: Home) -> None:
    done = home.run("check", "authorization", "https://127.0.0.1:9/authorize")
    assert done.status == 1
    assert "ok    " not in done.out


def test_a_credential_plugin_prints_nothing_but_its_credential(home: Home) -> None:
    (home.path / "chatty.py").write_text(
        'print("loading")\n' + Path(SESAME).read_text().replace("    word =", '    print("logging in")\n    word =')
    )
    info = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "spec": {"interactive": False}}
    home.environment["KUBERNETES_EXEC_INFO"] = json.dumps(info)
    done = home.run("credential", "chatty.py")
    assert (done.status, done.err) == (0, "loading\nlogging in\n")
    assert json.loads(done.out)["status"]["token"] == "open-sesame"


def test_check_of_a_credential_plugin(home: Home) -> None:
    done = home.run("check", "credential", SESAME)
    assert done.status == 0, done.out


def test_dev_uses_what_is_saved(home: Home) -> None:
    file = home.path / "app.py"
    text = Path(BADGES).read_text()
    file.write_text(text)
    is_loaded = threading.Event()

    def save_until_loaded() -> None:
        while not is_loaded.wait(0.2):
            file.write_text(text)

    with home.start("run", "app.py", "--dev", "--port", "0") as process:
        saving = threading.Thread(target=save_until_loaded)
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("authentication")
        saving.start()
        assert any("loaded again" in line for line in process.stderr)
        is_loaded.set()
        saving.join()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 0


CONTROLLER = """
from hardpoint import App
from hardpoint.controller import Context

app = App("pages")

@app.controller("v1 ConfigMap", label_selector="page=true")
async def publish(page, ctx: Context) -> None:
    body = {{"kind": "Secret", "apiVersion": "v1", "metadata": {{"name": ctx.key.name}}}}
    await ctx.apply({{**body, "stringData": {{"word": "{word}"}}}})
"""


def test_run_works_in_the_cluster_reloads_and_ends_in_order(home: Home) -> None:
    address = home.up()
    (home.path / "pages.py").write_text(CONTROLLER.format(word="first"))
    page = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"page": "true"}}}
    home.ask(address, "/api/v1/namespaces/default/configmaps", method="POST", body=page)
    with home.start("run", "pages.py", "--dev", "--leader-elect") as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            assert said == f"pages: publish works on v1 ConfigMap at {address}\n"
            assert base64.b64decode(word_when(home, address, "first")) == b"first"
            (home.path / "pages.py").write_text(CONTROLLER.format(word="second"))
            assert base64.b64decode(word_when(home, address, "second")) == b"second"
        finally:
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=30)
            home.run("down")
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert "lease given up" in err


def word_when(home: Home, address: str, word: str) -> str:
    """The Secret's word, once it is this one: a file is saved until somebody notices."""
    wanted = base64.b64encode(word.encode()).decode()
    for _ in range(200):
        with contextlib.suppress(urllib.error.HTTPError):
            found = json.loads(home.ask(address, "/api/v1/namespaces/default/secrets/a"))
            if found["data"]["word"] == wanted:
                return wanted
        (home.path / "pages.py").write_text(CONTROLLER.format(word=word))
        time.sleep(0.1)
    pytest.fail(f"nobody wrote {word}")


def test_run_says_in_a_sentence_that_there_is_no_cluster(home: Home) -> None:
    (home.path / "pages.py").write_text(CONTROLLER.format(word="first"))
    done = home.run("run", "pages.py")
    assert done.status == 2
    assert "names no cluster; start one with `hardpoint up`" in done.err
    both = home.run("run", "pages.py", "--leader-elect", "--shards", "4")
    assert (both.status, "exclude each other" in both.err) == (2, True)
