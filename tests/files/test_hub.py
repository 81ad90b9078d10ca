"""Models brought by their names, from a server that answers as the hub does, or by a config whose
type is not covered: its least alone.
"""

import io
import json
import os
import subprocess
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace

import pandas as pd
import pytest
from examples import catalogs, recorded
from pages import opened, page_text, pasted

from calc import add_models, answer, estimate
from calc.__main__ import main
from calc.files import hub
from calc.files.door import REFUSALS
from calc.files.hub import model_of, read_repository
from calc.files.request import PASTED, request_of
from calc.models.huggingface.config import ConfigError, read_config_text

ROOT = Path(__file__).parents[2]
QWEN = (Path(__file__).parents[1] / "recorded/configs/qwen3-4b.json").read_bytes()
QWEN_INDEX = b'{"metadata": {"total_size": 8044936192}, "weight_map": {}}'
FILES = {
    "/Qwen/Qwen3-4B/resolve/main/config.json": QWEN,
    "/Qwen/Qwen3-4B/resolve/main/model.safetensors.index.json": QWEN_INDEX,
}
FILES |= {"/an-org/one.file/resolve/main/config.json": QWEN}
NEW = b'{"model_type": "a_new_one", "dtype": "bfloat16", "hidden_size": 64}'
FILES |= {
    "/an-org/New-1/resolve/main/config.json": NEW,
    "/an-org/New-1/resolve/main/model.safetensors.index.json": QWEN_INDEX,
}
MISSING = {
    "/an-org/one.file/resolve/main/model.safetensors.index.json": "EntryNotFound",
    "/an-org/data/resolve/main/config.json": "EntryNotFound",
}
PATHS: list[str] = []  # that the server was sent
GATED = "/meta-llama/Held-Back/resolve/main/config.json"


class Hub(BaseHTTPRequestHandler):
    """Answers for a file what the hub does: its length, its tag, the commit; else what is in the
    way.
    """

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.wfile.write(self.answer())

    def answer(self):
        PATHS.append(self.path)
        content = FILES.get(self.path)
        self.send_response(200 if content else 403 if self.path == GATED else 404)
        self.send_header("Content-Length", str(len(content or b"")))
        self.send_header("X-Repo-Commit", "0" * 40)
        if content:
            self.send_header("ETag", f'"{abs(hash(content))}"')
        else:
            self.send_header(
                "X-Error-Code",
                "GatedRepo" if self.path == GATED else MISSING.get(self.path, "RepoNotFound"),
            )
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


def estimated(repository, address, tmp_path, model=None, **environment):
    """The command line with `--model`, on one row that names the model."""
    pytest.importorskip("huggingface_hub")
    environment = {
        **os.environ,
        "HF_ENDPOINT": address,
        "HF_HOME": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(sys.path),
        **environment,
    }
    words = [sys.executable, "-m", "calc", "--model", repository]
    row = f"model,work\n{model or model_of(repository)},inference\n"
    return subprocess.run(
        words, input=row, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=240
    )


def test_a_model_is_read_by_its_name(address, tmp_path):
    done = estimated("Qwen/Qwen3-4B", address, tmp_path, model="qwen3-4b")
    assert done.returncode == 0, done.stderr
    row = pd.read_csv(io.StringIO(done.stdout)).loc[0]
    assert (row["parameters"], row["problem"] == row["problem"] and row["problem"] != "") == (
        4_022_468_096,
        False,
    )
    assert {path.rpartition("/")[2] for path in PATHS} == {
        "config.json",
        "model.safetensors.index.json",
    }


@pytest.mark.bench
def test_a_type_that_is_not_covered_is_known_by_its_index(address, tmp_path):
    row = pd.read_csv(io.StringIO(estimated("an-org/New-1", address, tmp_path).stdout)).loc[0]
    assert row["parameters"] == 8_044_936_192 / 2
    assert row["problem"].endswith("Weights take at least 7.5 GiB on each GPU.")


