"""The words of the comparison tabs."""

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.plan.figures import figures
from calc.say.numbers import about, is_missing, span, three
from calc.say.setting import name_of
from views.theme import FITS

NOTHING = "Nothing of this kind can be estimated for this job."
NO_FRONTIER = "Nothing meets every limit, so there is no frontier: see what is in the way above."
LINES = {"tensor": "tensor ≤ 8", "pipeline": "pipeline ≤ 8", "selective-ops": "per operator"}
MARKS = "Ringed: the row looked at. Hollow: does not fit."
BATCH_AXIS = {"training": "micro-batch", "inference": "sequences at once on a replica"}
TITLES = {"precision": "Memory per GPU by precision", "optimizer": "Memory per GPU by optimizer"}


def title(name: str, row: Row) -> str:
    """What varies, and on what card."""
    return f"{TITLES[name]}, on {row['instance'] or row['gpu'] or 'any card'}"


def values(row: Row) -> str:
    """61.2 GiB ✓ · $245 in 4.5 h: what stands beside a name."""
    mark = f" {FITS[row['fits']][1]}" if row["fits"] else ""
    memory = f"{three(figures(row)['memory_gib'])} GiB{mark}"
    if row.get("runs") == "no":
        return f"{memory} · does not run here"
    if is_missing(row["usd"]):
        return memory
    if row["work"] == "training":
        return f"{memory} · {about(row['usd'])} in {span(row['hours'])}"
    return f"{memory} · {about(row['usd'])} a month · {three(figures(row)['token_ms'])} ms"


def card(row: Row) -> str:
    """card 79.6: the name of the rule at the card's memory."""
    return f"card {three(figures(row)['card_gib'])}"


def batch_line(line: str, catalogs: Catalogs, work: str) -> str:
    """A line's name: a recompute, or a format of the cache."""
    if work == "training":
        return LINES.get(line) or name_of("recompute", line, catalogs)
    return f"{line or '16-bit'} cache"


def batch_caption(row: Row) -> str:
    """What the lines over batches keep."""
    if row["work"] == "training":
        return f"A line for each recompute. Every step keeps its tokens: a larger micro-batch takes fewer accumulation steps. {MARKS}"
    return f"A line for each format of the KV cache; as many replicas as the requests at once need. {MARKS}"


def lines_alt(name: str, rows: pd.DataFrame) -> str:
    """The takeaway of a chart of lines."""
    fits = rows[rows["fits"].isin(["yes", "tight"])]
    if fits.empty:
        return "Nothing shown fits"
    column = {"memory": "memory_bytes", "money": "usd", "time": "seconds"}[name]
    best = fits.loc[fits[column].idxmin()] if fits[column].notna().any() else fits.iloc[0]
    least = {
        "memory": f"{three(figures(best)['memory_gib'])} GiB per GPU",
        "money": about(best["usd"]),
        "time": span(best["hours"]) if best["work"] == "training" else f"{three(figures(best)['token_ms'])} ms a token",
    }[name]
    return f"Fits from {fits['gpus'].min():.0f} GPUs; least {name} {least} on {best['gpus']:.0f} ({best['line'] or 'as set'})"


FRONTIER_ALT = "The least money for each time as a line, the best of every instance type as points, the row looked at as a diamond"
