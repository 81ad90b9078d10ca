"""`python -m calc diff`: two plans as Markdown: which choices changed, and what that does to memory, time and money."""

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.plan.figures import records
from calc.search.compare import Difference, choices, differences
from calc.units import GIB

SAID = {  # quantity -> its name, what its figure is divided by, its digits, its unit
    "memory_bytes": ("Memory per GPU", GIB, 3, "GiB"),
    "usd_per_hour": ("Price", 1.0, 4, "USD per hour"),
    "hours": ("Time", 1.0, 3, "hours"),
    "usd": ("Cost", 1.0, 4, "USD"),
}
CAUSES = {"instances": "the number of instances", "price": "the price of each", "speed": "speed", "train_tokens": "the length of the run"}
CAUSES |= {"interruptions": "interruptions", "hours_per_month": "the hours in a month", "billing": "what is billed beyond the hours used"}


def diff_markdown(before: pd.DataFrame, after: pd.DataFrame, names: tuple[str, str], catalogs: Catalogs) -> str:
    """Both tables (plan_rows) row by row of the same name; what only one of them has is named."""
    first, second = ({row["scenario"]: row for row in records(rows)} for rows in (before, after))
    parts = [_heading(names, first, second)]
    for name, row in second.items():
        if name in first:
            both = pd.concat([before[before["scenario"] == name], after[after["scenario"] == name]], ignore_index=True)
            parts.append(_changed(name, first[name], row, choices(both, catalogs)))
        else:
            parts.append(f"## {name}: new\n\n{_figures(row)}\n")
    parts += [f"## {name}: gone\n\nIt was: {_figures(row)}\n" for name, row in first.items() if name not in second]
    return "\n".join(parts)


def _heading(names, first, second):
    same = len(first.keys() & second.keys())
    counts = f"{same} in both, {len(second.keys() - first.keys())} new, {len(first.keys() - second.keys())} gone"
    return f"# {names[0]} to {names[1]}\n\nScenarios: {counts}. Both are estimated with the same catalogs.\n"


def _changed(name, before, after, table):
    lines = [f"## {name}", ""]
    changed = table[table["differs"]]
    told = [f"{row['label']}: {row[0] or 'none'} to {row[1] or 'none'}" for row in changed.to_dict("records")]
    lines.append(f"Changed: {'; '.join(told)}." if told else "No choice changed.")
    problems = [f"{when} it cannot be estimated: {row['problem']}" for when, row in (("Before", before), ("Now", after)) if row["problem"]]
    if problems:
        return "\n".join([*lines, "", *problems, ""])
    if before["fits"] != after["fits"]:
        lines.append(f"Fits: {before['fits'] or 'no card'} to **{after['fits'] or 'no card'}**.")
    rows = [_row(each) for each in differences(before, after).values() if each.quantity in SAID]
    shown = [row for row in rows if row]
    if shown:
        lines += ["", "| | before | now | change | most of it by |", "|---|---|---|---|---|", *shown]
    return "\n".join([*lines, ""])


def _row(each: Difference) -> str:
    name, size, digits, unit = SAID[each.quantity]
    if each.first != each.first and each.other != each.other:
        return ""
    cells = [_number(value / size, digits, unit) for value in (each.first, each.other)]
    cause = GLOSSARY[each.cause].label if each.cause in GLOSSARY and each.quantity == "memory_bytes" else CAUSES.get(each.cause, each.cause)
    change = "" if each.change != each.change else _change(each, size, digits, unit)
    return f"| {name} | {cells[0]} | {cells[1]} | {change} | {cause if change != 'the same' else ''} |"


def _change(each, size, digits, unit):
    if not each.change:
        return "the same"
    ratio = f", {each.ratio:+.1%}" if each.ratio == each.ratio else ""
    return f"{each.change / size:+,.{digits}g} {unit}{ratio}"


def _figures(row):
    if row["problem"]:
        return f"it cannot be estimated: {row['problem']}"
    told = [
        (row[quantity] / size, name, digits, unit)
        for quantity, (name, size, digits, unit) in SAID.items()
        if row[quantity] == row[quantity]
    ]
    return ", ".join(f"{name[0].lower()}{name[1:]} {_number(value, digits, unit)}" for value, name, digits, unit in told) + "."


def _number(value, digits, unit):
    return "not known" if value != value else f"{value:,.{max(digits, len(f'{value:.0f}'))}g} {unit}"
