"""What is saved and what is alive when: published coefficients per token and block, phases against the estimate."""

import pytest
from examples import PARTS, catalogs, choices, one
from hypothesis import assume, given
from test_memory import per_block

from calc import estimate, phases_table

TOKENS = 2048
SIZES = {  # hidden, query, key, FFN, heads, KV heads
    "llama-3.1-8b": {"h": 4096, "q": 4096, "k": 1024, "f": 14336, "a": 32, "n": 8},
    "llama-2-7b": {"h": 4096, "q": 4096, "k": 4096, "f": 11008, "a": 32, "n": 32},
    "qwen3-8b": {"h": 4096, "q": 4096, "k": 1024, "f": 12288, "a": 32, "n": 8},
    "phi-4": {"h": 5120, "q": 5120, "k": 1280, "f": 17920, "a": 40, "n": 10},
    "gpt2-xl": {"h": 1600, "q": 1600, "k": 1600, "f": 6400, "a": 25, "n": 25},
    "pythia-6.9b": {"h": 4096, "q": 4096, "k": 4096, "f": 16384, "a": 32, "n": 32},
    "opt-6.7b": {"h": 4096, "q": 4096, "k": 4096, "f": 16384, "a": 32, "n": 32},
    "bert-large-uncased": {"h": 1024, "q": 1024, "k": 1024, "f": 4096, "a": 16, "n": 16},
    "bloom-7b1": {"h": 4096, "q": 4096, "k": 4096, "f": 16384, "a": 32, "n": 32},
}
# Saved for the backward pass, bytes per token and block: PyTorch 2.13 and transformers 5.23, storages followed.
SAVED = [
    ("llama-3.1-8b", {"precision": "bf16"}, "16*h+4*q+4*k+8*f+4*a+8"),
    ("llama-3.1-8b", {"precision": "fp32"}, "24*h+16*q+16*f+4*a*S+8"),
    ("llama-3.1-8b", {"precision": "bf16-mixed"}, "26*h+4*q+4*k+8*f+4*a+8"),
    ("llama-3.1-8b", {"precision": "bf16", "attention": "eager"}, "16*h+8*q+8*f+6*a*S+8"),
    ("llama-3.1-8b", {"precision": "bf16-mixed", "attention": "eager"}, "26*h+8*q+8*f+6*a*S+8"),
    ("llama-3.1-8b", {"precision": "bf16", "recompute": "full"}, "2*h"),
    ("llama-3.1-8b", {"precision": "fp32", "recompute": "full"}, "4*h"),
    ("llama-3.1-8b", {"precision": "bf16-mixed", "recompute": "full"}, "4*h"),
    ("llama-3.1-8b", {"precision": "bf16", "recompute": "selective-ops"}, "4*h+4*q+2*k+2*f+4*a"),
    ("llama-3.1-8b", {"precision": "bf16", "tuning": "lora"}, "28*h+8*q+4*k+10*f+28*16+4*a+8"),
    ("llama-3.1-8b", {"precision": "bf16", "tuning": "lora", "lora_targets": "attention"}, "20*h+8*q+4*k+6*f+16*16+4*a+8"),
    ("llama-3.1-8b", {"precision": "nf4-dq", "tuning": "lora", "recompute": "full"}, "2*h"),
    ("llama-3.1-8b", {"precision": "int8", "tuning": "lora", "recompute": "full"}, "6*h+2*q+2*f"),
    ("llama-2-7b", {"precision": "bf16"}, "24*h+8*f+4*a+8"),
    ("llama-2-7b", {"precision": "fp32"}, "40*h+16*f+4*a+8"),
    ("qwen3-8b", {"precision": "bf16"}, "16*h+10*q+10*k+8*f+8*a+4*n+8"),
    ("qwen3-8b", {"precision": "bf16-mixed"}, "26*h+10*q+10*k+8*f+8*a+4*n+8"),
    ("phi-4", {"precision": "bf16"}, "16*h+8*q+6*k+8*f+4*a+8"),
    ("gpt2-xl", {"precision": "bf16"}, "18*h+10*f+4*a+16"),
    ("gpt2-xl", {"precision": "bf16-mixed"}, "22*h+16*f+4*a+16"),
    ("pythia-6.9b", {"precision": "bf16"}, "20*h+4*f+4*a+16"),
    ("opt-6.7b", {"precision": "bf16"}, "18*h+2*f+4*a+16"),
    ("opt-6.7b", {"precision": "fp32"}, "34*h+4*f+4*a+16"),
    ("bloom-7b1", {"precision": "bf16", "attention": "eager"}, "32*h+6*a*S+16"),
    ("bert-large-uncased", {"precision": "bf16"}, "18*h+4*f+4*a+16"),
    # Korthikanti et al. 2022 (arXiv 2205.05198), equation 1: s b h (34 + 5 a s / h), for a block with GELU and dropout.
    ("bert-large-uncased", {"precision": "bf16", "attention": "eager"}, "34*h+5*a*S"),
]


@pytest.mark.parametrize(("model", "scenario", "form"), SAVED, ids=[f"{m} {' '.join(s.values())}" for m, s, _ in SAVED])
def test_saved_per_token_and_block(model, scenario, form):
    tokens = 512 if model.startswith("bert") else 1024 if model.startswith("gpt2") else TOKENS
    expected = eval(form, {}, {**SIZES[model], "S": tokens})
    found = per_block("saved_activations_bytes", model, sequence_tokens=tokens, **scenario)
    assert found / tokens == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("gpus", [1, 2, 4, 8])
