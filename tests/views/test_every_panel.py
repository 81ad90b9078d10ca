"""Every page, tab and panel says the first card, and of other machines and memories rows of the one
table: all of them for four jobs, Plan and two others for some further jobs.

A panel that answers another question says which.
"""

import json
import re
from html import unescape

import pytest
from examples import catalogs, recorded
from pages import PAGES, html_texts, loose, opened, page_text, run, texts, title, turned
from pages import cards as answer_cards
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df

from calc.cost.job import ends_of
from calc.explain.step_through import MOST_MISS
from calc.plan.figures import records
from calc.say.numbers import about, billed_usd, gib, three_digits, usd
from calc.say.place import cards, place
from calc.say.verdict import verdict
from calc.units import GIB
from views.session import present_plan
from views.shared.answer_words import pace

JOBS = recorded("cases/one_plan.json")
# On every page.
WHOLE = (
    "a 32B for 20 people",
    "too large for one card",
    "LoRA of a 70B within a week",
    "one's own cards",
)
OTHERS = [job for job in JOBS if job not in WHOLE]
FIGURE = re.compile(r"(?P<money>\$\d[\d,]*(?:\.\d+)?)|(?P<machine>\d+ × [a-z]\w*(?:-\w+)*\.\w+)")
PART = re.compile(r"\$[\d,.]+ of it for starting")
OTHER = {"money": "machine", "machine": "money"}
MEMORY = re.compile(r"(\d[\d.,]*) of (\d[\d.,]*) GiB")
ANOTHER_QUESTION = (
    *("In 16 bits", "In 8 bits", "In 4 bits", "Rented", "Largest batch"),
    *(
        "Most requests",
        "On demand, ",
        "Source: ",
        "a spare instance of ",
        "To serve the tuned models: ",
        "Against a price per token: ",
        "less than the plan",
        "kept, ",
    ),
)
LONG_PAGES = 6  # of the pages, one in so many beside Plan is opened for a job in make long
END_OF_LINE = re.compile(r"</(tr|div|p|li|table|h\d)>|<br>")


