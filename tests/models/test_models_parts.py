"""Configs of several parts, and what a config says beside its sizes: counted where it is known,
else a sentence.
"""

import csv
import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from examples import catalogs, entries, recorded

from calc import add_models, estimate
from calc.__main__ import main
from calc.models.architecture import model_table
from calc.models.huggingface.config import ConfigError, read_config, read_config_text
from calc.rules.remarks_on_rows import left_out_remark
from calc.say.remarks.text import remarks_text

RECORDED = Path(__file__).parents[1] / "recorded"
CATALOGS = catalogs()
LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
}
LLAMA |= {"intermediate_size": 128, "vocab_size": 100}

LEAST, MOST, OF_EXPERTS = (
    CATALOGS.overheads["value"][f"sized_{end}_ratio"] for end in ("low", "high", "expert")
)
OF_KIND = "extrapolated: blocks of this kind"
BLOCKS = ("block", "moe_block", "linear_block", "linear_moe_block")


def read(config):
    """The entry of a config and its row of the table of models."""
    entry = read_config(config, "it", CATALOGS)
    models, _ = model_table({"it": entry}, CATALOGS.families)
    return entry, models.loc["it"]


def note_on(model):
    """The note on a row of the table of models whose tower is not loaded."""
    texts = [remarks_text(left_out_remark(model)), model["caveat"], model["remark"]]
    return " ".join(filter(None, texts))


@pytest.mark.parametrize("file", ["wrappers", "classes"])
def test_a_text_part_or_a_class_without_the_usual_head_counts_as_its_class(file):
    cases = recorded(f"{file}.jsonl")
    entries = dict(enumerate(read_config(case["config"], "it", CATALOGS) for case in cases))
    sizes = model_table(entries, CATALOGS.families)[0]["parameters"]
    wrong = [
        (case["config"], size)
        for case, size in zip(cases, sizes, strict=True)
        if size != case["parameters"]
    ]
    assert wrong == []


def test_towers_left_out_count_as_in_their_class_as_in_the_catalog_or_are_said_not_to_be_counted():
    for case in recorded("towers.jsonl"):
        entry, model = read(case["config"])
        assert entry["left_out_parameters"] == case["left_out"], case["config"]["model_type"]
        assert f"{case['left_out']:,} parameters" in note_on(model)
    config = json.loads((RECORDED / "configs/gemma-3-4b.json").read_text("utf-8"))
    assert (
        read(config)[1]["left_out_parameters"]
        == CATALOGS.models["left_out_parameters"]["gemma-3-4b"]
        == 419816304
    )
    config = {
        "model_type": "qwen3_vl",
        "text_config": {**LLAMA, "model_type": "qwen3_vl_text"},
        "vision_config": {"depth": "deep"},
    }
    assert (
        note_on(read(config)[1])
        == "Left out: its vision tower and the projector, whose parameters are not counted."
    )
    config = {
        "model_type": "a_new_one",
        "llm_config": LLAMA,
        "audio_config": {},
        "vision_config": {},
    }
    assert "its vision and audio part, whose" in note_on(read(config)[1])


def test_a_class_counts_as_its_row_and_what_the_note_says_is_left_out():
    """The recorded law over all default configs: counted to the last parameter, or sized or named
    in the note, and few beyond its range.
    """
    rows = list(
        csv.DictReader(
            (RECORDED.parent.parent / "validation/results/parts_left_out.csv")
            .read_text("utf-8")
            .splitlines()
        )
    )
    verdicts = Counter(row["verdict"] for row in rows)
    assert verdicts["counted"] + verdicts["sized"] + verdicts["named"] >= 500
    assert verdicts["silent"] == 0
    assert verdicts["refused"] <= 60
    assert verdicts["beyond"] <= 0.05 * len(rows)
    for row in rows:
        assert row["verdict"] != "counted" or int(row["class"]) == int(row["here"]) + int(
            row["left_out"]
        ), row


