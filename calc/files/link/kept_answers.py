"""Scenarios saved in the link: kept=<name>~market~spot~model~gpt2~gpus~8.

The figures of the day on which the link was written are pairs too, such as then_usd~244.7; `then`
is the first answer. So are the job in short, the machines that one has, and in_bill~yes of the
answer of a job that is in the bill.
"""

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.job.fields import JOB, is_read, job_fields_of
from calc.mappings import Cells
from calc.plan.drift import FIGURES, THEN
from calc.plan.kept_answer import KeptAnswer
from calc.plan.ownership import DAYS, LONGEST_OWNER, OWNERSHIP, day_of
from calc.scenarios.inputs import ASSUMED, DEFAULTS, SAME_AS_SEQUENCE, inputs_by_name
from calc.scenarios.read import number
from calc.table import is_missing

NAMES = ("kept", "looked", "then")
SAID_THEN = "then_"
WORDS_THEN = {"fits": re.compile("yes|tight|no"), "made_on": re.compile(r"\d{4}-\d{2}-\d{2}")}
VERSION_THEN = re.compile("[0-9a-f]{8}")
TEXTS = {"job": 120, "have": 120} | dict.fromkeys((*OWNERSHIP, *DAYS), LONGEST_OWNER)
# beside a scenario, and how long each may be
BETWEEN = "~"  # needs no escape in an address; ids and numbers do not contain it
MOST_KEPT = 24
LONGEST_NAME = 60
LONGEST_TEXT = 2_000


def compose_kept(choices: Row, word: Callable[[Any], str]) -> dict[str, list[str]]:
    """The query of kept scenarios, the row on view and the answer; `word` writes values."""
    looked = choices.get("looked")
    answer = choices.get("then")
    kept = choices.get("kept") or []
    return {
        "kept": [_join([one.name], _pairs_of(one), word) for one in kept],
        "looked": [_join([], looked, word)] if looked else [],
        "then": [_join([], _pairs_of(answer), word)] if answer else [],
    }


def _pairs_of(answer: KeptAnswer) -> Cells:
    """A kept answer as names and values, in the order in which a link writes them."""
    pairs = {name: getattr(answer, name) for name in TEXTS if getattr(answer, name)}
    if answer.is_in_bill:
        pairs["in_bill"] = "yes"
    pairs |= {"market": answer.market, **answer.scenario}
    return pairs | {SAID_THEN + name: value for name, value in answer.then.items()}


def _join(first: list[str], pairs: Cells, word: Callable) -> str:
    return BETWEEN.join(
        [*first, *(part for name, value in pairs.items() for part in (name, word(value)))]
    )


def read_kept(
    name: str,
    texts: list[str],
    choices: Row,
    complaints: list[str],
    value_of: Callable[[str, str], Any],
) -> None:
    """Add kept scenarios, the row on view or the answer to the choices."""
    if name != "kept":
        parts = texts[0][:LONGEST_TEXT].split(BETWEEN)
        read: Row | KeptAnswer | None
        if name == "looked":
            read = _pairs("row looked at", parts, complaints, value_of)
        else:
            read = _answer("answer of then", "", parts, complaints, value_of)
        if read:
            choices[name] = read
        return
    if len(texts) > MOST_KEPT:
        complaints.append(
            f"The link holds {len(texts)} kept scenarios; the first {MOST_KEPT} are used."
        )
    for text in texts[:MOST_KEPT]:
        label, *parts = text[:LONGEST_TEXT].split(BETWEEN)
        answer = _answer(
            f"kept scenario {label[:40]}", scenario_name(label), parts, complaints, value_of
        )
        if answer:
            choices.setdefault("kept", []).append(answer)


