"""The cards of the answers: cost, time, place, memory bar, the reason, one badge."""

from html import escape

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.say.cards import Card, answer_card, in_bits_line, layout_line, owned_cards
from calc.say.numbers import about, is_missing, span, span_range, usd
from calc.say.paid import paid_hours
from calc.say.speed import service_pace, serving_speed
from calc.say.verdict import memory_in_card
from calc.studies.own_machines import own_machines
from views.charts.tank import tank_html
from views.session import is_phone, job_state
from views.session.present_plan import OTHER_CHOICES, Present, in_other_bits, look_at, over_all
from views.session.recent_results import recent_result
from views.session.worker import in_worker
from views.shared import row_words
from views.shared.answer_words import hours_range
from views.shared.elements import button
from views.shared.markdown import plain
from views.shared.theme import BLUE, ORANGE, Ink

# Pixels of a card, and its width from which on fewer stand side by side.
HEIGHT, PHONE_HEIGHT, NARROWEST = 276, 230, 236
GAP = "1em"  # between parts of a line
MOST = 3  # cards; of a service the last is the other width
# The sign beside the words for how easily a machine is obtained.
MARKS = {
    "at-once": "●",
    "usually": "◐",
    "unknown": "◌",
    "wait-or-quota": "○",
    "by-agreement": "◇",
}


def cards_of(plan: Present, catalogs: Catalogs) -> list[Card]:
    """The answers; for a service also the other width of weights; the variants on your machines."""
    options, (_, by_hand, job) = plan.options, job_state.current()
    if options.job.get("have"):
        return recent_result(
            "owned",
            (job, catalogs.version),
            lambda: owned_cards(in_worker(job, catalogs, own_machines, job, options), catalogs),
        )
    least = options.rows[0]
    rows = [row for row in options.rows if row["answer"]]
    result = [answer_card(row, least, catalogs) for row in rows]
    if rows and by_hand and least["answer"] == "nearest":
        result = [result[0]._replace(title="As you set it", short="")]
    if other := in_other_bits(catalogs):
        bits, row = other
        line = in_bits_line(row, least, catalogs)
        card = Card(f"In {bits} bits", row, line, {"fewest_bits": str(bits)})
        result = [*result[: MOST - 1], card]
    if options.problem and (free := over_all(catalogs)) and not free.problem:
        result.append(
            Card(
                "On any instance",
                free.rows[0],
                layout_line(free.rows[0], catalogs),
                {"instance": [], "gpu": None},
                "Any instance",
            )
        )
    return result[:MOST]


def cards(several: list[Card], plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """A card for each answer, side by side where there is room; pressing one shows its answer."""
    if not several:
        return
    seen_quotas: set[str] = set()
    with st.grid(max(len(several), 2), min_column_width=NARROWEST, key="answer_cards"):
        for number, card in enumerate(several):
            with st.container(height=_height(), border=False, gap=None, key=f"card_{number}"):
                with st.container(height=1, border=False, key=f"pick_{number}"):
                    look = {"key": f"show_card_{number}", "width": "stretch"}
                    button(plain(card.name), _show, card, **look)
                quota = row_words.quota_name(card.row, catalogs)
                # What a new account has of a quota is said once.
                badge = row_words.obtainable(card.row, catalogs, quota not in seen_quotas)
                st.html(_card_html(card, badge, is_shown(card, plan), ink, catalogs))
                seen_quotas.add(quota)


def _show(card: Card) -> None:
    """Callback: everything below starts from the card; one of another job makes that the job."""
    if card.changes.keys() <= {*OTHER_CHOICES}:
        look_at(card.row, **card.changes)
    else:
        job_state.put(card.changes)


def _height() -> int:
    """Pixels of a card at least, whose lines are fewer on a phone."""
    return PHONE_HEIGHT if is_phone() else HEIGHT


def is_shown(card: Card, plan: Present) -> bool:
    """Return whether the panels below start from this card."""
    return all(
        card.row[name] == plan.row[name] or card.row[name] != card.row[name]
        for name in ("instance", "market", "gpus", "memory_bytes", "seconds")
    )


def _card_html(card: Card, badge: str, is_shown: bool, ink: Ink, catalogs: Catalogs) -> str:
    """The card in HTML, higher where its words need it."""
    row = card.row
    border = f"2px solid {BLUE}" if is_shown else f"1px solid {ink.line}"
    padding = "11px 13px" if is_shown else "12px 14px"
    box = (
        f"min-height:{_height() - 4}px;box-sizing:border-box;border:{border};border-radius:8px;"
        f"padding:{padding}"
    )
    faint = f"color:{ink.faint}"
    money, time = _money_and_time(row, catalogs)
    several = row["region"] and "+" in str(job_state.current().job.get("regions"))
    hourly = [] if is_missing(row["usd_per_hour"]) else [f"{usd(row['usd_per_hour'])} an hour"]
    where = f"<b>{escape(row_words.where(row, catalogs, bool(several)))}</b>"
    whole = "<span style='white-space:nowrap'>{}</span>"
    parts = (whole.format(escape(part)) for part in (*hourly, *paid_hours(row)))
    price_line = _in_line([where, *parts])
    memory_and_speed = " · ".join(filter(None, (memory_in_card(row), serving_speed(row, catalogs))))
    lines = [
        f"<div style='font-size:13px;{faint}'>{escape(card.title)}</div>",
        f"<div><span style='font-size:25px;font-weight:600'>{escape(money)}</span> {time}</div>",
        price_line,
        tank_html(row, ink, row_words.tank_alt(row), margin="7px 2px 6px 0"),
        f"<div style='font-size:13px;{faint}'>{escape(memory_and_speed)}</div>",
        f"<div style='padding:4px 0 6px'>{escape(card.line)}</div>",
    ]
    if badge:
        mark = f"<span aria-hidden='true' style='color:{ORANGE}'>{MARKS[row['obtainable']]}</span> "
        look = (
            f"margin-top:auto;padding-top:5px;border-top:1px solid "
            f"{ink.line};font-size:13px;line-height:1.35;{faint}"
        )
        lines.append(f"<div style='{look}'>{mark}{escape(badge)}</div>")
    return (
        f"<div "
        f"style='{box};display:flex;flex-direction:column;font-size:14px;line-height:1.4'>{''.join(lines)}</div>"
    )


def _money_and_time(row: Row, catalogs: Catalogs) -> tuple[str, str]:
    """Return the large figure and the text beside it: $54, in 59 min (48 to 75)."""
    if not ends_of(row):
        is_priced = not is_missing(row["usd"])
        return (about(row["usd"]), "a month") if is_priced else (service_pace(row, catalogs), "")
    time = span(row["hours"])
    ends = span_range(row["hours"], *hours_range(row))
    within = f" <span style='font-size:13px'>({escape(ends)})</span>" if ends else ""
    if is_missing(row["usd"]):
        return (time, within)
    return (about(row["usd"]), f"in {escape(time)}{within}")


def _in_line(parts: list[str]) -> str:
    """HTML elements side by side, with room between two on one line."""
    look = f"display:flex;flex-wrap:wrap;column-gap:{GAP}"
    return f"<div style='{look}'>{' '.join(parts)}</div>"
