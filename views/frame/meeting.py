"""Minutes and report of a meeting: decision, answers, bill, cases, budget, then each job."""

from collections.abc import Iterable
from datetime import date
from html import escape

from calc.catalogs.load import Catalogs
from calc.charts.bills import TITLES, answers_table, measures
from calc.evaluate import Row
from calc.plan.budgets import with_gpu_hours
from calc.say.cases import Money
from calc.say.paid import gpu_hours_of
from calc.say.setting import arrangement, setting
from calc.say.verdict import memory_of
from views.compare_and_bill import the_bill
from views.compare_and_bill.compared_answers import ComparedAnswers
from views.frame.report import STYLE, markdown_table, page_of, table_of
from views.shared.answer_words import pace

HEADS = ("In the bill", "Job", "Answer", "Cost", "Time", "GPU-hours", "Memory per GPU")


def markdown(
    every: ComparedAnswers, sentences: list[str], link: str, today: date, catalogs: Catalogs
) -> str:
    """The minutes; `sentences` are the decision, the cases and the budget in sentences."""
    bill = every.rows.iloc[every.ticked]
    lines = [f"## {the_bill.heading(bill, every.money)}", ""]
    if sentences:
        lines.append(f"**{sentences[0]}**\n")
    lines += markdown_table(HEADS, [_answer(row, every.money, catalogs) for row in every.records])
    lines += ["", "### The bill", ""]
    lines += markdown_table(the_bill.HEADS, _bill(every, catalogs))
    lines.append("")
    lines += [f"- {text}" for text in sentences[1:]]
    lines += ["", "### How each is set", ""]
    lines += [f"- {row['scenario']}: {_set(row, catalogs)}" for row in every.records]
    lines += ["", f"Made on {today:%Y-%m-%d} by Headroom. The comparison: {link}", ""]
    return "\n".join(lines)


def html(
    every: ComparedAnswers, sentences: list[str], link: str, today: date, catalogs: Catalogs
) -> str:
    """The report in one file, with a bar for every measure of every answer."""
    bill = every.rows.iloc[every.ticked]
    title = the_bill.heading(bill, every.money)
    parts = [f"<h1>{escape(title)}</h1>"]
    if sentences:
        parts.append(f"<p><b>{escape(sentences[0])}</b></p>")
    parts.append(
        table_of(HEADS, [_html_cells(_answer(row, every.money, catalogs)) for row in every.records])
    )
    for name in measures(every.records, catalogs):
        parts += [f"<h2>{escape(TITLES[name])}</h2>", _bars(every, name, catalogs)]
    bill_rows = [_html_cells([cell.strip("*") for cell in row]) for row in _bill(every, catalogs)]
    parts += ["<h2>The bill</h2>", table_of(the_bill.HEADS, bill_rows)]
    parts += [f"<p>{escape(text)}</p>" for text in sentences[1:]]
    settings = [_html_cells([row["scenario"], _set(row, catalogs)]) for row in every.records]
    parts += ["<h2>How each is set</h2>", table_of(("Answer", "Set so"), settings)]
    parts += [
        f"<p class='note'>Made on {today:%Y-%m-%d} by Headroom.</p>",
        f"<p><a href='{escape(link, quote=True)}'>Open the comparison</a></p>",
    ]
    return page_of(title, STYLE, parts)


def _html_cells(cells: Iterable[str]) -> list[str]:
    """The cells as HTML shows them as plain text."""
    return [escape(cell) for cell in cells]


def _answer(row: Row, money: Money, catalogs: Catalogs) -> list[str]:
    """The cells of a kept answer; for a refused one, the reason."""
    ticked = "yes" if row["in_bill"] == "yes" else ""
    if row["problem"]:
        return [ticked, row["job"], row["scenario"], row["problem"], "", "", ""]
    cost = "yours" if row["have"] else money(row["usd"])
    figures = (cost, pace(row, catalogs), gpu_hours_of(row), memory_of(row))
    return [ticked, row["job"], row["scenario"], *figures]


def _set(row: Row, catalogs: Catalogs) -> str:
    """The layout of an answer and how it is set."""
    if row["problem"]:
        return str(row["problem"])
    return f"{arrangement(row, catalogs)}; {setting(row, catalogs)}"


def _bill(every: ComparedAnswers, catalogs: Catalogs) -> list[list[str]]:
    """The lines of the bill and their sum."""
    bill = with_gpu_hours(every.rows.iloc[every.ticked], catalogs)
    return [[*line.values()] for line in the_bill.lines(bill, every.money, str)]


def _bars(every: ComparedAnswers, measure: str, catalogs: Catalogs) -> str:
    """A measure of the answers as bars that print and need no script."""
    table = answers_table(every.records, every.ticked, measure, every.money, catalogs)
    rows = [
        [
            escape(row["name"]),
            f"<progress max='{row['full']}' value='{row['value']}'></progress>",
            escape(row["text"]),
        ]
        for row in table.to_dict("records")
    ]
    return table_of(("Answer", "", TITLES[measure]), rows)
