"""Resolve a job: read its cells, fill in defaults, and refuse what contradicts itself."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost.markets import OF_EC2
from calc.evaluate import Row
from calc.job.cells import (
    JobError,
    blank,
    cell_ids,
    cell_value,
    cell_values,
    check_ids,
    machines_of,
)
from calc.job.columns import (
    ADMITS,
    ANYWHERE,
    ASKED_ANSWERS,
    EXAMPLE_TOKENS,
    EXAMPLES,
    FIXABLE,
    JOB_BY_NAME,
    JOB_INPUTS,
    JOB_MARKETS,
    JUDGED,
    PUBLISHED,
    USUAL,
    usual_limits_seconds,
)
from calc.job.job import Job
from calc.job.lengths import fill_lengths, from_scratch_step_tokens
from calc.job.measure import counts_images, tokens_in_all, tokens_of_image
from calc.job.rollouts import rolls_out, with_rollouts
from calc.job.service_classes import with_class_defaults
from calc.job.software import (
    TRAINING,
    compiles_blocks,
    divides_experts,
    divides_matrices,
    generates,
    usual_loading,
    usual_software,
)
from calc.mappings import Cells
from calc.say.remarks.text import remark_text
from calc.scenarios.inputs import DEFAULTS, bounded_inputs, inputs_by_name
from calc.scenarios.lookups import cells_by_id, numbers_of, row_numbers
from calc.scenarios.private_prices import PrivatePriceError, private_prices
from calc.scenarios.published_weights import bits_of, narrow_formats, usual_formats
from calc.scenarios.stack_numbers import kind_numbers
from calc.units import WEEK_HOURS

CATALOGED = {  # a column whose ids a catalog lists
    "instance": "instances",
    "gpu": "gpus",
    "precision": "precisions",
    "implementation": "implementations",
}
SAME_TOKENS = 1e-6  # by which two counts of the tokens of a run may differ
# Combinations of what is set by hand, and of all that is left open too: about 6 s and 1.6 GB.
MOST_SETTINGS, MOST_WAYS = 5_000, 1_500_000


def resolve(row: Cells, catalogs: Catalogs) -> Job:
    """Return the job of a row of cells with every default filled in.

    Raise JobError, in one sentence with its cure, if the row cannot be answered as it is written.
    """
    cells = {str(name): value for name, value in row.items() if not blank(value)}
    cells = with_class_defaults(cells, _work(cells))
    fixed = {name: cell_values(name, cells[name]) for name in FIXABLE if name in cells}
    generating = rolls_out(fixed, catalogs)
    columns = _columns(cells, generating, catalogs)
    each = with_rollouts(columns, fixed, cells, catalogs) if generating else 0.0
    _images(columns, fixed, cells, catalogs)
    _tuning(columns, fixed, cells)
    _private(fixed, catalogs)
    _check_settings(fixed, catalogs)
    assumptions = _assumptions(cells, catalogs)
    work, model = columns["work"], columns["model"]
    default_software = usual_software(work, model, catalogs, columns["goal"], generating)
    software = fixed.get("implementation", [default_software])[0]
    _serve_as_stored(fixed, work, model, catalogs)
    _load_on_named(fixed, columns, software, catalogs)
    all_software = fixed.get("implementation", [software])
    return Job(
        **columns,
        fixed=fixed,
        assumed=assumptions,
        judged=_ranking_assumptions(assumptions, catalogs),
        implementation=software,
        published_precision=cells_by_id(catalogs, "models", "published_precision")[model],
        formats=usual_formats(catalogs, model),
        narrow_formats={bits: narrow_formats(catalogs, model, bits) for bits in (8, 4)},
        generates=generates(model, catalogs),
        divides_matrices=all(divides_matrices(name, catalogs) for name in all_software),
        divides_experts=divides_experts(columns, fixed, all_software, catalogs),
        rolls_out=generating,
        answer_tokens_each=each,
        divides_sequences=_divide_sequences(all_software, catalogs),
        compiles_blocks=compiles_blocks(columns, all_software, catalogs),
    )


def _serve_as_stored(fixed: dict[str, list], work: str, model: str, catalogs: Catalogs) -> None:
    """Set the precision of a model whose file is quantized, as which it is served."""
    precision = cells_by_id(catalogs, "models", "stored_precision")[model]
    if work == "inference" and precision:
        fixed.setdefault("precision", [precision])


def _load_on_named(fixed: dict[str, list], columns: Row, software: str, catalogs: Catalogs) -> None:
    """Set an older build for a job whose machines need one."""
    named = fixed.get("instance") or fixed.get("gpu") or columns["have"] or ()
    if usual_loading(named, software, catalogs) == "pinned":
        fixed.setdefault("loading", ["pinned"])


def _divide_sequences(software: list[str], catalogs: Catalogs) -> bool:
    """Return whether all of this software has context parallel."""
    context_parallel = cells_by_id(catalogs, "implementations", "context_parallel")
    return all(context_parallel[name] > 0 for name in software)


def _check_settings(fixed: dict[str, list], catalogs: Catalogs) -> None:
    """Refuse settings by hand with too many combinations, and ids that no catalog has."""
    settings = math.prod(
        len(values) for name, values in fixed.items() if name not in ("instance", "gpu")
    )
    bounded_by(settings, MOST_SETTINGS, fixed)
    for name, table in CATALOGED.items():
        check_ids(name, fixed.get(name, ()), row_numbers(catalogs, table))


def _assumptions(cells: Cells, catalogs: Catalogs) -> Row:
    """The assumptions of time and cost that the cells set."""
    inputs = bounded_inputs(catalogs)
    return {
        name: cell_value(inputs[name], cells[name])
        for name in inputs
        if name not in DEFAULTS and name in cells
    }


def _ranking_assumptions(assumptions: Cells, catalogs: Catalogs) -> Row:
    """Return the assumptions of the ranking, from the catalog unless the job sets them."""
    defaults = cells_by_id(catalogs, "assumptions", "value")
    return {name: assumptions.get(name, defaults[name]) for name in JUDGED}


def _columns(cells: Cells, generating: bool, catalogs: Catalogs) -> Row:
    """Return the columns of a job and those of a scenario that it always has, with their values."""
    work = _work(cells)
    defaults = USUAL[work]
    job = {
        column.name: cell_value(column, cells.get(column.name), defaults.get(column.name))
        for column in JOB_INPUTS
    }
    model = _model(cells, catalogs)
    job |= {"work": work, "model": model}
    for name in ("train_tokens", "sequence_tokens", "prompt_tokens", "hours_per_month"):
        job[name] = cell_value(inputs_by_name()[name], cells.get(name), defaults.get(name))
    fill_lengths(job, cells, _longest_sequence(model, catalogs), generates(model, catalogs))
    if not generating:
        _examples(job, cells, catalogs)
        if job["goal"] == "train" and "step_tokens" not in cells:
            parameters = cells_by_id(catalogs, "models", "parameters")[model]
            step_tokens = from_scratch_step_tokens(parameters, job["train_tokens"])
            job["step_tokens"] = max(step_tokens, job["step_tokens"])
    _active_users(job, cells, catalogs)
    _offline_work(job, cells, catalogs)
    if not job["ends"] and job["first_token_seconds"] is None:
        limits_seconds = usual_limits_seconds(job["prompt_tokens"])
        job["first_token_seconds"] = float(limits_seconds["first_token_seconds"])
    if job["fewest_bits"] != PUBLISHED:
        job["fewest_bits"] = int(job["fewest_bits"])
    job["regions"] = _regions(cells, catalogs)
    job["markets"] = cell_ids("markets", job["markets"], JOB_MARKETS, OF_EC2)
    job["admits"] = cell_ids("admits", cells.get("admits", ""), ADMITS)
    job["answers"] = cell_ids("answers", cells.get("answers", ""), ASKED_ANSWERS)
    if not blank(job["have"]):
        _own_machines(job, catalogs)
    return job


def _model(cells: Cells, catalogs: Catalogs) -> str:
    """Return the model of a job; JobError if it names none, or one that the catalog lacks."""
    model = str(cells.get("model", "")).strip()
    if not model:
        raise JobError("No model is named", "write the id of a model of the catalog")
    check_ids("model", [model], row_numbers(catalogs, "models"))
    return model


def _longest_sequence(model: str, catalogs: Catalogs) -> float:
    """Return the longest sequence of a model, infinite if it has no limit. [tokens]

    The text of a pair of image and text is limited by the positions of the text's tower.
    """
    is_pair = cells_by_id(catalogs, "models", "kind")[model] == "dual"
    column = "max_position" if is_pair else "longest_sequence_tokens"
    longest = numbers_of(catalogs, "models", column)[row_numbers(catalogs, "models")[model]]
    return float(np.nan_to_num(longest, nan=np.inf))


def _active_users(job: Row, cells: Cells, catalogs: Catalogs) -> None:
    """Fill in the users of a service for people: the share of them that is active."""
    if not job["people"] or "users" in cells:
        return
    usual_share = cells_by_id(catalogs, "assumptions", "value")["share_active"]
    share_column = bounded_inputs(catalogs)["share_active"]
    share = cell_value(share_column, cells.get("share_active"), usual_share)
    job["users"] = active_users(job["people"], float(share))


def active_users(people: float, share: float) -> int:
    """Return how many of these people have a request in flight, at this share of them."""
    return math.ceil(round(people * share, 9))


def _offline_work(job: Row, cells: Cells, catalogs: Catalogs) -> None:
    """Fill in whether the work ends, and its tokens if it is offline inference.

    Offline work has no load and no limits on the time of requests, but a limit on its hours.
    """
    is_run = job["work"] == TRAINING
    tokens = None if is_run else tokens_in_all(cells.get("tokens_total"), job, catalogs)
    job |= {"tokens_total": tokens, "ends": is_run or bool(tokens)}
    if not tokens:
        return
    model_number = row_numbers(catalogs, "models")[job["model"]]
    if kind_numbers(catalogs, "scores_once")[model_number] > 0:  # images without a text
        job |= {"prompt_tokens": 1, "sequence_tokens": 1}
    job |= dict.fromkeys(("users", "people", "requests_per_second"))
    job |= dict.fromkeys(("first_token_seconds", "token_seconds"))
    job["hours_most"] = job["hours_most"] or WEEK_HOURS


def _images(job: Row, fixed: dict[str, list], cells: Cells, catalogs: Catalogs) -> None:
    """Fill in the images of a service whose model sees some.

    Work that is counted in images has one in each request. A prompt that the job does not set is at
    least as long as its images.
    """
    each = tokens_of_image(job["model"], catalogs)
    if job["work"] == TRAINING or not each:
        return
    if counts_images(cells.get("tokens_total")):
        fixed.setdefault("images_per_sequence", [1])
    images = float(fixed.get("images_per_sequence", [0])[0])
    if cells.keys() & {"prompt_tokens", "context_tokens", "sequence_tokens"}:
        return
    prompt = max(job["prompt_tokens"], math.ceil(images * fixed.get("image_tokens", [each])[0]))
    job["sequence_tokens"] += prompt - job["prompt_tokens"]
    job["prompt_tokens"] = prompt


def _own_machines(job: Row, catalogs: Catalogs) -> None:
    """Read the team's own machines. Nothing is paid for them, so limits on the cost go."""
    machines = machines_of(job["have"], [*catalogs.instances.index, *catalogs.gpus.index])
    usual_region = DEFAULTS["region"]
    region = usual_region if usual_region in job["regions"] else job["regions"][0]
    job |= {
        "have": machines,
        "regions": [region],
        "markets": ["on-demand"],
        "instances_most": max(machines.values()),
        "usd_most": None,
        "usd_per_hour_most": None,
    }


