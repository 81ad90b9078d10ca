"""The report of a plan: Markdown for the minutes, and a page that opens offline."""

from collections.abc import Iterator, Sequence
from datetime import date
from html import escape
from pathlib import Path
from typing import Any

from calc.answers.full_answer import Answer
from calc.catalogs.load import Catalogs
from calc.charts.result_tables import COMPONENT_LABELS
from calc.columns import GLOSSARY
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.plan.bill import price_facts
from calc.plan.figures import parts_of, records
from calc.say.answer import titles
from calc.say.cost_of_failure import failure_sentence
from calc.say.job import job_sentence
from calc.say.near_ties import how_sure, near_ties_heading
from calc.say.numbers import gib, is_missing, percent, three_digits, usd
from calc.say.paid import gpu_hours_of
from calc.say.place import place, region_name
from calc.say.setting import setting
from calc.say.verdict import memory_of
from calc.studies.alternatives import Alternatives
from calc.studies.assumptions import assumptions_of
from calc.studies.near_ties import near_ties
from views.charts.tank import tank_svg
from views.shared import answer_words as plan_words
from views.shared import row_words
from views.shared.theme import COMPONENT_COLORS, INKS

MOST_ROWS = 15  # of the board
CHOSEN = "Chosen"  # a row of the board that is no answer
HEADS = ("Answer", "Machines", "Cost", "GPU-hours", "USD per hour", "Memory per GPU", "How set")
MEMORY = HEADS.index("Memory per GPU")
BOARD_HEADS = (
    "Machines",
    "Verdict",
    "Cost",
    "GPU-hours",
    "USD per hour",
    "Memory in its card",
    "How set",
)
PRICE_HEADS = ("Instances", "Region", "Market", "USD per hour, all", "Of", "Basis", "Source")
STYLE = Path(__file__).with_name("report.css").read_text("utf-8")


def markdown(
    options: Answer, link: str, today: date, catalogs: Catalogs, chosen_row: Row | None = None
) -> str:
    """The job, the answer, the answers as one table, what limits cost, prices, the link back.

    The chosen row, by default the first answer, is the one that it names.
    """
    rows = _answers(options, chosen_row)
    lines = [
        f"## {job_sentence(options.job, catalogs)}",
        "",
        f"**{plan_words.heading(options, catalogs, chosen_row)}.**",
    ]
    lines += _paragraphs(
        _small_line(options, catalogs, today, chosen_row), plan_words.cure(options, catalogs)
    )
    if rows:
        lines += ["", *markdown_table(HEADS, [_answer(row, catalogs) for row in rows])]
    lines += ["", *(f"- {reason}" for reason in _reasons(rows, catalogs))]
    lines += _paragraphs(plan_words.limits_cost(options), _how_sure(options, rows, catalogs))
    prices = "; ".join(
        f"{row['instance']} {row['market']} of {_price(row, catalogs)['as_of'][:10] or 'no day'}"
        for row in _with_price(rows)
    )
    lines += [
        "",
        f"Made on {today:%Y-%m-%d} by Headroom. Prices: {prices or 'none'}. The plan: {link}",
        "",
    ]
    return "\n".join(lines)


def _paragraphs(*texts: str) -> list[str]:
    """The lines of paragraphs, each after an empty line; empty texts are left out."""
    return [line for text in texts if text for line in ("", text)]


