"""The four published systems against the figures that their own texts print (in what each calls GB)."""

import numpy as np
import pytest

from calc.explain.calculators import ORIGINS, origins

LLAMA_7B = {"parameters": 7e9, "hidden": 4096, "layers": 32, "heads": 32, "kv_heads": 32, "head_dim": 128}
LLAMA_70B = {"parameters": 70e9, "hidden": 8192, "layers": 80, "heads": 64, "kv_heads": 8, "head_dim": 128}
LLAMA_3_8B = {"parameters": 8.03e9, "hidden": 4096, "layers": 32, "heads": 32, "kv_heads": 8, "head_dim": 128}
THIRTEEN_B = {"parameters": 13e9, "hidden": 5120, "layers": 40, "heads": 40, "kv_heads": 40, "head_dim": 128}
BERT_BASE = {"parameters": 110e6, "hidden": 768, "layers": 12, "heads": 12, "kv_heads": 12, "head_dim": 64}
PHI_2 = {"parameters": 2.7e9, "hidden": 2560, "layers": 32, "heads": 32, "kv_heads": 32, "head_dim": 80}
PLAIN = {
    "model_kind": "decoder",
    "precision": "bf16",
    "tuning": "full",
    "optimizer": "adamw",
    "recompute": "none",
    "sharding": "none",
    "offload": "none",
    "trains": 1,
    "batch": 1,
    "sequence_tokens": 2048,
    "gpus": 1,
    "tensor_parallel": 1,
    "pipeline_parallel": 1,
    "context_parallel": 1,
    "expert_parallel": 1,
}


def table_of(*rows):
    """Rows of plain values as the table of arrays that formulas take."""
    full = [{"trained_parameters": row["parameters"], **PLAIN, **row} for row in rows]
    return {name: np.array([row[name] for row in full], dtype=object if isinstance(full[0][name], str) else float) for name in full[0]}


def said(row):
    """What the systems say of one scenario: a dict of plain values."""
    return {name: column[0] for name, column in origins(table_of(row)).items()}


# A prints two decimals of its own formula; the figures beside them in its table come from elsewhere.
@pytest.mark.parametrize(
    ("row", "printed_gb"),
    [
        pytest.param({**LLAMA_7B, "batch": 4}, 116.47, id="Llama 7B bf16, batch 4 x 2048"),
        pytest.param({**LLAMA_7B, "precision": "fp16", "trains": 0}, 16.875, id="Llama 7B fp16, inference"),
        pytest.param({**LLAMA_70B, "recompute": "full"}, 1010.15, id="Llama 70B with checkpointing, batch 1 x 2048"),
        pytest.param({**BERT_BASE, "model_kind": "encoder", "batch": 32, "sequence_tokens": 512}, 3.86, id="BERT base, 32 x 512"),
        pytest.param({**PHI_2, "sequence_tokens": 512}, 39.46, id="phi-2, printed as 39.5"),
    ],
)
def test_a_prints_the_figures_of_its_tutorial(row, printed_gb):
    assert said(row)["origin_a_printed_gb"] == pytest.approx(printed_gb, abs=0.006)


def test_a_counts_its_levers_as_it_says():
    one = {**LLAMA_7B, "batch": 4}
    whole, int8 = said(one), said({**one, "precision": "int8", "trains": 0})
    assert int8["origin_a_weights_bytes"] == 7e9
    assert said({**one, "optimizer": "sgd-momentum"})["origin_a_optimizer_bytes"] == 4 * 7e9
    assert said({**one, "optimizer": "sgd"})["origin_a_optimizer_bytes"] == 0
    checkpointed = said({**one, "recompute": "full"})["origin_a_activations_bytes"]
    assert checkpointed < 0.3 * whole["origin_a_activations_bytes"]


def test_b_shards_13b_over_two_gpus_as_its_formula_says():
    """Its strategies: 13B, ZeRO-3 on 2 GPUs, 104 GB of parameters, gradients and optimizer (the article prints 52)."""
    b = said({**THIRTEEN_B, "sharding": "zero3", "gpus": 2})
    assert sum(b[f"origin_b_{part}_bytes"] for part in ("weights", "gradients", "optimizer")) == 104e9


def test_b_counts_the_kv_cache_and_activations_as_it_says():
    small, large = (
        said({**LLAMA_7B, "precision": "fp16", "trains": 0, "batch": b, "sequence_tokens": s}) for b, s in ((1, 512), (8, 2048))
    )
    assert small["origin_b_kv_cache_bytes"] == 2 * 32 * 4096 * 2 * 512
    assert large["origin_b_kv_cache_bytes"] == 32 * small["origin_b_kv_cache_bytes"]
    assert said({**LLAMA_7B})["origin_b_activations_bytes"] == 12 * 4096 * 2048 * 32 * 2


