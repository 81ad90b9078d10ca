"""A job as people write it -> every job column with its value, the choices that it fixes, and what is wrong in one sentence."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost.markets import OF_EC2
from calc.scenarios.inputs import DEFAULTS, Input, bounded_inputs, inputs_by_name
from calc.scenarios.lookups import nearest, numbers_of, row_numbers
from calc.scenarios.private_prices import PrivatePriceError, private_prices
from calc.scenarios.problems import quoted
from calc.scenarios.read import number
from calc.scenarios.stacks import kind_numbers
from calc.search.inputs import ADMITS, ANYWHERE, FIXABLE, JOB_INPUTS, JOB_MARKETS, SEQUENCE_TOKENS, SEVERAL, USUAL

TRAINING = "training"
MOST_SETTINGS, MOST_WAYS = 5_000, 1_000_000  # crossed by hand, and with all that is left open: about 2 s and 1 GB
MOST_WIDE_SETTINGS, MOST_WIDE_WAYS = 10_000_000, 100_000_000  # of a wide search, which goes through them in stretches
DERIVED = ("fixed", "assumed", "implementation", "published_precision", "most_ways")


class JobError(ValueError):
    """The job cannot be answered as it is written; the message is one sentence with the cure."""


def settled(job: Mapping[str, Any], catalogs: Catalogs, wide: bool = False) -> dict[str, Any]:
    """Every job column with its value, and what is derived of it (DERIVED); raises JobError.

    `fixed`: scenario column -> the values to try; `assumed`: assumptions of time and cost that the job sets.
    """
    given = {str(name): value for name, value in job.items() if not blank(value)}
    work = _one(inputs_by_name()["work"], given.get("work"))
    usual = USUAL[work]
    whole = {column.name: _one(column, given.get(column.name), usual.get(column.name)) for column in JOB_INPUTS}
    whole |= {"work": work, "model": str(given.get("model", "")).strip()}
    row = row_numbers(catalogs, "models").get(whole["model"])
    if row is None:
        known = nearest(whole["model"], row_numbers(catalogs, "models")) or ", ".join(list(catalogs.models.index[:6]))
        raise JobError(
            f"model '{quoted(whole['model'])}' is not in the catalog; choose one such as {known}."
            if whole["model"]
            else "No model is named; write the id of a model of the catalog."
        )
    for name in ("train_tokens", "sequence_tokens", "prompt_tokens", "hours_per_month"):
        column = inputs_by_name()[name]
        whole[name] = _one(column, given.get(name), usual.get(name))
    longest = numbers_of(catalogs, "models", "longest_sequence_tokens")[row]
    _lengths(whole, given, float(np.nan_to_num(longest, nan=np.inf)), generates(whole["model"], catalogs))
    whole["fewest_bits"] = int(whole["fewest_bits"])
    whole["regions"] = _regions(given, catalogs)
    whole["markets"] = _words("markets", given.get("markets", "on-demand"), JOB_MARKETS, OF_EC2)
    whole["admits"] = _words("admits", given.get("admits", ""), ADMITS)
    fixed = {name: _values(name, given[name]) for name in FIXABLE if name in given}
    _tuning(whole, fixed, given)
    _private(fixed, catalogs)
    settings = math.prod(len(values) for name, values in fixed.items() if name not in ("instance", "gpu"))
    bounded_by(settings, MOST_WIDE_SETTINGS if wide else MOST_SETTINGS, fixed)
    for name, table in (("instance", "instances"), ("gpu", "gpus"), ("precision", "precisions"), ("implementation", "implementations")):
        _known(name, fixed.get(name, ()), row_numbers(catalogs, table))
    bounded = bounded_inputs(catalogs)
    assumed = {name: _one(bounded[name], given[name]) for name in bounded if name not in DEFAULTS and name in given}
    software = fixed.get("implementation", [usual_software(work, whole["model"], catalogs)])[0]
    if work == "inference" and (stored := catalogs.models["stored_precision"][whole["model"]]):
        fixed.setdefault("precision", [stored])  # a file that is quantised is served as it is
    published = catalogs.models["published_precision"][whole["model"]]
    derived = {"fixed": fixed, "assumed": assumed, "implementation": software, "published_precision": published}
    return whole | derived | {"most_ways": MOST_WIDE_WAYS if wide else MOST_WAYS}


def published_bits(whole: Mapping[str, Any], catalogs: Catalogs) -> int:
    """The fewest_bits that admit the published weights of a service, where the job does not; else 0. `whole`: a settled job."""
    published = catalogs.models["published_precision"].get(whole.get("model"), "")
    if not published or whole["work"] == "training" or whole.get("precision") or whole.get("fixed", {}).get("precision"):
        return 0
    bits = 8 if catalogs.precisions["matrix_bytes_each"][published] >= 1 else 4
    return bits if bits < int(whole["fewest_bits"]) else 0


def bounded_by(count: float, most: int, fixed: Mapping[str, Sequence]) -> None:
    """A job whose settings multiply beyond the most is refused before they are crossed, the longest list of them by name."""
    if count > most:
        lists = {name: len(values) for name, values in fixed.items() if len(values) > 1}
        longest = max(lists, key=lambda name: lists[name], default="")
        cure = f"take fewer of {longest} ({lists[longest]} values)" if longest else "allow fewer instances"
        raise JobError(f"This multiplies to {count:,.0f} combinations, and at most {most:,} are compared at once; {cure}.")


def takes_images(model: str, catalogs: Catalogs) -> bool:
    """Whether a model has a tower for images or sounds that is modelled."""
    return bool(catalogs.models["usual_image_tokens"][model] > 0)


def generates(model: str, catalogs: Catalogs) -> bool:
    """Whether a model answers a prompt token by token, as encoders do not."""
    return bool(kind_numbers(catalogs, "generates")[row_numbers(catalogs, "models")[model]] > 0)


def usual_software(work: str, model: str, catalogs: Catalogs) -> str:
    """The software of a job that names none: vLLM serves what generates, transformers does the rest."""
    return "vllm" if work != TRAINING and generates(model, catalogs) else "transformers"


def fitted_lengths(lengths: Sequence[int], longest: float) -> tuple[int, ...]:
    """A sequence, or prompt and answer, as far as a model has learned positions; an answer that leaves no room takes half of them."""
    first, *answers = lengths
    answers = [each if each < longest else int(longest) // 2 for each in answers]
    return int(min(first, longest - sum(answers))), *answers


def blank(value: Any) -> bool:
    """Whether a cell says nothing."""
    return (
        value is None
        or (isinstance(value, float) and np.isnan(value))
        or (isinstance(value, str) and not value.strip())
        or (isinstance(value, list) and not value)
    )


def fixed_at(whole: Mapping[str, Any], name: str, free: Iterable) -> list:
    """The values that the job fixes for a scenario column, else those that are free."""
    return list(whole["fixed"].get(name) or free)


def varied(whole: Mapping[str, Any]) -> tuple[str, ...]:
    """The scenario columns that the job lists several values of to compare, instances apart."""
    return tuple(name for name, values in whole["fixed"].items() if len(values) > 1 and name not in ("instance", "gpu"))


def tunings(whole: Mapping[str, Any]) -> list[str]:
    """The methods that a training job compares, or its one."""
    several = whole["fixed"].get("tuning", ())
    return list(several) if len(several) > 1 else [whole["method"]]


def _one(column: Input, value: Any, usual: Any = None) -> Any:
    """One value of a column, its default where none is given."""
    if blank(value):
        return column.default if usual is None else usual
    if column.kind in ("text", "choice"):
        text = "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value).strip()
        text = text.removesuffix(".0") if column.name == "fewest_bits" else text
        text = text.lower() if column.kind == "choice" else text
        if column.kind == "choice" and text not in column.choices:
            raise JobError(f"{column.name} '{quoted(value)}' is not known; use {' or '.join(filter(None, column.choices))}.")
        return text
    found = number(str(value).strip().replace(",", "_"))
    if not column.allows(np.array(found)):
        raise JobError(f"{column.name} '{quoted(value)}' is not {column.range_words}; correct that cell.")
    return found


def _values(name: str, value: Any) -> list:
    """The values that fix a scenario column: one, a list, or words and numbers joined by +."""
    several = value.split("+") if isinstance(value, str) and name in SEVERAL else value
    several = several if isinstance(several, list | tuple) else [several]
    column = inputs_by_name()[name]
    if len(several) == 1 or column.kind != "choice":  # in a list of choices an empty one is the usual
        several = [value for value in several if not blank(value)]
    return list(dict.fromkeys(_one(column, value) for value in several))


def _words(name: str, value: Any, known: Sequence[str], usual: Sequence[str] = ()) -> list[str]:
    """Ids joined by + or in a list, each of them known; the `usual` are named where one is not."""
    several = value.split("+") if isinstance(value, str) else list(value)
    words = list(dict.fromkeys(str(word).strip().lower() for word in several if not blank(word)))
    for word in words:
        if word not in known:
            raise JobError(f"{name} '{quoted(word)}' is not known; use {nearest(word, known) or ', '.join(usual or known[:6])}.")
    return words


def _regions(given: Mapping[str, Any], catalogs: Catalogs) -> list[str]:
    """The regions of the catalog that the job allows."""
    value = given.get("regions", given.get("region", DEFAULTS["region"]))
    known = list(catalogs.regions.index)
    if ANYWHERE in (value if isinstance(value, list | tuple) else [str(value).strip().lower()]):
        return known
    return _words("regions", value, [*known, ANYWHERE])


def _lengths(whole: dict[str, Any], given: Mapping[str, Any], longest: float, generates: bool) -> None:
    """The lengths of a sequence that the job leaves out: usual ones, as far as the model has learned positions."""
    if whole["work"] == TRAINING:
        if "sequence_tokens" not in given:
            whole["sequence_tokens"] = min(SEQUENCE_TOKENS, longest)
        whole["prompt_tokens"] = whole["answer_tokens"] = None
        return
    held = whole["sequence_tokens"] if "sequence_tokens" in given else longest
    if "answer_tokens" not in given:
        whole["answer_tokens"] = min(whole["answer_tokens"], held // 2)
    answered = whole["answer_tokens"] if generates else 0
    if "prompt_tokens" not in given:
        whole["prompt_tokens"] = max(min(whole["prompt_tokens"], held - answered), 1)
    if "sequence_tokens" not in given:
        whole["sequence_tokens"] = whole["prompt_tokens"] + answered


def _tuning(whole: dict[str, Any], fixed: dict[str, list], given: Mapping[str, Any]) -> None:
    """Method and tuning say the same."""
    if "tuning" not in fixed:
        return
    if "method" not in given:
        whole["method"] = fixed["tuning"][0]
    elif (whole["method"] == "full") != ("full" in fixed["tuning"]):
        raise JobError(f"method {whole['method']} and tuning {fixed['tuning'][0]} contradict each other; leave tuning empty.")


def _private(fixed: dict[str, list], catalogs: Catalogs) -> None:
    """Private prices that can be read."""
    try:
        for text in fixed.get("private_prices", ()):
            private_prices(text, row_numbers(catalogs, "instances"))
    except PrivatePriceError as error:
        raise JobError(str(error)) from None


def _known(name: str, values: Iterable[str], known: Iterable[str]) -> None:
    for value in values:
        if value not in known:
            raise JobError(
                f"{name} '{quoted(value)}' is not in the catalog; choose one such as {nearest(value, known) or ', '.join(list(known)[:6])}."
            )
