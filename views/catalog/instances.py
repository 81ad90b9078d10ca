"""The Instances tab: what runs the job, by its ranked table, and what each type costs."""

from functools import partial
from typing import NamedTuple

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.answers.full_answer import Answer
from calc.catalogs.load import Catalogs
from calc.charts.catalog_tables import has_words
from calc.charts.result_tables import for_screen, pace_ms, word_column
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.cost.offers import entries_behind
from calc.evaluate import Row
from calc.files.csv import tables as csv_tables
from calc.plan.figures import records
from calc.say.job import job_sentence
from calc.say.numbers import is_missing, with_noun
from calc.say.place import OBTAINABLE, place, short_card
from calc.say.speed import one_unit
from calc.studies.instances import SEARCHED, of_whole_rows, types_of_job
from views.catalog import instances_words as words
from views.catalog import types_and_regions
from views.charts.tank import data_uri, tank_svg
from views.session import SESSION, job_state, kept_answers
from views.session import catalogs as session_catalogs
from views.session.present_plan import look_at, present
from views.session.tabs import open_tab
from views.session.worker import options
from views.shared import row_words, tables
from views.shared.elements import button, expander, select, theme_ink
from views.shared.markdown import plain
from views.shared.row_words import capital
from views.shared.sources import source_table, to_method
from views.shared.theme import Ink

KEY = "instance_list"
TANK = (150, 28)  # width and height of a memory bar in pixels
ROW = 34  # pixels
ROWS_IN_VIEW = 14  # before the table scrolls
# Numbers that are computed, not looked up.
OF_THE_JOB = ("usd", "hours", "pace_ms")
WHICH = {"job": "that run the job", "all": "all types"}


class Filters(NamedTuple):
    """Filters of the tab; an empty region is the plan's, which may be several."""

    text: str
    region: str
    market: str
    which: str


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    plan = present(catalogs)
    has_answer = not is_missing(plan.row["memory_bytes"]) and not plan.job.get("have")
    with st.container(horizontal=True, vertical_alignment="bottom", key="instance_filters"):
        filters = _filters(has_answer, catalogs)
        compare = st.container(width="content")
    regions = job_state.current().fields["regions"]
    is_elsewhere = has_answer and filters.region and [filters.region] != list(regions)
    elsewhere = filters.region if is_elsewhere else ""
    result = _options_in(elsewhere, catalogs) if elsewhere else plan.options
    board = result.board if has_answer else result.board.iloc[:0]
    rows = records(board)
    here = filters.region or next(iter(regions), catalogs.regions.index[0])
    other_types_in = here if filters.which == "all" else ""
    table = types_of_job(board, catalogs, filters.market, other_types_in)
    where = catalogs.regions["name"].get(elsewhere, "")
    _heading(title, result, len(table), where, has_answer, catalogs)
    table = table[has_words(table, SEARCHED, filters.text)].reset_index(drop=True)
    if not len(table):
        st.info(
            "No type has these words in its name, family or card: change the search.",
            icon=":material/search_off:",
        )
        return
    tables.of_rows(KEY, (filters, result.job, tuple(table["instance"])))
    ticked = [table.iloc[index].to_dict() for index in tables.chosen_in(KEY) if index < len(table)]
    with compare:
        _compare(ticked, rows)
    ink = theme_ink()
    _instance_list(table, rows, result, filters.market, ink, catalogs)
    st.caption(words.caption(table, filters.market))
    _actions(ticked, rows, (elsewhere, where), table, here)
    if len(ticked) > 1:
        types_and_regions.side_by_side(ticked, _of_job(ticked, rows), catalogs)
    first = ticked[0]["instance"] if ticked else plan.row["instance"] or table["instance"].iloc[0]
    by_region = partial(types_and_regions.regions, first, here, catalogs)
    expander("One type, region by region, and its price over time", "type_by_region", by_region)


def _options_in(region: str, catalogs: Catalogs) -> Answer:
    """Return the answer to the job in another region than the plan's."""
    return options({**job_state.current().job, "regions": [region]}, catalogs)


def _heading(
    title: DeltaGenerator,
    result: Answer,
    types: int,
    where: str,
    has_answer: bool,
    catalogs: Catalogs,
) -> None:
    """Draw how many of the types run the job, and which job in which region."""
    with title:
        heading = (
            words.heading(result, len(catalogs.instances)) if has_answer else words.of_all(types)
        )
        title.title(plain(heading), anchor=False)
        job = job_sentence(result.job, catalogs)
        st.markdown(plain(words.for_job(job, where, has_answer, result.problem)))


def _filters(has_answer: bool, catalogs: Catalogs) -> Filters:
    """Search, region, prices and what is shown, in one row."""
    names, prices = catalogs.regions["name"], catalogs.prices
    text = st.text_input(
        "Search", key="instance_search", placeholder="card, family, size", width=168, **SESSION
    )
    of_plan = [names[region] for region in job_state.current().fields["regions"]]
    regions = {"": f"{', '.join(of_plan) or 'any region'}, as planned"} | dict(names)
    region = select("Region", regions, "instance_region", width=168)
    markets = {
        name: f"an hour, {market.label}"
        for name, market in MARKETS.items()
        if prices[market.price].notna().any()
    }
    market = select("Prices", markets, "instance_market", width=240)
    which = select("Show", WHICH, "instance_which", width=168, disabled=not has_answer)
    return Filters(text or "", region or "", market, which if has_answer else "all")


def _compare(ticked_types: list[Row], rows: list[Row]) -> None:
    """Keeps the ticked rows and opens the page that compares them."""
    on_board = [row for row in _of_job(ticked_types, rows) if row]
    many = f" ({len(on_board)})" if on_board else ""
    if button(
        f"Compare ticked{many}",
        kept_answers.keep_all,
        on_board,
        disabled=not on_board or kept_answers.is_full(),
        key="compare_ticked",
    ):
        open_tab("compare")
        st.switch_page("views/compare_and_bill/page.py")