def _answer(
    whose: str, name: str, parts: list[str], complaints: list[str], value_of: Callable
) -> KeptAnswer | None:
    """The answer that a link keeps; None and a complaint if its model is unknown."""
    wrong: list[str] = []
    scenario = _pairs(whose, parts, wrong, value_of)
    if "model" not in scenario:
        complaints.append(f"The link's {whose} names no model of the catalog; it was ignored.")
        return None
    complaints += wrong
    market = scenario.pop("market", "on-demand")
    then = {name: scenario.pop(SAID_THEN + name) for name in THEN if SAID_THEN + name in scenario}
    texts = {text: scenario.pop(text) for text in TEXTS if text in scenario}
    is_in_bill = scenario.pop("in_bill", "") == "yes"
    return KeptAnswer(market, scenario, name, is_in_bill=is_in_bill, then=then, **texts)


def _pairs(whose: str, parts: list[str], complaints: list[str], value_of: Callable) -> Row:
    """Columns and values of a text; a complaint for each that cannot be read."""
    read: Row = {}
    for name, text in zip(parts[::2], [*parts[1::2], ""], strict=False):
        value = text if name == "answer" else _value(name, text, value_of)
        if value is None:
            complaints.append(
                f"Ignored {name[:40]}={text[:40]} from the link's {whose}: not a valid value. "
                f"The default is used."
            )
        else:
            read[name] = value
    return read


def _value(name: str, text: str, value_of: Callable) -> float | str | None:
    """The value of a field of a kept answer in a link; None where it is not allowed."""
    if name == "market":
        return text if text in MARKETS else None
    if name.startswith(SAID_THEN):
        return _said_then(name.removeprefix(SAID_THEN), text)
    if name in DAYS:
        return day_of(text) or None
    if name in TEXTS:
        return linkable(text, TEXTS[name])
    if name == "in_bill":
        return text if text == "yes" else None
    if name not in inputs_by_name() or name == "scenario":
        return None
    return value_of(name, text)


def _said_then(name: str, text: str) -> float | str | None:
    if name in FIGURES:
        value = number(text)
        return value if math.isfinite(value) and value >= 0 else None
    return text if name in THEN and WORDS_THEN.get(name, VERSION_THEN).fullmatch(text) else None


def scenario_name(text: str) -> str:
    """A name that fits a table and a link: short, on one line."""
    return linkable(text, LONGEST_NAME) or "Scenario"


def linkable(text: str, longest: int) -> str:
    """A text as a link can hold it among others: on one line, not longer than this."""
    return " ".join(text.replace(BETWEEN, "-").split())[:longest].strip()


def set_assumptions(row: Row, catalogs: Catalogs) -> list[str]:
    """The assumptions of a row that are not the catalog's."""
    usual = catalogs.assumptions["value"]
    return [name for name in usual.index if name in row and row[name] != usual[name]]


def differing(scenario: Row, catalogs: Catalogs, assumed: Iterable[str] = ()) -> Row:
    """The columns of a scenario that differ from the defaults of its work, and the model.

    Assumptions stay where they are set by hand (`assumed`).
    """
    job, _ = job_fields_of(scenario, catalogs)
    job["goal"] = "serve" if scenario.get("work") == "inference" else "tune"
    kept = {}
    for name, value in scenario.items():
        possible = name in DEFAULTS or name in assumed
        if (
            possible
            and name != "scenario"
            and not _usual(name, value, scenario, catalogs)
            and (name in JOB or is_read(name, job))
        ):
            kept[name] = int(value) if isinstance(value, float) and value.is_integer() else value
    return kept


def _usual(name: str, value: float | str, scenario: Row, catalogs: Catalogs) -> bool:
    """Return whether a value may be left out: it is the default, or follows from another column."""
    if is_missing(value):
        return True
    if name in SAME_AS_SEQUENCE and value == scenario.get("sequence_tokens"):
        return True
    if name == "loss":
        return value == catalogs.implementations["default_loss"].get(
            scenario.get("implementation", "transformers")
        )
    return (name == "gpu" and bool(scenario.get("instance"))) or (
        name not in ASSUMED and value == DEFAULTS[name]
    )
