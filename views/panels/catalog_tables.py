"""Tables of models, cards and prices as people look them up."""

import pandas as pd

from views.elements import button
from views.session import job_state
from views.tables import chosen_in, columns_of, of_rows, show

MODELS = "model_list"


def models(rows: pd.DataFrame) -> None:
    """Models with shape, size of their weights and coverage; one can go into the plan."""
    of_rows(MODELS, list(rows["id"]))
    show(rows, columns_of("models"), "Models, by name", MODELS, height=560, on_select="rerun", selection_mode="single-row")
    chosen = [rows.iloc[index] for index in chosen_in(MODELS) if index < len(rows)]
    named = chosen[0] if chosen and chosen[0]["estimated"] else None
    button(
        "Use in plan" if named is None else f"Use {named['name']} in plan",
        _use,
        named["id"] if named is not None else None,
        icon="input",
        disabled=named is None,
        help="Tick a model that is estimated.",
        key="use_model",
    )


def _use(model: str) -> None:
    """Callback: the job is of this model."""
    job_state.choose(model=model)


def cards(rows: pd.DataFrame) -> None:
    """Cards with memory, bandwidth and rate, and the instances that carry them."""
    show(rows, columns_of("cards"), "Cards, those that AWS rents first", "cards_table", height=560)


def prices(rows: pd.DataFrame) -> None:
    """Prices of a region with what they rest on and of when they are."""
    show(rows, columns_of("prices"), "Prices of every instance type in a region", "prices_table", height=560)
