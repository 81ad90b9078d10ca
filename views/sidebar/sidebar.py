"""The sidebar: the job on one screen, in order of thought."""

from typing import Any

import streamlit as st

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.cost.markets import BY_USE, MARKETS, sold_for
from calc.say.numbers import count, counted
from calc.search.inputs import STEP_TOKENS
from calc.search.job_fields import is_offline, tokens_of_run, work_of
from calc.search.offline import IMAGES, SOUND, TOKENS, measure
from calc.search.settle import generates
from views.session import SESSION, address, job_state
from views.session.job_state import KEYS
from views.session.present_plan import present
from views.shared.elements import button, segments
from views.shared.markdown import plain
from views.shared.texts import TEXTS
from views.sidebar import by_hand, model_form

GOALS = {"train": "Train", "tune": "Fine-tune", "serve": "Serve"}
CAPACITY = TEXTS["sidebar"]["capacity"]
HAVE = TEXTS["sidebar"]["have"]
METHODS = {"full": "Full", "lora": "LoRA", "qlora": "QLoRA"}


def sidebar(catalogs: Catalogs) -> None:
    """Draw the job, and what is set by hand."""
    fields, by_hand_now, _ = job_state.current()
    with st.sidebar, st.container(gap="xsmall"):
        _segments("Goal", KEYS.goal, GOALS)
        if fields["goal"] == "tune":
            _segments("Method", KEYS.method, METHODS)
        _model(catalogs)
        _how_much(fields, by_hand_now, catalogs)
        _where(fields, catalogs)
        _limits(fields)
        _in_all(fields, catalogs)
        by_hand.group(fields, by_hand_now, catalogs)


def complaints() -> None:
    """Faults of the link until they are dismissed, and values that gave way in this run."""
    link = address.address()
    for sentence in link.notes:
        st.info(plain(sentence), icon=":material/info:")
    if link.complaints:
        st.warning(
            plain("\n".join(f"- {sentence}" for sentence in link.complaints)),
            title="Not all of the link was understood",
            icon=":material/link_off:",
        )
        button("Dismiss", link.complaints.clear, key="dismiss", type="tertiary")


def _segments(label: str, key: str, words: dict[str, str]) -> None:
    segments(label, words, key, width="stretch", label_visibility="collapsed", **SESSION)


def _model(catalogs: Catalogs) -> None:
    names = _model_names(catalogs)
    with st.container(horizontal=True, wrap=False, gap="xsmall", vertical_alignment="bottom"):
        st.selectbox("Model", list(names), format_func=lambda model: names.get(model, model), key=KEYS.model, **SESSION)
        model_form.add_a_model()


@kept("models")
def _model_names(catalogs: Catalogs) -> dict[str, str]:
    rows = zip(catalogs.models.index, catalogs.models["name"], catalogs.models["refused"], strict=True)
    return {model: f"{name} (not estimated)" if refused else name for model, name, refused in rows}


def _how_much(fields: dict[str, Any], by_hand_now: dict[str, Any], catalogs: Catalogs) -> None:
    """The amount of work: a run's tokens, or the requests to be served."""
    if fields["goal"] == "serve":
        _served(fields, catalogs)
        return
    if fields["goal"] == "train":
        _number("Tokens of the run", KEYS.run_tokens, None, "", format="%.0f", step=1e9)
    else:
        with _row():
            _whole("Examples", KEYS.examples)
            _whole("Tokens each", KEYS.example_tokens)
            _number("Epochs", KEYS.epochs, "How often each example is seen.", "", step=1.0)
    named = by_hand_now.get(KEYS.train_tokens)
    st.caption(f"{count(named[0])} tokens, set by hand below" if named else f"{count(tokens_of_run(fields))} tokens in all")
    with _row():
        _whole("Context", KEYS.sequence_tokens, "Tokens of one sequence, into which examples are packed.")
        step = "Tokens of an optimizer step, all GPUs together; answers stay within a factor of 2 of it."
        _whole("Per step", KEYS.step_tokens, step, f"{STEP_TOKENS:,}")
        _instances()


