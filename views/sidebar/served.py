"""Requirements of a service: its number format, load, lengths and speed."""

from functools import partial

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.words.numbers import read_amount
from calc.job.columns import PUBLISHED, usual_limits_seconds
from calc.job.measure import IMAGES, SOUND, counts_images, measure, takes_images
from calc.job.software import generates
from calc.plan.sessions import MOST_TURNS
from calc.say.numbers import exact_amount, with_noun
from calc.scenarios.published_weights import published_bits_of
from calc.units import MILLISECONDS
from views.session import extra_state, job_state, questions
from views.session.job_state import KEYS
from views.session.present_plan import present
from views.shared.elements import select
from views.shared.markdown import plain
from views.sidebar.by_hand_fields import field
from views.sidebar.fields import (
    NO_LIMIT,
    count_field,
    number,
    row,
    scaled_number,
    written_count,
)

SHARES = {  # of the requests, which meet the limits
    "": "the mean of the requests",
    "50": "half of the requests",
    "90": "90 of 100 requests",
    "99": "99 of 100 requests",
}
LOADS = {
    KEYS.people: "People",
    KEYS.users: "Requests in flight",
    KEYS.requests_per_second: "Per second",
    KEYS.tokens_total: "In all",
}


def load(fields: Row, catalogs: Catalogs) -> None:
    """The questions of a service, each with the fields of its answer alone."""
    stored_form = catalogs.models["stored_precision"][fields["model"]]
    measured = questions.load()
    words = measure(fields["model"], 1, catalogs).words
    with row():
        if not (
            stored_form or job_state.current().by_hand.get(KEYS.precision)
        ):  # settle the format
            select("Weights", _weights(fields, catalogs), KEYS.fewest_bits)
        load_in(measured, LOADS, catalogs)
    amount(measured, present(catalogs).job, catalogs)
    if measured == KEYS.tokens_total:
        with row():
            unit = IMAGES if counts_images(fields[KEYS.tokens_total]) else words
            _in_all(f"{unit[1].capitalize()} in all", fields[KEYS.tokens_total])
            number("Days at most", KEYS.days_most)
    if measured != KEYS.tokens_total or words != IMAGES:  # which are read without a text
        lengths(catalogs)
    if takes_images(fields["model"], catalogs):
        _images(fields, catalogs)
    if questions.turns() > 1 and generates(fields["model"], catalogs):
        conversation(catalogs)
    if measured != KEYS.tokens_total:
        _speed(fields, "Token of text, ms" if words == SOUND else "Each token, ms", catalogs)


def _speed(fields: Row, token_label: str, catalogs: Catalogs) -> None:
    """The limits on the times of a service, for which requests they hold, and spare instances."""
    prompt_tokens = present(catalogs).job.get("prompt_tokens") or 0
    usual = usual_limits_seconds(prompt_tokens)[KEYS.first_token_seconds]
    answers = generates(fields["model"], catalogs)
    with row():
        first = "First token, s" if answers else "Answer, s"
        number(first, KEYS.first_token_seconds, f"{usual:.3g}")
        if answers:
            scaled_number(
                token_label,
                "token_ms",
                fields[KEYS.token_seconds],
                MILLISECONDS,
                lambda new: job_state.choose(token_seconds=new),
                NO_LIMIT,
            )
        if not fields["have"]:
            number("Spare instances", "spare", "0", format="%.0f", step=1.0)
    if answers:
        _shares(fields)


def load_in(measure: str, words: dict[str, str], catalogs: Catalogs, label: str = "Load") -> None:
    """The terms in which the load of a service is given."""
    state = questions.widget_of("load", measure, lambda name: questions.take_load(name, catalogs))
    select(label, words, **state, persist_state=None)


def amount(measure: str, job: Row, catalogs: Catalogs) -> None:
    """Draw the fields for the load of a service, in users, requests in flight or per second."""
    if measure == KEYS.people:
        _people(job, catalogs)
    elif measure == KEYS.users:
        count_field("Requests in flight", KEYS.users)
    elif measure == KEYS.requests_per_second:
        number("Requests per second, at the peak", KEYS.requests_per_second, "", format="%.4g")


