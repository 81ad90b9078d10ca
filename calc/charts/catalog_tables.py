"""Tables of the catalogs: models by name, family and size; cards with their instances."""

from collections.abc import Collection

import pandas as pd

from calc.catalogs import figures
from calc.catalogs.load import Catalogs
from calc.evaluate import evaluate
from calc.units import GIB

OF_MODELS = (figures.billions, figures.active_billions, figures.weights_gib)
OF_CARDS = (figures.bandwidth_gib, figures.card_pflops)
SIZES = {  # parameters, in billions: from, to
    "under 1 billion": (0, 1),
    "1 to 9 billion": (1, 9),
    "9 to 40 billion": (9, 40),
    "40 to 130 billion": (40, 130),
    "over 130 billion": (130, float("inf")),
}
SEARCHED = ("name", "id", "family", "hf_repo")


def models(
    catalogs: Catalogs, text: str = "", families: Collection[str] = (), sizes: Collection[str] = ()
) -> pd.DataFrame:
    """The models that match every word of the text, of these families and sizes (none: all)."""
    table = catalogs.models.rename_axis("id").reset_index()
    table = table.assign(
        **{figure.__name__: evaluate(figure, table) for figure in OF_MODELS},
        estimated=table["refused"] == "",
    )
    billions = table["billions"]
    is_chosen = has_words(table, SEARCHED, text)
    if families:
        is_chosen &= table["family"].isin(list(families))
    if sizes:
        ends = [SIZES[size] for size in sizes]
        is_chosen &= pd.concat(
            [(billions >= least) & (billions < most) for least, most in ends], axis="columns"
        ).any(axis="columns")
    return table[is_chosen].sort_values(
        "name", key=lambda values: values.str.lower(), ignore_index=True
    )


def has_words(table: pd.DataFrame, columns: Collection[str], text: str) -> pd.Series:
    """Return which rows have each word of a text in one of these columns, in any letter case."""
    names = table[list(columns)].agg(" ".join, axis="columns").str.lower()
    return pd.Series(
        [all(word in name for word in text.lower().split()) for name in names], index=table.index
    )


def card_table(catalogs: Catalogs) -> pd.DataFrame:
    """Every card with memory, bandwidth, rate and instance types; those that AWS rents first."""
    instances = catalogs.instances.groupby("gpu", observed=True).apply(
        lambda offers: ", ".join(offers.index), include_groups=False
    )
    table = catalogs.gpus.rename_axis("id").reset_index()
    table = table.assign(
        **{figure.__name__: evaluate(figure, table) for figure in OF_CARDS},
        memory_gib=table["memory_bytes"] / GIB,
        instances=table["id"].map(instances).fillna(""),
    )
    return table.sort_values(
        ["instances", "memory_gib"],
        key=lambda values: values == "" if values.name == "instances" else -values,
        ignore_index=True,
    )