def _work(cells: Cells) -> str:
    """Training or inference, as `work` or the goal says; refuse a job in which they contradict."""
    goal = cell_value(JOB_BY_NAME["goal"], cells["goal"]) if "goal" in cells else ""
    work = cell_value(
        inputs_by_name()["work"], cells.get("work"), "inference" if goal == "serve" else None
    )
    if goal and (goal == "serve") == (work == TRAINING):
        raise JobError(
            f"goal {goal} and work {work} contradict each other", "leave one of the two empty"
        )
    return str(work)


def _examples(job: Row, cells: Cells, catalogs: Catalogs) -> None:
    """The tokens of a run that states its examples: examples × tokens each × epochs.

    If the tokens of an example are not stated, an example is an image, or the default text as far
    as the context holds it. For a pair of image and text, whose steps count the tokens of the text,
    it is that text.
    """
    is_told = job["examples"] and (job["example_tokens"] or "train_tokens" not in cells)
    if job["work"] != TRAINING or not is_told:
        job |= dict.fromkeys(EXAMPLES)
        return
    is_image = cells_by_id(catalogs, "models", "kind")[job["model"]] == "vision"
    patches = cells_by_id(catalogs, "models", "fixed_tokens")[job["model"]]
    usual_tokens = patches if is_image else min(EXAMPLE_TOKENS, job["sequence_tokens"])
    job["example_tokens"] = job["example_tokens"] or usual_tokens
    tokens = job["examples"] * job["example_tokens"] * (job["epochs"] or 1)
    if "train_tokens" in cells and abs(job["train_tokens"] / tokens - 1) > SAME_TOKENS:
        raise JobError(
            f"train_tokens {job['train_tokens']:,.0f} is not examples x example_tokens x epochs",
            "leave train_tokens empty",
        )
    job["train_tokens"] = tokens


