"""The wording of a change: what it saves and costs, and what to know before it is made."""

import pandas as pd

from calc.evaluate import Row
from calc.say.numbers import about, gib, is_missing, percent, span, three, usd
from views.wording.plan import day_text

SAME = {"training": "Trains the same", "inference": "Serves the same"}
OTHER = "Other work: look at what it costs in quality first"
TELLING_RATIO = 0.005  # nobody can tell half a per cent apart
TELLING_GIB = 0.05


def groups(changes: pd.DataFrame, work: str) -> list[tuple[str, pd.DataFrame]]:
    """The changes under their headings: the same work first."""
    parts = ((SAME[work], changes[changes["same_work"]]), (OTHER, changes[~changes["same_work"]]))
    return [(title, part) for title, part in parts if len(part)]


def nothing(fits: bool) -> str:
    """Where no change helps."""
    if fits:
        return "No change that was tried saves money or memory worth naming."
    return "No change or pair of changes that was tried makes it fit: take a smaller model, LoRA or more GPUs."


def effects(change: Row, work: str, fits: bool) -> list[str]:
    """The job's money and time with the change; per hour, memory and speed against now."""
    parts = []
    if not is_missing(change["usd"]):
        time = f" in {span(change['hours'])}" if work == "training" else " a month"
        parts.append(f"{about(change['usd'])}{time}{_share(change['saved_work_ratio'])}")
    if not is_missing(change["usd_per_hour"]):
        parts.append(f"{usd(change['usd_per_hour'])} an hour")
    if abs(change["saved_gib"]) >= TELLING_GIB:
        parts.append(f"{'−' if change['saved_gib'] > 0 else '+'}{gib(abs(change['saved_gib']))} per GPU")
    slow = change["slowdown_ratio"]
    if not is_missing(slow) and abs(slow - 1) >= TELLING_RATIO:
        parts.append(f"{three(1 / slow)} × as fast" if slow < 1 else f"takes {three(slow)} × as long")
    if not fits or change["fits"] == "tight":
        parts.append({"yes": "fits", "tight": "fits tightly: it may run out of memory"}[change["fits"]])
    return parts


def quality(change: Row) -> str:
    """What a change costs in quality, and who says so; empty where nothing is known to be lost."""
    source = f" ({change['source']})" if change["source"] else ""
    return f"Quality: {change['quality']}{source}." if change["quality"] else ""


def _share(saved: float) -> str:
    """(23 % less) of the same work's cost."""
    if is_missing(saved) or abs(saved) < TELLING_RATIO:
        return ""
    return f" ({percent(abs(saved))} {'less' if saved > 0 else 'more'} for the same work)"


def caption(row: Row) -> str:
    """What all changes have in common, and what to know of spot and of other regions."""
    spot = f"Spot prices are the median of {day_text(row['spot_as_of'])}; capacity is not promised" if row["spot_as_of"] else ""
    spot += "; the spare instances of a service are counted" if spot and row["work"] == "inference" else ""
    taken = f", and {row['interruption_band']} of such instances are taken back in a month" if spot and row["interruption_band"] else ""
    day = (
        f"Other regions at their prices of {day_text(row['on_demand_as_of'])}: ask whether they have capacity."
        if row["on_demand_as_of"]
        else ""
    )
    each = "Each was estimated anew, with nothing else changed, and keeps the limits of the job."
    return " ".join(filter(None, (each, f"{spot}{taken}." if spot else "", day)))