def below(block):
    """All elements and blocks of a block."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from below(child)


def closed(app):
    """The keys of the panels that compute only when they are open."""
    lazy = {}
    for block in below(app._tree):
        kind, proto = getattr(block, "type", ""), getattr(block, "proto", None)
        if kind in ("expander", "popover"):
            panel_id = proto.popover.id if kind == "popover" else proto.id
            lazy[panel_id.split("-", 2)[-1]] = bool(panel_id) and not panel_id.endswith("-None")
    return {key for key, is_lazy in lazy.items() if is_lazy}


def all_open(app):
    """The page with every panel open, those within panels too."""
    done = set()
    while new := closed(app) - done:
        for key in new:
            app.session_state[key] = True
        done |= new
        run(app)
    return app


def lines(app):
    """What the page says, line by line; a card is one line, a table in HTML one for each row."""
    spoken = [
        *texts(app),
        *(block.value for block in app.code),
        *(button.label for button in app.button),
    ]
    spoken += [f"{metric.label} {metric.value} {metric.delta}" for metric in app.metric]
    spoken += [
        "\n".join(" | ".join(map(str, row)) for row in table.value.itertuples(index=False))
        for table in app.table
    ]
    bodies = [
        re.sub(r"<style.*?</style>", "", html.proto.body, flags=re.DOTALL)
        for html in app.get("html")
    ]
    spoken += [END_OF_LINE.sub("\n" if "<table" in body else " ", body) for body in bodies]
    plain = [unescape(re.sub(r"<[^>]+>", " ", loose(text).replace("\\", ""))) for text in spoken]
    return {" ".join(line.split()) for text in plain for line in text.split("\n")}


def pairs(line):
    """Each machine with the money next to it in its clause."""
    for clause in re.split(r"(?<=[.?]) |; | \| ", PART.sub("", line)):
        waiting = {}
        for match in FIGURE.finditer(clause):
            kind, text = match.lastgroup, match.group().rstrip(",")
            other = waiting.pop(OTHER[kind], "")
            if other:
                yield (text, other) if kind == "machine" else (other, text)
            else:
                waiting = {kind: text}


def allowed(rows):
    """Machine -> the money of its rows in all and an hour, as it may be written; and every memory
    with its card.
    """
    money, memory = {}, set()
    for row in rows:
        memory.add(
            tuple(three_digits(row[name] / GIB) for name in ("needed_bytes", "gpu_memory_bytes"))
        )
        if row["instance"]:
            written = {say(row[name]) for name in ("usd", "usd_per_hour") for say in (about, usd)}
            money.setdefault(f"{row['instances_needed']:.0f} × {row['instance']}", set()).update(
                written
            )
    return money, memory


def tables_of_charts(app):
    """The tables behind the charts of the page."""
    for chart in app.get("vega_lite_chart"):
        if chart.proto.data.data:
            yield convert_arrow_bytes_to_pandas_df(chart.proto.data.data)


def charts(app):
    """The charts of the page: title of the vertical axis, and table."""
    for chart in app.get("vega_lite_chart"):
        layers = json.loads(chart.proto.spec).get("layer", [])
        axes = [
            layer["encoding"]["y"]["axis"]["title"]
            for layer in layers
            if layer.get("encoding", {}).get("y", {}).get("axis")
        ]
        if axes and chart.proto.data.data:
            yield axes[0], convert_arrow_bytes_to_pandas_df(chart.proto.data.data)


def frame(app, column):
    return next(frame.value for frame in app.dataframe if column in frame.value)


def says_the_first_card(app, page, row, is_owned):
    """The machine and the money of the first card, where this page says them; what has no answer
    says that alone.
    """
    text, heading = page_text(app), title(app).replace("\\$", "$")
    if not row["answer"]:
        assert page != "pay" or (heading.startswith("No bill as it is set: "), len(app.error)) == (
            True,
            1,
        )
        return
    where = (
        f"{row['instances_needed']:.0f} × {row['instance']}"
        if row["instance"]
        else cards(row, catalogs())
    )
    needed, card = (row[name] / GIB for name in ("needed_bytes", "gpu_memory_bytes"))
    if page == "plan":
        on_plan(app, row, where, is_owned)
    elif page == "pay" and is_owned:
        assert where in heading
        assert "Rented, the same job costs $" in text
    elif page == "pay":
        assert billed_usd(row["usd"]) in heading
        assert where in text
        assert frame(app, "Cost")["Cost"].sub(row["usd"]).abs().min() == pytest.approx(
            0, abs=1e-6 * row["usd"]
        )
    elif page == "explore":
        assert (place(row) if row["instance"] else where.split(" × ")[1]) in heading
        assert f"From the plan: {gib(needed)} per GPU" in text
        for axis, table in charts(app):
            assert (
                axis != "USD"
                or is_owned
                or table.loc[table["now"], "y"].item() == pytest.approx(row["usd"])
            )
    elif page == "step":
        on_step_through(app, needed, card)
    elif page == "instances" and not is_owned:
        first = app.dataframe[0].value.iloc[0]
        assert (first["instance"].startswith(where), first["usd"]) == (
            True,
            pytest.approx(row["usd"]),
        )
        hourly = next(name for name in first.index if name.endswith("usd_per_hour"))
        assert row["market"] != "on-demand" or first[hourly] == pytest.approx(row["usd_per_hour"])
        assert verdict(row["fits"], row["runs"]) in first["verdict"]
    elif page == "method":
        assert heading == f"Where the {gib(needed)} on each GPU comes from"
        assert (
            is_owned
            or f"{billed_usd(row['usd'])} {'for the run' if ends_of(row) else 'for a month'}"
            in text
        )
    elif page == "compare" and not is_owned:
        assert billed_usd(row["usd"]) in heading


def on_step_through(app, needed_gib, card_gib):
    """The largest moment and the card are those of the plan."""
    moments = frame(app, "load")
    assert moments.iloc[-1, 1:].max() == pytest.approx(needed_gib, rel=MOST_MISS)
    parts = next(table for table in tables_of_charts(app) if "safe_gib" in table)
    assert card_gib != card_gib or parts["card_gib"].iloc[0] == pytest.approx(card_gib)


def marked_plan(app, row):
    """The cell of Compare choices that is marked as the plan has its machines and its cost."""
    for table in tables_of_charts(app):
        if "mark" in table:
            for cell in table[table["mark"] == "plan"].to_dict("records"):
                assert cell["machine"] == place(row)
                assert cell["value"] == pytest.approx(row["usd"], nan_ok=True)


def on_plan(app, row, where, is_owned):
    """The heading, the card, the memory, and the best of both boards."""
    heading, text, amount = (
        title(app).replace("\\$", "$"),
        page_text(app),
        pace(row, catalogs()) if is_owned else about(row["usd"]),
    )
    if row["answer"] == "nearest":
        assert where in heading
    elif is_owned:
        assert heading.startswith(
            f"Fits: {three_digits(row['needed_bytes'] / GIB)} of "
            f"{three_digits(row['gpu_memory_bytes'] / GIB)} GiB on "
        )
    else:
        assert heading.startswith(f"About {amount}")
        assert where in heading
    assert all(
        part in answer_cards(app)[0] for part in (amount, where, verdict(row["fits"], row["runs"]))
    )
    assert f"What is in the memory: {where}" in text
    if is_owned:  # its one row is the card
        return
    marked_plan(app, row)
    short = next(words for words in html_texts(app) if words.startswith("Type, at its best"))
    assert (where in short, about(row["usd"]) in short) == (True, True)
    best = frame(app, "tank").iloc[0]
    assert [best["usd"], best["usd_per_hour"]] == pytest.approx(
        [row["usd"], row["usd_per_hour"]], nan_ok=True
    )
    assert best["name"].startswith(where if row["instance"] else place(row))


def pages_of(job):
    """Plan and every other page of some jobs; of another job Plan and some pages."""
    if job in WHOLE:
        return PAGES
    first, *others = PAGES
    return [first, *others[list(JOBS).index(job) % LONG_PAGES :: LONG_PAGES]]


@pytest.mark.sample(8)
@pytest.mark.long
@pytest.mark.parametrize("job", [*WHOLE, *OTHERS])
def test_every_panel_gives_the_first_card_and_rows_of_the_table_or_says_which_question_it_answers(
    job, monkeypatch
):
    plans, present = [], present_plan.present
    monkeypatch.setattr(
        present_plan, "present", lambda catalogs: plans.append(present(catalogs)) or plans[-1]
    )
    app = opened(**JOBS[job])
    first, problem = plans[-1].options.rows[0], plans[-1].options.problem
    assert first["answer"] or title(app) == problem.partition("; ")[0].removesuffix(".")
    money, memory = allowed([*plans[-1].options.rows, *records(plans[-1].options.board)])
    wrong, machines = [], set()
    for page in pages_of(job):
        every = all_open(turned(app, page))
        says_the_first_card(every, page, first, "have" in JOBS[job])
        for line in lines(every):
            machines |= {match["machine"] for match in FIGURE.finditer(line)} - {None}
            if any(words in line for words in ANOTHER_QUESTION):
                continue
            wrong += [
                (page, machine, text, line)
                for machine, text in pairs(line)
                if text not in money.get(machine, ())
            ]
            wrong += [
                (page, *match.groups(), line)
                for match in MEMORY.finditer(line)
                if match.groups() not in memory
            ]
    assert wrong == []
    assert not money or next(iter(money)) in machines