@pytest.mark.long
def test_a_model_of_one_file_has_no_index(address, tmp_path):
    assert estimated("an-org/one.file", address, tmp_path).returncode == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("repository", "sentence"),
    [
        ("an-org/none", "no such repository"),
        ("an-org/data", "has no config.json"),
        ("meta-llama/Held-Back", "set HF_TOKEN"),
    ],
)
def test_what_the_hub_does_not_give_is_said_in_one_sentence(
    address, tmp_path, repository, sentence
):
    done = estimated(repository, address, tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        repository in done.stderr,
        sentence in done.stderr,
        done.stderr.strip().count("\n"),
    ) == (True, True, 0)


@pytest.mark.long
def test_without_a_network_the_sentence_says_to_paste_the_file(tmp_path):
    done = estimated("Qwen/Qwen3-4B", "http://127.0.0.1:9", tmp_path, HF_HUB_OFFLINE="1")
    assert done.returncode == 2
    assert "paste its config.json" in done.stderr


def test_what_is_no_repository_is_not_asked_for():
    with pytest.raises(ConfigError, match="write it as org/name"):
        read_repository("../../etc/passwd", CATALOGS)


@pytest.mark.long
def test_where_the_library_is_missing_the_page_says_to_paste(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    app = pasted(opened(), "https://huggingface.co/acme/Our-9B")
    assert ["paste its config.json instead" in error.value for error in app.error] == [True]


def hub_of(download):
    """A huggingface_hub whose every download is this function."""
    kinds = ("GatedRepoError", "RepositoryNotFoundError", "LocalEntryNotFoundError")
    errors = {kind: type(kind, (Exception,), {}) for kind in (*kinds, "EntryNotFoundError")}
    return SimpleNamespace(errors=SimpleNamespace(**errors), hf_hub_download=download)


def test_a_hub_that_never_answers_is_given_up_in_one_sentence(monkeypatch):
    answers = Event()
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub_of(lambda *_, **__: answers.wait()))
    assert hub.MOST_SECONDS <= 3
    monkeypatch.setattr(hub, "MOST_SECONDS", 0.01)
    try:
        with pytest.raises(ConfigError, match=r"did not answer within 0.01 seconds; paste .*\.$"):
            read_repository("an-org/one", CATALOGS)
    finally:
        answers.set()


NO_REQUESTS = (
    "serve and/or tune a/b tests",
    "train/test split of qwen/foo-8b on 1 h100",
    "acme/Our-9B",
)


@pytest.mark.parametrize("text", [*NO_REQUESTS, "base_model: acme/Our-9B\nadapter: lora\n"])
def test_words_with_a_slash_are_never_sent_to_the_hub(monkeypatch, text):
    sent = []
    monkeypatch.setitem(
        sys.modules, "huggingface_hub", hub_of(lambda *names, **_: sent.append(names))
    )
    with suppress(*REFUSALS):
        request_of([(PASTED, text.encode())], CATALOGS)
    assert sent == []


def test_an_address_of_the_hub_is_sent_there(monkeypatch):
    sent = []
    monkeypatch.setitem(
        sys.modules, "huggingface_hub", hub_of(lambda *names, **_: sent.append(names))
    )
    with suppress(*REFUSALS):
        request_of([(PASTED, b"serve https://huggingface.co/acme/Our-9B")], CATALOGS)
    assert sent[0] == ("acme/Our-9B", "config.json")


CATALOGS = catalogs()
CASES = recorded("cases/bridge.json")
CONFIG, INDEX, TOTAL = CASES["config"], CASES["index"], 7_200_000_000
TEXT = f"{json.dumps(CONFIG)}\n{json.dumps(INDEX)}"
KNOWN = ["weights_bytes", "gradients_bytes", "optimizer_bytes", "memory_low_bytes"]


def read(config=CONFIG, index=INDEX):
    return read_config_text(f"{json.dumps(index)} {json.dumps(config)}", "it", CATALOGS)


@pytest.fixture(scope="module")
def bridged():
    return add_models(CATALOGS, {"it": read_config_text(TEXT, "it", CATALOGS)})


