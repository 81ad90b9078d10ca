"""Sentences of `note` that warn about a row's model, release, missing price or context."""

from collections.abc import Iterator
from datetime import date
from functools import reduce

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.rules.contexts import context_notes
from calc.scenarios.lookups import words_of
from calc.scenarios.releases import newest_known, numbers_of_release, row_of_release
from calc.table import Words, word_pairs

# The load up to which percentiles at random arrivals agree with a simulation:
# validation/arrivals.py.
CERTAIN_LOAD = 0.8
CALIBRATED = ("Time is", "Memory is", "Time and memory are")


def notes(table: Columns, support_note: Words, catalogs: Catalogs) -> Words:
    """Join the sentences about each row to one text. `support_note`: the sentences on support."""
    parts = [
        _of_model(table, catalogs),
        support_note,
        _of_release(table, catalogs),
        _of_price(table),
        context_notes(table, catalogs),
        *_as_run(table, catalogs),
        _of_scoring_release(table, catalogs),
        _of_rollout_engine(table),
        _of_gradients(table, catalogs),
        _of_one_micro_batch(table, catalogs),
        _of_load(table),
        _of_experts(table),
    ]
    if len(catalogs.readings):
        parts.append(_of_runs(table, catalogs))
    return reduce(_join_notes, parts)


def _join_notes(first: Words, second: Words) -> Words:
    """Join two columns of sentences to one. Shape (rows,)."""
    if not (second.vocabulary != "").any():
        return first
    codes, pairs = word_pairs(first, second)
    return Words(codes, np.array([" ".join(pair).strip() for pair in pairs], dtype=object))


def _of_model(table: Columns, catalogs: Catalogs) -> Words:
    """Return the note on each row's model, which differs if its tower is loaded or if it trains."""
    without = words_of(catalogs, "models", "note")
    with_images = words_of(catalogs, "models", "note_with_images")
    row = table["model_row"] + len(without) * (table["tower_parameters"] > 0)
    of_training = np.append(words_of(catalogs, "models", "training_note"), "")
    training_row = np.where(table["trains"] > 0, table["model_row"], len(of_training) - 1)
    return _join_notes(
        Words(row, np.concatenate([without, with_images])), Words(training_row, of_training)
    )


def _of_release(table: Columns, catalogs: Catalogs) -> Words:
    """Warn of a release that is newer than those from which the constants were read."""
    codes, pairs = word_pairs(table["implementation"], table["software_release"])
    return Words(
        codes,
        np.array(
            [_warning(software, release, catalogs) for software, release in pairs], dtype=object
        ),
    )


def _warning(software: str, release: str, catalogs: Catalogs) -> str:
    """Return the warning if a release is newer than those that were read; else ""."""
    entry = catalogs.implementations.loc[software]
    newest = newest_known(entry["releases"])
    # A patch of the newest release is no newer one.
    if not numbers_of_release(release)[: len(newest)] > newest > ():
        return ""
    return (
        f"{entry['name']} {release} is newer than the releases that were read "
        f"({entry['releases']}): its figures may differ."
    )


def _as_run(table: Columns, catalogs: Catalogs) -> Iterator[Words]:
    """Yield the notes on a draft's gain, the time of adapters, and a cache in CPU memory."""
    serves = table["trains"] == 0
    codes, gains = pd.factorize(
        np.where(serves & (table["speculates"] > 0), table["decode_gain_ratio"], np.nan).round(2)
    )
    draft = (
        "Speculative decoding is counted as {:g} tokens a step. Published gains differ by a "
        "third; a full machine gains nothing."
    )
    yield Words(
        np.where(codes < 0, len(gains), codes),
        np.array([*map(draft.format, gains), ""], dtype=object),
    )
    codes, pairs = word_pairs(table["speculation"], table["model"])
    published = catalogs.speculations["known_of"]
    unknown = [
        method != "none" and model not in published.get(method, ()) for method, model in pairs
    ]
    doubt = "No published run of {} with {} is known: check that such a draft exists."
    sentences = [
        doubt.format(*pair) if is_unknown else ""
        for pair, is_unknown in zip(pairs, unknown, strict=True)
    ]
    yield Words(np.where(serves, codes, len(pairs)), np.array([*sentences, ""], dtype=object))
    for condition, sentence in (
        (
            table["served_adapters"] > 0,
            "All served adapters are on the GPUs; the time they cost is from a paper of 2023.",
        ),
        (
            table["kv_offload_bytes"] > 0,
            (
                "The cache in CPU memory keeps prefixes and requests that wait; it decodes no "
                "more concurrent sequences."
            ),
        ),
    ):
        yield Words(np.where(serves & condition, 0, 1), np.array([sentence, ""], dtype=object))


