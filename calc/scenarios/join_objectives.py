"""Steps of the join: a training's objective, other models, rollout, and scoring of tokens."""

from itertools import chain

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios.lookups import columns_of, numbers_of, row_numbers, word_rows
from calc.scenarios.releases import rows_of_release
from calc.table import Words, where, word, word_pairs

SUPERVISED = "sft"


def objective_numbers(objective, trains, catalogs, problems):
    """Join the numbers of the objective. A served model has none and takes the first entry's."""
    serves_objective = (trains == 0) & ~objective.are(SUPERVISED)
    problems.add(serves_objective, "objective-in-serving", objective=objective)
    return columns_of(catalogs, "objectives", word_rows(catalogs, "objectives", objective).clip(0))


def trainer_numbers(implementation, library_version, catalogs):
    """Join the software's defaults in preference and reward training; else TRL's."""
    row = rows_of_release(catalogs, "trainers", implementation, library_version)
    default = row_numbers(catalogs, "trainers")
    newest = [name for name in default if name.startswith("trl")][-1]
    return columns_of(catalogs, "trainers", np.where(row < 0, default[newest], row), "trainer_")


def log_probability_numbers(
    implementation, objective, library_version, precision, trains, asked_loss, catalogs, problems
):
    """Join how the release scores the objective's tokens; 0 if it has no way to.

    Autocast converts outputs to fp32 (accelerate, convert_outputs_to_fp32), so a logit takes other
    numbers of bytes.
    """
    entry = _word_pair(objective, implementation)
    row = rows_of_release(catalogs, "log_probabilities", entry, library_version)
    earlier_row = rows_of_release(catalogs, "log_probabilities", entry, word("0"))
    problems.add(
        (trains > 0) & (row < 0) & ~objective.are(SUPERVISED),
        "objective-not-in-software",
        implementation=implementation,
        objective=objective,
        software=lambda number: _software_of(catalogs, objective.in_row(number)),
    )
    fuses = numbers_of(catalogs, "log_probabilities", "fuses_head")[row] > 0
    counts = (
        (trains > 0)
        & (row >= 0)
        & (asked_loss.are("") | np.where(fuses, asked_loss.are("fused"), asked_loss.are("full")))
    )
    wide = numbers_of(catalogs, "precisions", "widens_outputs")[
        word_rows(catalogs, "precisions", precision)
    ]
    scoring = _scoring(catalogs, np.where(counts, row, -1), wide, "scoring_")
    earlier = _scoring(
        catalogs,
        np.where(counts & library_version.are(""), earlier_row, -1),
        wide,
        "before_",
        names=("scores_answers", "backward_bytes_each", "wide_backward_bytes_each"),
    )
    return scoring | earlier | {"scores_by_release": counts.astype(float), "widens_outputs": wide}


def _scoring(
    catalogs: Catalogs,
    row: np.ndarray,
    wide: np.ndarray,
    prefix: str,
    names: tuple[str, ...] | None = None,
) -> Columns:
    """Return the numbers of entries of log_probabilities, 0 for row -1.

    Where outputs are converted to fp32 (`wide`), NAME has the value of the field wide_NAME.
    """
    columns = columns_of(catalogs, "log_probabilities", row, names=names, missing=0.0)
    narrow = {name: values for name, values in columns.items() if not name.startswith("wide_")}
    return {
        prefix + name: np.where(wide > 0, columns.get(f"wide_{name}", values), values)
        for name, values in narrow.items()
    }


def kl_coefficient(asked_kl_coefficient, usual_kl_coefficient, trainer_kl_coefficient, objective):
    """Weight of the divergence from the reference; by default the library's. [ratio]"""
    default = np.where(
        objective.are("grpo"),
        trainer_kl_coefficient,
        np.where(objective.are(SUPERVISED), np.nan, usual_kl_coefficient),
    )
    return np.where(np.isnan(asked_kl_coefficient), default, asked_kl_coefficient)


def reference(
    asked_reference, compares_reference, penalizes_kl, kl_coefficient, adapts, has_answers
):
    """Return the reference's source: kept, precomputed, adapter-off or none."""
    compares = (compares_reference > 0) | (penalizes_kl * (kl_coefficient > 0) > 0)
    default = where(
        compares,
        where(adapts > 0, word("adapter-off"), word("kept")),
        where(has_answers > 0, word("none"), word("")),
    )
    return where(asked_reference.are(""), default, asked_reference)


def reference_numbers(reference, has_answers):
    """Join whether a copy of the reference is held, and whether a reference scores."""
    keeps = reference.are("kept") * has_answers
    adapter_off = reference.are("adapter-off") * has_answers
    return {
        "keeps_reference": keeps,
        "takes_adapter_off": adapter_off,
        "scores_reference": np.maximum(keeps, adapter_off),
    }


def rollout(asked_rollout, rolls_out):
    """Return the place of generation: none (the policy itself), colocated or own gpus."""
    default = where(rolls_out > 0, word("colocated"), word(""))
    return where(asked_rollout.are(""), default, asked_rollout)


