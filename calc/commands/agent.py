"""The four tools of an agent: estimate, answer, explain, compare; replies under 2 kB.

They take what `show` takes, words, configs and columns, and raise the same sentences as the command
line.
"""

import pandas as pd

from calc.answers.full_answer import full_answer
from calc.catalogs.load import Catalogs
from calc.commands.diff import changed_lines
from calc.commands.oom import explained_lines
from calc.commands.sheet import reading_of, sheet
from calc.cost.job import ends_of
from calc.cost.offers import price_of
from calc.evaluate import Row
from calc.files.request import PASTED, Request, request_of
from calc.files.request_answer import (
    answer_request,
    check_open,
    job_of_request,
    row_of_request,
)
from calc.files.request_job import columns_of_run
from calc.job.columns import JOB_BY_NAME
from calc.mappings import Cells
from calc.plan.bill import bill_row
from calc.plan.figures import figures
from calc.say.answer import titles
from calc.say.differences import choices
from calc.say.job import job_sentence
from calc.say.numbers import about, is_missing, span, usd
from calc.say.paid import paid_hours
from calc.say.place import place, place_with_availability
from calc.say.setting import setting
from calc.say.verdict import memory_of
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.lookups import similar
from calc.scenarios.problems import TableError, quote_cell

MOST_BYTES = 2000  # of a reply
NO_RUN = (
    "Say what ran: its config or launch command, or words such as 'llama-3.1-8b lora, batch 8, "
    "context 4096, on an L4'."
)


def estimate_tool(catalogs: Catalogs, text: str = "", columns: Cells | None = None) -> str:
    """One estimate, of a description, a config, a command, or columns as given."""
    request = _request(text, columns, catalogs)
    result = answer_request(request)
    return _reply([*sheet(result, request), _sources(result.row, request.catalogs)])


def answer_tool(catalogs: Catalogs, text: str = "", columns: Cells | None = None) -> str:
    """Answer what to rent for a job: the cheapest, the faster and the easier options."""
    request = _request(text, columns, catalogs)
    request = request._replace(columns=columns_of_run(request))
    check_open(request)
    full = full_answer(job_of_request(request), request.catalogs)
    first = full.rows[0]
    lines = [
        *reading_of(request, full.job),
        job_sentence(full.job, request.catalogs),
        *filter(None, (full.problem,)),
    ]
    for row in full.rows if not is_missing(first["memory_bytes"]) else []:
        title = "Nearest" if full.problem else titles(row)
        have = full.job.get("have")
        where = place_with_availability(row, request.catalogs, is_rented=not have)
        lines.append(
            f"{title}: {_bill(row | {'have': have})}; {where}; memory {memory_of(row)}; "
            f"{setting(row, request.catalogs)}"
        )
    lines += [] if full.problem else [f"Why: {first['why']}", first["limits_cost"]]
    return _reply([*lines, _sources(first, request.catalogs)])


def explain_tool(
    catalogs: Catalogs, message: str, run: str = "", columns: Cells | None = None
) -> str:
    """Explain an out-of-memory text with its run, and say what would fit."""
    if not (run or columns):
        raise TableError(NO_RUN)
    request = _request(run, columns, catalogs)
    row = row_of_request(request)
    if row["problem"] and not row["memory_bytes"] > 0:
        raise TableError(row["problem"])
    beside = f"Beside: {memory_of(row)}; {setting(row, request.catalogs)}"
    return _reply(
        [
            *reading_of(request, {}),
            beside,
            *filter(None, explained_lines(message, row, request.catalogs)),
            _sources(row, request.catalogs),
        ]
    )


def compare_tool(catalogs: Catalogs, first: str, second: str) -> str:
    """Compare two requests: what differs in choices, memory, time and cost, and why."""
    both = [_request(text, None, catalogs) for text in (first, second)]
    plain = [answer_request(request).row for request in both]
    if problem := next((row["problem"] for row in plain if is_missing(row["memory_bytes"])), ""):
        raise TableError(problem)
    rows = [bill_row(row, request.catalogs) for row, request in zip(plain, both, strict=True)]
    extended = both[1].catalogs if both[1].models else both[0].catalogs
    table = choices(pd.DataFrame(rows), extended)
    lines = [
        f"{name}: {_bill(row)}; {place(row, extended)}; memory {memory_of(row)}"
        for name, row in zip("AB", rows, strict=True)
    ]
    changes = changed_lines("A to B", rows[0], rows[1], table).splitlines()[2:]
    remarks = [remark for request in both for remark in (request.question, request.remark)]
    return _reply([*lines, *filter(None, (*changes, *remarks)), _sources(rows[0], extended)])


def _request(text: str, columns: Cells | None, catalogs: Catalogs) -> Request:
    """The request that a tool was given; refuse a column that does not exist."""
    cells = {name: value for name, value in (columns or {}).items() if not is_missing(value)}
    for name in cells.keys() - (names := inputs_by_name() | JOB_BY_NAME).keys():
        raise TableError(
            f"There is no column '{quote_cell(name)}'; use "
            f"{similar(name, names) or 'the words instead'}."
        )
    return request_of([(PASTED, text.encode())] if text.strip() else [], catalogs, cells)


def _bill(row: Row) -> str:
    """Return the bill in words: about $33 in 17.7 h (13.7 to 23.6), $1.86 an hour."""
    number = figures(row)
    time = (
        f"in {span(number.hours, number.low_hours, number.high_hours)}"
        if ends_of(row)
        else "a month"
    )
    if is_missing(row["usd_per_hour"]):
        return f"nothing is rented, {time}" if row.get("have") else "no price"
    money = "" if is_missing(row["usd"]) else f"about {about(row['usd'])} {time}, "
    return ", ".join([f"{money}{usd(row['usd_per_hour'])} an hour", *paid_hours(row)])


def _sources(row: Row, catalogs: Catalogs) -> str:
    """Return the sources of the figures: model, memory, times, and the price with its date."""
    if not row["model"] or is_missing(row["memory_bytes"]):
        return ""
    price = price_of(catalogs, row["instance"], row["region"]) if row["instance"] else {}
    price_source = (
        f"; price: {price['on_demand_source']}, {price['on_demand_as_of']}" if price else ""
    )
    model = str(catalogs.models["source"].get(row["model"], ""))
    return (
        f"Sources: model: {model}; memory: {row['memory_basis']}; times: "
        f"{row['time_basis'] or 'none'}{price_source}."
    )


def _reply(lines: list[str]) -> str:
    """The lines as one text within the most bytes; the longest give way, the last one stays."""
    several = [line for line in lines if line]
    while len("\n".join(several).encode()) > MOST_BYTES:
        place = max(range(len(several)), key=lambda number: len(several[number]))
        longest = several[place]
        several[place] = longest[: int(0.8 * len(longest))].rstrip(" .") + "..."
    return "\n".join(several)
