"""The wording of the Method page: derivations as lines, columns and costs."""

import numpy as np
import pandas as pd

from calc.columns import GLOSSARY
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.explain.bill import THE_OTHERS
from calc.explain.traced import plain_number
from calc.say.numbers import count, gib, usd
from calc.units import GIB
from views.shared.texts import texts_beside

NO_SOURCE = ("", "chosen", "from the choices")
UNITS = {"B per element": " B", "B per token": " B per token", "tokens": " tokens"}
TEXTS = texts_beside(__file__)["method"]
VECTORS = TEXTS["vectors"]
LEFT_OUT = TEXTS["left_out"]
SOURCES = TEXTS["sources"]

RUNS_MEANING = TEXTS["runs_meaning"]
CHOICE_NAMES = TEXTS["choice_names"]


def written(name: str, value: np.ndarray) -> str:
    """A number as an equation shows it: memory in GiB, large counts in words."""
    values = np.ravel(value)
    if values.dtype.kind not in "bif" or len(set(values.tolist())) != 1 or not np.isfinite(values[0]):
        return plain_number(name, value)
    one = float(values[0])
    if name.endswith("_bytes"):
        return gib(one / GIB)
    return count(one) if abs(one) >= 1e6 else plain_number(name, one)


def value_text(name: str, value: np.ndarray, unit: str) -> str:
    """A value beside its unit."""
    text = written(name, value)
    return text if text.endswith("GiB") else text + UNITS.get(unit, "")


def derivation(rows: pd.DataFrame) -> str:
    """The formulas of a component as lines: description, equation, numbers, value."""
    return "\n\n".join(_lines(row) for row in rows.to_dict("records"))


def _lines(row: Row) -> str:
    result = value_text(row["formula"] if row["unit"] != "B" else "_bytes", row["value"], row["unit"])
    name = row["component"] if row["step"] == 0 and row["component"] not in ("layout", THE_OTHERS) else row["formula"]
    steps = [step for step in dict.fromkeys((row["today"], row["numbers"])) if not result.startswith(step)]
    first, *others = [*steps, result]
    return f"# {prose(row['says'])}\n{name} = {first}" + "".join(f"\n    = {step}" for step in others)


COSTS = TEXTS["costs"]


def cost_title(row: pd.Series) -> str:
    """The bill · $84.63."""
    value, name = float(row["value"][0]), row["component"]
    if name not in COSTS:
        return "**The other figures of price, spot and storage**"
    sentence = f"{value:,.0f} h" if name.endswith("hours_per_month") else count(value) if name.endswith("even_tokens") else usd(value)
    return f"**{COSTS[name]}** · {sentence}"


def bill(row: Row) -> str:
    """What is billed, in a sentence."""
    period = "the run" if ends_of(row) else "a month"
    return (
        f"{usd(row['usd'])} for {period} {MARKETS[row['market']].phrase}, as on Bill: hours that are billed times what all instances cost "
        "an hour. Times come from the formulas of calc/speed; how sure they are: Bill."
    )


def columns_read(chain: pd.DataFrame) -> set[str]:
    """The names of all columns that the formulas of a chain read."""
    return {name for names in chain["reads"] for name in names}


def label(name: str) -> str:
    """The name of a quantity as the tables have it."""
    return GLOSSARY[name].label


def prose(docstring: str) -> str:
    """The words of the code on one line, names without their quotes."""
    return " ".join(docstring.replace("`", "").split())