def _of_experts(table: Columns) -> Words:
    """Note on experts that a format of few bits leaves in 16 bits."""
    wide = (table["leaves_experts_wide"] > 0) & (table["most_experts"] > 0)
    sentence = (
        "bitsandbytes leaves the routed experts in 16 bits, since they are one tensor in this "
        "software (bitsandbytes issue 1849); choose implementation axolotl or unsloth, which "
        "quantize them, or LoRA in bf16."
    )
    return Words(np.where(wide, 1, 0), np.array(["", sentence], dtype=object))


def _of_runs(table: Columns, catalogs: Catalogs) -> Words:
    """Note on the figures of each row that your own runs calibrate, and the days of the runs."""
    return Words(
        rests_on_runs(table),
        np.array(["", *resting_sentences(catalogs)], dtype=object),
    )


def rests_on_runs(table: Columns) -> np.ndarray:
    """Code for what your own runs calibrate: 1 for the time, 2 for the memory, 3 for both."""
    timed = (table["time_run_share"] > 0) | (table["first_token_run_share"] > 0)
    return np.asarray(timed + 2 * (table["memory_run_share"] > 0))


def resting_sentences(catalogs: Catalogs) -> list[str]:
    """Return a sentence for each of CALIBRATED; [] without runs.

    Time is calibrated on your runs of 12 November and 3 December. A year is only named if it is not
    the present one.
    """
    days = [date.fromisoformat(day) for day in sorted(set(catalogs.readings["made_on"]))]
    if not days:
        return []
    present_year = catalogs.read_on[:4]
    *first, last = [
        f"{day.day} {day:%B}" + ("" if str(day.year) == present_year else f" {day.year}")
        for day in days
    ]
    when = f"{', '.join(first)} and {last}" if first else last
    runs = "run" if len(days) == 1 else "runs"
    return [f"{what} calibrated on your {runs} of {when}." for what in CALIBRATED]


def _of_scoring_release(table: Columns, catalogs: Catalogs) -> Words:
    """Note on training whose memory depends on the release of the software."""
    codes, names = table["implementation"]
    depends = np.broadcast_to(table["hangs_on_release"] > 0, table["rows"])
    sentences = [
        f"Counted as {catalogs.implementations['name'].get(name, name)}'s newest known "
        f"release scores tokens; its earlier ones take over "
        "10 % more memory: name library_version if yours is older."
        for name in names
    ]
    return Words(np.where(depends, codes, len(names)), np.array([*sentences, ""], dtype=object))


def _of_gradients(table: Columns, catalogs: Catalogs) -> Words:
    """Note on gradients between micro-batches if releases of the software differ in them."""
    differ = table["implementation_accumulates_unsharded"] * table["shards_gradients"]
    depends = differ * (table["accumulation_steps"] > 1) * (table["training_gpus"] > 1)
    codes, pairs = word_pairs(table["implementation"], table["library_version"])
    sentences = [_about_gradients(*pair, catalogs) for pair in pairs]
    return Words(np.where(depends > 0, codes, len(pairs)), np.array([*sentences, ""], dtype=object))


