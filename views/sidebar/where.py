"""Purchase of machines: regions, markets, capacity and private prices."""

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.cost.markets import BY_USE, MARKETS, sold_for
from calc.evaluate import Row
from calc.files.request_job import job_choices
from calc.job.fields import JOB, is_offline, work_of
from calc.job.service_classes import class_defaults, service_classes
from calc.plan.ownership import LONGEST_OWNER, OWNERSHIP
from calc.say.numbers import with_capital
from calc.scenarios.private_prices import discount_percent
from views.session import SESSION, extra_state, job_state, kept_answers
from views.session import catalogs as session_catalogs
from views.session.job_state import KEYS
from views.session.questions import widget_of
from views.shared.elements import select
from views.shared.markdown import plain
from views.shared.texts import TEXTS
from views.sidebar.fields import popover

CAPACITY = TEXTS["sidebar"]["capacity"]


def place_and_markets(fields: Row, catalogs: Catalogs) -> None:
    """A button that says place and market; the fields exist while it is open."""
    names = catalogs.regions["name"].to_dict()
    sold_by_use = [
        market for market in BY_USE if sold_for(market, work_of(fields), is_offline(fields))
    ]
    # A market may also come from Compare & bill, or from the link.
    commitments = [market for market in fields["markets"] if market not in BY_USE]
    paid_markets = [
        market for market in fields["markets"] if market in (*sold_by_use, *commitments)
    ] or sold_by_use[:1]
    regions = _list_words([names[region] for region in fields["regions"]], "regions") or "Anywhere"
    st.markdown(":small[Where and how you pay]")
    label = (
        f"{regions} · {_list_words([MARKETS[market].label for market in paid_markets], 'markets')}"
    )
    with popover(label, "where", width="stretch") as pane:
        if not pane.open:
            return
        st.multiselect(
            "Regions",
            list(names),
            key=KEYS.regions,
            format_func=lambda region: f"{region} · {names[region]}",
            placeholder="Anywhere",
            **SESSION,
        )
        state = widget_of(
            "markets_paid",
            paid_markets,
            lambda new: _take_markets(new, fields["markets"], sold_by_use),
        )
        titles = {market: MARKETS[market].title for market in (*sold_by_use, *commitments)}
        st.pills(
            "Markets", list(titles), selection_mode="multi", format_func=titles.__getitem__, **state
        )
        select("Availability, at worst", CAPACITY, KEYS.obtainable)
        _own_prices()
        _whose(fields)


def _own_prices() -> None:
    """The fields of your discount and of prices that you have negotiated."""
    ratio = extra_state.own_assumptions().get("paid_ratio")
    percent = None if ratio is None else discount_percent(ratio)
    state = widget_of("discount_percent", percent, kept_answers.take_discount)
    st.number_input(
        "Your discount, %", -900.0, 99.0, value=None, format="%g", placeholder="0", **state
    )
    st.text_input(
        "Your own prices, $ an hour",
        key=KEYS.private_prices,
        placeholder="p5.48xlarge=40.1; g6e.xlarge=1.5",
        **SESSION,
    )


def _whose(fields: Row) -> None:
    """The service class of the job, and the team, owner and project that pay for it."""
    state = widget_of("class_chosen", fields["service_class"], lambda new: _take_class(new, fields))
    st.selectbox(
        "Service class",
        JOB[KEYS.service_class].choices,
        format_func=lambda name: name.capitalize() or "None",
        **state,
    )
    if entry := service_classes().get(fields["service_class"]):
        st.caption(plain(f"{with_capital(entry.about)}."))
    for name in OWNERSHIP:
        st.text_input(name.capitalize(), key=name, max_chars=LONGEST_OWNER, **SESSION)


def _take_class(name: str, fields: Row) -> None:
    """Callback: another service class, whose limits, markets and spare take their fields."""
    work = work_of(fields)
    first = job_state.first_visit()
    catalogs = session_catalogs.catalogs()
    before = job_choices(class_defaults(fields["service_class"], work), catalogs)
    job_state.put({column: first.get(column) for column in before})
    choices = job_choices(class_defaults(name, work), catalogs)
    job_state.put({KEYS.service_class: name, **choices})


def _list_words(words: list[str], noun: str) -> str:
    return ", ".join(words) if len(words) < 3 else f"{len(words)} {noun}"


def _take_markets(markets: list[str], before: list[str], sold_by_use: list[str]) -> None:
    """Callback: choose these markets; keep those chosen before that this work cannot pick."""
    if markets:
        st.session_state[KEYS.markets] = [
            *markets,
            *(market for market in before if market in BY_USE and market not in sold_by_use),
        ]