def test_a_type_that_is_not_covered_is_sized_as_a_plain_model_and_its_range_says_so():
    """Counts of classes of transformers 5.23 at their default configs, beside the least and the
    most of the plain model.
    """
    cases = json.loads((RECORDED / "cases/sized.json").read_text("utf-8"))
    catalogs = add_models(
        CATALOGS,
        {name: read_config(case["config"], name, CATALOGS) for name, case in cases.items()},
    )
    rows = estimate(
        pd.DataFrame(
            [{"model": name, "work": "training", "sequence_tokens": 16} for name in cases]
        ),
        catalogs,
        False,
    )
    for row, (name, case) in zip(rows.to_dict("records"), cases.items(), strict=True):
        assert row["problem"] == "", name
        assert f"estimated as a plain {case['plain']} with its sizes" in row["note"]
        assert row["memory_basis"].startswith("extrapolated: a type not covered, by its sizes"), (
            name
        )
        parameters, states = (
            catalogs.models.loc[name, "parameters"],
            row["weights_bytes"] + row["gradients_bytes"] + row["optimizer_bytes"],
        )
        experts = catalogs.models.loc[name, "expert_share_ratio"]
        least = experts * (1 - OF_EXPERTS) + (1 - experts) * LEAST
        most = experts * (1 + OF_EXPERTS) + (1 - experts) * MOST
        if "not modeled yet" not in row["note"]:
            assert least * parameters <= case["class"] <= most * parameters, name
        assert row["memory_high_bytes"] - row["memory_bytes"] > (most - 1) * states
        assert row["memory_bytes"] - row["memory_low_bytes"] > (1 - least) * states
    new = json.dumps(cases["plainly_new"]["config"]) + json.dumps(
        {"metadata": {"total_parameters": 10**9}, "weight_map": {}}
    )
    counted = add_models(CATALOGS, {"it": read_config_text(new, "it", CATALOGS)})
    assert round(counted.models.loc["it", "parameters"]) == 10**9
    assert estimate({"model": "it"}, counted, False)["memory_basis"] == OF_KIND
    part_silent = {"model_type": "deepseek_v4", "kv_lora_rank": 512}
    with pytest.raises(ConfigError, match="not covered"):  # a file that states no sizes has none
        read_config(part_silent, "it", CATALOGS)


def test_parts_that_a_file_or_its_class_adds_are_named_and_bound_the_estimate_from_below():
    query = {
        "model_type": "blip-2",
        "text_config": {**LLAMA, "model_type": "llama"},
        "qformer_config": {"num_hidden_layers": 2},
    }
    of_class = {"model_type": "idefics2", "text_config": {**LLAMA, "model_type": "mistral"}}
    codec = {"model_type": "a_new_one", "text_config": LLAMA, "codec_config": {"num_layers": 4}}
    files = {
        "file": (query, "vision and qformer part"),
        "class": (of_class, "vision and perceiver part"),
        "codec": (codec, "codec part"),
    }
    entries_of = {name: read_config(config, name, CATALOGS) for name, (config, _) in files.items()}
    rows = estimate(
        pd.DataFrame([{"model": name} for name in files]), add_models(CATALOGS, entries_of), False
    )
    for row, (_, words) in zip(rows.to_dict("records"), files.values(), strict=True):
        assert f"Left out: its {words}, whose parameters are not counted." in row["note"]
        assert row["memory_basis"] == "lower bound: parts of the model left out"
        assert row["memory_high_bytes"] > row["memory_bytes"] + 0.5 * row["weights_bytes"]


def test_text_parts_beside_the_others_and_inside_a_thinker_are_found_and_keep_their_own_head():
    config = {
        **LLAMA,
        "model_type": "qwen2_vl",
        "vision_config": {"depth": 2, "embed_dim": 64, "hidden_size": 64},
    }
    inner = {
        "model_type": "qwen2_vl",
        "text_config": {**LLAMA, "model_type": "qwen2_vl_text"},
        "vision_config": config["vision_config"],
    }
    assert read(config)[1].drop("source").equals(read(inner)[1].drop("source"))
    thinker = {
        "model_type": "qwen3_omni_moe_thinker",
        "text_config": {"num_attention_heads": 16},
        "audio_config": {},
    }
    assert (
        read({"model_type": "qwen3_omni_moe", "thinker_config": thinker})[0]["model_type"]
        == "qwen3_moe"
    )
    config = {
        "model_type": "mistral3",
        "text_config": {**LLAMA, "model_type": "mistral"},
        "vision_config": {},
    }
    assert read(config)[1]["head_parameters"] == 64 * 100
    assert read({**config, "tie_word_embeddings": True})[1]["head_parameters"] == 0


