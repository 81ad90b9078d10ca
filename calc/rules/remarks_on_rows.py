"""Remarks on each row: its model, release, missing price, context, load and your own runs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns, Row
from calc.remarks import Remark, remark
from calc.rules.contexts import context_remarks
from calc.scenarios.lookups import words_of
from calc.scenarios.releases import newest_known, numbers_of_release, row_of_release
from calc.table import Words, word_pairs

# The load up to which percentiles at random arrivals agree with a simulation:
# validation/arrivals.py.
CERTAIN_LOAD = 0.8
CALIBRATED = ("time", "memory", "time-and-memory")


def remarks_on_rows(table: Columns, support_remarks: Words, catalogs: Catalogs) -> list[Words]:
    """Return the columns of remarks whose sentences, joined in this order, are a row's note."""
    columns = [
        *_of_model(table, catalogs),
        support_remarks,
        _of_release(table, catalogs),
        _of_price(table),
        context_remarks(table, catalogs),
        _of_draft_gain(table),
        _of_unpublished_draft(table, catalogs),
        _where(_serves(table) & (table["served_adapters"] > 0), "served-adapters"),
        _where(_serves(table) & (table["kv_offload_bytes"] > 0), "cache-in-cpu-memory"),
        _of_scoring_release(table, catalogs),
        _of_rollout_engine(table),
        _of_gradients(table, catalogs),
        _of_one_micro_batch(table, catalogs),
        _of_load(table),
        _of_experts(table),
    ]
    if len(catalogs.readings):
        columns.append(_of_runs(table, catalogs))
    return columns


def _serves(table: Columns) -> np.ndarray:
    """Return which rows serve."""
    return table["trains"] == 0


def _where(condition: np.ndarray, code: str, **facts: Any) -> Words:
    """Return the same remark in each row that meets the condition."""
    vocabulary = np.array(["", remark(code, **facts)], dtype=object)
    return Words(np.where(condition, 1, 0), vocabulary)


def _where_by_code(condition: np.ndarray, codes: np.ndarray, remarks: list) -> Words:
    """Return the remark of each row's code in the rows that meet the condition."""
    vocabulary = np.array([*remarks, ""], dtype=object)
    return Words(np.where(condition, codes, len(remarks)), vocabulary)


def _of_model(table: Columns, catalogs: Catalogs) -> Iterator[Words]:
    """Yield what an estimate of each row's model leaves out, and how its config is unusual."""
    row = table["model_row"]
    parts, tower = _model_parts(catalogs)
    loads_tower = table["tower_parameters"] > 0
    yield Words(row + len(parts) * loads_tower, np.concatenate([parts, tower]))
    yield Words(row, words_of(catalogs, "models", "caveat"))
    yield Words(row, words_of(catalogs, "models", "remark"))
    of_training = np.append(words_of(catalogs, "models", "training_caveat"), "")
    yield Words(np.where(table["trains"] > 0, row, len(of_training) - 1), of_training)


@cached_per_catalogs("models")
def _model_parts(catalogs: Catalogs) -> tuple[np.ndarray, np.ndarray]:
    """Return the remarks on the parts of each model: without its tower, and with it loaded.

    The last entry of each is for an unknown model, which has no remark.
    """
    without, with_tower = [], []
    for model in catalogs.models.to_dict("records"):
        without.append(left_out_remark(model))
        lacks_block = model["usual_image_tokens"] > 0 and not model["tower_block"]
        with_tower.append(remark("tower-not-held") if lacks_block else "")
    return np.array([*without, ""], dtype=object), np.array([*with_tower, ""], dtype=object)


def left_out_remark(model: Row) -> Remark | str:
    """Return the remark on parts of a model that are not counted; "" if all are."""
    if not model["left_out"]:
        return ""
    takes_images = model["usual_image_tokens"] > 0
    count = model["left_out_parameters"]
    share = count / (model["parameters"] + count) if count > 0 else None
    facts = {"parts": model["left_out"], "parameters": count, "share": share}
    return remark("parts-left-out", **facts, takes_images=takes_images)


def _of_release(table: Columns, catalogs: Catalogs) -> Words:
    """Warn of a release that is newer than those from which the constants were read."""
    codes, pairs = word_pairs(table["implementation"], table["software_release"])
    warnings = [_warning(software, release, catalogs) for software, release in pairs]
    return Words(codes, np.array(warnings, dtype=object))


def _warning(software: str, release: str, catalogs: Catalogs) -> Remark | str:
    """Return the warning if a release is newer than those that were read; else ""."""
    entry = catalogs.implementations.loc[software]
    newest = newest_known(entry["releases"])
    # A patch of the newest release is no newer one.
    if not numbers_of_release(release)[: len(newest)] > newest > ():
        return ""
    name, releases = entry["name"], entry["releases"]
    return remark("newer-release", software=name, release=release, releases=releases)


def _of_draft_gain(table: Columns) -> Words:
    """Remark on the tokens that a draft is counted to gain in each step."""
    has_draft = _serves(table) & (table["speculates"] > 0)
    codes, gains = pd.factorize(np.where(has_draft, table["decode_gain_ratio"], np.nan).round(2))
    return _where_by_code(codes >= 0, codes, [remark("draft-gain", tokens=gain) for gain in gains])