def published_bits(job: Cells, catalogs: Catalogs) -> int:
    """The fewest_bits that admit a service's published weights and are not allowed. [bits]

    `job`: the cells of a job.
    """
    precision = cells_by_id(catalogs, "models", "published_precision").get(job.get("model", ""), "")
    training = job.get("work") == TRAINING
    if not precision or job.get("precision") or job["fewest_bits"] == PUBLISHED or training:
        return 0
    bits = bits_of(catalogs, precision)
    return bits if bits < int(job["fewest_bits"]) else 0


def bounded_by(count: float, most: int, fixed: Mapping[str, Sequence]) -> None:
    """Refuse a job whose settings multiply beyond the most; the message names the longest list."""
    if count > most:
        lists = {name: len(values) for name, values in fixed.items() if len(values) > 1}
        longest = max(lists, key=lambda name: lists[name], default="")
        raise JobError(
            f"This multiplies to {count:,.0f} combinations, and at most {most:,} are "
            f"compared at once",
            f"take fewer of {longest} ({lists[longest]} values)"
            if longest
            else "allow fewer instances",
        )


def usable_choices(name: str, work: str, catalogs: Catalogs) -> list[str]:
    """Return the number formats (`precision`) or software (`implementation`) for a kind of work."""
    table = getattr(catalogs, f"{name}s")
    trains = ["trains", "adapts"] if name == "precision" else ["trains"]
    able = ["serves"] if work == "inference" else trains
    return list(table.index[table[able].any(axis=1)])