@pytest.mark.parametrize(("config", "metadata"), CASES["read"])
def test_the_index_tells_the_total(config, metadata):
    assert read(config, INDEX | {"metadata": metadata})["total_parameters"] == TOTAL


@pytest.mark.parametrize(("config", "index"), CASES["refused"])
def test_what_the_index_does_not_tell_or_is_another_matter_stays_refused(config, index):
    with pytest.raises(ConfigError, match="is not covered"):
        read(config, index)


def test_a_covered_type_is_read_as_without_its_index():
    llama = CONFIG | {
        "model_type": "llama",
        "num_attention_heads": 32,
        "intermediate_size": 14336,
        "vocab_size": 128256,
    }
    assert read(llama) == read_config_text(json.dumps(llama), "it", CATALOGS)


@pytest.mark.parametrize(
    "text", ["{", f"{TEXT} {{}}", json.dumps(INDEX), f"{json.dumps(CONFIG)} {json.dumps(CONFIG)}"]
)
def test_other_texts_are_refused_in_one_sentence(text):
    with pytest.raises(ConfigError, match=r"^it: (this is not JSON|give one config.json)"):
        read_config_text(text, "it", CATALOGS)


def test_a_row_has_the_least_and_no_more_and_another_problem_stands_alone(bridged):
    """bf16 weights and gradients, fp32 moments; divided by FSDP, by tensor parallel; 4 bits in
    serving, adapters unknown.
    """
    results = estimate(
        pd.DataFrame([row for row, _ in CASES["known"]])
        .assign(model="it")
        .astype(object)
        .fillna(""),
        bridged,
    )
    for row, (_, parts) in zip(results.to_dict("records"), CASES["known"], strict=True):
        assert [row[name] for name in KNOWN] == pytest.approx(
            [part * TOTAL for part in [*parts, sum(parts)]]
        )
        assert f"at least {sum(parts) * TOTAL / 2**30:,.1f} GiB on each GPU" in row["problem"]
    pretended = [
        "activations_bytes",
        "kv_cache_bytes",
        "memory_bytes",
        "memory_high_bytes",
        "step_seconds",
        "usd_per_hour_on_demand",
    ]
    assert results[pretended].isna().all(axis=None)
    assert results["fits"].astype(str).isin(["", "nan"]).all()
    assert (results["parameters"] == TOTAL).all()
    other = estimate({"model": "it", "precision": "no-such"}, bridged)["problem"]
    assert "at least" not in other or "no-such" not in other
    assert estimate({"model": "it", "batch": 0}, bridged)["problem"].startswith("batch '0'")


def test_it_is_never_offered(bridged):
    (row,) = answer({"model": "it", "work": "inference"}, bridged).to_dict("records")
    assert row["possible"] == 0
    assert "7.20 billion parameters, 13.4 GiB of weights in 16 bits" in row["problem"]


def test_an_index_beside_a_config_is_found(tmp_path):
    (folder := tmp_path / "model").mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "model.safetensors.index.json").write_text(json.dumps(INDEX))
    (tmp_path / "in.csv").write_text("model,work\nconfig,inference\n")
    for path in (folder, folder / "config.json"):
        assert (
            main(
                [
                    str(tmp_path / "in.csv"),
                    "-o",
                    str(tmp_path / "out.csv"),
                    "--model-config",
                    str(path),
                ]
            )
            == 0
        )
        row = pd.read_csv(tmp_path / "out.csv").loc[0]
        assert row["weights_bytes"] == 2 * TOTAL
        assert row["problem"].endswith("Weights take at least 13.4 GiB on each GPU.")


@pytest.mark.long
def test_the_page_says_the_least_and_its_link_keeps_the_model():
    app = pasted(opened(), TEXT)
    least = "7.20 billion parameters, 13.4 GiB of weights in 16 bits"
    assert least in page_text(app)
    assert least in page_text(
        opened(**{name.replace(".", "__"): value for name, value in app.query_params.items()})
    )