def _instance_list(
    table: pd.DataFrame, rows: list[Row], result: Answer, market: str, ink: Ink, catalogs: Catalogs
) -> None:
    """The list, each figure with its source; one of the job leads to its formulas."""
    cells = _cells(table, rows, result, market, ink, catalogs)
    columns = {
        MARKETS[market].price if name == "usd_per_hour" else name: look
        for name, look in tables.columns_of("instance_types").items()
    }
    columns["gib_per_usd"]["type_config"]["max_value"] = float(table["gib_per_usd"].max() or 1)
    if rows and not ends_of(result.job):
        columns["usd"]["label"] = "A month"
        columns["pace_ms"]["label"] = f"{capital(one_unit(rows[0], catalogs))}, ms"
    whole = of_whole_rows(table, result.board)
    looked_up = for_screen(whole, [name for name in columns if name not in (*cells, *OF_THE_JOB)])
    frame = pd.concat([looked_up, cells], axis="columns")
    columns = tables.filled_columns(columns, frame)
    column = source_table(
        frame,
        columns,
        f"{with_noun(len(frame), 'instance type')}, those that run the job first",
        KEY,
        lambda number: entries_behind(table.iloc[number], catalogs, market),
        catalogs,
        row_selection="multi-row",
        row_height=ROW,
        height=36 + ROW * min(len(frame), ROWS_IN_VIEW) + 2,
    )
    row = _of_job(table, rows)[tables.chosen_in(KEY, "cells")[0][0]] if column else None
    if row:
        st.markdown(
            plain(
                f"Computed for the job on {place(row)}: Method has every formula, and the "
                f"source of what each reads."
            )
        )
        to_method("explain_type", row)


def _cells(
    table: pd.DataFrame, rows: list[Row], result: Answer, market: str, ink: Ink, catalogs: Catalogs
) -> pd.DataFrame:
    """Return the cells that are computed for the job, and those in words."""
    whole = of_whole_rows(table, result.board)
    cells: dict[str, list] = {name: [] for name in ("instance", "tank", "verdict", "misses")}
    quotas = []
    for row, name in zip(_of_job(table, rows), table["instance"], strict=True):
        if row:
            cells["instance"].append(place(row))
            cells["tank"].append(data_uri(tank_svg(row, ink, *TANK)))
            cells["verdict"].append(row_words.verdict(row))
            cells["misses"].append(row["misses"])
            quotas.append(row_words.quota(row, catalogs))
        else:
            cells["instance"].append(name)
            cells["tank"].append(None)
            cells["verdict"].append("")
            cells["misses"].append("")
            one = {"instance": name, "market": market, "instances_needed": 1}
            quotas.append(row_words.quota(one, catalogs))
    cells["gpus"] = [
        f"{gpus:.0f} × {short_card(gpu, catalogs)}"
        for gpus, gpu in zip(whole["gpus"], whole["gpu"], strict=True)
    ]
    cells["vcpus"] = quotas
    cells["obtainable"] = [OBTAINABLE.get(word, "") for word in table["obtainable"]]
    of_board = result.board.reindex(table["board_row"]).reset_index(drop=True)
    if ends_of(result.job):
        numbers = for_screen(of_board, ["usd", "hours"])
    else:
        paces = pd.Series(pace_ms(result.board, catalogs), result.board.index, dtype=float)
        of_types = paces.reindex(table["board_row"]).to_numpy()
        numbers = for_screen(of_board, ["usd"]).assign(pace_ms=of_types)
    return numbers.assign(**{name: word_column(values) for name, values in cells.items()})


def _of_job(types: pd.DataFrame | list[Row], rows: list[Row]) -> list[Row | None]:
    """The board's row of each type; None where it is not on the board."""
    if isinstance(types, pd.DataFrame):
        numbers = list(types["board_row"])
    else:
        numbers = [row["board_row"] for row in types]
    return [None if is_missing(number) else rows[int(number)] for number in numbers]


def _actions(
    ticked_types: list[Row],
    rows: list[Row],
    region: tuple[str, str],
    table: pd.DataFrame,
    here: str,
) -> None:
    """Draw the actions on the ticked types, in a region by id and name; the table as CSV."""
    elsewhere, where = region
    with st.container(horizontal=True, vertical_alignment="center"):
        label = (
            "Use in plan" if len(ticked_types) < 2 else f"Plan with these {len(ticked_types)} only"
        )
        if elsewhere:
            label = f"{label} in {where}"
        button(
            label,
            _use,
            ticked_types,
            rows,
            elsewhere,
            icon="input",
            disabled=not ticked_types,
            key="use",
        )
        csv = partial(csv_tables.to_csv, table)
        name = f"headroom-instances-{here}"
        tables.download(f"CSV ({with_noun(len(table), 'row')})", csv, name, "instances_csv")
        names = ", ".join(row["instance"] for row in ticked_types)
        st.caption(
            f"Ticked: {names}."
            if names
            else "Tick one for the plan, two to six to see them next to each other.",
            width="content",
        )


def _use(ticked_types: list[Row], rows: list[Row], elsewhere: str) -> None:
    """Callback: look at the row of the job's board, or fix these types by hand."""
    on_board = [row for row in _of_job(ticked_types, rows) if row]
    if len(ticked_types) == len(on_board) == 1 and not elsewhere:
        look_at(on_board[0])
        return
    job_state.choose(
        instance=[row["instance"] for row in ticked_types],
        **({"regions": [elsewhere]} if elsewhere else {}),
    )
    look_at(None)