def html(
    options: Answer, link: str, today: date, catalogs: Catalogs, chosen_row: Row | None = None
) -> str:
    """The job, the answers, memory, board, assumptions and dated prices in one file."""
    job = job_sentence(options.job, catalogs)
    answers = _answers(options, chosen_row)
    board = records(options.board)[:MOST_ROWS] if answers else []
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in _reasons(answers, catalogs))
    small_line = _small_line(options, catalogs, today, chosen_row)
    made_line = f"Made on {today:%Y-%m-%d} by Headroom. {plan_words.tried_words(options)}."
    below = (plan_words.limits_cost(options), _how_sure(options, answers, catalogs))
    parts = [
        f"<h1>{escape(job)}</h1>",
        (
            f"<p><b>{escape(plan_words.heading(options, catalogs, chosen_row))}.</b> "
            f"{escape(plan_words.cure(options, catalogs))}</p>"
        ),
        *(f"<p class='note'>{escape(line)}</p>" for line in (small_line, made_line)),
        table_of(HEADS, [_answer_cells(row, catalogs) for row in answers]),
        f"<ul>{reasons}</ul>",
        *(f"<p>{escape(line)}</p>" for line in below if line),
    ]
    if answers:
        head = f"What is in the memory: {row_words.where(answers[0], catalogs)}"
        parts += [f"<h2>{escape(head)}</h2>", _tank(answers[0], 900, 44), _components(answers[0])]
    parts += _board_parts(board, len(options.board) - len(board), catalogs)
    if rows_with_price := _with_price([*answers, *board]):
        parts += ["<h2>Prices</h2>", table_of(PRICE_HEADS, _prices(rows_with_price, catalogs))]
    parts += [
        "<h2>What the times and costs assume</h2>",
        table_of(("Assumption", "Value", "Rests on", "Source"), _assumptions(answers, catalogs)),
        f"<h2>The plan</h2><p><a href='{escape(link, quote=True)}'>{escape(link)}</a></p>",
    ]
    return page_of(job, STYLE, parts)


def _board_parts(board: list[Row], hidden: int, catalogs: Catalogs) -> list[str]:
    """The table of instances with its heading, and how many rows it leaves out."""
    if not board:
        return []
    table = table_of(BOARD_HEADS, [_board(row, catalogs) for row in board])
    more = [f"<p class='note'>And {hidden} more.</p>"] if hidden > 0 else []
    return ["<h2>Every instance at its best</h2>", table, *more]


def page_of(title: str, style: str, parts: list[str]) -> str:
    """A page that opens without a network."""
    head = (
        f"<meta charset='utf-8'><meta name='viewport' "
        f"content='width=device-width'><title>{escape(title)}</title><style>{style}</style>"
    )
    return (
        f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(parts)}</body></html>\n"
    )


def _answers(options: Answer, chosen_row: Row | None) -> list[Row]:
    """The answers, the chosen one first."""
    answers = [row for row in options.rows if row["answer"]]
    if chosen_row is None or not answers:
        return answers
    return [chosen_row, *(row for row in answers if row["answer"] != chosen_row["answer"])]


def _small_line(options: Answer, catalogs: Catalogs, today: date, chosen_row: Row | None) -> str:
    """Return the line below the answer: Prices of 20 July 2026 · starting is included."""
    parts = plan_words.small_line(options, catalogs, today, chosen_row)
    return " · ".join(text for text, _ in parts)


def _how_sure(options: Answer, answers: list[Row], catalogs: Catalogs) -> str:
    """Return the near ties, the range of the time, and the cost of a failed start."""
    if options.problem or options.job.get("have"):
        return ""
    types = near_ties(options)
    fits = failure_sentence(answers[0], options.board)
    return " ".join(
        filter(
            None,
            (
                f"{near_ties_heading(types, options)}.",
                how_sure(types, None, Alternatives(), catalogs),
                fits,
            ),
        )
    )


def _reasons(rows: list[Row], catalogs: Catalogs) -> list[str]:
    """Why each row is an answer, and how hard it is to get where it is paid for."""
    reasons = []
    for row in rows:
        reason = row["why"]
        if row["obtainable"] and _with_price([row]):
            reason += f" {row_words.obtainable(row, catalogs)}."
        if reason:
            reasons.append(reason)
    return reasons


