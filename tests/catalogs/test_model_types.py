"""Kinds of model are data: one entry of model_types.yaml is a new type, and a field that is not
read is named.
"""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from examples import catalogs, recorded

from calc import add_models, estimate, load_catalogs
from calc.catalogs.load import CatalogError, read_document
from calc.catalogs.model_types import families_with_types, model_types_of
from calc.catalogs.rooms import FOLDER, path_of
from calc.models.architecture import model_table
from calc.models.huggingface.config import read_config
from calc.models.huggingface.not_covered import uncovered_type
from calc.models.huggingface.values import FLAGS, SWITCHES

RECORDED = Path(__file__).parents[1] / "recorded"
CATALOGS = catalogs()
TYPES = CATALOGS.model_types.types
# Its class has gated networks.
FAMILY_OF = {name: kind.family for name, kind in TYPES.items()} | {"mt5": "t5_gated"}
LLAMA = recorded("cases/model_types.json")["llama"]


def test_fields_that_change_nothing_say_nothing_and_a_type_in_lower_case_is_not_its_own_cure():
    for model_type, named in (("llama", "full_attention"), ("mistral", "sliding_attention")):
        plain = {**LLAMA, "model_type": model_type}
        assert read_config({**plain, "layer_types": [named] * 2}, "it", CATALOGS) == read_config(
            plain, "it", CATALOGS
        )
    plain = read_config(LLAMA, "it", CATALOGS)
    more = {
        "torch_dtype": "int7",
        "pad_token_id": 3,
        "rope_theta": 1e6,
        "sliding_window": None,
        "use_qk_norm": False,
    }
    assert read_config({**LLAMA, **more}, "it", CATALOGS) == plain
    model_types = replace(CATALOGS.model_types, types={**TYPES, "newllama": TYPES["llama"]})
    assert not uncovered_type({}, "newllama", model_types).meant
    error = uncovered_type({}, "NewLlama", model_types).error()
    assert "did you mean newllama?" in str(error)


def test_a_class_fills_in_what_its_family_has():
    """Flags and switches that a config leaves out are traits of the family: the class must fill in
    the same.
    """
    for name, model_type in TYPES.items():
        traits, filled = CATALOGS.families[FAMILY_OF[name]], CATALOGS.config_defaults[name]
        for ours in ((FLAGS | SWITCHES) - {"tied"}) & set(model_type.fields):
            for field in model_type.fields[ours].split():
                assert bool(filled.get(field, traits[ours])) == bool(traits[ours]), (name, field)


@pytest.mark.parametrize(("config", "named"), recorded("cases/model_types.json")["not_read"])
def test_a_field_that_is_not_read_is_named_in_the_note(config, named):
    models, _ = model_table({"it": read_config(config, "it", CATALOGS)}, CATALOGS.families)
    note = models.loc["it", "remark"]
    assert "Its config also sets " in note
    assert named in note


def test_ordinary_configs_are_read_whole():
    """Every published and recorded config: none has a field that is neither read nor listed as
    harmless.
    """
    configs = [
        json.loads(path.read_text("utf-8")) for path in (RECORDED / "configs").glob("*.json")
    ]
    configs += [
        case["config"]
        for path in RECORDED.glob("*.jsonl")
        for case in map(json.loads, path.read_text("utf-8").splitlines())
        if "config" in case
    ]
    notes = [read_config(config, "it", CATALOGS).get("remark", "") for config in configs]
    assert len(notes) > 1000
    assert [note for note in notes if "also sets" in note] == []


