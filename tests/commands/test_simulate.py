"""Models simulated on this machine: what the simulation answers becomes a model with blocks of its
own; without PyTorch one sentence.
"""

import json
import shutil
import subprocess
import sys

import pandas as pd
import pytest
from examples import catalogs, recorded
from pages import opened, page_text, pasted, run, turned

from calc import estimate, load_catalogs
from calc.__main__ import main
from calc.catalogs.rooms import FOLDER
from calc.commands import simulate
from calc.files.simulated_models import (
    VECTORS,
    mean_forms,
    own_folder,
    simulated_model,
    with_simulated,
    write_simulated,
)
from calc.scenarios.problems import TableError
from views.your_files import simulate as page

CATALOGS = catalogs()
SAID = recorded(
    "simulated.json"
    # the answer of validation/simulate/here.py for BitNet's default config, and the peak of its
    # whole step
)
ROW = {"model": "mine", "gpu": "b200", "implementation": "transformers", **SAID["row"]}


@pytest.fixture
def folder(tmp_path):
    document = simulated_model(SAID["config"], "mine", SAID["answer"], CATALOGS)
    write_simulated(document, "mine", tmp_path)
    return tmp_path


def test_blocks_read_off_here_make_the_step_that_was_simulated_whole(folder):
    extended = with_simulated(CATALOGS, folder)
    row = estimate(ROW, extended, False)
    assert row["allocated_peak_bytes"] == pytest.approx(
        SAID["answer"]["rows"][0]["allocated_peak_bytes"], rel=1e-3
    )
    assert extended.models.loc["mine", "parameters"] == SAID["answer"]["blocks"]["parameters"]
    assert row["memory_basis"].startswith("simulated here")
    assert "Simulated here, transformers 5.23" in row["note"]
    assert "mine" not in CATALOGS.models.index
    assert with_simulated(CATALOGS, folder / "none") is CATALOGS


def test_layers_of_several_kinds_keep_their_mean_and_need_the_worst_of_all():
    def kind(layers, saved):
        vectors = {name: {"one": saved} for name in ("saved", "frozen", "checkpoint")}
        return {
            "layers": layers,
            "forms": [
                {"format": "bf16", "attention": "sdpa", **vectors, "backward": [{"one": 2 * saved}]}
            ],
        }

    (form,) = mean_forms([kind(3, 100.0), kind(1, 20.0)])
    assert form["saved"] == {"one": 80.0}
    assert form["backward"] == [{"one": 200.0}, {"one": 40.0}]


def test_behind_a_window_only_the_layers_that_it_masks_count():
    def kind(layers, masked):
        forms = [
            ("sdpa", {"one": 8.0}),
            ("sdpa-window", {"one": 8.0} | ({"mask": 2.0} if masked else {})),
        ]
        return {
            "layers": layers,
            "forms": [
                {"format": "bf16", "attention": case} | dict.fromkeys(VECTORS, saved)
                for case, saved in forms
            ],
        }

    plain, window = mean_forms([kind(3, True), kind(1, False)])
    assert (plain["saved"], window["saved"]) == ({"one": 8.0}, {"one": 8.0, "mask": 2.0})
    assert mean_forms([kind(1, False)])[1]["saved"] == {"one": 8.0}


FAULTS = {
    "half": "{",
    "list": "[]",
    "nothing": json.dumps({"entry": {}, "blocks": {}}),
    "more": json.dumps({"entry": {}, "blocks": {}, "run": "x"}),
    "block": json.dumps({"entry": {}, "blocks": {"llama": {}}}),
    "form": json.dumps(
        {"entry": {}, "blocks": {"simulated-x-block": {"families": [], "source": "", "forms": [1]}}}
    ),
    "later": json.dumps({"format": 99, "entry": {}, "blocks": {}}),
    "nan": '{"entry": {"layers": NaN, "model_type": "llama"}, "blocks": {}}',
    "deep": "[" * 100_000,
}


def test_a_faulty_file_is_left_out_by_name_and_the_others_stay(folder):
    for name, text in FAULTS.items():
        (folder / f"{name}.json").write_text(text)
    (folder / "llama-3.1-8b.json").write_text((folder / "mine.json").read_text())
    extended = with_simulated(CATALOGS, folder)
    assert {*extended.models.index} - {*CATALOGS.models.index} <= {"mine", "nan"}
    assert "mine" in extended.models.index
    assert extended.models.at["llama-3.1-8b", "name"] == CATALOGS.models.at["llama-3.1-8b", "name"]
    sentences = extended.left_out
    for name in ({*FAULTS} - {"nan"}) | {"llama-3.1-8b"}:
        (sentence,) = [one for one in sentences if one.startswith(f"{name}.json of your own")]
        assert sentence.endswith("."), sentence
    assert estimate(ROW, extended, False)["problem"] == ""


