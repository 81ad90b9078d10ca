"""The choices that an answer makes by itself; each is `auto` until it is set."""

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.fields import is_read, work_of
from calc.job.measure import takes_images
from calc.job.resolve import usable_choices
from calc.job.software import generates
from calc.say.numbers import is_missing
from views.session import SESSION, job_state, questions
from views.session.job_state import KEYS
from views.session.present_plan import present
from views.shared.elements import button
from views.shared.texts import TEXTS
from views.sidebar.assumptions import ASKED_ABOVE
from views.sidebar.by_hand_fields import field, label_of, pills, words
from views.sidebar.fields import choice, instance_names
from views.sidebar.served import conversation

TEXT = TEXTS["by_hand"]
IMAGE_FIELDS = (KEYS.images_per_sequence, KEYS.image_tokens)  # which a service asks above


def group(fields: Row, by_hand: Row, catalogs: Catalogs) -> None:
    """The closed group; its fields exist only while it is open, what was chosen in them stays."""
    asked_above = {*ASKED_ABOVE, KEYS.objective}
    asked_above |= {*IMAGE_FIELDS} if work_of(fields) == "inference" else set()
    by_hand = {name: values for name, values in by_hand.items() if name not in asked_above}
    pane = st.expander("Set by hand", on_change="rerun", key="by_hand")
    if pane.open:
        with pane:
            _fields(fields, by_hand, present(catalogs).row, catalogs)
    elif by_hand:
        st.caption(
            f"{len(by_hand)} set by hand: "
            f"{', '.join(label_of(name, work_of(fields)) for name in by_hand)}"
        )


def _fields(fields: Row, by_hand: Row, answer_row: Row, catalogs: Catalogs) -> None:
    """Draw the fields of the choices that can be set by hand."""
    work = work_of(fields)
    _summary(by_hand, work, catalogs)
    able = {
        KEYS.precision: job_state.possible_precisions(catalogs),
        KEYS.implementation: usable_choices("implementation", work, catalogs),
        KEYS.optimizer: catalogs.optimizers.index,
        KEYS.sharding: catalogs.shardings.index,
    }
    for name, usual in TEXT["usual"][work].items():
        ids = list(able.get(name, usual))
        pills(name, [*(value for value in usual if value in ids), *ids], answer_row, catalogs)
    names = instance_names(catalogs)
    st.multiselect(
        "Instances",
        list(names),
        format_func=names.__getitem__,
        key=KEYS.instance,
        placeholder=_answers_place(answer_row),
        **SESSION,
    )
    is_single = work == "inference" and questions.turns() == 1
    if is_single and generates(fields["model"], catalogs):
        conversation(catalogs)  # which stands with the load once it has several turns
    if work == "training" and takes_images(fields["model"], catalogs):
        field(KEYS.images_per_sequence, answer_row, catalogs)
        usual_tokens = catalogs.models["usual_image_tokens"][fields["model"]]
        field(KEYS.image_tokens, {**answer_row, KEYS.image_tokens: usual_tokens}, catalogs)
    if st.toggle("More", key="more_by_hand", persist_state="session"):
        for name in TEXT["more"]:
            if is_read(name, fields):
                field(name, answer_row, catalogs)
        bits = [KEYS.fewest_bits] if work == "training" else []  # of a service its weights
        for name in (*bits, KEYS.confidence):
            choice(TEXT[name]["label"], name, TEXT[name]["values"], label_visibility="visible")


def _answers_place(answer_row: Row) -> str:
    """Say what an empty field of instances means: auto: 2 × p5.48xlarge."""
    instance, instances = answer_row.get("instance"), answer_row.get("instances_needed")
    if is_missing(instance):
        return "auto"
    return f"auto: {instance}" if is_missing(instances) else f"auto: {instances:.0f} × {instance}"


def _summary(by_hand: Row, work: str, catalogs: Catalogs) -> None:
    """Draw what is set by hand, each with one click back to auto."""
    if not by_hand:
        st.caption(
            "The answer chooses what you leave on auto. Several values of one choice are compared."
        )
        return
    with st.container(horizontal=True, gap="xsmall"):
        for name, values in by_hand.items():
            sentence = ", ".join(words(name, value, catalogs) for value in values)
            button(
                f"{label_of(name, work)}: {sentence}",
                job_state.to_auto,
                name,
                icon="close",
                type="tertiary",
                key=f"auto_{name}",
            )
        button(
            "All automatic",
            job_state.to_auto,
            *by_hand,
            icon="undo",
            type="tertiary",
            key="all_to_auto",
        )