def test_a_new_family_of_an_existing_kind_is_one_entry(tmp_path):
    entry = (
        "newllama: {like: llama, window: sliding_window, layer_types: read, fields: {ffn: "
        "inner_width}, traits: {head_norm: 1}}"
    )
    path = path_of("model_types", shutil.copytree(FOLDER, tmp_path / "catalogs"))
    before, after = path.read_text("utf-8").split("  nllb-moe: {")
    path.write_text(f"{before}  {entry}\n  nllb-moe: {{{after}", "utf-8")
    catalogs = load_catalogs(tmp_path / "catalogs")
    config = {**LLAMA, "model_type": "newllama", "inner_width": 96, "sliding_window": 8}
    config["layer_types"] = ["sliding_attention", "full_attention"]
    del config["intermediate_size"]
    entry = read_config(config, "it", catalogs)
    models, stacks = model_table({"it": entry}, catalogs.families)
    plain, _ = model_table(
        {"it": read_config({**LLAMA, "intermediate_size": 96}, "it", CATALOGS)}, CATALOGS.families
    )
    assert models.loc["it", "parameters"] == plain.loc["it", "parameters"] + 2 * 2 * 8
    assert stacks.set_index("stack")["window_tokens"].to_dict() == {
        "dense": math.inf,
        "dense-windowed": 8,
    }
    assert models.loc["it", "remark"] == ""
    row = estimate(
        {"model": "it", "gpu": "h200-sxm", "precision": "bf16"}, add_models(catalogs, {"it": entry})
    )
    assert row["problem"] == ""


@pytest.mark.parametrize(("entry", "words"), recorded("cases/model_types.json")["wrong"])
def test_a_wrong_entry_of_a_type_is_a_sentence(entry, words):
    document = read_document(FOLDER, "model_types")
    document["model_types"]["newllama"] = entry
    with pytest.raises(CatalogError) as caught:
        model_types_of(document, families_with_types(CATALOGS.families, document["model_types"]))
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_weights_that_layers_share_count_once_and_each_pass_has_its_cache():
    """Counts of classes of transformers 5.23 at their default configs; Zamba's hybrids share one
    block of attention, HRM's two stacks of 16 are passed 128 times.
    """
    mixers = {"mamba_d_conv": 4, "mamba_expand": 2, "tie_word_embeddings": True}
    hybrids = ["mamba"] * 6 + ["hybrid"]
    zamba2 = {"model_type": "zamba2", "hidden_size": 2560, "num_hidden_layers": 54, **mixers}
    zamba2 |= {"vocab_size": 32000, "num_attention_heads": 32, "attention_head_dim": 160}
    zamba2 |= {"mamba_d_state": 64, "n_mamba_heads": 8, "mamba_ngroups": 1, "adapter_rank": 128}
    zamba2["layers_block_type"] = hybrids + (["mamba"] * 5 + ["hybrid"]) * 7 + ["mamba"] * 3
    zamba2["layers_block_type"] += ["hybrid", "mamba"]
    hrm = {"model_type": "hrm_text", "num_hidden_layers": 16, "H_cycles": 2, "L_cycles": 3}
    hrm |= {"hidden_size": 1536, "num_attention_heads": 12, "vocab_size": 151808, "head_dim": 128}
    for config, parameters, caching in (
        (zamba2, 2481848336, 9),
        (hrm | {"intermediate_size": 4096}, 1447822848, 128),
    ):
        entry = read_config(config, "it", CATALOGS)
        models, stacks = model_table({"it": entry}, CATALOGS.families)
        assert models.loc["it", "parameters"] == parameters
        assert stacks.loc[stacks["kv_heads"] > 0, "layers"].sum() == caching


def test_a_type_that_generates_keeps_a_cache_whatever_stands_beside_it():
    """GIT's tower has more weights than its text, which generates all the same."""
    git = {"model_type": "git", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100}
    git |= {"num_attention_heads": 4, "intermediate_size": 128}
    git["vision_config"] = {"model_type": "git_vision_model", "hidden_size": 128}
    git["vision_config"] |= {"num_hidden_layers": 6, "num_attention_heads": 4, "patch_size": 16}
    catalogs = add_models(CATALOGS, {"it": read_config(git, "it", CATALOGS)})
    row = estimate({"model": "it", "work": "inference", "sequence_tokens": 32}, catalogs, False)
    assert row["kv_cache_bytes"] == 2 * 2 * 64 * 2 * 32  # keys and values, 16 bits, 2 layers
    assert "its vision part" in row["note"]
