"""The four published systems against the figures that their own texts print (in what each calls GB)."""

import numpy as np
import pytest
from examples import recorded

from calc.explain.calculators import GB, SYSTEMS, parts_by
from calc.units import GIB

MODELS = recorded("cases/origins.json")["models"]
LLAMA_7B, LLAMA_3_8B = MODELS["Llama 7B"], MODELS["Llama 3 8B"]
PLAIN = recorded("cases/origins.json")["plain"]


def by(letter, row):
    """What a system says of one scenario: the bytes of each component, under its name without the unit."""
    system = next(system for system in SYSTEMS if system.letter == letter)
    parts, _ = parts_by(system, {"trained_parameters": row["parameters"], **PLAIN, **row})
    return {name.removesuffix("_bytes"): value for name, value in parts.items()}


# A prints two decimals of its own formula; the figures beside them in its table come from elsewhere.
@pytest.mark.parametrize(("model", "changes", "printed_gb"), recorded("cases/origins.json")["printed"])
def test_a_prints_the_figures_of_its_tutorial(model, changes, printed_gb):
    a = by("a", MODELS[model] | changes)  # activations in GiB beside all else in GB, times 1.2
    states = a["weights"] + a["gradients"] + a["optimizer"]
    assert 1.2 * (states / GB + a["activations"] / GIB) == pytest.approx(printed_gb, abs=0.006)


def test_a_counts_its_levers_and_b_its_shards_cache_and_activations():
    one = {**LLAMA_7B, "batch": 4}
    usual, int8 = by("a", one), by("a", {**one, "precision": "int8", "trains": 0})
    assert int8["weights"] == 7e9
    assert by("a", {**one, "optimizer": "sgd-momentum"})["optimizer"] == 4 * 7e9
    assert by("a", {**one, "optimizer": "sgd"})["optimizer"] == 0
    checkpointed = by("a", {**one, "recompute": "full"})["activations"]
    assert checkpointed < 0.3 * usual["activations"]
    # Its strategies: 13B, ZeRO-3 on 2 GPUs, 104 GB of parameters, gradients and optimizer (the article prints 52).
    b = by("b", {**MODELS["13B"], "sharding": "zero3", "gpus": 2})
    assert sum(b[part] for part in ("weights", "gradients", "optimizer")) == 104e9
    small, large = (
        by("b", {**LLAMA_7B, "precision": "fp16", "trains": 0, "batch": b, "sequence_tokens": s}) for b, s in ((1, 512), (8, 2048))
    )
    assert small["kv_cache"] == 2 * 32 * 4096 * 2 * 512
    assert large["kv_cache"] == 32 * small["kv_cache"]
    assert by("b", {**LLAMA_7B})["activations"] == 12 * 4096 * 2048 * 32 * 2


def test_c_prints_the_figures_of_its_page_and_divides_by_zero_stage():
    """Llama 3 8B, batch 1 x 4096, selective, Adam: 16.1 + 16.1 + 96.4 + 18.3 + 14.7 = 161.4 GB."""
    c = by("c", {**LLAMA_3_8B, "sequence_tokens": 4096, "recompute": "selective"})
    parts = ("weights", "gradients", "optimizer", "activations", "kv_cache", "overhead")
    assert [round(c[part] / 1e9, 1) for part in parts] == [16.1, 16.1, 96.4, 18.3, 0, 14.7]
    assert sum(c.values()) / GB == pytest.approx(161.4, abs=0.05)
    zero = {stage: by("c", {**LLAMA_3_8B, "sharding": f"zero{stage}", "gpus": 8}) for stage in (1, 2, 3)}
    for part, first_stage in (("optimizer", 1), ("gradients", 2), ("weights", 3)):
        undivided = by("c", LLAMA_3_8B)[part]
        for stage, c in zero.items():
            assert c[part] == pytest.approx(undivided / (8 if stage >= first_stage else 1))


def test_d_prints_the_ranges_of_its_article_and_knows_no_grouped_heads_where_c_does():
    """Llama 3 8B: full 107 to 128 GB, LoRA of rank 8 (20 M parameters: 40 + 40 + 160 MB) 27 to 48 GB."""
    half = next(system.range_bytes for system in SYSTEMS if system.letter == "d")
    full = by("d", {**LLAMA_3_8B, "parameters": 8e9})
    assert (sum(full.values()) - half, sum(full.values()) + half) == (107e9, 128e9)
    lora = by("d", {**LLAMA_3_8B, "parameters": 8e9, "tuning": "lora", "trained_parameters": 20e6})
    assert (lora["gradients"], lora["optimizer"]) == (40e6, 160e6)
    assert lora["weights"] - 16e9 == 40e6
    assert (round((sum(lora.values()) - half) / 1e9), round((sum(lora.values()) + half) / 1e9)) == (27, 48)
    # Llama 3 8B, batch 4 x 2048: D says 4.29 GB of KV cache, its 8 KV heads make 1.07.
    serving = {**LLAMA_3_8B, "batch": 4, "trains": 0}
    assert by("d", serving)["kv_cache"] / 1e9 == pytest.approx(4.29, abs=0.005)
    assert by("c", serving)["kv_cache"] / 1e9 == pytest.approx(1.07, abs=0.005)


@pytest.mark.parametrize(("row", "letters", "words"), recorded("cases/origins.json")["not_expressed"])
def test_what_a_system_cannot_express_is_said(row, letters, words):
    scenario = {**PLAIN, **LLAMA_3_8B, "trained_parameters": LLAMA_3_8B["parameters"], **row}
    for system in SYSTEMS:
        parts, problem = parts_by(system, scenario)
        assert (problem == "") == (system.letter not in letters)
        assert words in problem or problem == ""
        assert np.isnan(sum(parts.values())) == (problem != "")
