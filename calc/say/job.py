"""The job in words: a sentence about any job, and a short form for groups and chips.

A job that is refused may lack columns or have text in place of numbers. Such parts are left out.
"""

from collections.abc import Iterator
from typing import Any

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.cost.markets import MARKETS, USUAL_MARKETS
from calc.job.cells import JobError, listed, machines_of
from calc.job.columns import (
    ANYWHERE,
    FIRST_TOKEN_SECONDS,
    FIXABLE,
    JOB_BY_NAME,
    STEP_TOKENS,
)
from calc.layout import at_once
from calc.mappings import Cells
from calc.say.amounts import (
    NO_LIMIT,
    active_share,
    context_tokens_of,
    context_words,
    is_generator,
    number_in,
    offline_words,
    requests_in_all,
    sound_words,
    tokens_through,
    window_words,
    work_ends,
)
from calc.say.change import change_in_words
from calc.say.job_limits import limits_in_words
from calc.say.limits import share_words
from calc.say.numbers import (
    amount,
    amount_with_noun,
    is_missing,
    percent,
    short_duration,
    three_digits,
    with_noun,
)
from calc.say.place import instances_in_words, short_card
from calc.say.sessions import turns_words
from calc.say.setting import UNUSUAL, WORDS, choice, name_of, phrase_of
from calc.scenarios.inputs import BY_NAME
from calc.studies.stricter_limits import SPEEDS

ROLLOUT = ("prompts_per_step", "generations", "completion_tokens")
SHARES = {0.5: "half", 0.25: "one in four", 0.2: "one in five", 0.1: "one in ten", 1.0: "all"}
METHOD_WORDS = {"lora": "by LoRA", "qlora": "by QLoRA"}
TUNING_WORDS = {"full": "all weights", "lora": "LoRA"}
ON_DEMAND = {"on-demand"}
# Choices and assumptions for which the sentence has a part of its own.
CHOICES_IN_PARTS = (
    *("instance", "gpu", "tuning", "objective", "scales", "private_prices", "turns"),
    "loading",
)
ASSUMPTIONS_IN_PARTS = (
    "spare",
    "attempts",
    "peak_to_mean",
    "share_active",
    "paid_ratio",
    "think_seconds",
)
MACHINE = ("instance", "gpus")
ALL_MONTH_HOURS = 730
UNITS_WITHOUT_WORDS = ("ratio", "count")  # of assumptions


def job_sentence(job: Cells, catalogs: Catalogs) -> str:
    """Say a job: Fine-tune all weights of Llama 3.1 8B on 150 million tokens, in N. Virginia."""
    trains, ends = not _serves(job), work_ends(job)
    if trains:
        words = _training_words(job, catalogs)
    elif ends:
        words = _offline(job, catalogs)
    else:
        words = _serving_words(job, catalogs)
    parts = [
        *words,
        *_places(job, catalogs),
        *limits_in_words(job, trains or ends),
        *_by_hand(job, catalogs),
    ]
    return ", ".join(filter(None, parts)) + "."


def short_job(job: Cells, catalogs: Catalogs) -> str:
    """Say a job or a result row in short: Fine-tune Llama 3.1 8B on 150 million tokens."""
    model = name_of("model", job.get("model", ""), catalogs) or "a model without a name"
    if not _serves(job):
        return (
            f"{'Train' if job.get('goal') == 'train' else 'Fine-tune'} "
            f"{model}{_objective(job)}{_on_tokens(job)}"
        )
    tokens_each = context_words(job)
    if work_ends(job):
        return offline_words(job, model, catalogs)
    return ", ".join(filter(None, (f"Serve {model}", _load(job), tokens_each)))


def _serves(job: Cells) -> bool:
    """Return whether a job serves a model; of a refused job its goal alone may say so."""
    return job.get("work") == "inference" or (not job.get("work") and job.get("goal") == "serve")


def _on_tokens(job: Cells) -> str:
    """Say the tokens of a run, to three digits if its generated answers decide them."""
    tokens = number_in(job, "train_tokens")
    digits = 3 if _rolls_out(job) else 6
    return f" on {amount(tokens, digits)} tokens" if tokens else ""