def _of_one_micro_batch(table: Columns, catalogs: Catalogs) -> Words:
    """Note on an accumulation that is not named, where whole gradients between would not fit."""
    keeps_whole = table["implementation_accumulates_unsharded"] * table["shards_gradients"]
    keeps_whole = keeps_whole * (1 - table["trainer_reduces_each"]) * (table["training_gpus"] > 1)
    is_assumed = (table["names_accumulation"] == 0) & (table["trains"] > 0)
    replica_gpus = table["tensor_parallel"] * table["expert_parallel"]
    whole_bytes = table["trained_parameters"] * table["reduce_bytes_each"] / replica_gpus
    room_bytes = table.get("gpu_memory_bytes", np.nan) - table.get("needed_bytes", np.nan)
    is_noted = is_assumed & (keeps_whole > 0) & (room_bytes >= 0) & (whole_bytes > room_bytes)
    words, names = table["implementation"], catalogs.implementations["name"]
    sentences = [
        f"One micro-batch a step is counted, since none is named: with several, FSDP in "
        f"{names.get(software, software)} keeps whole gradients between them, which do not fit."
        for software in words.vocabulary
    ]
    codes = np.where(is_noted, words.codes, len(sentences))
    return Words(codes, np.array([*sentences, ""], dtype=object))


def _about_gradients(software: str, release: str, catalogs: Catalogs) -> str:
    """Say how a release reduces gradients, and from which release on others do otherwise."""
    trainers = catalogs.trainers
    entries = trainers[[software in names for names in trainers["software"]]]
    row = row_of_release(catalogs, "trainers", software, release)
    reduces = trainers["reduces_each"].iloc[row] > 0
    others = entries.loc[(entries["reduces_each"] > 0) != reduces, "since"]
    if row < 0 or not len(others):
        return ""
    name = catalogs.implementations.at[software, "name"]
    if not reduces:
        return (
            f"Gradients are counted as kept whole between micro-batches; other releases of {name} "
            f"reduce them to their shards after each, which takes less."
        )
    return (
        f"Gradients are counted as reduced to their shards after each micro-batch; {name} "
        f"{', '.join(others)} keeps them whole, which takes more: name library_version if yours "
        f"is that."
    )


def _of_rollout_engine(table: Columns) -> Words:
    """Note on a rollout engine whose share of the card is not known, since no card is named."""
    is_left_out = (table["colocates_engine"] > 0) & np.isnan(table["rollout_card_bytes"])
    sentence = "The rollout engine's share of the card is left out: no card is named."
    return Words(np.where(is_left_out, 1, 0), np.array(["", sentence], dtype=object))


def _of_load(table: Columns) -> Words:
    """Warn of a load that is too high for certain percentiles, or for any."""
    load = np.broadcast_to(table.get("arrivals_load_ratio", np.nan), table["rows"])
    percentile = np.broadcast_to(table.get("request_p99_seconds", np.nan), table["rows"])
    is_rough = (load > CERTAIN_LOAD) & ~np.isnan(percentile)
    sentences = (
        "",
        f"At random arrivals the load is over {CERTAIN_LOAD * 100:.0f} %: the percentiles are "
        f"rough.",
        "It has no percentiles: requests that come at random at this rate are more than it "
        "answers, and wait ever longer.",
    )
    return Words(np.select([is_rough, load >= 1], [1, 2], 0), np.array(sentences, dtype=object))


def _of_price(table: Columns) -> Words:
    """Note on an instance without a listed price in its region."""
    usd = np.fmax(table["instance_usd_per_hour_on_demand"], table["instance_usd_per_hour_spot"])
    unpriced = np.isnan(usd) & ~np.isnan(table["instance_gpus"])
    codes, pairs = word_pairs(table["instance"], table["region"])
    sentence = "{} has no price in {}, so the row has no costs; choose another region or instance."
    return Words(
        np.where(unpriced, codes, len(pairs)),
        np.array([*(sentence.format(*pair) for pair in pairs), ""], dtype=object),
    )