def test_c_prints_the_figures_of_its_page():
    """Llama 3 8B, batch 1 x 4096, selective, Adam: 16.1 + 16.1 + 96.4 + 18.3 + 14.7 = 161.4 GB."""
    c = said({**LLAMA_3_8B, "sequence_tokens": 4096, "recompute": "selective"})
    parts = ("weights", "gradients", "optimizer", "activations", "kv_cache", "overhead")
    assert [round(c[f"origin_c_{part}_bytes"] / 1e9, 1) for part in parts] == [16.1, 16.1, 96.4, 18.3, 0, 14.7]
    assert c["origin_c_printed_gb"] == pytest.approx(161.4, abs=0.05)


def test_c_divides_by_zero_stage():
    zero = {stage: said({**LLAMA_3_8B, "sharding": f"zero{stage}", "gpus": 8}) for stage in (1, 2, 3)}
    for part, first_stage in (("optimizer", 1), ("gradients", 2), ("weights", 3)):
        whole = said(LLAMA_3_8B)[f"origin_c_{part}_bytes"]
        for stage, c in zero.items():
            assert c[f"origin_c_{part}_bytes"] == pytest.approx(whole / (8 if stage >= first_stage else 1))


def test_d_prints_the_ranges_of_its_article():
    """Llama 3 8B: full 107 to 128 GB, LoRA of rank 8 (20 M parameters: 40 + 40 + 160 MB) 27 to 48 GB."""
    full = said({**LLAMA_3_8B, "parameters": 8e9})
    assert (full["origin_d_low_bytes"], full["origin_d_high_bytes"]) == (107e9, 128e9)
    lora = said({**LLAMA_3_8B, "parameters": 8e9, "tuning": "lora", "trained_parameters": 20e6})
    assert (lora["origin_d_gradients_bytes"], lora["origin_d_optimizer_bytes"]) == (40e6, 160e6)
    assert lora["origin_d_weights_bytes"] - 16e9 == 40e6
    assert (round(lora["origin_d_low_bytes"] / 1e9), round(lora["origin_d_high_bytes"] / 1e9)) == (27, 48)


def test_d_knows_no_grouped_heads_where_c_does():
    """Llama 3 8B, batch 4 x 2048: D says 4.29 GB of KV cache, its 8 KV heads make 1.07."""
    serving = said({**LLAMA_3_8B, "batch": 4, "trains": 0})
    assert serving["origin_d_kv_cache_bytes"] / 1e9 == pytest.approx(4.29, abs=0.005)
    assert serving["origin_c_kv_cache_bytes"] / 1e9 == pytest.approx(1.07, abs=0.005)


@pytest.mark.parametrize(
    ("row", "letters", "words"),
    [
        ({"tuning": "lora"}, "abc", "tuning lora"),
        ({"precision": "int4", "trains": 0}, "cd", "precision int4"),
        ({"precision": "nvfp4", "trains": 0}, "abd", "precision nvfp4"),
        ({"optimizer": "muon"}, "abcd", "optimizer muon"),
        ({"tensor_parallel": 2, "gpus": 2}, "abcd", "tensor parallel"),
        ({"sharding": "zero3", "gpus": 2}, "ad", "sharding zero3"),
        ({"recompute": "selective-ops"}, "abcd", "recompute selective-ops"),
        ({"model_kind": "vision"}, "abcd", "model kind vision"),
        ({"offload": "optimizer"}, "abcd", "offload optimizer"),
        ({"optimizer": "muon", "trains": 0}, "", ""),
    ],
)
def test_what_a_system_cannot_express_is_said(row, letters, words):
    answers = said({**LLAMA_3_8B, **row})
    for origin in ORIGINS:
        problem, total = answers[f"origin_{origin.letter}_problem"], answers[f"origin_{origin.letter}_bytes"]
        assert (problem == "") == (origin.letter not in letters)
        assert words in problem or problem == ""
        assert np.isnan(total) == (problem != "")


def test_one_row_equals_its_row_in_the_table_and_parts_sum():
    rows = [{**LLAMA_7B, "trains": 0}, {**LLAMA_70B, "recompute": "full"}, {**LLAMA_3_8B, "tuning": "lora"}]
    together = origins(table_of(*rows))
    for i, row in enumerate(rows):
        alone = said({"trained_parameters": row["parameters"], **row})
        for name, column in together.items():
            assert alone[name] == column[i] or np.isnan(alone[name])
    for origin in ORIGINS:
        parts = sum(together[formula.__name__] for formula in origin.components)
        np.testing.assert_allclose(parts, together[f"origin_{origin.letter}_bytes"])
