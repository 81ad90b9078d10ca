"""The catalog of models: counts computed from the architecture are the known ones, and the tables
hold together.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest
from examples import catalogs, entries, published, recorded

from calc import add_models, answer, estimate, load_catalogs
from calc.catalogs.rooms import path_of
from calc.models.architecture import MODEL_COLUMNS, STACK_COLUMNS, model_table

ROOT = Path(__file__).parents[1]
CATALOG = entries("models")
BLOCKS = entries("blocks")
MODELS, STACKS = model_table(CATALOG, catalogs().families)
COUNTED = published("parameters")
CACHES = published("kv_cache")
CHECKED = {model: entry["check"] for model, entry in CATALOG.items() if "check" in entry}
ESTIMATED = [model for model, entry in CATALOG.items() if "refused" not in entry]


def stacks_of(model):
    return STACKS[STACKS["model"] == model]


def test_counts_are_those_of_the_class_and_of_others_and_most_models_have_one():
    for name, column in (
        ("parameters", "parameters"),
        ("active", "active_parameters"),
        ("embedding", "embedding_parameters"),
    ):
        assert MODELS.loc[list(COUNTED), column].to_dict() == {
            model: counted[name] for model, counted in COUNTED.items()
        }
    counts = {
        model: MODELS.loc[model, "parameters"] + check.get("difference", 0)
        for model, check in CHECKED.items()
    }
    assert counts == {model: check["parameters"] for model, check in CHECKED.items()}
    assert len(set(ESTIMATED) & (set(CHECKED) | set(COUNTED))) >= 105
    assert sum("difference" not in check for check in CHECKED.values()) >= 90


def test_the_cache_is_the_one_that_transformers_keeps():
    cases = [
        (model, int(tokens), cache_bytes)
        for model, caches in CACHES.items()
        for tokens, cache_bytes in caches.items()
    ]
    for model, tokens, cache_bytes in cases:
        stacks = stacks_of(model)
        # A windowed layer keeps the window less the token being computed, and an 8-byte count of
        # what it has seen.
        kept = np.minimum(tokens, stacks["window_tokens"] - 1)
        source = MODELS.loc[model, "fixed_tokens"] or tokens
        elements = (
            stacks["cached_elements_per_token"] * kept
            + stacks["cross_cached_elements_per_token"] * source
        )
        counters = 8 * stacks["layers"][np.isfinite(stacks["window_tokens"])].sum()
        assert 2 * (stacks["layers"] * elements).sum() + counters == cache_bytes, (model, tokens)


def test_the_tables_hold_together_and_a_model_that_is_refused_has_a_sentence_and_no_counts():
    in_blocks = (STACKS["layers"] * STACKS["block_parameters"]).groupby(STACKS["model"]).sum()
    assert (
        in_blocks + MODELS["outside_parameters"].dropna() == MODELS["parameters"].dropna()
    ).all()
    assert (STACKS["block_linear_parameters"] <= STACKS["block_parameters"]).all()
    assert (STACKS["block_expert_parameters"] <= STACKS["block_parameters"]).all()
    assert (STACKS["block_largest_matrix"] <= STACKS["block_linear_parameters"]).all()
    assert (MODELS["active_parameters"].dropna() <= MODELS["parameters"].dropna()).all()
    assert (STACKS[["layers", "hidden", "block_parameters"]] > 0).all(axis=None)
    attends = STACKS["query_width"] > 0
    assert (STACKS.loc[attends, ["heads", "head_dim"]] > 0).all(axis=None)
    assert (
        STACKS.loc[
            ~attends,
            ["mixer_in_width", "ffn_width", "expert_ffn_width", "waveform_active_parameters"],
        ].sum(axis=1)
        > 0
    ).all()
    assert set(STACKS["block"]) - {""} <= {block["id"] for block in BLOCKS}
    assert tuple(MODELS.columns) == MODEL_COLUMNS
    assert tuple(STACKS.columns) == STACK_COLUMNS
    assert not STACKS.isna().any(axis=None)
    assert MODELS["name"].is_unique
    refused = MODELS[MODELS["refused"] != ""]
    assert len(refused) == len(CATALOG) - len(ESTIMATED)
    assert refused["refused"].str.endswith(".").all()
    assert refused["parameters"].isna().all()
    assert not STACKS["model"].isin(refused.index).any()


@pytest.mark.sample(2)
@pytest.mark.parametrize(("model", "size", "value"), recorded("cases/models.json")["sizes"])
def test_a_model_that_lacks_a_size_is_refused_by_its_name(model, size, value):
    entry = {name: other for name, other in CATALOG[model].items() if name != size} | (
        {} if value is None else {size: value}
    )
    mine = add_models(catalogs(), {"mine": entry})
    assert f": {size}" in mine.models["refused"]["mine"]
    for work in ("training", "inference"):
        job = {
            "work": work,
            "model": "mine",
            "instance": "g6e.xlarge",
            "gpus": 1,
            "images_per_sequence": 1,
        }
        assert (
            estimate(job, mine)["problem"]
            == answer(job, mine)["problem"][0]
            == mine.models["refused"]["mine"]
        )


def test_layers_differ_where_windows_and_experts_do_and_latent_attention_caches_its_latent():
    maverick = stacks_of("llama-4-maverick-17b-128e").set_index("stack")["layers"]
    assert dict(maverick) == {"dense-windowed": 24, "moe": 12, "moe-windowed": 12}
    gemma = stacks_of("gemma-3-27b").set_index("stack")["layers"]
    assert dict(gemma) == {"dense": 10, "dense-windowed": 52}
    whisper = stacks_of("whisper-large-v3-turbo").set_index("stack")["layers"]
    assert dict(whisper) == {"encoder": 32, "decoder": 4}
    assert (stacks_of("deepseek-v3")["cached_elements_per_token"] == 512 + 64).all()


def test_a_family_of_another_folder_reaches_the_counts(tmp_path):
    folder = shutil.copytree(ROOT.parent / "catalogs", tmp_path / "catalogs")
    text = path_of("families", folder).read_text("utf-8")
    path_of("families", folder).write_text(
        text.replace("  llama: {block: llama}", "  llama: {block: llama, norm_vectors: 2}"), "utf-8"
    )
    other = load_catalogs(folder)
    name = "llama-3.1-8b"
    norms = (2 * MODELS.loc[name, "layers"] + 1) * MODELS.loc[name, "hidden"]
    assert other.models.loc[name, "parameters"] == MODELS.loc[name, "parameters"] + norms
    assert (other.models.loc[name, "rms_norms"], MODELS.loc[name, "rms_norms"]) == (0, 2)