def _in_all(label: str, amount: str) -> None:
    """An amount of offline work as people write it: 1 billion tokens, 1,000 hours."""

    def take(text: str) -> None:
        if new := read_amount(text):
            job_state.choose(tokens_total=f"{new[0]:.15g} {new[1]}".strip())
        else:
            st.toast(plain(f"'{text}' is not an amount. Write 1 billion tokens or 1000 hours."))

    number, unit = read_amount(amount) or (0.0, amount)
    shown = f"{exact_amount(number) if number else ''} {unit}".strip()
    st.text_input(label, **questions.widget_of("in_all", shown, take))


def conversation(catalogs: Catalogs) -> None:
    """The turns of a conversation, and the time between two of them where there are several."""
    turns = questions.turns()
    with row():
        take = partial(questions.take_turns, catalogs=catalogs)
        state = questions.widget_of("conversation_turns", turns, take)
        st.number_input("Turns of a conversation", 1, MOST_TURNS, **state)
        if turns > 1:
            usual = f"{catalogs.assumptions['value']['think_seconds']:g}"
            number("Between turns, s", "think_seconds", usual)


def _shares(fields: Row) -> None:
    """Ask for which share of the requests the limits hold.

    If the two limits differ, the share of the time to first token is shown.
    """

    def choose(percentile: str) -> None:
        job_state.choose(first_token_percentile=percentile, token_percentile=percentile)

    state = questions.widget_of("limits_hold_for", fields[KEYS.first_token_percentile], choose)
    select("Limits are for", SHARES, **state, persist_state=None)


def _images(fields: Row, catalogs: Catalogs) -> None:
    """The images in a request and the tokens of each, which are part of its prompt."""
    usual_tokens = catalogs.models["usual_image_tokens"][fields["model"]]
    chosen = {**present(catalogs).row, KEYS.image_tokens: usual_tokens}
    images = chosen[KEYS.images_per_sequence]  # of a job that is counted in images, one
    with row():
        number(
            "Images in a request",
            KEYS.images_per_sequence,
            f"auto: {images:.0f}" if images > 0 else "none",
            step=1.0,
            on_change=partial(questions.take_images, catalogs),
        )
        field(KEYS.image_tokens, chosen, catalogs)


def _weights(fields: Row, catalogs: Catalogs) -> dict[str, str]:
    """The narrowest format by fewest_bits; as published means 16 bits if no fewer are published."""
    published_bits = published_bits_of(catalogs, fields["model"])
    words = {bits: f"{bits} bits" for bits in ("8", "16", "4")}
    if fields[KEYS.fewest_bits] == str(published_bits):
        return words
    if published_bits < 16:
        words[str(published_bits)] = f"{published_bits} bits, published"
    return {
        PUBLISHED if bits == str(published_bits) else bits: label for bits, label in words.items()
    }


def _people(job: Row, catalogs: Catalogs) -> None:
    """Draw the number of users, and the share of them who are active."""
    share = extra_state.own_assumptions().get("share_active")
    usual = f"{100 * catalogs.assumptions['value']['share_active']:g}"
    with row():
        count_field("People", KEYS.people)
        take = partial(extra_state.put, "share_active")
        scaled_number(
            "Active at a time, %", "active_percent", share, 100, take, usual, max_value=100.0
        )
        if users := job.get("users"):
            st.caption(f"{with_noun(int(users), 'request')} in flight")


def lengths(catalogs: Catalogs) -> None:
    """Draw the context of a request, and below it how much of it is the prompt."""
    prompt, answer = questions.lengths(catalogs)
    context = prompt + answer
    with row():
        take = partial(questions.take_context, catalogs=catalogs)
        width: int | str = 102 if answer else "stretch"
        written_count("Context, tokens", context, take, "request_tokens", least=2, width=width)
        if answer and context > 2:
            state = questions.widget_of(
                "split", prompt, lambda tokens: questions.take_split(tokens, catalogs)
            )
            st.slider(
                f"Prompt {prompt:,} · answer {answer:,}",
                1,
                context - 1,
                step=max(context // 128, 1),
                format="localized",
                **state,
            )