def _objective(job: Cells) -> str:
    """Say the objectives: with DPO; with SFT or DPO. Empty for the default one."""
    names = [str(name) for name in listed(job.get("objective"))]
    if set(names) - {"sft"}:
        return f" with {_any_of([phrase_of('objective', name) or name for name in names])}"
    return ""


def _rolls_out(job: Cells) -> bool:
    """Return whether the lengths of generated answers are known, as in a resolved job."""
    return all(len(listed(job.get(name))) == 1 for name in ROLLOUT[1:])


def _training_words(job: Cells, catalogs: Catalogs) -> Iterator[str]:
    """Yield what is trained, on how much, and how."""
    model = name_of("model", job.get("model", ""), catalogs)
    tunings = listed(job.get("tuning"))
    if job.get("goal") == "train":
        what = f"Train {model} from scratch"
    elif len(tunings) > 1:
        what = f"Fine-tune {model}, {' or '.join(TUNING_WORDS[name] for name in tunings)},"
    else:
        method = METHOD_WORDS.get(job.get("method") or "", "")
        what = f"Fine-tune {model} {method}" if method else f"Fine-tune all weights of {model}"
    examples = number_in(job, "examples")
    epochs = number_in(job, "epochs") or 1
    passes = amount_with_noun(epochs, "epoch")
    yield f"{what}{_objective(job)}{_on_tokens(job)}" + (
        f" ({amount(examples)} {'prompts' if _rolls_out(job) else 'examples'}, {passes})"
        if examples
        else ""
    )
    if _rolls_out(job):
        prompts, answers, most = (number_in(job, name) for name in ROLLOUT)
        of_step = f"{amount(prompts)} prompts a step with " if prompts else ""
        yield f"{of_step}{with_noun(int(answers), 'answer')} each of up to {amount(most)} tokens"
    if (context := number_in(job, "sequence_tokens")) and not _reads_images(job, catalogs):
        yield f"context {amount(context)}"
    step = 0.0 if job.get("prompts_per_step") else number_in(job, "step_tokens")
    if step and step != STEP_TOKENS:
        yield f"{amount(step, 3)} tokens a step"


def _reads_images(job: Cells, catalogs: Catalogs) -> bool:
    """Return whether the model is an encoder of images, whose sequence is that of an image."""
    return bool(catalogs.models["kind"].get(job.get("model", "")) == "vision")


def _serving_words(job: Cells, catalogs: Catalogs) -> Iterator[str]:
    """Yield what is served, to whom, at what load and how fast."""
    model = name_of("model", job.get("model", ""), catalogs)
    people = number_in(job, "people")
    if people and not number_in(job, "requests_per_second"):
        share = active_share(job, people, catalogs)
        active = SHARES.get(share, percent(share))
        people_words = f"{amount(people)} {'person' if people == 1 else 'people'}"
        load = _load(job)
        yield f"Serve {model} to {people_words}, {active} active{f': {load}' if load else ''}"
    else:
        yield f"Serve {model}"
        yield _load(job)
    yield _lengths(job, catalogs)
    yield _images(job)
    yield turns_words(job, catalogs)
    if (peak := number_in(job, "peak_to_mean")) > 1:
        yield f"{amount(peak)} times the mean load at the peak"
    yield "instances scaled by the hour" if "hourly" in listed(job.get("scales")) else ""
    yield from _speed(job, catalogs)
    hours = number_in(job, "hours_per_month")
    yield "all month" if hours in (0, ALL_MONTH_HOURS) else f"{amount(hours)} hours a month"


def _offline(job: Cells, catalogs: Catalogs) -> Iterator[str]:
    what = offline_words(job, name_of("model", job.get("model", ""), catalogs), catalogs)
    through = tokens_through(job, catalogs)
    yield f"{what} ({amount(through, 3)} through the model)" if through else what
    yield window_words(job, catalogs)
    yield f"{requests_in_all(job, catalogs)}{_lengths(job, catalogs)}"
    yield _images(job)
    yield turns_words(job, catalogs)


def _load(job: Cells) -> str:
    """Say the load of a service: 4 requests in flight; 20 requests a second.

    A result row has as many requests in flight as sequences.
    """
    if rate := number_in(job, "requests_per_second"):
        return f"{amount_with_noun(rate, 'request', 4)} a second"
    users = number_in(job, "users") or (
        at_once(job) if "batch" in job and "users" not in job else 0
    )
    return f"{with_noun(int(users), 'request')} in flight" if users else ""