def test_the_command_line_names_what_is_left_out(folder, monkeypatch, capsys):
    (folder / "half.json").write_text("{")
    monkeypatch.setenv("HEADROOM_CATALOGS", str(folder))
    assert main(["show", "llama-3.2-1b on an l4, batch 1"]) == 0
    assert "half.json of your own catalogs is left out" in capsys.readouterr().err


def run_as(monkeypatch, answer, code=0):
    """The simulation's process says this."""
    completed = subprocess.CompletedProcess(
        [], code, json.dumps(answer) if isinstance(answer, dict) else answer, "no g++"
    )
    monkeypatch.setattr(simulate, "interpreter", lambda: sys.executable)
    monkeypatch.setattr(
        simulate.subprocess,
        "run",
        lambda *_, **options: requests.append(json.loads(options["input"])) or completed,
    )
    requests: list = []
    return requests


@pytest.mark.usefixtures("read_once")
def test_the_command_writes_the_model_or_the_peaks(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HEADROOM_CATALOGS", str(tmp_path / "own"))
    (tmp_path / "mine.json").write_text(json.dumps(SAID["config"]))
    requests = run_as(monkeypatch, SAID["answer"])
    assert main(["simulate", str(tmp_path / "mine.json")]) == 0
    assert requests[0]["config"] == SAID["config"]
    assert (own_folder() / "mine.json").exists()
    assert "rows and the page know it as mine" in capsys.readouterr().out
    pd.DataFrame([ROW, ROW | {"gpus": 8}]).to_csv(tmp_path / "plan.csv", index=False)
    assert (
        main(
            [
                "simulate",
                str(tmp_path / "mine.json"),
                "--row",
                str(tmp_path / "plan.csv"),
                "-o",
                str(tmp_path / "out.csv"),
            ]
        )
        == 0
    )
    peaks = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert len(requests[1]["rows"]) == 1
    assert float(peaks["allocated_peak_gib"][0]) == pytest.approx(
        float(peaks["estimated_peak_gib"][0]), rel=1e-3
    )
    assert "Only one GPU" in peaks["problem"][1]


@pytest.mark.usefixtures("read_once")
def test_what_cannot_be_simulated_is_one_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.json").write_text(json.dumps(SAID["config"]))
    run_as(monkeypatch, "", 1)
    assert main(["simulate", str(tmp_path / "mine.json")]) == 2
    assert "it needs g++" in capsys.readouterr().err
    run_as(
        monkeypatch,
        {
            **SAID["answer"],
            "blocks": {"problem": "model_type x has no class in transformers 5.23.0."},
        },
    )
    assert main(["simulate", str(tmp_path / "mine.json")]) == 2
    assert "has no class" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr(simulate, "OF_SIMULATE", tmp_path / "none")
    monkeypatch.setattr(simulate, "find_spec", lambda _name: None)
    assert main(["simulate", str(tmp_path / "mine.json")]) == 2
    assert "make simulate" in capsys.readouterr().err


@pytest.mark.bench
@pytest.mark.long
def test_the_page_simulates_a_bounded_model_beside_its_sessions(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADROOM_CATALOGS", str(tmp_path / "own"))
    monkeypatch.setattr(page, "interpreter", lambda: (_ for _ in ()).throw(TableError("missing")))
    app = pasted(opened("bring"), json.dumps(SAID["config"]))
    assert "can simulate it here" in page_text(app)
    app = turned(app, "bring")
    assert [
        *(box.key for box in app.button if box.key == "simulate_here"),
        "make simulate" in page_text(app),
    ] == [True]
    monkeypatch.setattr(page, "interpreter", lambda: sys.executable)
    run_as(monkeypatch, SAID["answer"] | {"blocks": {"problem": "its class is odd."}})
    run(run(app).button(key="simulate_here").click())
    ended()
    assert run(app).error[0].value == "The simulation failed: its class is odd."
    run_as(monkeypatch, SAID["answer"])
    run(app.button(key="simulate_here").click())
    ended()
    assert "Simulated here, transformers 5.23" in page_text(run(app))
    assert "simulate_here" not in {box.key for box in app.button}
    app = turned(run(app.button(key="take_model").click()), "plan")
    assert "simulated here" in page_text(app)


def ended():
    """Every simulation of the page's worker has ended."""
    for simulation in page._queue()[1].values():
        simulation.future.exception(timeout=30)


def test_a_faulty_calibration_of_ones_own_is_left_out_by_name(tmp_path):
    copy = shutil.copytree(FOLDER, tmp_path / "catalogs")
    (copy / "own" / "calibration.yaml").write_text("readings: [1")
    loaded = load_catalogs(copy)
    assert loaded.readings.empty
    (sentence,) = loaded.left_out
    assert sentence.startswith("catalogs/own/calibration.yaml")
