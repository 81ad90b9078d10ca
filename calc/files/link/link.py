"""A job as a query string of plain ids, and back; unknown parts are reported.

Every field of the job is written, so that a changed default never changes an old link; of the
choices only those set by hand, for the rest are the answer's own. `v` grows when the meaning of a
name changes.
"""

import math
import re
from typing import Any

import numpy as np

from calc.catalogs.load import Catalogs, catalog_ids
from calc.evaluate import Row
from calc.files.link import kept_answers as link_kept
from calc.files.link import models_of_link
from calc.files.link import readings as link_readings
from calc.job.columns import ANYWHERE
from calc.job.fields import BY_HAND, COMPARED, JOB, LENGTHS, MAY_BE_EMPTY, SEVERAL
from calc.plan.ownership import LONGEST_OWNER, OWNERSHIP
from calc.plan.plan_bill import PERIOD_MONTHS
from calc.scenarios.inputs import ASSUMED, BY_NAME, CATALOG_OF, Input, bounded_inputs
from calc.scenarios.read import number
from calc.search.board import ORDERS
from calc.table import is_missing
from calc.units import DAY_HOURS

VERSION = "3"
VIEWS = (  # tabs of pages
    "compare",
    "pay",
    "tuned",
    "team",
    "load",
    "teams",
    "actual",
    "shelf",
    "step",
    "explore",
    "method",
    "instances",
    "models",
    "prices",
    "accuracy",
)
VIEW_CHOICES = {
    "sort": tuple(ORDERS),
    "budget_for": tuple(PERIOD_MONTHS),
    "view": VIEWS,
    "tuned_rounds": ("0", "1", "2", "4"),
}
VIEW_INPUTS = {  # of the plan's bill, whose it is, and of fine-tuning that is served
    "budget_usd": Input("budget_usd", "number", None),
    "contingency_percent": Input("contingency_percent", "number", None, most=100),
    "decision": Input("decision", "text"),
    **{name: Input(name, "text") for name in OWNERSHIP},
    "tuned_models": Input("tuned_models", "count", None, most=1000),
    "tuned_months": Input("tuned_months", "count", None, most=BY_NAME["plan_months"].most),
}
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
ONE_VALUE = ("v", "prices_as_of", "looked", "then")
LONGEST_VALUE = 200
MOST_VALUES = 64
# A field of the job stands for the column of its name.
COLUMNS: dict[str, Input] = {
    **BY_HAND,
    **ASSUMED,
    **JOB,
    **VIEW_INPUTS,
}


# Columns of a job that the page has as a field of another name.
FIELD_OF = {"hours_most": "days_most", "region": "regions", "tuning": "method", "work": "goal"}
GOAL_OF = {"inference": "serve", "training": "tune"}


def compose(choices: Row) -> dict[str, list[str]]:
    """The query of a job: ids of fields and choices, kept scenarios, own models, own runs."""
    query = {"v": [VERSION]}
    for name, value in choices.items():
        if name in COLUMNS or name in VIEW_CHOICES or name == "prices_as_of":
            values = list(value) if isinstance(value, (list, tuple)) else [value]
            query[name] = [link_word(item) for item in values] or (
                [ANYWHERE] if name == "regions" else []
            )
    query |= link_kept.compose_kept(choices, link_word)
    query |= models_of_link.compose_models(choices.get("custom_models") or {})
    query |= link_readings.compose_readings(choices.get("readings") or {}, link_word)
    return {name: values for name, values in query.items() if values}


def parse(query: dict[str, list[str]], catalogs: Catalogs) -> tuple[Row, list[str]]:
    """The choices of a query, and a sentence for each part that falls back to its default."""
    choices: Row = {}
    complaints: list[str] = []
    version = str((query.get("v") or [VERSION])[0])
    if version != VERSION:
        complaints.append(
            f"The link is of version {version[:20]}, this is version {VERSION}; open it "
            f"where it was made, or check every choice here."
        )
    custom = models_of_link.read_models(query, catalog_ids(catalogs), complaints)
    for name, raw in _as_fields(query).items():
        texts = [str(item) for item in raw] or [""]
        if name in ONE_VALUE or name.startswith(models_of_link.PREFIX):
            complaints += _second(name, list(dict.fromkeys(texts)))
        if name == "v" or name.startswith(models_of_link.PREFIX):
            continue
        if name == link_readings.NAME:
            choices["readings"] = link_readings.read_readings(texts, complaints)
            continue
        if name in link_kept.NAMES:
            link_kept.read_kept(
                name,
                texts,
                choices,
                complaints,
                lambda column, text: value_of(column, text, catalogs, custom, {}),
            )
        else:
            values, wrong = _read_choice(name, texts, catalogs, custom)
            complaints += wrong
            if values:
                choices[name] = values[0] if len(values) == 1 else values
    choices |= _lengths_in_context(choices, complaints)
    # A name or a value may hold a line break.
    on_one_line = [" ".join(complaint.split()) for complaint in complaints]
    return choices | ({"custom_models": custom} if custom else {}), on_one_line


