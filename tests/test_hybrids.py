"""Models whose layers keep a state, share a cache or have heads of their own: counts, caches and pages to the last byte."""

import numpy as np
import pandas as pd
import pytest
from examples import catalogs, recorded

from calc.catalogs.load import add_models
from calc.engine.pipeline import estimate
from calc.models.architecture import model_table
from calc.models.huggingface.config import ConfigError, read_config

CATALOGS = catalogs()
# Made-up configs with what the classes of transformers 5.23 hold (meta device, PyTorch 2.13), and the bytes of the
# library's own bf16 cache of one sequence after so many tokens; states are fp32 but where the class keeps them narrower.
RECORDED = recorded("hybrids.jsonl")
# Sizes of Qwen3.5-27B, its text part (config.json as copied in ai-dynamo/aiconfigurator, 2026-08-21).
QWEN = recorded("cases/pages.json")["pages"][0][0]
MAMBA = {"model_type": "mamba2", "hidden_size": 64, "num_hidden_layers": 4, "num_heads": 8, "head_dim": 16, "vocab_size": 100}


def described(config):
    models, stacks = model_table({"it": read_config(config, "it", CATALOGS)}, CATALOGS.families)
    return models.loc["it"], stacks


def served(config, **scenario):
    catalogs = add_models(CATALOGS, {"it": read_config(config, "it", CATALOGS)})
    return estimate({"model": "it", "work": "inference", "implementation": "vllm", "gpu": "h200-sxm", **scenario}, catalogs)


def cache_bytes(stacks, tokens, state_bytes_each):
    """Keys and values of a windowed layer's window less one token, states, a counter of 8 bytes for each window."""
    kept = np.minimum(tokens, stacks["window_tokens"] - 1)
    states = state_bytes_each * stacks["recurrent_state_elements"] + 2 * stacks["convolution_state_elements"]
    counters = 8 * (np.isfinite(stacks["window_tokens"]) & (stacks["cached_elements_per_token"] > 0))
    return (stacks["layers"] * (2 * stacks["cached_elements_per_token"] * kept + states + counters)).sum()


def test_a_hybrid_counts_and_caches_as_its_class():
    models, all_stacks = model_table(dict(enumerate(read_config(case["config"], "it", CATALOGS) for case in RECORDED)), CATALOGS.families)
    wrong = [case["config"] for case, size in zip(RECORDED, models["parameters"], strict=True) if size != case["parameters"]]
    assert wrong == []
    for place, stacks in all_stacks.groupby("model"):
        case = RECORDED[place]
        for tokens, held in case.get("cache_bytes", {}).items():
            assert cache_bytes(stacks, int(tokens), case.get("state_bytes_each", 4)) == held, (case["config"], tokens)


def test_every_kind_of_mixer_was_recorded_with_its_cache():
    families = {case["config"]["model_type"] for case in RECORDED if "cache_bytes" in case}
    mixers = {traits["mixer"] for name, traits in CATALOGS.families.items() if name in families}
    assert mixers >= {traits["mixer"] for traits in CATALOGS.families.values()}


def test_only_layers_that_attend_cache_tokens():
    _, stacks = described(QWEN)
    sizes = stacks[["cached_elements_per_token", "recurrent_state_elements"]].mul(stacks["layers"], axis=0).sum()
    assert sizes.tolist() == [65_536 / 2, 37_748_736]


@pytest.mark.parametrize(("config", "kv_precision", "page_tokens"), recorded("cases/pages.json")["pages"])
def test_vllm_takes_the_pages_that_its_logs_tell(config, kv_precision, page_tokens):
    """vLLM logs "Setting attention block size to 784 tokens" for Qwen3.5-27B, 2096 for 35B-A3B with an 8-bit cache."""
    _, stacks = described(config)
    per_token = (stacks["layers"] * stacks["cached_elements_per_token"]).sum() * {"bf16": 2, "fp8": 1}[kv_precision]
    attending, linear = (stacks["layers"][stacks["stack"].str.endswith("linear") == linear].sum() for linear in (False, True))
    for pages in (1, 3):
        row = served(config, sequence_tokens=pages * page_tokens, prompt_tokens=8, batch=2, kv_precision=kv_precision)
        page_bytes = page_tokens * per_token / attending
        assert row["kv_cache_bytes"] == 2 * page_bytes * (pages * attending + linear)
        longer = served(config, sequence_tokens=pages * page_tokens + 1, prompt_tokens=8, batch=2, kv_precision=kv_precision)
        assert longer["kv_cache_bytes"] == row["kv_cache_bytes"] + 2 * page_bytes * attending


def test_a_state_is_as_long_as_no_sequence():
    rows = [served(MAMBA, sequence_tokens=tokens, prompt_tokens=16, batch=3) for tokens in (64, 4096)]
    assert rows[0]["kv_cache_bytes"] == rows[1]["kv_cache_bytes"] == 3 * 4 * 2 * (128 * 128 + 3 * (128 + 2 * 8 * 128))


def test_longer_cached_sequences_slow_layers_that_attend_alone():
    (short, long), (first, other) = (
        [served(model, sequence_tokens=tokens, prompt_tokens=16)["time_per_output_token_seconds"] for tokens in (1024, 65536)]
        for model in (QWEN, MAMBA)
    )
    assert long > short * 1.02
    assert first == other


def test_what_was_not_read_off_is_refused_where_it_counts():
    lightning = {"model_type": "minimax", "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 100}
    lightning |= {"num_key_value_heads": 2, "intermediate_size": 128, "num_local_experts": 4, "num_experts_per_tok": 2}
    catalogs = add_models(CATALOGS, {"it": read_config(lightning, "it", CATALOGS)})
    asked = [{"work": "training"}, {"work": "inference", "implementation": "transformers"}, {"work": "inference", "implementation": "vllm"}]
    found = estimate(pd.DataFrame([{"model": "it", "gpu": "h200-sxm", **each} for each in asked]), catalogs)
    assert list(found["problem"] != "") == [True, True, False]
    assert found["problem"][0].endswith("served with implementation vllm it is estimated.")
    assert found["memory_bytes"].isna().tolist() == [True, True, False]
    assert found["memory_basis"][2].startswith("derived from source: this kind of layer")


def test_layers_of_a_kind_that_is_not_covered_are_named():
    with pytest.raises(ConfigError, match="layers of the kind ring_attention, which are not covered"):
        read_config({**QWEN, "layer_types": ["ring_attention"] * 64}, "it", CATALOGS)
    with pytest.raises(ConfigError, match="contradict num_hidden_layers"):
        read_config({**QWEN, "layer_types": ["full_attention"] * 3}, "it", CATALOGS)
