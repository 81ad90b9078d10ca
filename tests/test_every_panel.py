"""Every page, tab and panel of forty jobs: a machine with its money, or a memory with its card, is a row of the one table.

A panel that answers another question says which.
"""

import re
from html import unescape

import pytest
from examples import recorded
from pages import PAGES, loose, opened, run, texts, turned

from calc.plan.figures import records
from calc.say.numbers import about, three, usd
from calc.units import GIB
from views.session import present_plan

JOBS = recorded("cases/one_plan.json")
SHORT = ("a 32B for 20 people", "too large for one card")  # in make test
FIGURE = re.compile(r"(?P<money>\$\d[\d,]*(?:\.\d+)?)|(?P<machine>\d+ × [a-z]\w*(?:-\w+)*\.\w+)")
PART = re.compile(r"\$[\d,.]+ of it for starting")
OTHER = {"money": "machine", "machine": "money"}
MEMORY = re.compile(r"(\d[\d.,]*) of (\d[\d.,]*) GiB")
ANOTHER_QUESTION = (
    "In 16 bits",
    "In 8 bits",
    "In 4 bits",
    "Rented",
    "Largest batch",
    "Most requests",
    "On demand, ",
    "Source: ",
    "In this search ",
    "a spare instance of ",
)
END_OF_LINE = re.compile(r"</(tr|div|p|li|table|h\d)>|<br>")


def below(block):
    """All elements and blocks of a block."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from below(child)


def closed(app):
    """The keys of the panels that compute only when they are open."""
    found = {}
    for block in below(app._tree):
        kind, proto = getattr(block, "type", ""), getattr(block, "proto", None)
        if kind in ("expander", "popover"):
            panel_id = proto.popover.id if kind == "popover" else proto.id
            found[panel_id.split("-", 2)[-1]] = bool(panel_id) and not panel_id.endswith("-None")
    return {key for key, is_lazy in found.items() if is_lazy}


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
    spoken = [*texts(app), *(block.value for block in app.code), *(button.label for button in app.button)]
    spoken += [f"{metric.label} {metric.value} {metric.delta}" for metric in app.metric]
    spoken += ["\n".join(" | ".join(map(str, row)) for row in table.value.itertuples(index=False)) for table in app.table]
    bodies = [re.sub(r"<style.*?</style>", "", html.proto.body, flags=re.DOTALL) for html in app.get("html")]
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
    """Machine -> the money of its rows in all and an hour, as it may be written; and every memory with its card."""
    money, memory = {}, set()
    for row in rows:
        memory.add(tuple(three(row[name] / GIB) for name in ("memory_bytes", "gpu_memory_bytes")))
        if row["instance"]:
            written = {say(row[name]) for name in ("usd", "usd_per_hour") for say in (about, usd)}
            money.setdefault(f"{row['instances_needed']:.0f} × {row['instance']}", set()).update(written)
    return money, memory


@pytest.mark.parametrize("job", [pytest.param(job, marks=[] if job in SHORT else pytest.mark.long) for job in JOBS])
def test_every_panel_says_rows_of_the_one_table_or_which_other_question_it_answers(job, monkeypatch):
    plans, present = [], present_plan.present
    monkeypatch.setattr(present_plan, "present", lambda catalogs: plans.append(present(catalogs)) or plans[-1])
    app = opened(**JOBS[job])
    money, memory = allowed([*plans[-1].options.rows, *records(plans[-1].options.board)])
    wrong, machines = [], set()
    for page in PAGES:
        for line in lines(all_open(turned(app, page))):
            machines |= {match["machine"] for match in FIGURE.finditer(line)} - {None}
            if any(words in line for words in ANOTHER_QUESTION):
                continue
            wrong += [(page, machine, text, line) for machine, text in pairs(line) if text not in money.get(machine, ())]
            wrong += [(page, *match.groups(), line) for match in MEMORY.finditer(line) if match.groups() not in memory]
    assert wrong == []
    assert not money or next(iter(money)) in machines
