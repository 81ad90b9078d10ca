"""`python -m calc diff`: how two plans differ in choices, memory, time and cost."""

import argparse
from collections.abc import Callable

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.commands.command import plan_rows, write_result
from calc.evaluate import Row
from calc.plan.figures import records
from calc.say.change import cause_in_words
from calc.say.differences import choices
from calc.say.numbers import is_missing, size, span, usd, with_sign
from calc.say.verdict import fit_word
from calc.studies.differences import Difference, differences

FIGURES: dict[str, tuple[str, Callable[[float], str]]] = {  # quantity -> name, how it is written
    "needed_bytes": ("What must fit, per GPU", size),
    "usd_per_hour": ("Price an hour", usd),
    "hours": ("Time", span),
    "usd": ("Cost", usd),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `diff`."""
    parser.epilog = "The output is Markdown."
    parser.add_argument("before", metavar="A.csv", help="CSV of scenarios")
    parser.add_argument("after", metavar="B.csv", help="CSV of scenarios")


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write two plans as Markdown."""
    before = plan_rows(options.before, catalogs)
    after = plan_rows(options.after, catalogs)
    return write_result(
        options, _markdown(before, after, (options.before, options.after), catalogs)
    )


def _markdown(
    before: pd.DataFrame, after: pd.DataFrame, names: tuple[str, str], catalogs: Catalogs
) -> str:
    """Return both plans row by row, matched by name, and the names that only one of them has."""
    first = {row["scenario"]: row for row in records(before)}
    second = {row["scenario"]: row for row in records(after)}
    same = len(first.keys() & second.keys())
    counts = (
        f"{same} in both, {len(second.keys() - first.keys())} new, "
        f"{len(first.keys() - second.keys())} gone"
    )
    heading = (
        f"# {names[0]} to {names[1]}\n\nScenarios: {counts}. Both are estimated with the same "
        f"catalogs.\n"
    )
    parts = [heading]
    for name, row in second.items():
        if name in first:
            both = pd.concat(
                [before[before["scenario"] == name], after[after["scenario"] == name]],
                ignore_index=True,
            )
            parts.append(changed_lines(name, first[name], row, choices(both, catalogs)))
        else:
            parts.append(f"## {name}: new\n\n{_figures(row)}\n")
    parts += [
        f"## {name}: gone\n\nIt was: {_figures(row)}\n"
        for name, row in first.items()
        if name not in second
    ]
    return "\n".join(parts)


def changed_lines(name: str, before: Row, after: Row, table: pd.DataFrame) -> str:
    """Return the changes between two billed rows as Markdown; `table` has their choices."""
    lines = [f"## {name}", ""]
    changes = [
        f"{row['label']}: {row[0] or 'none'} to {row[1] or 'none'}"
        for row in table[table["differs"]].to_dict("records")
    ]
    lines.append(f"Changed: {'; '.join(changes)}." if changes else "No choice changed.")
    problems = [
        f"{when} it cannot be estimated: {row['problem']}"
        for when, row in (("Before", before), ("Now", after))
        if row["problem"]
    ]
    if problems:
        return "\n".join([*lines, "", *problems, ""])
    if before["fits"] != after["fits"]:
        lines.append(f"Verdict: {fit_word(before['fits'])} to **{fit_word(after['fits'])}**.")
    rows = list(
        filter(
            None,
            (
                _row(difference)
                for difference in differences(before, after).values()
                if difference.quantity in FIGURES
            ),
        )
    )
    if rows:
        lines += ["", "| | before | now | change | most of it by |", "|---|---|---|---|---|", *rows]
    return "\n".join([*lines, ""])


def _row(difference: Difference) -> str:
    """A difference as a row of a Markdown table; empty if neither plan has the figure."""
    name, say = FIGURES[difference.quantity]
    if is_missing(difference.first) and is_missing(difference.other):
        return ""
    cells = [
        ("not known" if is_missing(value) else say(value))
        for value in (difference.first, difference.other)
    ]
    change = ""
    cause = cause_in_words(difference.cause)
    if not is_missing(difference.change):
        change = with_sign(difference.change, say) if difference.change else "the same"
        if difference.change and not is_missing(difference.ratio):
            change += f", {with_sign(100 * difference.ratio, '{:.1f} %'.format)}"
    return (
        f"| {name} | {cells[0]} | {cells[1]} | {change} | {cause if change != 'the same' else ''} |"
    )


def _figures(row: Row) -> str:
    """The figures of one row in words, or why it cannot be estimated."""
    if row["problem"]:
        return f"it cannot be estimated: {row['problem']}"
    figures = [
        (name, say(row[quantity]))
        for quantity, (name, say) in FIGURES.items()
        if not is_missing(row[quantity])
    ]
    return ", ".join(f"{name[0].lower()}{name[1:]} {value}" for name, value in figures) + "."
