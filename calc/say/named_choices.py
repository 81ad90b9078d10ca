"""A line that compares the choices that a text leaves open."""

from collections.abc import Sequence

from calc.catalogs.load import Catalogs
from calc.say.numbers import about
from calc.say.paid import time_of_cost
from calc.say.place import place
from calc.studies.named_choices import NamedChoice


def named_choices_words(choices: Sequence[NamedChoice], catalogs: Catalogs) -> str:
    """Each choice with its price: 1 × p4d.24xlarge $49 in 2.2 h · p5: nothing meets the limits."""
    regions = {choice.row["region"] for choice in choices if choice.row}
    catalogs_for_names = catalogs if len(regions) > 1 else None
    return " · ".join(_words(choice, catalogs_for_names) for choice in choices)


def _words(choice: NamedChoice, catalogs: Catalogs | None) -> str:
    """Return a named choice in words: its place, its cost and its time."""
    row = choice.row
    if row is None:
        return f"{choice.name}: nothing meets the limits"
    time = time_of_cost(row)
    return f"{place(row, catalogs)} {about(row['usd'])}{time}"