def _as_fields(query: dict[str, list[str]]) -> dict[str, list[str]]:
    """The query with each column of a job under the name and in the unit of its field.

    A column stays as it is, and is refused, if the query has the field as well. Examples without
    epochs are read once, as columns are; a link that the page writes has both.
    """
    from_scratch = {"train_tokens": "run_tokens"} if query.get("goal") == ["train"] else {}
    fields: dict[str, list[str]] = {}
    for name, texts in query.items():
        field = (FIELD_OF | from_scratch).get(name, name)
        if field in query:
            fields[name] = texts
        elif name == "hours_most":
            fields[field] = [_days(text) for text in texts]
        else:
            fields[field] = [GOAL_OF.get(text, text) for text in texts]
    if "examples" in fields:
        fields.setdefault("epochs", ["1"])
    return fields


def _lengths_in_context(choices: Row, complaints: list[str]) -> Row:
    """Return the lengths of a link that has a context and one of its parts, or both parts of it.

    A link that the page writes has a context beside lengths that it does not use.
    """
    context = choices.get("context_tokens")
    parts = {name: choices[name] for name in LENGTHS if choices.get(name)}
    if not context or not parts:
        return {}
    rest = context - sum(parts.values())
    if len(parts) == 1 and rest > 0:
        return {"context_tokens": None, **dict.fromkeys(LENGTHS, rest), **parts}
    if len(parts) == 1:
        complaints.append(
            f"Ignored {next(iter(parts))} from the link: it uses up the whole context of "
            f"{context:,} tokens."
        )
    return {"context_tokens": None} if rest == 0 and len(parts) == len(LENGTHS) else {}


def _days(hours: str) -> str:
    """Hours as days; a text that is no number stays as it is."""
    value = number(hours)
    return hours if math.isnan(value) else link_word(value / DAY_HOURS)


def link_word(value: Any) -> str:
    """A value as the link writes it."""
    if is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return str(value)


def in_short(complaints: list[str]) -> str:
    """The first complaint, and how many more there are."""
    if len(complaints) < 2:
        return "".join(complaints)
    more = "1 more part" if len(complaints) == 2 else f"{len(complaints) - 1} more parts"
    return f"{complaints[0]} {more} of the link had to be ignored."


def _read_choice(
    name: str, texts: list[str], catalogs: Catalogs, custom: Row
) -> tuple[list[Any], list[str]]:
    """The values that a link gives for one choice, and a sentence on each that is refused."""
    if name == "prices_as_of" and DAY.fullmatch(texts[0]):
        return texts[:1], []
    if name not in COLUMNS and name not in VIEW_CHOICES:
        return [], [
            (f"Ignored {name[:40]}={texts[0][:40]} from the link: the page has no such choice.")
        ]
    if name == "regions" and texts == [ANYWHERE]:
        return [[]], []
    values: list[Any] = []
    complaints: list[str] = []
    if len(texts) > MOST_VALUES:
        complaints.append(
            f"The link has {len(texts)} values of {name}. Only the first {MOST_VALUES} are used."
        )
    for text in texts[:MOST_VALUES]:
        value = value_of(name, text[:LONGEST_VALUE], catalogs, custom)
        if value is None:
            complaints.append(
                f"Ignored {name}={text[:40]} from the link: not a valid value. The default is used."
            )
        elif value not in values:
            values.append(value)
    if name in SEVERAL or name in COMPARED:
        return values, complaints
    return values[:1], complaints + _second(name, values)


def _second(name: str, values: list[Any]) -> list[str]:
    """A sentence where a choice that takes one value has several."""
    if len(values) < 2:
        return []
    return [
        (
            f"The link has {len(values)} values of {name[:40]}, which takes one. "
            f"{link_word(values[0])[:40]} is used."
        )
    ]


def value_of(
    name: str, text: str, catalogs: Catalogs, custom: Any = (), fields: dict[str, Input] = JOB
) -> Any:
    """The value of a text, None where it has none; `custom` names models beside the catalog.

    `fields` stand for the scenario columns of their names; a kept scenario has none.
    """
    if name in OWNERSHIP:
        return link_kept.linkable(text, LONGEST_OWNER)
    if name in VIEW_CHOICES:
        return text if text in VIEW_CHOICES[name] else None
    column = (
        VIEW_INPUTS.get(name)
        or fields.get(name)
        or bounded_inputs(catalogs).get(name)
        or BY_HAND[name]
    )
    if column.kind in ("count", "number", "amount"):
        return _number(text, column)
    if column.kind == "choice":
        return text if text in column.choices or text == column.default else None
    catalog = column.catalog or CATALOG_OF.get(name)
    if not catalog or text == "" or (name == "model" and text in custom):
        return text
    return text if text in getattr(catalogs, catalog).index else None


def _number(text: str, column: Input) -> float | str | None:
    """A number that a column allows; None for any other text."""
    if text == "":
        may_be_empty = (
            column.name in MAY_BE_EMPTY or BY_NAME.get(column.name, column).default is None
        )
        return "" if may_be_empty else None
    value = number(text)
    if math.isnan(value) or not column.allows(np.array(value)):
        return None
    return int(value) if value == int(value) else value