def rollout_numbers(
    rollout,
    rolls_out,
    rollout_sleep,
    phase_offload,
    trainer_sleeps,
    trainer_leaves_weights,
    trainer_leaves_states,
):
    """Return indicators of where the engine runs and sleeps, and what training offloads for it.

    By default, training offloads what the trainer offloads.
    """
    is_colocated = rollout.are("colocated") * rolls_out
    leaves = {
        name: is_colocated
        * np.where(
            phase_offload.are(""), default, phase_offload.are(name) | phase_offload.are("all")
        )
        for name, default in (
            ("weights", trainer_leaves_weights),
            ("states", trainer_leaves_states),
        )
    }
    return {
        "colocates_engine": is_colocated,
        "rolls_out_apart": rollout.are("own gpus") * rolls_out,
        "generates_itself": rollout.are("none") * rolls_out,
        "engine_sleeps": np.where(rollout_sleep.are(""), trainer_sleeps, rollout_sleep.are("yes"))
        * is_colocated,
        "weights_leave": leaves["weights"],
        "states_leave": leaves["states"],
    }


def rollout_share(asked_rollout_share, rolls_out, rolls_out_apart, trainer_rollout_share):
    """Share of a card that the rollout engine takes. [share]"""
    default = np.where(rolls_out_apart > 0, 0.9, trainer_rollout_share)
    return np.where(np.isnan(asked_rollout_share) & (rolls_out > 0), default, asked_rollout_share)


def rollout_tensor_parallel(
    asked_rollout_tensor_parallel, trainer_rollout_tensor_parallel, rolls_out, gpus
):
    """GPUs of one copy of the rollout engine. [GPUs]"""
    default = np.minimum(trainer_rollout_tensor_parallel, gpus)
    return np.where(
        np.isnan(asked_rollout_tensor_parallel) & (rolls_out > 0),
        default,
        asked_rollout_tensor_parallel,
    )


def rollout_gpus(asked_rollout_gpus, rolls_out_apart, rolls_out, gpus, rollout_tensor_parallel):
    """GPUs that generate: those apart, by default half in whole engines; else all. [GPUs]"""
    copies = np.maximum(np.floor(gpus / 2 / rollout_tensor_parallel), 1)
    apart = np.where(
        np.isnan(asked_rollout_gpus), copies * rollout_tensor_parallel, asked_rollout_gpus
    )
    everywhere = np.where(rolls_out > 0, gpus, np.nan)
    return np.where(rolls_out_apart > 0, apart, everywhere)


def training_gpus(gpus, rolls_out_apart, rollout_gpus):
    """GPUs that train or serve: all of the job but those that generate answers apart. [GPUs]"""
    return np.where(rolls_out_apart > 0, np.maximum(gpus - rollout_gpus, 1), gpus)


@cached_per_catalogs("engines")
def generator_numbers(catalogs):
    """Join the speed of an engine, and the time to launch a block when the policy generates."""
    names = ("bandwidth_ratio", "matmul_ratio", "request_seconds")
    columns = {f"generator_{name}": np.array([catalogs.engines.at["vllm", name]]) for name in names}
    block_seconds = catalogs.engines.at["transformers", "host_seconds_per_block"]
    return columns | {"policy_block_seconds": np.array([block_seconds])}


def step_numbers(asynchronous, padding, trainer_removes_padding):
    """Join whether the next rollout runs during the update, and whether padding is removed."""
    removes = np.where(padding.are(""), trainer_removes_padding, padding.are("removed"))
    return {
        "runs_beside": asynchronous.are("one-step-off").astype(float),
        "removes_padding": removes.astype(float),
    }


def other_models(value_model, reward_model, trains_value, rolls_out, model_row, catalogs, problems):
    """Parameters of value and reward models; the value's layers times width over the policy's."""
    rows = {}
    widths = numbers_of(catalogs, "models", "layers") * numbers_of(catalogs, "models", "hidden")
    for name, words in (("value_model", value_model), ("reward_model", reward_model)):
        rows[name] = word_rows(catalogs, "models", words)
        unknown = (rows[name] < 0) & ~words.are("") & ~words.are("none")
        problems.add(unknown, "other-model-unknown", column=name)
    value = np.where(value_model.are(""), model_row, rows["value_model"])
    value = np.where(trains_value > 0, value, -1)
    reward = np.where(rolls_out > 0, rows["reward_model"], -1)
    parameters = _parameters_with_scalar_head(catalogs)
    return {
        "value_parameters": parameters[value],
        "reward_parameters": parameters[reward],
        "value_width_ratio": np.nan_to_num(widths[value] / widths[model_row]),
    }


@cached_per_catalogs("models")
def _parameters_with_scalar_head(catalogs: Catalogs) -> np.ndarray:
    """Parameters of each model with a head that gives one number; 0 for row -1."""
    names = ("parameters", "head_parameters", "hidden")
    parameters, head, hidden = (numbers_of(catalogs, "models", name) for name in names)
    return np.nan_to_num(parameters - head + hidden)


def _word_pair(first: Words, second: Words) -> Words:
    """Two words of each row as one, with a space between."""
    codes, pairs = word_pairs(first, second)
    return Words(codes, np.array([" ".join(pair) for pair in pairs], dtype=object))


def _software_of(catalogs: Catalogs, objective: str) -> str:
    """The software that has entries for an objective, as a list in a sentence."""
    frame = catalogs.log_probabilities
    has_objective = [objective in objectives for objectives in frame["objectives"]]
    software = chain.from_iterable(frame.loc[has_objective, "software"])
    return ", ".join(dict.fromkeys(software))
