"""A Hugging Face config becomes a model that counts as its class does; a wrong one is refused in
one sentence.
"""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest
from examples import catalogs, entries, recorded

from calc import add_models
from calc.catalogs.strict_yaml import read_strictly
from calc.models.architecture import ADAPTER_COLUMNS, model_table
from calc.models.huggingface.config import ConfigError, custom_entry, read_config, read_config_text
from calc.say.weights import publisher_words
from validation.config_defaults import config_defaults

RECORDED = Path(__file__).parents[1] / "recorded"
COUNTS = read_strictly((RECORDED / "counts.yaml").read_text("utf-8"), "counts.yaml")
CATALOG = entries("models")
CATALOGS = catalogs()


SMALL = recorded("small_configs.jsonl")
LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
}
LLAMA |= {"intermediate_size": 128, "vocab_size": 100}
BERT = {name: size for name, size in LLAMA.items() if name != "num_key_value_heads"}


def counts(entries):
    return model_table(dict(enumerate(entries)), CATALOGS.families)[0]["parameters"].tolist()


def published(name):
    return read_config_text((RECORDED / f"configs/{name}.json").read_text("utf-8"), name, CATALOGS)


def layers_of(entry):
    """Kind of layer -> how many, of an entry whose layers are not all alike."""
    return {kind["kind"]: kind["layers"] for kind in entry.get("layer_kinds", ())}


def test_published_configs_count_as_their_classes():
    sizes = dict(zip(COUNTS, counts(map(published, COUNTS)), strict=True))
    assert sizes == {
        name: case["parameters"] + case.get("own_head", 0) for name, case in COUNTS.items()
    }
    assert {path.stem for path in (RECORDED / "configs").glob("*.json")} == set(COUNTS)


def test_made_up_configs_count_as_their_classes():
    sizes = counts(read_config(case["config"], "made-up", CATALOGS) for case in SMALL)
    wrong = [
        (case["config"], size)
        for case, size in zip(SMALL, sizes, strict=True)
        if size != case["parameters"]
    ]
    assert wrong == []


def test_all_linear_adapts_what_peft_adapts():
    cases = {
        f"{place} {case['config']['model_type']}": case
        for place, case in enumerate(recorded("adapters.jsonl"))
    }
    models, stacks = model_table(
        {name: read_config(case["config"], name, CATALOGS) for name, case in cases.items()},
        CATALOGS.families,
    )
    inside = (
        (stacks["layers"] * stacks[list(ADAPTER_COLUMNS)].sum(axis=1))
        .groupby(stacks["model"])
        .sum()
    )
    assert inside.to_dict() == {name: case["inside"] for name, case in cases.items()}
    assert models["outside_adapter_width"].to_dict() == {
        name: case["outside"] for name, case in cases.items()
    }


def test_a_config_makes_the_model_of_the_catalog():
    names = sorted(set(COUNTS) & set(CATALOG))
    models, stacks = model_table({name: CATALOG[name] for name in names}, CATALOGS.families)
    read_models, read_stacks = model_table(
        {name: published(name) for name in names}, CATALOGS.families
    )
    pd.testing.assert_frame_equal(read_stacks, stacks)
    about = [
        "name",
        "family",
        "model_type",
        "hf_repo",
        "source",
        "checked_on",
        "notes",
        "max_position",
    ]
    about += [
        "remark",
        "left_out",
        "stored_precision",
        "published_precision",
        "extended_tokens",
        "extended_by",
        "left_out_parameters",
    ]
    # Or with one that the catalog does not count.
    without_tower = models["left_out_parameters"] == 0
    towers = [column for column in models if "tower" in column or "image" in column]
    pd.testing.assert_frame_equal(
        read_models.loc[~without_tower, towers], models.loc[~without_tower, towers]
    )
    about += towers
    pd.testing.assert_frame_equal(read_models.drop(columns=about), models.drop(columns=about))


def test_the_text_part_of_several_is_read_and_said_to_be_and_windows_by_layer():
    assert "text part alone" in published("gemma-3-4b")["notes"]
    assert published("gemma-3-1b")["notes"] == ""
    windowed = published("ministral-8b")
    assert (layers_of(windowed)["dense-windowed"], windowed["window_tokens"]) == (27, 32768)
    assert layers_of(published("qwen2-windowed"))["dense-windowed"] == 7
    assert layers_of(published("qwen2.5-7b")) == {}


@pytest.mark.parametrize(("config", "words"), recorded("cases/configs.json")["refused"])
def test_a_wrong_config_is_refused_in_one_sentence(config, words):
    text = config if isinstance(config, str) else json.dumps(config)
    with pytest.raises(ConfigError, match=r"\Amy-model: [^\n]{1,289}\.\Z") as caught:
        read_config_text(text, "my-model", CATALOGS)
    assert [word for word in words if word not in str(caught.value)] == [], caught.value


def test_forms_that_no_block_covers_are_refused_and_a_family_that_the_catalogs_lack_is_named():
    without = {name: traits for name, traits in CATALOGS.families.items() if name != "falcon_new"}
    falcon = {**BERT, "model_type": "falcon"}
    with pytest.raises(ConfigError, match="parallel_attn"):
        read_config({**falcon, "parallel_attn": False}, "falcon-rw", CATALOGS)
    with pytest.raises(ConfigError, match=r"families\.yaml has no family falcon_new; add it\.$"):
        read_config(
            {**falcon, "new_decoder_architecture": True}, "it", replace(CATALOGS, families=without)
        )


def test_the_defaults_of_another_folder_reach_the_entry():
    defaults = {
        **CATALOGS.config_defaults,
        "llama": {**CATALOGS.config_defaults["llama"], "num_key_value_heads": 2},
    }
    assert read_config(BERT, "it", CATALOGS)["kv_heads"] == 8
    assert read_config(BERT, "it", replace(CATALOGS, config_defaults=defaults))["kv_heads"] == 2


if find_spec("transformers"):

    def test_the_stored_defaults_are_those_of_the_classes():
        assert config_defaults() == CATALOGS.config_defaults


def test_six_sizes_by_hand_make_a_llama():
    sizes = {"hidden": 4096, "layers": 32, "heads": 32, "ffn": 14336, "vocab": 128256}
    assert counts([custom_entry(**sizes, kv_heads=8, name="mine", catalogs=CATALOGS)]) == [
        8030261248
    ]
    with pytest.raises(ConfigError, match="not a multiple"):
        custom_entry(**sizes, kv_heads=7, name="mine", catalogs=CATALOGS)


def test_narrow_weights_that_the_models_own_file_holds_need_not_be_made():
    config = LLAMA | {"quantization_config": {"quant_method": "fp8"}}
    catalogs = add_models(CATALOGS, {"own": read_config(config, "own", CATALOGS)})
    assert publisher_words(catalogs, "own", "fp8") == "its 8-bit weights are the original"
