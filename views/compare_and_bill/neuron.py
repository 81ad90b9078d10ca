"""Trainium and Inferentia beside the answer: memory, and published rates alone."""

import pandas as pd
import streamlit as st

from calc.evaluate import Row
from calc.plan.neuron import neuron_rows
from calc.say.neuron import PORTING, market_and_region, neuron_sentences
from calc.say.numbers import is_missing, usd
from views.shared import tables
from views.shared.elements import points
from views.shared.markdown import plain

TITLE = "Trainium and Inferentia"


def draw(row: Row) -> None:
    """Draw what is known of the plan on Neuron, and its instance types."""
    rows = neuron_rows(row)
    st.markdown(plain(PORTING))
    points(neuron_sentences(rows))
    lines = [
        {
            "Instance": instance["instance"],
            "Chips": instance["chip"],
            "Memory, GiB": f"{instance['memory_gib']:,.0f}",
            "At least": f"{instance['instances_least']:,.0f} of them",
            "$ an hour": _price(instance),
        }
        for instance in rows.drop_duplicates("instance").to_dict("records")
    ]
    tables.text_table(pd.DataFrame(lines), "Instance types with AWS's own accelerators")
    st.caption("Prices and rates: `catalogs/edited/neuron.yaml`, each with its source and date.")


def _price(instance: Row) -> str:
    """The price of an instance type with its market and date, in words."""
    if is_missing(instance["usd_per_hour"]):
        return "no price is known"
    return plain(
        f"{usd(instance['usd_per_hour'])} {market_and_region(instance)} ({instance['as_of']})"
    )
