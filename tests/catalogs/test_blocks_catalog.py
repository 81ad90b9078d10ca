"""catalogs/read_off/blocks.yaml against bytes of simulated models that its numbers were not read
from (validation/simulate).
"""

import csv
from pathlib import Path

import pytest
from examples import entries

ROOT = Path(__file__).parents[2]
BLOCKS = {block["id"]: block for block in entries("blocks")}
FORMS = {
    (id, form["format"], form["attention"]): form
    for id, block in BLOCKS.items()
    for form in block["forms"]
}
ROWS = list(
    csv.DictReader((ROOT / "validation" / "data" / "saved_per_layer.csv").read_text().splitlines())
)
KEPT = ("saved", "frozen", "checkpoint", "selective_ops")

# (block, quantity) -> the error that a form may have where more than the tolerance below is known
# and kept. A single key-value head (Gemma 2B, VaultGemma) is seen by all heads, not copied to them,
# in eager attention. CLIP's image states, still held while its text passes, are not the text
# encoder's. OLMo and StableLM have as many key-value heads as query heads, which are not copied
# either.
KNOWN = {
    ("gemma", "forward"): 0.06,
    ("olmo", "forward"): 0.07,
    ("stablelm", "forward"): 0.05,
    ("clip_text", "forward"): 0.18,
}
# The router of ERNIE 4.5 keeps up to 512 bytes per token more than the form. The totals of
# Qwen3.5's linear blocks are read over chunks: up to 0.45 % off at other widths in fp32 and under
# autocast.
KNOWN |= {
    (f"qwen3_5_linear{more}", kept): 0.005 for more in ("", "_moe") for kept in ("saved", "frozen")
}
# Of what Mamba-2 needs while a prompt passes, the moment that is the worst where the mixer is half
# as wide as the hidden state is left out.
KNOWN |= {("nemotron_h_mixer", "forward"): 0.07}
KNOWN |= {
    ("vaultgemma", "forward"): 0.05,
    ("ernie4_5_moe", "saved"): 0.003,
    ("ernie4_5_moe", "frozen"): 0.005,
}


def bytes_per_token(form, sizes):
    return sum(times * sizes[name] for name, times in form.items())


def predicted(row):
    """The catalog's bytes for one simulated case."""
    form = FORMS[row["block"], row["format"], row["attention"]]
    sizes = {name: float(size) for name, size in (pair.split("=") for pair in row["sizes"].split())}
    if row["quantity"] in KEPT:
        return float(row["tokens"]) * bytes_per_token(form[row["quantity"]], sizes)
    pass_name = row["quantity"].split()[0]
    if row["quantity"] == "backward after checkpoint" and "recomputed" in form:
        pass_name = "recomputed"
    if pass_name == "forward":
        sizes |= {name: 0.0 for name in sizes if name.endswith("_dropout")}
    return float(row["tokens"]) * max(bytes_per_token(moment, sizes) for moment in form[pass_name])


@pytest.mark.parametrize("block", sorted({row["block"] for row in ROWS}))
def test_a_block_keeps_and_needs_what_the_simulation_saw(block):
    wrong = []
    for row in (row for row in ROWS if row["block"] == block):
        simulated, tolerance = (
            float(row["simulated_bytes"]),
            0.002 if row["quantity"] in KEPT else 0.03,
        )
        error = predicted(row) - simulated
        if abs(error) > KNOWN.get((block, row["quantity"]), tolerance) * simulated:
            case = " ".join(row[name] for name in ("format", "attention", "case", "quantity"))
            wrong.append(f"{case}: {error / simulated:+.2%}")
    assert not wrong, "\n".join(wrong)


def test_the_catalog_is_in_order_and_every_block_is_simulated():
    assert list(BLOCKS) == sorted({row["block"] for row in ROWS})


@pytest.mark.parametrize(
    ("block", "number_format", "attention", "published"),
    [
        # Korthikanti et al. 2022 (arXiv 2205.05198), section 4.1: softmax output 2as, dropout's
        # mask as and output 2as.
        ("gpt2", "bf16", "eager", {"scores": 2, "scores_dropout": 3}),
        # torchtitan's policy counted by hand: input and down 2h each, q and attention's output 2q
        # each, v 2k, gate 2f.
        ("llama", "bf16", "sdpa", {"hidden": 4, "query": 4, "key": 2, "ffn": 2, "heads": 4}),
    ],
)
def test_against_sums_of_others(block, number_format, attention, published):
    form = FORMS[block, number_format, attention]
    vector = form["selective_ops"] if block == "llama" else form["saved"]
    assert {name: vector[name] for name in published} == published
