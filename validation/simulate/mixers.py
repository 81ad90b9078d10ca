"""Reads blocks whose mixer keeps a state.

Their storages are many and in chunks, so totals are read, not storage by storage.

In each of many cases of made-up widths the bytes per token of all storages together are a sum of
the block's sizes with the same coefficients; as many cases as there are sizes give them, and a few
more prove them. Without its own kernels transformers runs these mixers in PyTorch, in fp32 and in
chunks of 64 tokens, which is what is read.

python -m validation.simulate.mixers --family qwen3_5_linear
"""

import argparse
import math
import random
import sys

import numpy as np

from validation.simulate.blocks import KEPT, check, keep_rows, observe_kept, print_errors, tokens_of
from validation.simulate.dominant_forms import covers, value
from validation.simulate.families import MIXERS
from validation.simulate.observe import observe_prefill
from validation.simulate.write_catalog import write_block

CHUNK, CHUNKS, MORE_CASES, CHECKED = 64, 8, 3, 7
# coefficients of a state, of which each chunk saves some, are rounded up to 1 / 32; in serving one
# is alive, however long
FINEST = 32


def made_up(family):
    """Cases with made-up widths and the same number of chunks.

    There are a few more of them than the block has sizes.
    """
    chance = random.Random(family.id)
    for _ in range(len(family.sizes) + MORE_CASES * (5 if "experts" in family.sizes else 1)):
        heads = chance.choice((1, 2, 3))
        yield dict(
            hidden=8 * chance.randint(60, 110),
            heads=4,
            kv_heads=2,
            head_dim=24,
            ffn=8 * chance.randint(120, 300),
            batch=chance.choice((2, 3, 5)),
            seq=CHUNK * CHUNKS,
            attention="sdpa",
            fields={},
            key_heads=heads,
            value_heads=heads * chance.choice((2, 3)),
            key_dim=chance.choice((24, 40, 56, 72)),
            value_dim=chance.choice((32, 48, 80, 88)),
            experts=chance.randint(9, 31),
            experts_per_token=chance.randint(2, 6),
            expert_ffn=8 * chance.randint(30, 90),
            shared_ffn=8 * chance.randint(100, 150),
        )


def total(lists, tokens, parameters):
    """Bytes per token in each case of storages that correspond to each other. [B]

    Storages that are weights in every case are left out.
    """
    bytes_ = np.array([[storage.bytes for storage in storages] for storages in lists], float)
    weights = [
        [size in shapes or size <= 1024 for size in row]
        for row, shapes in zip(bytes_, parameters, strict=True)
    ]
    return np.sum(bytes_ * ~np.all(weights, axis=0), axis=1) / tokens


def totals(sizes, observed, tokens):
    """Totals of what is saved and of each moment, for the cases that run alike.

    Return their sizes too. Cases whose storages differ in number from most others are left out.
    """
    runs = [(len(seen.saved), *(len(moment) for moment in seen.moments)) for seen in observed]
    usual = max(runs, key=runs.count)
    alike = [place for place, run in enumerate(runs) if run == usual]
    seen = [observed[place] for place in alike]
    tokens = np.array([tokens[place] for place in alike])
    parameters = [
        {times * count for count in run.parameters for times in (1, 2, 4)} for run in seen
    ]
    saved = total([run.saved for run in seen], tokens, parameters)
    moments = [
        total(storages, tokens, parameters)
        for storages in zip(*(run.moments for run in seen), strict=True)
    ]
    return [sizes[place] for place in alike], saved[:, None], np.array(moments).T


def forms_by(sizes, columns, saves=True):
    """Fit a form to each column of totals, which have a row per case; print what it misses."""
    measures = np.array([list(measured.values()) for measured in sizes])
    if len(measures) <= measures.shape[1]:
        raise ValueError(f"{len(measures)} cases run alike, too few for {measures.shape[1]} sizes")
    coefficients, *_ = np.linalg.lstsq(measures, columns, rcond=None)
    missed = np.max(np.abs(measures @ coefficients - columns) / np.maximum(columns, 1), initial=0)
    if missed > 1e-6:
        print(f"  not a sum of sizes by {missed:.2%}", file=sys.stderr)
    return [dict(form_of(sizes[0], column, saves)) for column in coefficients.T]


def form_of(names, column, saves):
    """Yield coefficients by name, rounded to eighths; that of a state is rounded up."""
    for name, times in zip(names, column, strict=True):
        near = (
            saves * math.ceil(times * FINEST - 0.01) / FINEST
            if name == "state"
            else round(times * 8) / 8
        )
        if near:
            yield name, near


def dominant(forms):
    """The forms that no other form covers."""
    unique = [dict(pairs) for pairs in sorted({tuple(sorted(form.items())) for form in forms})]
    return [one for one in unique if not any(covers(two, one) for two in unique)]


def largest_of(family, forms, cases):
    """The forms that are the largest of all in some case, including real widths."""
    draws = [family.measure(case) for case in (*cases, family.real_case("sdpa"), *scaled(family))]
    picked = {
        max(range(len(forms)), key=lambda place, sizes=sizes: value(forms[place], sizes))
        for sizes in draws
    }
    return [forms[place] for place in sorted(picked)]


def scaled(family):
    """The real widths with networks and mixers of other proportions."""
    for ffn in (0.25, 1, 4):
        for heads in (8, 16, 64):
            case = family.real_case("sdpa")
            yield (
                case
                | dict(ffn=int(case["ffn"] * ffn), value_heads=heads, key_heads=8)
                | ({"expert_ffn": int(case["expert_ffn"] * ffn)} if "expert_ffn" in case else {})
            )


def forms_of(family, number_format):
    """All forms of one kind of block in one number format.

    The attention of the blocks around it makes no difference.
    """
    cases = list(made_up(family))
    sizes, form, moments = [family.measure(case) for case in cases], {}, {}
    sizes = [{name: measured[name] for name in family.sizes} for measured in sizes]
    tokens = [tokens_of(case) for case in cases]
    for name in KEPT:
        alike, saved, alive = totals(
            sizes, [observe_kept(family, case, number_format, name) for case in cases], tokens
        )
        form[name] = forms_by(alike, saved)[0]
        if name in ("saved", "checkpoint"):
            moments[name] = forms_by(alike, alive)
    form["backward"] = largest_of(family, dominant(moments["saved"]), cases)
    form["recomputed"] = largest_of(family, dominant(moments["checkpoint"]), cases)
    if number_format != "amp":
        alike, _, alive = totals(
            sizes, [observe_prefill(family, case, number_format) for case in cases], tokens
        )
        form["forward"] = largest_of(family, dominant(forms_by(alike, alive, saves=False)), cases)
    return {"format": number_format, "attention": "eager"} | form


def run(family):
    """Read, check and write one kind of block; print the errors."""
    forms, rows = [], []
    for number_format in family.formats:
        form = forms_of(family, number_format)
        print(family.id, form, flush=True)
        checks = check(family, form, next(made_up(family)) | dict(seq=CHUNK * CHECKED), "made up")
        checks += check(family, form, family.real_case("sdpa"), "real")
        print_errors(checks)
        forms.append(form)
        rows += checks
    write_block(family, forms)
    keep_rows(family.id, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", choices=[*MIXERS], nargs="+", required=True)
    for name in parser.parse_args().family:
        run(MIXERS[name])
