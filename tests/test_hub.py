"""Models of the Hugging Face hub by their names, from a local server that answers as the hub does; without it, one sentence."""

import io
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest
from examples import catalogs
from pages import opened, run

from calc.files.hub import model_of, read_repository
from calc.models.huggingface.config import ConfigError

ROOT = Path(__file__).parents[1]
CATALOGS = catalogs()
CONFIG = (Path(__file__).parent / "recorded/configs/qwen3-4b.json").read_bytes()
INDEX = b'{"metadata": {"total_size": 8044936192}, "weight_map": {}}'
FILES = {"/Qwen/Qwen3-4B/resolve/main/config.json": CONFIG, "/Qwen/Qwen3-4B/resolve/main/model.safetensors.index.json": INDEX}
FILES |= {"/an-org/one.file/resolve/main/config.json": CONFIG}
NEW = b'{"model_type": "a_new_one", "dtype": "bfloat16", "hidden_size": 64}'
FILES |= {"/an-org/New-1/resolve/main/config.json": NEW, "/an-org/New-1/resolve/main/model.safetensors.index.json": INDEX}
MISSING = {
    "/an-org/one.file/resolve/main/model.safetensors.index.json": "EntryNotFound",
    "/an-org/data/resolve/main/config.json": "EntryNotFound",
}
ASKED: list[str] = []
HELD_BACK = "/meta-llama/Held-Back/resolve/main/config.json"


class Hub(BaseHTTPRequestHandler):
    """Answers for a file what the hub does: its length, its tag, the commit; else what is in the way."""

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.wfile.write(self.answer())

    def answer(self):
        ASKED.append(self.path)
        content = FILES.get(self.path)
        self.send_response(200 if content else 403 if self.path == HELD_BACK else 404)
        self.send_header("Content-Length", str(len(content or b"")))
        self.send_header("X-Repo-Commit", "0" * 40)
        if content:
            self.send_header("ETag", f'"{abs(hash(content))}"')
        else:
            said = "GatedRepo" if self.path == HELD_BACK else MISSING.get(self.path, "RepoNotFound")
            self.send_header("X-Error-Code", said)
        self.end_headers()
        return content or b""

    def log_message(self, *_):
        """Nothing."""


@pytest.fixture(scope="module")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def asked(repository, address, tmp_path, model=None, **environment):
    """The command line with `--model`, on one row that names the model."""
    pytest.importorskip("huggingface_hub")
    environment = {**os.environ, "HF_ENDPOINT": address, "HF_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    words = [sys.executable, "-m", "calc", "--model", repository]
    row = f"model,work\n{model or model_of(repository)},inference\n"
    return subprocess.run(words, input=row, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=240)


def test_a_model_is_read_by_its_name(address, tmp_path):
    done = asked("Qwen/Qwen3-4B", address, tmp_path, model="qwen3-4b")
    assert done.returncode == 0, done.stderr
    row = pd.read_csv(io.StringIO(done.stdout)).loc[0]
    assert (row["parameters"], row["problem"] == row["problem"] and row["problem"] != "") == (4_022_468_096, False)
    assert {path.rpartition("/")[2] for path in ASKED} == {"config.json", "model.safetensors.index.json"}


def test_a_type_that_is_not_covered_is_known_by_its_index(address, tmp_path):
    row = pd.read_csv(io.StringIO(asked("an-org/New-1", address, tmp_path).stdout)).loc[0]
    assert row["parameters"] == 8_044_936_192 / 2
    assert row["problem"].endswith("Weights take at least 7.5 GiB on each GPU.")


@pytest.mark.long
def test_a_model_of_one_file_has_no_index(address, tmp_path):
    assert asked("an-org/one.file", address, tmp_path).returncode == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("repository", "said"),
    [("an-org/none", "no such repository"), ("an-org/data", "has no config.json"), ("meta-llama/Held-Back", "set HF_TOKEN")],
)
def test_what_the_hub_does_not_give_is_said_in_one_sentence(address, tmp_path, repository, said):
    done = asked(repository, address, tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert repository in done.stderr
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.long
def test_without_a_network_the_sentence_says_to_paste_the_file(tmp_path):
    done = asked("Qwen/Qwen3-4B", "http://127.0.0.1:9", tmp_path, HF_HUB_OFFLINE="1")
    assert done.returncode == 2
    assert "paste its config.json" in done.stderr


def test_what_is_no_repository_is_not_asked_for():
    with pytest.raises(ConfigError, match="write it as org/name"):
        read_repository("../../etc/passwd", CATALOGS)


def test_where_the_library_is_missing_the_page_says_to_paste(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    app = opened()
    app.session_state["model_way"] = "hub"
    app.session_state["model_form"] = True
    run(app)
    run(app.text_input(key="repository").set_value("Qwen/Qwen3-4B"))
    run(app.button(key="add_model").click())
    assert ["paste its config.json instead" in error.value for error in app.error] == [True]
