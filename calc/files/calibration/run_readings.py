"""A log beside the plan: what it measured over what is estimated, or why it is left out."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.catalogs.tables import SET_UP
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.calibration.run_logs import LoggedRun, printed_of_runs
from calc.files.configs.model_names import model_id
from calc.files.oom.memory_parts import cards_of_capacity
from calc.layout import at_once, replicas
from calc.mappings import Json
from calc.memory.moments import FORWARD_PASS
from calc.say.numbers import is_missing, three_digits, with_noun
from calc.say.place import card_name
from calc.search.row_status import scenario_of

# What is set may differ by rounding alone; a mean of many requests varies.
SAME_RATIO, ALIKE_RATIO = 1.05, 1.25
ESTIMATES: dict[
    str, dict[str, Callable[[Row], float]]
] = {  # quantity -> figure, the surest first -> its estimate; rates are inverse
    "time": {
        "step_seconds": lambda row: row["step_seconds"],
        "steps_per_second": lambda row: 1 / row["step_seconds"],
        "tokens_per_second_per_gpu": lambda row: row["tokens_per_second_per_gpu"],
        "sequences_per_second": lambda row: row["tokens_per_second"] / row["sequence_tokens"],
        "time_per_output_token_seconds": lambda row: row["time_per_output_token_seconds"],
        "served_tokens_per_second": lambda row: row["tokens_per_second"],
        "replica_tokens_per_second": lambda row: row["tokens_per_second"] / replicas(row),
    },
    "first_token": {"first_token_seconds": lambda row: row["closed_loop_first_token_seconds"]},
}
Measured = tuple[str, str, float, float]  # quantity, figure, measured, estimated
STARTED: dict[
    str, Callable[[Row], float]
] = {  # of a serving engine's start, with the estimate of it
    "weights": lambda row: row["weights_bytes"],
    "activation_peak": lambda row: sum(row[name] for name in FORWARD_PASS),
    "non_torch": lambda row: row["context_bytes"],
}
RUNNING: dict[str, Callable[[Row], float]] = {  # of any other run, the surest first
    "reserved_peak": lambda row: row["memory_bytes"] - row["context_bytes"],
    "used": lambda row: row["memory_bytes"],
    "allocated_peak": lambda row: row["logged_peak_bytes"],
}
ENGINES = ("vllm",)
FAR = 3  # half widths of the stated range, which nine of ten runs keep
STEP = ("step_low_seconds", "step_seconds", "step_high_seconds")
TOKEN = (
    "time_per_output_token_low_seconds",
    "time_per_output_token_seconds",
    "time_per_output_token_high_seconds",
)
FIRST = (
    "closed_loop_first_token_low_seconds",
    "closed_loop_first_token_seconds",
    "closed_loop_first_token_high_seconds",
)
ENDS = {
    ("time", "training"): STEP,
    ("time", "inference"): TOKEN,
    ("first_token", "inference"): FIRST,
}
ENDS |= {
    ("memory", work): ("memory_low_bytes", "memory_bytes", "memory_high_bytes")
    for work in ("training", "inference")
}
WORDS = {"first_token": "time to the first token", "memory": "memory"}
OF_TIME = {"training": "time of a step", "inference": "time of a token"}
WORK = {  # the kind of work -> the figures that only it has
    "training": {
        "step_seconds",
        "steps_per_second",
        "sequences_per_second",
        "tokens_per_second_per_gpu",
    },
    "inference": {
        "time_per_output_token_seconds",
        "first_token_seconds",
        "served_tokens_per_second",
        "replica_tokens_per_second",
        "kv_pool",
    },
}
# Facts that together say how a service was asked.
LOAD = {
    "users",
    "prompt_tokens",
    "answer_tokens",
}
WORK_WORDS = {"training": "training", "inference": "serving"}
FACTS: dict[
    str, tuple[str, str, Callable[[Row], float], float]
] = {  # fact -> its words, what is counted, the plan's, how far apart
    "batch": ("{} on a replica", "concurrent sequence", lambda row: row["batch"], SAME_RATIO),
    "accumulation_steps": (
        "{}",
        "accumulation step",
        lambda row: row["accumulation_steps"],
        SAME_RATIO,
    ),
    "step_sequences": ("{} in a step", "sequence", at_once, SAME_RATIO),
    "sequence_tokens": ("sequences of {}", "token", lambda row: row["sequence_tokens"], SAME_RATIO),
    "tensor_parallel": (
        "a model divided over {}",
        "GPU",
        lambda row: row["tensor_parallel"],
        SAME_RATIO,
    ),
    "users": ("{} in flight", "request", at_once, ALIKE_RATIO),
    "prompt_tokens": ("prompts of {}", "token", lambda row: row["prompt_tokens"], ALIKE_RATIO),
    "answer_tokens": (
        "answers of {}",
        "token",
        lambda row: row["sequence_tokens"] - row["prompt_tokens"],
        ALIKE_RATIO,
    ),
}


class RunReading(NamedTuple):
    """One quantity of a run: measured over estimated, by which figure, from whom."""

    quantity: str
    figure: str
    measured: float
    estimated: float
    tool: str
    made_on: str
    row: Row

    @property
    def ratio(self) -> float:
        """Seconds or bytes measured over those estimated."""
        turned = self.figure.endswith(("_per_second", "_per_second_per_gpu"))
        return self.estimated / self.measured if turned else self.measured / self.estimated

    @property
    def is_far(self) -> bool:
        """Return whether it lies so far outside of the stated range that the run must have been
        another.
        """
        low, central, high = (self.row[name] for name in ENDS[self.quantity, self.row["work"]])
        end = high if self.ratio > 1 else low
        return bool(abs(np.log(self.ratio)) > FAR * abs(np.log(end / central)))

    def entry(self) -> Json:
        """The reading as an entry of catalogs/own/calibration.yaml."""
        about = {
            "made_on": self.made_on,
            "tool": self.tool,
            "quantity": self.quantity,
            "ratio": float(f"{self.ratio:.4g}"),
        }
        return about | {name: _plain(self.row[name]) for name in SET_UP}


def readings(
    run: LoggedRun, row: Row, catalogs: Catalogs, today: str
) -> tuple[list[RunReading], str]:
    """Return a run's readings against a row estimated without it, or why it is left out.

    `today` is the day of a log that names none.
    """
    if why := _contradiction(run, row, catalogs):
        return [], why
    tool = printed_of_runs().tools[run.tools[0]].name if run.tools else "PyTorch"
    measured = [
        RunReading(*figures, tool, run.day or today, row)
        for figures in (*_times(run, row), *_memory(run, row))
    ]
    if not measured:
        return [], "The log has no speed and no memory that the plan estimates."
    if far := [reading for reading in measured if reading.is_far]:
        words = (
            f"{three_digits(far[0].ratio)} times the {measured_words(far[0].quantity, row['work'])}"
        )
        return (
            [],
            (
                f"The log has {words} of the plan, far outside its range, so it is left out: it "
                f"is of another run."
            ),
        )
    return measured, ""


def readings_of_runs(
    several: list[LoggedRun], rows: list[Row], catalogs: Catalogs, today: str
) -> tuple[list[RunReading], list[str]]:
    """Return the readings of runs, each against the first row that agrees with it, or why none.

    Where one benchmark is of a row, the others of its sweep are read beside that service at the
    load that they name.
    """
    by_run: list[list[RunReading]] = []
    refusals: list[str] = []
    for run in several:
        tried = [readings(run, row, catalogs, today) for row in rows]
        by_run.append(next((found for found, _ in tried if found), []))
        refusals.append(tried[0][1])
    agreeing = [found for found in by_run if found]
    if not agreeing:
        return [], list(dict.fromkeys(refusals))
    service = agreeing[0][0].row
    for number, run in enumerate(several):
        if not by_run[number] and run.facts.keys() >= LOAD:
            row = _at_load(run, service, catalogs)
            by_run[number], _ = readings(run, row, catalogs, today)
    return [reading for found in by_run for reading in found], []


def _at_load(run: LoggedRun, service: Row, catalogs: Catalogs) -> Row:
    """A service at the load that a benchmark names."""
    prompt = round(run.facts["prompt_tokens"])
    answer = round(run.facts["answer_tokens"])
    load = {
        "batch": max(round(run.facts["users"] / replicas(service)), 1),
        "prompt_tokens": prompt,
        "sequence_tokens": prompt + answer,
    }
    return estimate(scenario_of(service) | load, catalogs, solve=False)


def measured_words(quantity: str, work: str) -> str:
    """Return what a reading measured, such as memory or the time of a step."""
    return WORDS.get(quantity) or OF_TIME[work]


def _times(run: LoggedRun, row: Row) -> Iterator[Measured]:
    """Yield the surest figure of each quantity of time that the plan estimates too."""
    for quantity, figures in ESTIMATES.items():
        for figure, estimated in figures.items():
            if figure in run.figures and estimated(row) > 0:
                yield quantity, figure, run.figures[figure], float(estimated(row))
                break


def _memory(run: LoggedRun, row: Row) -> Iterator[Measured]:
    """The memory of the whole run: the measured figure in place of its estimate. [B]

    A serving engine fills its share of the card whatever it needs, so that of its run only weights,
    the start-up profile and what is outside of PyTorch count; or, where the log has only its cache,
    what that leaves of the share.
    """
    if row["implementation"] in ENGINES:
        names = list(STARTED) if STARTED.keys() <= run.figures.keys() else []
        if not names and "kv_pool" in run.figures and not is_missing(row["kv_pool_bytes"]):
            more_bytes = row["kv_pool_bytes"] - run.figures["kv_pool"]
            yield "memory", "kv_pool", row["memory_bytes"] + more_bytes, float(row["memory_bytes"])
    else:
        names = [name for name in RUNNING if name in run.figures][:1]
    more_bytes = sum(run.figures[name] - (STARTED | RUNNING)[name](row) for name in names)
    if names and not is_missing(row["memory_bytes"]):
        yield (
            "memory",
            "+".join(names),
            row["memory_bytes"] + more_bytes,
            float(row["memory_bytes"]),
        )


def _contradiction(run: LoggedRun, row: Row, catalogs: Catalogs) -> str:
    """A sentence where the log is of another run than the row; empty where nothing says so."""
    for logged, planned in _differences(run, row, catalogs):
        return (
            f"The log is of {logged} and the plan of {planned}, so it is left out: correct the "
            f"plan, or give the log of this plan."
        )
    return ""


def _differences(run: LoggedRun, row: Row, catalogs: Catalogs) -> Iterator[tuple[str, str]]:
    """Yield the settings in which the log's run and the plan differ, with both values."""
    facts, work = run.facts, row["work"]
    if other := [
        name for name, works in WORK.items() if work != name and works & run.figures.keys()
    ]:
        yield WORK_WORDS[other[0]], WORK_WORDS[work]
    tools = [printed_of_runs().tools[tool] for tool in run.tools]
    if others := [
        tool.name for tool in tools if tool.software and row["implementation"] not in tool.software
    ]:
        yield (
            others[0],
            str(catalogs.implementations["name"].get(row["implementation"], row["implementation"])),
        )
    card = card_name(row["gpu"], catalogs)
    if "gpu" in facts and card.split()[0] not in re.split(r"[ -]", facts["gpu"]):
        yield facts["gpu"], card
    cards = cards_of_capacity(facts.get("card"), catalogs)
    if cards and row["gpu"] not in cards:
        yield card_name(cards[0], catalogs), card
    model = model_id(facts["model"], catalogs) if "model" in facts else ""
    if model not in ("", row["model"]):
        yield (
            catalogs.models["name"][model],
            str(catalogs.models["name"].get(row["model"], row["model"])),
        )
    for name, (words, counts, of_plan, apart) in FACTS.items():
        if (
            name in facts
            and of_plan(row) > 0
            and not 1 / apart <= facts[name] / of_plan(row) <= apart
        ):
            yield (
                words.format(with_noun(round(facts[name]), counts)),
                words.format(with_noun(round(of_plan(row)), counts)),
            )


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