def _answer(row: Row, catalogs: Catalogs) -> tuple[str, ...]:
    """The cells of one answer: its name, where, cost, memory and setting."""
    return (
        titles(row) if row["answer"] else CHOSEN,
        row_words.where(row, catalogs, True),
        *_cost(row, catalogs),
        memory_of(row),
        setting(row, catalogs),
    )


def _answer_cells(row: Row, catalogs: Catalogs) -> list[str]:
    """The cells of an answer in HTML, its tank under its memory."""
    cells = [*map(escape, _answer(row, catalogs))]
    cells[MEMORY] += _tank(row, 200, 24)
    return cells


def _board(row: Row, catalogs: Catalogs) -> list[str]:
    cells = [row_words.where(row, catalogs), row_words.verdict(row), *_cost(row, catalogs)]
    return [*map(escape, cells), _tank(row, 200, 24), escape(setting(row, catalogs))]


def _tank(row: Row, width: int, height: int) -> str:
    svg = tank_svg(row, INKS["light"], width, height)
    return svg.replace(
        "<svg ", f"<svg role='img' aria-label='{escape(row_words.tank_alt(row), quote=True)}' ", 1
    )


def _components(row: Row) -> str:
    """The table of the components at the peak, each with the color that the chart gives it."""
    parts = []
    for name, size, share in parts_of(row).itertuples(index=False):
        key = (
            f"<span class='key' "
            f"style='background:{COMPONENT_COLORS[name]}'></span>{escape(COMPONENT_LABELS[name])}"
        )
        parts.append([key, gib(size), percent(share), escape(GLOSSARY[name].meaning)])
    return table_of(("Component", "Size", "Share", "What it is"), parts)


def _with_price(rows: list[Row]) -> list[Row]:
    """Return the rows with a price; your own machines have none."""
    return [row for row in rows if not is_missing(row["usd"])]


def _cost(row: Row, catalogs: Catalogs) -> tuple[str, str, str]:
    """Money and time, GPU-hours, and the price of an hour; without a price the times alone."""
    gpu_hours = gpu_hours_of(row)
    if _with_price([row]):
        return plan_words.money_and_time(row), gpu_hours, usd(row["usd_per_hour"])
    return f"no price, {plan_words.pace(row, catalogs)}", gpu_hours, ""


def _prices(rows: list[Row], catalogs: Catalogs) -> Iterator[list[str]]:
    """Yield the cells of each price that the answers rest on."""
    places = {
        (row["instance"], row["region"], row["market"]): row
        for row in rows
        if row["instance"] and row["market"]
    }
    for (_, region, market), row in places.items():
        facts = _price(row, catalogs)
        where = place({**row, "market": ""})
        parts = (
            where,
            region_name(region, catalogs),
            MARKETS[market].label,
            usd(row["usd_per_hour"]),
        )
        yield [*map(escape, (*parts, facts["as_of"][:10], facts["basis"], facts["source"]))]


def _price(row: Row, catalogs: Catalogs) -> Row:
    return price_facts(row, row["market"] or "on-demand", catalogs)


def _assumptions(rows: list[Row], catalogs: Catalogs) -> Iterator[list[str]]:
    """Yield the assumptions that the job reads, the plan's own where it sets one."""
    read = assumptions_of(rows[0], catalogs) if rows else list(catalogs.assumptions.index)
    for name, entry in catalogs.assumptions.loc[read].iterrows():
        set_value: Any = rows[0].get(name) if rows else None
        value = entry["value"] if is_missing(set_value) else set_value
        parts = (
            entry["label"],
            f"{three_digits(float(value))} {str(entry['unit']).replace('_', ' ')}",
            entry["basis"],
            entry["source"],
        )
        yield [escape(str(part)) for part in parts]


def table_of(heads: tuple[str, ...], rows: Iterator | list[list[str]]) -> str:
    """A table in HTML; cells are escaped already."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table in Markdown."""
    return [
        f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
        for cells in (heads, ["---"] * len(heads), *rows)
    ]
