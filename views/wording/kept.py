"""The words of what is kept and of what Undo takes back."""

from calc.columns import GLOSSARY
from calc.evaluate import Row
from calc.plan.aged import changes
from calc.say.numbers import is_missing, usd
from views.wording.markdown import plain

FIELDS = {
    "goal": "goal",
    "method": "method",
    "kept": "what is kept",
    "regions": "regions",
    "markets": "markets",
    "run_tokens": "tokens of the run",
    "days_most": "deadline",
}


def chip(row: Row) -> str:
    """p4de, full · $29, was $27; a kept row that is refused says so."""
    name = row["scenario"]
    if row["problem"]:
        return plain(f"{name} · refused")
    moved = {each.figure: f", was {usd(each.then)}" for each in changes(row)}
    if not is_missing(row["usd"]):
        return plain(f"{name} · {usd(row['usd'])}{'' if row['work'] == 'training' else ' a month'}{moved.get('usd', '')}")
    hourly = "no price" if is_missing(row["usd_per_hour"]) else f"{usd(row['usd_per_hour'])} an hour"
    return plain(f"{name} · {hourly}{moved.get('usd_per_hour', '')}")


def undo_help(names: list[str]) -> str:
    """What the last change was about."""
    if not names:
        return "Nothing to undo"
    words = [FIELDS.get(name) or (GLOSSARY[name].label.lower() if name in GLOSSARY else name.replace("_", " ")) for name in names]
    return f"Take back: {', '.join(words[:6])}{' and more' if len(words) > 6 else ''}"
