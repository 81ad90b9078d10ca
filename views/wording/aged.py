"""What has changed since a plan was written down: its price and the day of it, memory, time, the verdict, and whose doing that is."""

from calc.cost.markets import MARKETS
from calc.plan.aged import causes, changes, price_day
from views.theme import word
from views.wording.numbers import about, gib, is_missing, percent, span, usd
from views.wording.plan import day_text

FACTS = {"facts": "facts of the catalogs", "formulas": "formulas"}
SAID = {"usd": ("In all", usd), "hours": ("Time", span), "memory_gib": ("Memory per GPU", gib)}


def changed(row, catalogs):
    """Each change of a row since it was written down, a sentence each; none where it is as it was."""
    if row["problem"]:
        return [f"Today it cannot be estimated: {row['problem']}", *_because(row, catalogs)]
    moved = changes(row)
    said = [_hourly(each, row, catalogs) if each.figure == "usd_per_hour" else _figure(each) for each in moved]
    if not is_missing(row.get("then_usd_per_hour")) and is_missing(row["usd_per_hour"]):
        said.append(f"No price is known today for {place(row)}.")
    turned = not is_missing(row.get("then_fits")) and row["fits"] != row["then_fits"]
    if turned:
        said.append(f"The verdict was '{word(row['then_fits'])}' and is '{word(row['fits'])}' today.")
    estimated = turned or any(each.figure in ("memory_gib", "hours") for each in moved)
    return said + (_because(row, catalogs) if estimated else [])


def place(row):
    """p5.48xlarge on demand in us-east-1."""
    return f"{row['instance'] or row['gpu'] or row['model']} {MARKETS[row['market']].phrase} in {row['region']}"


def _hourly(change, row, catalogs):
    day = price_day(row, catalogs)
    whose = f": the price of {row['instance']} of {day_text(day)}" if day else ""
    phrase = MARKETS[row["market"]].phrase
    return f"{phrase[:1].upper()}{phrase[1:]} {usd(change.then)} → {usd(change.now)} an hour ({_ratio(change)}){whose}."


def _figure(change):
    label, write = SAID[change.figure]
    return f"{label} {write(change.then)} → {write(change.now)} ({_ratio(change)})."


def _ratio(change):
    return f"{percent(abs(change.ratio))} {'more' if change.ratio > 0 else 'less'}"


def _because(row, catalogs):
    """Whose doing it is, as far as what was written down tells."""
    found = causes(row, catalogs)
    if not found:
        return []
    if is_missing(row.get("then_facts_version")):
        return ["Facts of the catalogs or formulas have changed."]
    words = " and ".join(FACTS[name] for name in found)
    return [f"{words[:1].upper()}{words[1:]} have changed."]


def answer_then(row):
    """about $245 on p5.48xlarge on demand in us-east-1, $55.04 an hour, of what was the answer then."""
    hourly = "" if is_missing(row["then_usd_per_hour"]) else f", {usd(row['then_usd_per_hour'])} an hour"
    money = (
        "no price" if is_missing(row["then_usd"]) else f"about {about(row['then_usd'])}{'' if row['work'] == 'training' else ' a month'}"
    )
    return f"{money} on {row['instances_needed']:.0f} × {place(row)}{hourly}"


def opened(row, catalogs, is_still_first):
    """The lines about a link's answer of an earlier day; none where it is of today and the same."""
    said = changed(row, catalogs)
    lines = [f"- {sentence}" for sentence in said]
    if not is_still_first:
        lines.append("- Today another answer comes first: the heading has it.")
    if not lines:
        return ""
    return "\n".join([f"Made on {day_text(row['then_made_on'] or '')}: {answer_then(row)}. Since then:", "", *lines])