def _served(fields: dict[str, Any], catalogs: Catalogs) -> None:
    """Who asks how much at once, how long prompts and answers are, and how fast they come."""
    offline, context = is_offline(fields), bool(fields["context_tokens"])
    rate = offline or bool(fields["requests_per_second"])
    usual_share = catalogs.assumptions["value"]["share_active"]
    with _row():
        _whole("People", KEYS.people, "People at work with the service, of whom a share waits for an answer at one moment.", "–", rate)
        if job_state.counts_people():
            _number(
                "Share active",
                "share_active",
                "The share of the people who wait for an answer at one moment.",
                f"{usual_share:g}",
                max_value=1.0,
            )
        else:
            _whole("At once", KEYS.users, "Requests being answered at the same moment, by all replicas together.", disabled=rate)
        _number(
            "or req/s", KEYS.requests_per_second, "Requests per second at the peak, instead of requests at once.", "–", disabled=offline
        )
    if job_state.counts_people() and (users := present(catalogs).job.get("users")):
        st.caption(f"{counted(int(users), 'request')} at once")
    with _row():
        split = "Prompt and answer together, of which an eighth is the answer; instead of the two beside it."
        _whole("Context", KEYS.context_tokens, split, "–")
        images = offline and measure(fields["model"], 1, catalogs).words == IMAGES  # which are read without a text
        _whole("Prompt", KEYS.prompt_tokens, "Tokens of one prompt.", disabled=context or images)
        answers = generates(fields["model"], catalogs)
        _whole("Answer", KEYS.answer_tokens, "Tokens generated for a request; none by an encoder.", disabled=context or not answers)
    with _row():
        if offline:
            _number("Within days", KEYS.days_most, "From the request of the machines to the last token.")
            _instances()
            return
        first = "Seconds to the first token of one arriving prompt, queueing counted. 5 is usual: people wait 2 to 6."
        _number("First token, s (usual 5)", KEYS.first_token_seconds, first)
        token = "Seconds for each generated token after the first, at the steady rate. 0.1 is usual: as fast as people read."
        _number("Token, s (usual 0.1)", KEYS.token_seconds, token)


def _instances() -> None:
    _whole("Instances", KEYS.instances_most, "The most instances of one job.", "no limit")


def _where(fields: dict[str, Any], catalogs: Catalogs) -> None:
    """The regions and the markets."""
    regions(catalogs)
    state, work = st.session_state, work_of(fields)
    sold = [market for market in BY_USE if sold_for(market, work, is_offline(fields))]
    signed = [market for market in fields["markets"] if market not in BY_USE]  # chosen on Bill, or by the link
    look: dict[str, Any] = {"selection_mode": "multi", "format_func": lambda market: MARKETS[market].title, "label_visibility": "collapsed"}
    if work == "training":
        st.pills("Markets", [*sold, *signed], key=KEYS.markets, **look, **SESSION)
    else:
        state["markets_served"] = [market for market in fields["markets"] if market in (*sold, *signed)] or sold[:1]
        st.pills("Markets", [*sold, *signed], key="markets_served", on_change=_take_markets, args=(sold,), **look)
    st.selectbox("Capacity", list(CAPACITY), format_func=CAPACITY.__getitem__, key=KEYS.obtainable, label_visibility="collapsed", **SESSION)


def _take_markets(sold: list[str]) -> None:
    """Callback: the markets of a service; those chosen before that are not sold for it stay."""
    state, before = st.session_state, st.session_state[KEYS.markets]
    others = [market for market in before if market in BY_USE and market not in sold]
    state[KEYS.markets] = [*state["markets_served"], *others] if state["markets_served"] else before


def regions(catalogs: Catalogs) -> None:
    """The regions of the job, shared by the pages."""
    names = _region_names(catalogs)
    st.multiselect(
        "Where",
        list(names),
        format_func=lambda region: names.get(region, region),
        key=KEYS.regions,
        placeholder="Anywhere",
        help="Regions that may be used; none: anywhere.",
        **SESSION,
    )


@kept("regions")
def _region_names(catalogs: Catalogs) -> dict[str, str]:
    return {region: f"{region} · {name}" for region, name in catalogs.regions["name"].items()}


def _limits(fields: dict[str, Any]) -> None:
    """What an answer must keep; an empty field is no limit."""
    offline, serves = is_offline(fields), fields["goal"] == "serve"
    with _row():
        if not serves:
            _number("Within days", KEYS.days_most, "From the first step to the last.")
        _number("USD/month" if serves and not offline else "USD in all", KEYS.usd_most, "The most that it may cost.")
        _number("USD/hour", KEYS.usd_per_hour_most, "The most that an hour of all instances may cost.")
        if serves and not offline:
            _instances()


def _in_all(fields: dict[str, Any], catalogs: Catalogs) -> None:
    """The machines that are there, and of a service the work that ends."""
    with _row():
        st.text_input("I already have these", key=KEYS.have, placeholder="8 x a100-80gb-sxm + 2 x p5.48xlarge", help=HAVE, **SESSION)
        if fields["goal"] == "serve":
            example = {TOKENS: "1e9 tokens", IMAGES: "1e6 images", SOUND: "1000 hours"}[measure(fields["model"], 1, catalogs).words]
            st.text_input("Or all by a deadline", key=KEYS.tokens_total, placeholder=example, help=TEXTS["sidebar"]["offline"], **SESSION)


def _row() -> Any:
    """Three fields side by side; so narrow they leave out the buttons for more and less."""
    return st.container(horizontal=True, wrap=False, gap="xsmall")


def _whole(label: str, key: str, help_text: str | None = None, empty: str = "", disabled: bool = False) -> None:
    """A field of a count; `empty` says what an empty field means, else the last value returns."""
    st.number_input(label, 1, value=None, step=1, key=key, help=help_text, placeholder=empty, disabled=disabled, **SESSION)


def _number(label: str, key: str, help_text: str | None, empty: str = "no limit", **look: Any) -> None:
    look = {"format": "%g", **look}
    st.number_input(label, 0.0, value=None, key=key, help=help_text, placeholder=empty, **look, **SESSION)