def _lengths(job: Cells, catalogs: Catalogs) -> str:
    """Say the length of a request: 8,192 tokens each (7,680 in, 512 out).

    An encoder generates no tokens, and one of images reads no text.
    """
    model = str(job.get("model"))
    if model in catalogs.models.index and catalogs.models["kind"][model] == "vision":
        return ""
    context, prompt = context_tokens_of(job), number_in(job, "prompt_tokens")
    answer = number_in(job, "answer_tokens") or context - prompt
    split = context > 1 and prompt and answer and is_generator(job, catalogs)
    return context_words(job) + (f" ({amount(prompt)} in, {amount(answer)} out)" if split else "")


def _images(job: Cells) -> str:
    """Say the images of a request: 2 images in each; empty for a training."""
    images = listed(job.get("images_per_sequence"))
    if job.get("work") != "inference" or len(images) != 1 or not float(images[0]) > 0:
        return ""
    return f"{amount_with_noun(float(images[0]), 'image')} in each"


def _speed(job: Cells, catalogs: Catalogs) -> Iterator[str]:
    """Yield "at reading speed" for the default limits on time, else the limits of the job.

    A model that recognizes or speaks sound has a limit of its own, since nobody reads along.
    """
    first, token = (number_in(job, name) for name in SPEEDS)
    first = first if first < NO_LIMIT else 0
    token = token if token < NO_LIMIT else 0
    first_share, token_share = (share_words(name, job) for name in SPEEDS)
    has_default_limits = (
        first_share == token_share
        and (first or FIRST_TOKEN_SECONDS) == FIRST_TOKEN_SECONDS
        and token == JOB_BY_NAME["token_seconds"].default
    )
    sound = sound_words(job, catalogs)
    yield sound
    if not is_generator(job, catalogs):
        yield f"answered within {short_duration(first)}" if first else ""
    elif has_default_limits and not sound:
        yield f"at reading speed{first_share}"
    else:
        yield f"first token within {short_duration(first)}{first_share}" if first else ""
        yield f"each token within {short_duration(token)}{token_share}" if token else ""


def _places(job: Cells, catalogs: Catalogs) -> Iterator[str]:
    """Yield where the job may run: on your 8 H100; in N. Virginia, on spot."""
    if job.get("have"):
        yield f"on your {_machines(job, catalogs)}"
        return
    regions = [
        str(catalogs.regions["name"].get(region, region))
        for region in _parts(job.get("regions"))
        if region != ANYWHERE
    ]
    is_anywhere = len(regions) in (0, len(catalogs.regions))
    yield "in any region" if is_anywhere else f"in {_any_of(regions)}"
    markets = _parts(job.get("markets"))
    serves = job.get("work") == "inference" and not work_ends(job)
    has_default_markets = set(markets) == {*USUAL_MARKETS} or (serves and {*markets} == ON_DEMAND)
    if markets and not has_default_markets:
        yield _any_of([MARKETS[name].phrase if name in MARKETS else name for name in markets])
    yield f"on {machines}" if (machines := _allowed_machines(job, catalogs)) else ""


def _parts(values: Any) -> list[str]:
    """Return the ids of a cell: of a list, and of those joined by +."""
    return [part for text in listed(values) for part in str(text).split("+")]


def _allowed_machines(job: Cells, catalogs: Catalogs) -> str:
    """Say the instances and cards that the job allows: g6e instances; H100 or H200."""
    instances, gpus = listed(job.get("instance")), listed(job.get("gpu"))
    instance_words = instances_in_words(instances, catalogs)
    if _sets_machine(job):
        machines = change_in_words({name: listed(job[name])[0] for name in MACHINE}, catalogs)
        return f"1 × {machines}" if machines == instance_words[0] else machines
    cards = [short_card(gpu, catalogs) for gpu in gpus]
    if not instance_words or not cards:
        return _any_of(instance_words or cards)
    instances_in_catalog = catalogs.instances.index.intersection(instances)
    if catalogs.instances["gpu"][instances_in_catalog].isin(gpus).all():
        return _any_of(instance_words)
    return f"{_any_of(instance_words)} with {_any_of(cards)}"


