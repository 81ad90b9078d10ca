"""Writes catalogs/read_off/blocks.yaml, one entry per kind of block, sorted."""

from datetime import date

import yaml

from calc.catalogs.rooms import path_of

CATALOG = path_of("blocks")
ORDER = (
    "hidden",
    "hidden_dropout",
    "query",
    "key",
    "value",
    "latent",
    "query_latent",
    "ffn",
    "routed_hidden",
    "routed_ffn",
    "experts_hidden",
    "experts_ffn",
    "shared_ffn",
    "experts",
    "experts_per_token",
    "heads",
    "kv_heads",
    "scores",
    "scores_dropout",
    "shared_scores",
    "mask",
    "shared_mask",
    "shared_hidden",
    "relative_hidden",
    "source_hidden",
    "source_key",
    "source_scores",
    "source_scores_dropout",
    "shared_source_scores",
    "layer_inputs",
    "per_layer",
    "expert_latent",
    "state_group_keys",
    "state_keys",
    "state_values",
    "state_heads",
    "state",
    "one",
)
SOURCE = (
    "PyTorch 2.13 and transformers 5.23, every storage of a block followed (validation/simulate)"
)
VECTORS = ("saved", "saved_alone", "frozen", "checkpoint", "selective_ops")
HEAD = """\
# yaml-language-server: $schema=schema/blocks.json
# What one block of a model keeps for the backward pass and needs at its worst moments: bytes per
# token, as a linear form in the block's sizes. Written by `python -m validation.simulate.blocks`;
# do not edit the numbers by hand.
"""


def flow(form):
    """Format one form on one line."""
    return "{" + ", ".join(f"{name}: {form[name]:g}" for name in ORDER if form.get(name)) + "}"


def lines_of(entry):
    yield f"  - id: {entry['id']}"
    yield f"    families: [{', '.join(entry['families'])}]"
    yield f"    source: {entry['source']}"
    if entry.get("derived"):
        yield "    derived: true"
    yield "    forms:"
    for form in entry["forms"]:
        yield f"      - format: {form['format']}"
        yield f"        attention: {form['attention']}"
        for name in VECTORS:
            if name in form:
                yield f"        {name}: {flow(form[name])}"
        for name in ("backward", "recomputed", "forward"):
            if form.get(name):
                yield f"        {name}:"
            yield from (f"          - {flow(moment)}" for moment in form.get(name, ()))


def write_catalog(entries, source, checked_on):
    """Write all entries in the order of their ids."""
    lines = [f'source: "{source}"', f"checked_on: {checked_on}", "blocks:"]
    for entry in sorted(entries, key=lambda entry: entry["id"]):
        lines += lines_of(entry)
    CATALOG.write_text(HEAD + "\n".join(lines) + "\n")


def write_block(family, forms):
    """Replace one kind of block in the catalog."""
    catalog = (
        yaml.safe_load(CATALOG.read_text()) if CATALOG.exists() else dict(source=SOURCE, blocks=[])
    )
    name = family.head.split(".")[-1]
    software = f"{name} of transformers 5.23.0 under PyTorch 2.13.0"
    new = dict(id=family.id, families=list(family.types), forms=forms)
    if family.kernels:
        new |= dict(source=f"{family.kernels} in {software}", derived=True)
    else:
        new |= dict(source=f"simulated, {software}")
    others = [entry for entry in catalog["blocks"] if entry["id"] != family.id]
    write_catalog([*others, new], catalog["source"], date.today().isoformat())