def _of_unpublished_draft(table: Columns, catalogs: Catalogs) -> Words:
    """Remark on a draft of which no published run with the model is known."""
    codes, pairs = word_pairs(table["speculation"], table["model"])
    models_by_method = catalogs.speculations["known_of"]
    remarks = [
        remark("draft-unknown", method=method, model=model)
        if method != "none" and model not in models_by_method.get(method, ())
        else ""
        for method, model in pairs
    ]
    return _where_by_code(_serves(table), codes, remarks)


def _of_experts(table: Columns) -> Words:
    """Remark on experts that a format of few bits leaves in 16 bits."""
    leaves_wide = (table["leaves_experts_wide"] > 0) & (table["most_experts"] > 0)
    return _where(leaves_wide, "experts-in-16-bits")


def _of_runs(table: Columns, catalogs: Catalogs) -> Words:
    """Remark on the figures of each row that your own runs calibrate, and the days of the runs."""
    remarks = [calibration_remark(which, catalogs) for which in range(len(CALIBRATED) + 1)]
    return Words(rests_on_runs(table), np.array(remarks, dtype=object))


def rests_on_runs(table: Columns) -> np.ndarray:
    """Code for what your own runs calibrate: 1 for the time, 2 for the memory, 3 for both."""
    is_timed = (table["time_run_share"] > 0) | (table["first_token_run_share"] > 0)
    return np.asarray(is_timed + 2 * (table["memory_run_share"] > 0))


def calibration_remark(which: int, catalogs: Catalogs) -> Remark | str:
    """Return the remark for a code of `rests_on_runs`; "" for 0."""
    if not which:
        return ""
    days = tuple(sorted(set(catalogs.readings["made_on"])))
    year = catalogs.read_on[:4]
    return remark("calibrated", what=CALIBRATED[which - 1], days=days, present_year=year)


def _of_scoring_release(table: Columns, catalogs: Catalogs) -> Words:
    """Remark on training whose memory depends on the release of the software."""
    codes, ids = table["implementation"]
    remarks = [remark("scoring-release", software=_name(software, catalogs)) for software in ids]
    return _where_by_code(table["hangs_on_release"] > 0, codes, remarks)


def _name(software: str, catalogs: Catalogs) -> str:
    """Return the name of software; of unknown software its id."""
    return catalogs.implementations["name"].get(software, software)


def _of_gradients(table: Columns, catalogs: Catalogs) -> Words:
    """Remark on gradients between micro-batches if releases of the software differ in them."""
    differ = table["implementation_accumulates_unsharded"] * table["shards_gradients"]
    depends = differ * (table["accumulation_steps"] > 1) * (table["training_gpus"] > 1)
    codes, pairs = word_pairs(table["implementation"], table["library_version"])
    remarks = [_about_gradients(*pair, catalogs) for pair in pairs]
    return _where_by_code(depends > 0, codes, remarks)


def _of_one_micro_batch(table: Columns, catalogs: Catalogs) -> Words:
    """Remark on an accumulation that is not named, where whole gradients between would not fit."""
    keeps_whole = table["implementation_accumulates_unsharded"] * table["shards_gradients"]
    keeps_whole = keeps_whole * (1 - table["trainer_reduces_each"]) * (table["training_gpus"] > 1)
    is_assumed = (table["names_accumulation"] == 0) & (table["trains"] > 0)
    replica_gpus = table["tensor_parallel"] * table["expert_parallel"]
    whole_bytes = table["trained_parameters"] * table["whole_gradient_bytes_each"] / replica_gpus
    room_bytes = table.get("gpu_memory_bytes", np.nan) - table.get("needed_bytes", np.nan)
    exceeds_room = (room_bytes >= 0) & (whole_bytes > room_bytes)
    codes, ids = table["implementation"]
    remarks = [remark("one-micro-batch", software=_name(software, catalogs)) for software in ids]
    return _where_by_code(is_assumed & (keeps_whole > 0) & exceeds_room, codes, remarks)


def _about_gradients(software: str, release: str, catalogs: Catalogs) -> Remark | str:
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
        return remark("gradients-whole", software=name)
    return remark("gradients-reduced", software=name, releases=", ".join(others))


def _of_rollout_engine(table: Columns) -> Words:
    """Remark on a rollout engine whose share of the card is not known, as no card is named."""
    is_left_out = (table["colocates_engine"] > 0) & np.isnan(table["rollout_card_bytes"])
    return _where(is_left_out, "rollout-share-unknown")


def _of_load(table: Columns) -> Words:
    """Warn of a load that is too high for certain percentiles, or for any."""
    load = np.broadcast_to(table.get("arrivals_load_ratio", np.nan), table["rows"])
    percentile = np.broadcast_to(table.get("request_p99_seconds", np.nan), table["rows"])
    is_rough = (load > CERTAIN_LOAD) & ~np.isnan(percentile)
    remarks = [
        "",
        remark("rough-percentiles", load_percent=100 * CERTAIN_LOAD),
        remark("overloaded"),
    ]
    return Words(np.select([is_rough, load >= 1], [1, 2], 0), np.array(remarks, dtype=object))


def _of_price(table: Columns) -> Words:
    """Remark on an instance without a listed price in its region."""
    usd = np.fmax(table["instance_usd_per_hour_on_demand"], table["instance_usd_per_hour_spot"])
    is_unpriced = np.isnan(usd) & ~np.isnan(table["instance_gpus"])
    codes, pairs = word_pairs(table["instance"], table["region"])
    remarks = [remark("no-price", instance=instance, region=region) for instance, region in pairs]
    return _where_by_code(is_unpriced, codes, remarks)