@pytest.mark.parametrize(("recompute", "core"), [("none", 5), ("selective", 0)])
def test_korthikanti_2022_tensor_and_sequence_parallel(gpus, recompute, core):
    """Equations 4 and 6: s b h / t (34 + 5 a s / h), and 34 s b h / t where the core of attention is computed again."""
    scenario = {"implementation": "megatron", "precision": "bf16-master", "attention": "eager", "recompute": recompute}
    layout = {"gpus": gpus, "tensor_parallel": gpus, "sequence_tokens": 512}
    found = per_block("saved_activations_bytes", "bert-large-uncased", **scenario, **layout)
    assert found / 512 == pytest.approx((34 * 1024 + core * 16 * 512) / gpus, rel=2e-3)


def logits_by_phase(**scenario):
    found = phases_table({"model": "llama-3.1-8b", "precision": "bf16", **scenario}, catalogs())
    return found[found["component"] == "logits_bytes"].set_index("phase")["bytes"]


def test_logits_upcast_and_kept():
    """transformers' causal loss: 10 bytes per logit at the forward peak, 12 when the backward pass begins."""
    logits = logits_by_phase(sequence_tokens=8192)
    assert logits["forward"] == 10 * 128_256 * 8192
    assert logits["backward"] == 12 * 128_256 * 8192
    assert logits["step"] == 0


def test_one_kernel_on_the_stored_logits_writes_its_gradient_in_place():
    assert logits_by_phase(sequence_tokens=8192, loss="kernel")["backward"] == 4 * 128_256 * 8192


def test_head_and_loss_fused_per_chunk():
    """Liger 0.8.5, Llama 3.1 8B, 8192 tokens: a chunk of 65.7 MB, the input's gradient 67 MB, the head's 1.05 GB."""
    assert logits_by_phase(sequence_tokens=8192, loss="fused")["forward"] == pytest.approx(1.183e9, rel=0.005)


@given(choices("training") | choices("inference"))
def test_the_estimate_is_the_largest_phase(row):
    result = estimate(row, catalogs(), solve=False)
    assume(result["problem"] == "")
    phases = phases_table(row, catalogs()).set_index(["phase", "component"])["bytes"]
    totals = phases.groupby("phase").sum()
    assert totals.max() == pytest.approx(result["allocated_peak_bytes"], rel=1e-12)
    assert totals[result["peak_phase"]] == totals.max()
    assert [phases[result["peak_phase"], name] for name in PARTS] == pytest.approx([result[name] for name in PARTS])
    assert (phases >= 0).all()


def test_earlier_micro_batches_leave_their_gradients():
    """8 B parameters, bf16: gradients are alive in the forward pass of all micro-batches but the first."""
    alone, many = (
        phases_table({"model": "llama-3.1-8b", "precision": "bf16", "accumulation_steps": steps}, catalogs())
        .set_index(["phase", "component"])
        .loc[("forward", "gradients_bytes"), "bytes"]
        for steps in (1, 8)
    )
    assert alone == 0
    assert many == 2 * 8_030_261_248


def test_fsdp_keeps_whole_gradients_between_micro_batches_in_the_reduce_format():
    """Llama 3.1 8B over 8 GPUs without synchronisation: 32 GB more in fp32, 16 in bf16."""
    same = {"model": "llama-3.1-8b", "sharding": "zero3", "gpus": 8, "recompute": "full"}
    once = one(**same)["gradients_bytes"]
    for width, reduce_precision in ((4, "fp32"), (2, "bf16")):
        kept = one(**same, accumulation_steps=4, reduce_precision=reduce_precision)["gradients_bytes"]
        assert kept == pytest.approx(width * 8_030_261_248, rel=1e-3)
        assert kept > 3 * once


def test_offloading_empties_what_it_names():
    same = {"model": "llama-3.1-8b", "precision": "bf16"}
    stays, moves = one(**same), one(**same, offload="optimizer")
    assert moves["optimizer_bytes"] == 0 < stays["optimizer_bytes"]
    kept = one(**same, offload="activations")["saved_activations_bytes"]
    assert kept < stays["saved_activations_bytes"] / 10


@pytest.mark.parametrize("sharding", ["none", "zero2", "zero3"])
def test_offloading_all_leaves_no_gradient_and_nothing_below_none(sharding):
    phases = phases_table({"model": "qwen2.5-0.5b", "offload": "all", "gpus": 8, "sharding": sharding}, catalogs())
    assert (phases["bytes"] >= 0).all()
    assert phases.loc[phases["component"] == "gradients_bytes", "bytes"].max() == 0


def test_the_fuller_end_of_a_pipeline_counts():
    """1F1B: the first of p stages holds p micro-batches' activations, the last one the logits."""
    same = {"model": "llama-3.1-8b", "precision": "bf16", "gpus": 4, "pipeline_parallel": 4, "accumulation_steps": 8, "optimizer": "sgd"}
    whole = one(model="llama-3.1-8b", precision="bf16", sequence_tokens=8192)["saved_activations_bytes"]
    first, last = one(**same, sequence_tokens=8192), one(**same, sequence_tokens=8192, recompute="full")
    assert first["saved_activations_bytes"] == pytest.approx(whole, rel=0.02)
    assert first["logits_bytes"] == 0
    assert last["logits_bytes"] == 12 * 128_256 * 8192


def test_ddp_holds_a_copy_of_the_gradients_in_its_buckets():
    alone, replicated = (one(model="llama-3.2-1b", precision="bf16", gpus=gpus) for gpus in (1, 8))
    assert replicated["working_bytes"] - alone["working_bytes"] == 2 * 1_235_814_400


def test_serving_has_no_backward_and_ends_in_its_largest_moment():
    long = one(model="llama-3.1-8b", work="inference", sequence_tokens=8192, batch=16)
    assert long["peak_phase"] == "prefill"
    chat = one(model="llama-3.1-8b", work="inference", sequence_tokens=8192, prompt_tokens=128, batch=16)
    assert chat["peak_phase"] == "decode"
