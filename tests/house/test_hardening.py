"""Links and files that would lead a reader astray or take a shared server down: refused, cut or
made harmless.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from examples import catalogs
from hypothesis import given
from hypothesis import strategies as st

from calc import answer, estimate
from calc.answers.full_answer import full_answer as options
from calc.files.link.link import parse
from calc.models.foreign import foreign_entry
from calc.models.huggingface.config import ConfigError, read_config_text
from calc.rules.layouts import nearest_divisor
from views.shared.markdown import plain, with_lead

MANY = "+".join(map(str, range(1, 65)))


def test_lists_that_multiply_are_refused_before_they_are_crossed():
    row = answer(
        {"model": "llama-3.1-8b", "gpus": MANY, "tensor_parallel": MANY, "batch": MANY}, catalogs()
    ).iloc[0]
    assert row["problem"].startswith(
        "This multiplies to 262,144 combinations, and at most 5,000 are compared at once; "
        "take fewer of "
    )
    precisions = "+".join(list(catalogs().precisions.index)[:12])
    row = answer(
        {
            "model": "llama-3.1-8b",
            "precision": precisions,
            "optimizer": "adamw+lion+sgd",
            "gpus": MANY,
        },
        catalogs(),
    ).iloc[0]
    assert "take fewer of gpus (64 values)" in row["problem"]


def test_repeated_values_of_a_link_count_once_and_a_models_id_and_name_hold_no_markdown():
    assert parse({"precision": ["bf16"] * 14, "gpus": ["1", "2", "1"]}, catalogs()) == (
        {"precision": "bf16", "gpus": [1, 2]},
        [],
    )
    link = {
        "custom.[a](http://x).layers": ["1"],
        "custom.m.name": ['"[Sign in](http://x/y) ![p](q) 8B_v2"'],
        "custom.m.layers": ["2"],
    }
    choices, complaints = parse(link, catalogs())
    (entry,) = choices["custom_models"].values()
    assert entry["layers"] == 2
    assert foreign_entry("m", entry)["name"] == "Sign in(http//x/y) p(q) 8B_v2 · own"
    assert len(complaints) == 1


@given(
    st.text(alphabet="\\[]()!<>`$ab:/.w@http&;\u2060", max_size=60)
    | st.sampled_from(["http://a", "www.a", "a@b"])
)
def test_foreign_words_on_the_screen_make_no_link_picture_formula_or_tag(text):
    shown = plain(text)
    assert not re.search(r"(?<!\\)(\\\\)*[\[\]<`$]", shown.replace("\\\\", ""))
    assert not re.search(r"\w:/|www\.|\w@", shown, re.IGNORECASE)
    assert not re.search(r"(?<!\\)(\\\\)*&", shown)


@pytest.mark.parametrize(
    ("count", "wanted", "nearest"),
    [(10**8, 3, 2), (32, 5, 4), (7, 3, 1), (1, 9, 1), (64, 1000, 64), (97, 90, 97)],
)
def test_the_nearest_divisor_of_any_count_is_found_at_once(count, wanted, nearest):
    assert nearest_divisor(count, wanted) == nearest


@pytest.mark.parametrize(
    "form",
    [
        '{{"model_type": "{}"}}',
        '{{"model_type": "llama", "text_config": {{"model_type": "{}"}}}}',
        "{}",
    ],
)
def test_a_word_of_a_config_is_quoted_in_short(form):
    with pytest.raises(ConfigError) as error:
        read_config_text(form.format("x" * 100_000), "mine", catalogs())
    assert len(str(error.value)) < 500


def test_a_row_that_its_instance_cannot_hold_keeps_its_memory_and_has_no_price():
    row = estimate(
        {"model": "llama-3.1-8b", "gpus": 3, "tensor_parallel": 3, "instance": "p5.48xlarge"},
        catalogs(),
    )
    wide = estimate(
        {"model": "llama-3.1-8b", "gpus": 16, "tensor_parallel": 16, "instance": "p5.48xlarge"},
        catalogs(),
    )
    for scenario in (row, wide):
        assert scenario["problem"].endswith(".")
        assert scenario["usd_per_hour_on_demand"] != scenario["usd_per_hour_on_demand"]
    assert wide["memory_bytes"] > 0


def test_make_never_removes_an_environment_that_it_did_not_make(tmp_path):
    shutil.copy(Path(__file__).parents[2] / "Makefile", tmp_path)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "mine").touch()
    done = subprocess.run(
        ["make", ".venv/bin/python", f"PYTHON={sys.executable}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode
    assert "move it away" in done.stdout
    assert (tmp_path / ".venv" / "mine").exists()


def test_a_link_may_compare_accumulations():
    """They are no column of a layout: once such a link broke every page."""
    job = {
        "model": "llama-3.2-1b",
        "instance": ["g5.12xlarge", "p4d.24xlarge"],
        "instances_most": 2,
        "sequence_tokens": 2048,
    }
    board = options(job | {"accumulation_steps": [4, 8], "batch": [4]}, catalogs()).board
    assert set(board["accumulation_steps"]) == {4, 8}
    assert board.groupby(["instance", "market"])["accumulation_steps"].nunique().max() == 2


@pytest.mark.parametrize("name", ["loss", "optimizer", "precision", "instance", "recompute"])
@pytest.mark.parametrize("value", [[""], ["", ""], "", [" "], [None]])
def test_an_empty_choice_is_no_choice(name, value):
    job = {"work": "training", "model": "llama-3.2-1b", "train_tokens": 1e7}
    assert options({**job, name: value}, catalogs()).rows[0]["usd"] == pytest.approx(
        options(job, catalogs()).rows[0]["usd"]
    )


@pytest.mark.parametrize(
    "text", ["1_000", "٣", "²", "１２", "1e", "0x10", "inf", "nan", "1,000", "--1"]
)
def test_what_only_looks_like_a_number_is_none(text):
    row = estimate({"model": "gpt2", "batch": text}, catalogs())
    assert row["problem"].startswith("batch")
    assert parse({"batch": [text]}, catalogs())[0] == {}


def test_the_first_clause_of_a_text_is_bold_and_all_of_it_is_text():
    text = "Pure bf16 on 1 × g6e.xlarge costs $32, 8.1 times as long; 1 other ties. <b>"
    assert with_lead(text) == (
        "**Pure bf16 on 1 × g6e.xlarge costs \\$32, 8.1 times as long**; 1 other ties. \\<b>"
    )
    assert with_lead("No choice has a plan with a price.") == (
        "**No choice has a plan with a price**."
    )