@pytest.mark.parametrize(("more", "words"), recorded("cases/models_parts.json")["notes"])
def test_what_is_not_counted_is_said(more, words):
    note = note_on(read({**LLAMA, **more})[1])
    assert words.replace("names", "name") in note
    assert bool(note) == bool(words)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("stored", "precision"), recorded("cases/models_parts.json")["precisions"])
def test_a_model_is_served_as_its_file_is_stored(stored, precision):
    entry = read_config({**LLAMA, "quantization_config": stored}, "it", CATALOGS)
    assert entry.get("stored_precision", "") == precision
    catalogs = add_models(CATALOGS, {"it": entry})
    rows = [
        {"model": "it", "work": "inference"},
        {"model": "it", "work": "inference", "precision": "bf16"},
        {"model": "it"},
    ]
    results = estimate(pd.DataFrame(rows), catalogs, False)
    assert results["precision"].tolist() == [precision or "bf16", "bf16", "bf16-mixed"]
    assert estimate(rows[0], catalogs, False)["precision"] == (precision or "bf16")


def test_one_uncovered_file_of_a_folder_refuses_its_own_rows_alone(tmp_path, capsys):
    folder = tmp_path / "configs"
    folder.mkdir()
    (folder / "good.json").write_text(json.dumps(LLAMA))
    (folder / "bad.json").write_text('{"model_type": "rwkv"}')
    (folder / "latin.json").write_bytes("ü".encode("latin-1"))
    (tmp_path / "in.csv").write_text("model\ngood\nbad\n")
    assert (
        main(
            [
                str(tmp_path / "in.csv"),
                "-o",
                str(tmp_path / "out.csv"),
                "--model-config",
                str(folder),
            ]
        )
        == 0
    )
    results = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert results["problem"][0] == ""
    assert "rwkv is not covered" in results["problem"][1]
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_the_indexer_of_sparse_attention_and_windows_of_later_families():
    """DeepSeek V3.2 and GLM-5 beside V3's formula: the class of transformers 5.23 holds so many
    parameters more.
    """
    models, stacks = CATALOGS.models, CATALOGS.stacks
    assert (
        models["parameters"]["deepseek-v3.2"] - models["parameters"]["deepseek-v3"] == 851_524_864
    )
    cached = stacks.loc[stacks["model"] == "deepseek-v3.2", "cached_elements_per_token"]
    assert set(cached) == {512 + 64 + 128}
    glm = {
        "model_type": "glm_moe_dsa",
        "hidden_size": 6144,
        "num_hidden_layers": 78,
        "num_attention_heads": 64,
    }
    glm |= {"intermediate_size": 12288, "vocab_size": 154880, "num_experts_per_tok": 8}
    plain = {
        **glm,
        "model_type": "deepseek_v3",
        "q_lora_rank": 2048,
        "v_head_dim": 256,
        "qk_nope_head_dim": 192,
    }
    assert read(glm)[1]["parameters"] - read(plain)[1]["parameters"] == 731_008_512
    shared = read({**glm, "indexer_types": ["full"] * 39 + ["shared"] * 39})[1]
    assert read(glm)[1]["parameters"] - shared["parameters"] == 731_008_512 / 2
    assert "indexer" in note_on(models.loc["deepseek-v3.2"])
    sizes = {**LLAMA, "num_hidden_layers": 8, "sliding_window": 16}
    of_each = [{"kind": "dense", "layers": 2}, {"kind": "dense-windowed", "layers": 6}]
    for kind in ("olmo3", "cohere2", "exaone4", "cwm"):
        assert read({**sizes, "model_type": kind})[0]["layer_kinds"] == of_each
    assert (
        "layer_kinds"
        not in read({**sizes, "model_type": "olmo3", "layer_types": ["full_attention"] * 8})[0]
    )
    assert "layer_kinds" not in read({**sizes, "model_type": "exaone4", "sliding_window": None})[0]


@pytest.mark.parametrize(("config", "name"), recorded("cases/models_parts.json")["one_sided"])
def test_a_class_of_one_side_of_a_model_is_said_not_to_be_covered(config, name):
    published = json.loads((RECORDED / f"configs/{config}.json").read_text("utf-8"))
    assert f"Its architectures name {name}, which is not covered" in note_on(
        read({**published, "architectures": [name]})[1]
    )
    assert "architectures" not in note_on(read({**published, "architectures": None})[1])


