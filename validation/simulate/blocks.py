"""Reads off real models what a block saves and needs, for catalogs/read_off/blocks.yaml.

python -m validation.simulate.blocks --family llama
"""

import argparse
import csv
import sys
from pathlib import Path

from validation.simulate.device import silu_in_one_kernel
from validation.simulate.dominant_forms import largest, value
from validation.simulate.families import FAMILIES
from validation.simulate.observe import observe_prefill, observe_training
from validation.simulate.read_off import DROPPED, Reader, Unread
from validation.simulate.write_catalog import write_block

DATA = Path(__file__).parent.parent / "data" / "saved_per_layer.csv"
KEPT = {
    "saved": {},
    "checkpoint": {"recompute": "full"},
    "selective_ops": {"recompute": "products"},
    "frozen": {"frozen": True},
}


def observe_kept(family, case, number_format, name, **more):
    """Run one step and record what it saves.

    In a recomputed block, the backward pass of SiLU runs as separate operators, as in the simulated
    truth.
    """
    with silu_in_one_kernel(name != "checkpoint"):
        return observe_training(family, case, number_format, **KEPT[name], **more)


def tokens_of(case):
    return case["batch"] * case.get("seq_of_block", case["seq"])


def read_pass(reader, first, second):
    """The forms of all moments of a pass."""
    return [reader.total(one, two) for one, two in zip(first.moments, second.moments, strict=True)]


def saved_alone(family, number_format, attention, saved):
    """The form of what is saved with a batch of one, where some copies stay views.

    None where it is that of larger batches, or cannot be read. Sequences are twice as long, so that
    no table of activations is shaped like a weight.
    """
    cases = [
        case | dict(batch=1, seq=2 * case["seq"])
        for case in family.made_up(number_format, attention)[:2]
    ]
    try:
        with silu_in_one_kernel():
            seen = [observe_training(family, case, number_format) for case in cases]
        tokens = [case.get("seq_of_block", case["seq"]) for case in cases]
        reader = Reader(
            [family.measure(case) for case in cases], tokens, [run.parameters for run in seen]
        )
        form = reader.total(seen[0].saved, seen[1].saved)
    except (Unread, RuntimeError, ValueError) as error:
        print(f"  {family.id} {number_format} {attention} alone: {error}", file=sys.stderr)
        return None
    form = {name: times for name, times in form.items() if times}
    return form if form != {name: times for name, times in saved.items() if times} else None


def forms_of(family, number_format, attention):
    """All forms of one kind of block in one number format with one kind of attention."""
    cases = family.made_up(number_format, attention)[:2]
    sizes = [family.measure(case) for case in cases]
    tokens = [tokens_of(case) for case in cases]
    form, moments = {}, {}
    for name in KEPT:
        seen = [observe_kept(family, case, number_format, name) for case in cases]
        reader = Reader(sizes, tokens, [observed.parameters for observed in seen])
        form[name] = reader.total(seen[0].saved, seen[1].saved)
        if name in ("saved", "checkpoint"):
            moments[name] = read_pass(reader, *seen)
    alone = (
        saved_alone(family, number_format, attention, form["saved"])
        if family.source == "ids"
        else None
    )
    if alone:
        form["saved_alone"] = alone
    form["backward"] = largest(moments["saved"], family.constants)
    recomputed = largest(moments["checkpoint"], family.constants)
    if sorted(recomputed, key=str) != sorted(form["backward"], key=str):
        form["recomputed"] = recomputed
    if number_format != "amp":
        seen = [observe_prefill(family, case, number_format) for case in cases]
        reader = Reader(sizes, tokens, [observed.parameters for observed in seen])
        form["forward"] = largest(read_pass(reader, *seen), family.constants)
    return {"format": number_format, "attention": attention, "kernels": seen[0].kernels} | form


def bytes_of(storages, reader):
    """Total of the storages that grow with the tokens. [B]"""
    return sum(
        storage.bytes for storage in storages if not reader.is_weight(storage.bytes, storage.bytes)
    )


def check(family, form, case, which, dropout=True):
    """Rows of simulated bytes beside the form's, by quantity, for a case that was not fitted."""
    rows, sizes, tokens = [], family.measure(case), tokens_of(case)
    sizes |= {dropped: sizes.get(name, 0) * dropout for name, dropped in DROPPED.items()}
    number_format = form["format"]
    vectors = [
        vector
        for value in form.values()
        for vector in (value if isinstance(value, list) else [value])
    ]
    named = set().union(*(vector for vector in vectors if isinstance(vector, dict)))

    def row(quantity, simulated, predicted):
        rows.append(
            dict(
                block=family.id,
                format=number_format,
                attention=form["attention"],
                case=which,
                quantity=quantity,
            )
            | dict(tokens=tokens, simulated_bytes=simulated, form_bytes=round(tokens * predicted))
            | {"sizes": " ".join(f"{name}={sizes[name]:.8g}" for name in sorted(named))}
        )

    for name in KEPT:
        if name not in form or (which == "real" and name == "selective_ops"):
            continue
        seen = observe_kept(family, case, number_format, name, dropout=dropout)
        reader = Reader((sizes, sizes), (tokens, tokens), (seen.parameters, seen.parameters))
        row(name, bytes_of(seen.saved, reader), value(form[name], sizes))
        if name in ("saved", "checkpoint"):
            peak = max(bytes_of(moment, reader) for moment in seen.moments)
            expected = (
                form.get("recomputed", form["backward"])
                if name == "checkpoint"
                else form["backward"]
            )
            row(f"backward after {name}", peak, max(value(alive, sizes) for alive in expected))
    if "forward" not in form:
        return rows
    seen = observe_prefill(family, case, number_format)
    reader = Reader((sizes, sizes), (tokens, tokens), (seen.parameters, seen.parameters))
    off = sizes | dict.fromkeys(DROPPED.values(), 0)
    peak = max(bytes_of(moment, reader) for moment in seen.moments)
    row("forward", peak, max(value(alive, off) for alive in form["forward"]))
    return rows


def keep_rows(block, rows):
    """Replace the rows of a block in the table of simulated bytes."""
    old = list(csv.DictReader(DATA.read_text().splitlines())) if DATA.exists() else []
    rows = [row for row in old if row["block"] != block] + rows
    rows.sort(key=lambda row: row["block"])
    DATA.parent.mkdir(exist_ok=True)
    with DATA.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def print_errors(checks):
    """Print where a form differs from the simulation by more than 0.05 %."""
    for row in checks:
        error = (
            row["form_bytes"] / row["simulated_bytes"] - 1
            if row["simulated_bytes"]
            else row["form_bytes"]
        )
        if abs(error) > 0.0005:
            print(f"  {row['case']} {row['quantity']}: {error:+.2%}", file=sys.stderr)


def run(family):
    """Read, check and write one kind of block; print the errors."""
    forms, rows = [], []
    for number_format, attention in family.kinds():
        form = forms_of(family, number_format, attention)
        checks = check(
            family,
            form,
            family.made_up(number_format, attention)[2],
            "made up",
            family.drops_elsewhere,
        )
        if attention in family.real_cases(number_format):
            checks += check(family, form, family.real_case(attention), "real")
        print_errors(checks)
        print(family.id, form, flush=True)
        forms.append(form)
        rows += checks
    write_block(family, forms)
    keep_rows(family.id, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", choices=["all", *FAMILIES], nargs="+", required=True)
    chosen = parser.parse_args().family
    for name in FAMILIES if "all" in chosen else chosen:
        run(FAMILIES[name])
