"""The job as the sidebar asks for it, and the fields that an answer to a question sets."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.cells import JobError, machines_of
from calc.job.fields import is_offline
from calc.job.lengths import prompt_of_mean_turn, split_context
from calc.job.measure import IMAGES, SOUND, TOKENS, measure, tokens_of_images
from calc.job.software import generates
from calc.rules.layouts import least_prompt_tokens
from views.session import first_run, job_state
from views.session.job_state import KEYS

MY_GPUS, FIRST_MACHINES = "mine", "8 x h100-80gb-sxm"
# Field: what it begins with.
LOADS = {
    "people": 20,
    "users": 8,
    "requests_per_second": 1.0,
    "tokens_total": "",
}
OFFLINE = {TOKENS: "1e9 tokens", IMAGES: "1e6 images", SOUND: "1000 hours"}
Kinds = list[tuple[str | None, int]]


def widget_of(key: str, value: Any, take: Callable[[Any], None]) -> Row:
    """Key and callback of a widget that shows a value of the job in its own terms.

    After a run that was cut short, Streamlit may report the value that the page itself had shown as
    a change. Such an echo is of the job before, and would undo what another callback has just set.
    """
    state = st.session_state
    shown_values = state.setdefault("shown_values", {})
    state[key] = shown_values[key] = value
    first_run.takes()[key] = take

    def take_change() -> None:
        if state[key] != shown_values.get(key):
            shown_values[key] = state[key]
            take(state[key])

    return {"key": key, "on_change": take_change}


def work() -> str:
    """Return the answer of the first row: the goal of the job, or that it runs on your machines."""
    fields = job_state.current().fields
    return MY_GPUS if fields["have"] else fields["goal"]


def take_work(choice: str) -> None:
    """Callback: another goal to rent for, or the machines that were last named."""
    state = st.session_state
    if choice == MY_GPUS:
        job_state.choose(have=state.get("machines_before", FIRST_MACHINES))
    else:
        if machines := job_state.current().fields["have"]:
            state["machines_before"] = machines
        job_state.choose(goal=choice, have=None)


def load(may_end: bool = True) -> str:
    """The field that says how much is served, offline work among them; the others are not read."""
    fields = job_state.current().fields
    if may_end and is_offline(fields):
        return "tokens_total"
    return next((name for name in ("requests_per_second", "people") if fields[name]), "users")


def take_load(choice: str, catalogs: Catalogs) -> None:
    """Callback: the load in other terms; what the field had before returns."""
    fields = job_state.current().fields
    before = st.session_state.setdefault("loads_before", {})
    before |= {name: fields[name] for name in LOADS if fields[name]}
    first = LOADS | {"tokens_total": OFFLINE[measure(fields["model"], 1, catalogs).words]}
    job_state.choose(
        **{
            name: before.get(name, first[name]) if name in (choice, "users") else None
            for name in LOADS
        }
    )


def lengths(catalogs: Catalogs) -> tuple[int, int]:
    """Tokens of the prompt and of the answer of a request."""
    fields = job_state.current().fields
    context = fields["context_tokens"]
    prompt = fields["prompt_tokens"]
    answer = fields["answer_tokens"]
    if not generates(fields["model"], catalogs):
        return context or prompt, 0
    return split_context(context) if context else (prompt, answer)


def take_context(context: int | None, catalogs: Catalogs) -> None:
    """Callback: set a context; the answer keeps its length, but takes at most half of it."""
    if context:
        _, answer = lengths(catalogs)
        _take_prompt(split_context(context, answer)[0] if answer else context, context)


def take_split(prompt: int, catalogs: Catalogs) -> None:
    """Callback: set the length of the prompt within the present context.

    A late report of a slider changes no context. It changes nothing in a job without answers, since
    the slider may belong to the job before.
    """
    context = sum(lengths(catalogs))
    answer = lengths(catalogs)[1]
    if answer:
        _take_prompt(min(prompt, context - 1), context)


def _take_prompt(prompt: int, context: int) -> None:
    """Set the part of a context that is prompt; the rest is the answer."""
    job_state.choose(
        context_tokens=None,
        prompt_tokens=prompt,
        **({"answer_tokens": context - prompt} if context > prompt else {}),
    )


def turns() -> int:
    """The turns of a conversation, 1 for single requests."""
    return int((job_state.current().by_hand.get("turns") or [1])[0])


def take_turns(turns: int, catalogs: Catalogs) -> None:
    """Callback: set the turns; a prompt that is too short for them grows by earlier answers."""
    if turns <= 1:
        job_state.to_auto("turns")
        return
    prompt, answer = lengths(catalogs)
    job_state.choose(turns=turns)
    if prompt < least_prompt_tokens(turns, answer, 0):
        mean_prompt = prompt_of_mean_turn(turns, answer)
        job_state.choose(context_tokens=None, prompt_tokens=mean_prompt, answer_tokens=answer)


def take_images(catalogs: Catalogs) -> None:
    """Callback: the number of images has changed; a prompt that is too short grows by them."""
    state = st.session_state
    images, each = state[KEYS.images_per_sequence] or 0, state.get(KEYS.image_tokens)
    prompt, answer = lengths(catalogs)
    if prompt < (least := tokens_of_images(images, each, state[KEYS.model], catalogs)):
        job_state.choose(context_tokens=None, prompt_tokens=least, answer_tokens=answer)


def machines(catalogs: Catalogs) -> Kinds:
    """The kinds of cards or instances with their counts; a new row has no name yet."""
    names = [*catalogs.instances.index, *catalogs.gpus.index]
    kinds: Kinds = []
    with suppress(JobError):  # whose sentence the page shows
        kinds += machines_of(job_state.current().fields["have"], names).items()
    if not kinds or st.session_state.get("another_kind"):
        kinds.append((None, 1))
    return kinds


def take_machines(kinds: Kinds) -> None:
    """Callback: these kinds; one without a name or a count goes, and the last one stays."""
    st.session_state["another_kind"] = False
    if text := " + ".join(f"{count} x {name}" for name, count in kinds if name and count):
        job_state.choose(have=text)