def test_one_side_or_a_decoder_alone_is_counted_served_and_trained():
    """Its cross attention has weights and no source: the cache is that of its own tokens; what it
    keeps is that of its kind.
    """
    config = json.loads((RECORDED / "configs/bart-large.json").read_text("utf-8"))
    catalogs = add_models(
        CATALOGS,
        {"it": read_config({**config, "architectures": ["BartForCausalLM"]}, "it", CATALOGS)},
    )
    scenario = {"model": "it", "gpu": "h200-sxm", "sequence_tokens": 256}
    served = estimate({**scenario, "work": "inference", "implementation": "vllm"}, catalogs, False)
    assert served["kv_cache_bytes"] == 12 * 2 * 1024 * 256 * 2
    assert estimate(scenario, catalogs, False)["memory_basis"] == OF_KIND
    config = {**LLAMA, "model_type": "longformer", "max_position_embeddings": 66}
    catalogs = add_models(CATALOGS, {"it": read_config(config, "it", CATALOGS)})
    rows = [
        {"model": "it", "work": work, "implementation": "transformers"}
        for work in ("training", "inference")
    ]
    assert set(estimate(pd.DataFrame(rows), catalogs, False)["memory_basis"]) == {OF_KIND}
    # Recorded counts of such classes stand in small_configs.jsonl; here a published config.
    published = json.loads((RECORDED / "configs/clip-vit-base-patch32.json").read_text("utf-8"))
    entry = read({**published, "architectures": ["CLIPForImageClassification"], "num_labels": 5})
    assert entry[1]["kind"] == "vision"
    assert note_on(entry[1]) == ""
    assert entry[1]["parameters"] == 87456000 + 5 * 769


def test_blocks_that_were_not_read_off_are_bounded_by_those_of_their_kind():
    """The blocks of a dense model, one with experts and one with states are taken away: the truth
    lies in the range, weights stay.
    """
    kinds = {
        name: {**entries("models")[name], **dict.fromkeys(BLOCKS, "")}
        for name in ("qwen3-8b", "mixtral-8x7b", "qwen3-next-80b-a3b")
    }
    catalogs = add_models(CATALOGS, {f"any-{name}": entry for name, entry in kinds.items()})
    scenarios = [
        {"recompute": recompute, "sequence_tokens": 2048} for recompute in ("none", "full")
    ]
    truth, bound = (
        estimate(
            pd.DataFrame(
                [{"model": before + name, **scenario} for name in kinds for scenario in scenarios]
            ),
            catalogs,
            False,
        )
        for before in ("", "any-")
    )
    assert list(bound["weights_bytes"]) == list(truth["weights_bytes"])
    assert set(bound["memory_basis"]) == {OF_KIND}
    assert (bound["memory_low_bytes"] < truth["memory_bytes"]).all()
    assert (bound["memory_high_bytes"] > truth["memory_bytes"]).all()
    # Recomputed: a block keeps its input.
    assert (bound["memory_bytes"] / truth["memory_bytes"])[1::2].between(0.97, 1.03).all()


@pytest.mark.parametrize(
    ("tuning", "weights_once"), [("full", "weights_bytes"), ("lora", "trained_parameters")]
)
def test_layers_that_share_a_block_keep_each_their_own_and_weigh_once(tuning, weights_once):
    """ALBERT's 12 layers of one block, beside as many blocks of their own: the same activations,
    other weights.
    """
    small = {
        **LLAMA,
        "model_type": "albert",
        "num_hidden_layers": 12,
        "embedding_size": 32,
        "max_position_embeddings": 64,
    }
    configs = {
        str(groups): read_config({**small, "num_hidden_groups": groups}, "it", CATALOGS)
        for groups in (1, 12)
    }
    scenario = {
        "gpu": "h200-sxm",
        "sequence_tokens": 64,
        "batch": 4,
        "tuning": tuning,
        "precision": "bf16",
    }
    catalogs = add_models(CATALOGS, configs)
    one, twelve = (estimate({**scenario, "model": model}, catalogs, False) for model in configs)
    assert one["problem"] == twelve["problem"] == ""
    assert one["saved_activations_bytes"] == twelve["saved_activations_bytes"]
    block = {
        "weights_bytes": 2 * (4 * 65 * 64 + 64 * 128 * 2 + 128 + 64 + 4 * 64),
        "trained_parameters": 16 * (4 * 128 + 2 * 192),
    }
    assert twelve[weights_once] - one[weights_once] == 11 * block[weights_once]