def _sets_machine(job: Cells) -> bool:
    """Return whether one instance type and its GPUs are both set."""
    return all(len(listed(job.get(name))) == 1 for name in MACHINE)


def machines_of_job(job: Cells, catalogs: Catalogs) -> dict[str, int]:
    """Return the number of each machine that the job has of its own; {} if it cannot be read."""
    try:
        return machines_of(str(job["have"]), [*catalogs.instances.index, *catalogs.gpus.index])
    except JobError:
        return {}


def _machines(job: Cells, catalogs: Catalogs) -> str:
    """Say the machines that the user has: 8 H100 and 2 × p5.48xlarge."""
    counts = machines_of_job(job, catalogs)
    words = [
        f"{count} {'× ' + name if name in catalogs.instances.index else short_card(name, catalogs)}"
        for name, count in counts.items()
    ]
    return " and ".join(words) or str(job["have"])


def _by_hand(job: Cells, catalogs: Catalogs) -> Iterator[str]:
    """Yield the settings made by hand, and the assumptions that differ from the catalog's."""
    attempts, paid_ratio = number_in(job, "attempts"), number_in(job, "paid_ratio")
    if attempts not in (0, 1):
        yield f"{amount(attempts)} attempts paid for"
    if paid_ratio not in (0, 1):
        percent = amount(100 * abs(paid_ratio - 1))
        yield f"at {percent} % {'less' if paid_ratio < 1 else 'more'} than listed"
    if job.get("private_prices"):
        yield "at your own prices"
    if job.get("loading") == "pinned":
        yield "with an older build of the software"
    values = _columns_by_hand(job, catalogs)
    single = {
        name: listing[0] for name, listing in values.items() if len(listing) == 1 and name in WORDS
    }
    words = [change_in_words(single, catalogs, job.get("work") == "inference")] if single else []
    words += [
        _any_of([_value(name, value, catalogs) for value in listing])
        for name, listing in values.items()
        if name not in single
    ]
    words += [
        _assumption(name, job, catalogs)
        for name in catalogs.assumptions.index
        if name not in ASSUMPTIONS_IN_PARTS and not is_missing(job.get(name))
    ]
    if words:
        yield f"set by hand: {', '.join(words)}"


def _columns_by_hand(job: Cells, catalogs: Catalogs) -> dict[str, list[str]]:
    """Return the scenario columns that the job sets and no other part of its sentence says."""
    stored_precision = catalogs.models["stored_precision"].get(job.get("model", ""), "")
    in_other_parts = {
        *CHOICES_IN_PARTS,
        *(ROLLOUT if _rolls_out(job) else ()),
        *(MACHINE if _sets_machine(job) else ()),
        *(["images_per_sequence"] if _images(job) else ()),
    }
    values = {name: _readable(name, job) for name in FIXABLE if name not in in_other_parts}
    return {
        name: listing
        for name, listing in values.items()
        if listing and (name, listing) != ("precision", [stored_precision])
    }


def _readable(name: str, job: Cells) -> list[Any]:
    """Return the values of a column, without the texts that a refused job has for numbers."""
    takes_text = BY_NAME[name].kind in ("text", "choice")
    return [value for value in listed(job.get(name)) if takes_text or not isinstance(value, str)]


def _value(name: str, value: Any, catalogs: Catalogs) -> str:
    """Say a value by a phrase of its own or with its column's label: ZeRO 3; LoRA targets q,v."""
    if name in WORDS:
        return choice(name, value, catalogs)
    number = f"{value:,.10g}" if isinstance(value, int | float) else str(value)
    return UNUSUAL[name].format(number) if name in UNUSUAL else f"{GLOSSARY[name].label} {number}"


def _assumption(name: str, job: Cells, catalogs: Catalogs) -> str:
    """Say an assumption: storage speed per instance 2,000,000,000 bytes per second."""
    label, unit = catalogs.assumptions.loc[name, ["label", "unit"]]
    units = "" if unit in UNITS_WITHOUT_WORDS else str(unit).replace("_", " ")
    return f"{label[0].lower()}{label[1:]} {three_digits(number_in(job, name))} {units}".rstrip()


def _any_of(words: list[str]) -> str:
    """Join words by commas and "or": N. Virginia, Ohio or Oregon. Empty for no words."""
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
