"""A model whose type is not covered, beside the index of its weights: its total alone, as the least that it takes, and nothing more."""

import json

import pandas as pd
import pytest
from examples import catalogs
from pages import opened, page_text, run, with_model_form

from calc import add_models, answer, estimate
from calc.__main__ import main
from calc.models.huggingface.config import ConfigError, read_config_text

CATALOGS = catalogs()
TOTAL = 7_200_000_000
CONFIG = {"model_type": "a_new_one", "hidden_size": 4096, "num_hidden_layers": 32, "torch_dtype": "bfloat16"}
INDEX = {"metadata": {"total_size": 2 * TOTAL}, "weight_map": {"layer": "model-00001.safetensors"}}
TEXT = f"{json.dumps(CONFIG)}\n{json.dumps(INDEX)}"
KNOWN = ["weights_bytes", "gradients_bytes", "optimizer_bytes", "memory_low_bytes"]


def read(config=CONFIG, index=INDEX):
    return read_config_text(f"{json.dumps(index)} {json.dumps(config)}", "it", CATALOGS)


@pytest.fixture(scope="module")
def bridged():
    return add_models(CATALOGS, {"it": read_config_text(TEXT, "it", CATALOGS)})


@pytest.mark.parametrize(
    ("config", "metadata"),
    [
        (CONFIG, {"total_size": 2 * TOTAL}),
        (CONFIG, {"total_size": 9, "total_parameters": TOTAL}),
        ({**CONFIG, "torch_dtype": "float32"}, {"total_size": 4 * TOTAL}),
        ({"model_type": "a_new_one", "text_config": {"model_type": "newer", "dtype": "float16"}}, {"total_size": 2 * TOTAL}),
    ],
)
def test_the_index_tells_the_total(config, metadata):
    assert read(config, INDEX | {"metadata": metadata})["total_parameters"] == TOTAL


@pytest.mark.parametrize(
    ("config", "index"),
    [
        ({**CONFIG, "torch_dtype": None}, INDEX),
        ({**CONFIG, "quantization_config": {"bits": 4}}, INDEX),
        (CONFIG, INDEX | {"metadata": {}}),
        (CONFIG, INDEX | {"metadata": {"total_size": "large"}}),
        ({**CONFIG, "model_type": "deepseek_v4"}, INDEX),
    ],
)
def test_what_the_index_does_not_tell_or_is_another_matter_stays_refused(config, index):
    with pytest.raises(ConfigError, match="is not covered"):
        read(config, index)


def test_a_covered_type_is_read_as_without_its_index():
    llama = CONFIG | {"model_type": "llama", "num_attention_heads": 32, "intermediate_size": 14336, "vocab_size": 128256}
    assert read(llama) == read_config_text(json.dumps(llama), "it", CATALOGS)


@pytest.mark.parametrize("text", ["{", f"{TEXT} {{}}", json.dumps(INDEX), f"{json.dumps(CONFIG)} {json.dumps(CONFIG)}"])
def test_other_texts_are_refused_in_one_sentence(text):
    with pytest.raises(ConfigError, match=r"^it: (this is not JSON|give one config.json)"):
        read_config_text(text, "it", CATALOGS)


def test_a_row_has_the_least_and_no_more_and_another_problem_stands_alone(bridged):
    """bf16 weights and gradients, fp32 moments; divided by FSDP, by tensor parallel; 4 bits in serving, adapters unknown."""
    rows = [
        {"precision": "bf16-master"},
        {"gpus": 8, "sharding": "zero3"},
        {"gpus": 4, "tensor_parallel": 2, "pipeline_parallel": 2, "precision": "bf16"},
        {"work": "inference", "precision": "bf16", "instance": "p5.48xlarge"},
        {"tuning": "lora", "precision": "bf16"},
    ]
    found = estimate(pd.DataFrame(rows).assign(model="it").astype(object).fillna(""), bridged)
    each = [[2, 2, 12], [4 / 8, 4 / 8, 8 / 8], [2 / 4, 2 / 4, 4 / 4], [2, 0, 0], [2, 0, 0]]
    for (_, row), parts in zip(found.iterrows(), each, strict=True):
        assert [row[name] for name in KNOWN] == pytest.approx([part * TOTAL for part in [*parts, sum(parts)]])
        assert f"at least {sum(parts) * TOTAL / 2**30:,.1f} GiB on each GPU" in row["problem"]
    pretended = ["activations_bytes", "kv_cache_bytes", "memory_bytes", "memory_high_bytes", "step_seconds", "usd_per_hour_on_demand"]
    assert found[pretended].isna().all(axis=None)
    assert found["fits"].astype(str).isin(["", "nan"]).all()
    assert (found["parameters"] == TOTAL).all()
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
    for given in (folder, folder / "config.json"):
        assert main([str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv"), "--model-config", str(given)]) == 0
        found = pd.read_csv(tmp_path / "out.csv")
        assert found["weights_bytes"][0] == 2 * TOTAL
        assert found["problem"][0].endswith("Weights take at least 13.4 GiB on each GPU.")


def test_the_page_says_the_least_and_its_link_keeps_the_model():
    app = with_model_form("paste")
    app.text_area(key="config_text").set_value(TEXT)
    run(app.button(key="add_model").click())
    least = "7.20 billion parameters, 13.4 GiB of weights in 16 bits"
    assert least in page_text(app)
    assert least in page_text(opened(**{name.replace(".", "__"): value for name, value in app.query_params.items()}))