def fixed_at(job: Job, name: str, free: Iterable) -> list:
    """The values that a job fixes for a scenario column, else those that it may take."""
    return list(job.fixed.get(name) or free)


def compared_columns(job: Job) -> tuple[str, ...]:
    """Return the scenario columns for which the job lists several values, except instances."""
    return tuple(
        name
        for name, values in job.fixed.items()
        if len(values) > 1 and name not in ("instance", "gpu")
    )


def tunings(job: Job) -> list[str]:
    """The methods that a training job compares, or its one."""
    several = job.fixed.get("tuning", ())
    return list(several) if len(several) > 1 else [job.method]


def _regions(cells: Cells, catalogs: Catalogs) -> list[str]:
    """The regions of the catalog that the job allows."""
    value = cells.get("regions", cells.get("region", DEFAULTS["region"]))
    regions = list(catalogs.regions.index)
    words = cell_ids("regions", value, [*regions, ANYWHERE])
    return regions if ANYWHERE in words else words


def _tuning(job: Row, fixed: dict[str, list], cells: Cells) -> None:
    """Take the method from the tuning; refuse a job in which they contradict each other."""
    if "tuning" not in fixed:
        return
    if "method" not in cells:
        job["method"] = fixed["tuning"][0]
    elif (job["method"] == "full") != ("full" in fixed["tuning"]):
        raise JobError(
            f"method {job['method']} and tuning {fixed['tuning'][0]} contradict each other",
            "leave tuning empty",
        )


def _private(fixed: dict[str, list], catalogs: Catalogs) -> None:
    """Refuse private prices that cannot be read."""
    try:
        for text in fixed.get("private_prices", ()):
            private_prices(text, row_numbers(catalogs, "instances"))
    except PrivatePriceError as error:
        raise JobError(remark_text(error.remark)) from None
