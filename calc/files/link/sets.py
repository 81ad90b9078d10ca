"""What a search may vary, in the link: `allow.<name>` lists, `limit.<name>` numbers."""

import math
from collections.abc import Callable
from typing import Any

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.scenarios.inputs import HUGE
from calc.scenarios.read import number
from calc.search.widened import LIMIT_NAMES, PLACES, SETS

ALLOW, LIMIT = "allow.", "limit."
PREFIXES = (ALLOW, LIMIT)
MOST_VALUES = 64


def compose_sets(choices: dict[str, Any], word: Callable[[Any], str]) -> dict[str, list[str]]:
    """The query of the allowed sets and limits; `word` writes a value."""
    sets, limits = choices.get("allowed") or {}, choices.get("limits") or {}
    query = {
        f"{ALLOW}{name}": [word(value) for value in values] or [""]
        for name, values in sets.items()
        if values or name in PLACES
    }
    return query | {
        f"{LIMIT}{name}": [word(value)] for name, value in limits.items() if value not in (None, "")
    }


def read_set(
    name: str,
    texts: list[str],
    choices: dict[str, Any],
    complaints: list[str],
    value_of: Callable[[str, str], Any],
    catalogs: Catalogs | None,
) -> None:
    """Add a name of the query to the allowed sets or the limits."""
    prefix, _, field = name.partition(".")
    if field not in (SETS if prefix + "." == ALLOW else LIMIT_NAMES):
        complaints.append(
            f"The link asked for {name[:40]} , which a search does not know; it was ignored."
        )
        return
    if prefix + "." == LIMIT:
        limit = _limit(texts[0])
        if limit is None:
            complaints.append(
                f"The link asked for {name}={texts[0][:40]} , which is not a number from 0; "
                f"it was ignored."
            )
        else:
            choices.setdefault("limits", {})[field] = limit
        return
    values = []
    for text in texts[:MOST_VALUES]:
        value = _place(field, text, catalogs) if field in PLACES else value_of(field, text)
        if value is None:
            complaints.append(
                f"The link asked for {name}={text[:40]} , which is not possible; it was ignored."
            )
        elif not (field in PLACES and value == "") and value not in values:
            values.append(value)
    if values or field in PLACES:  # of a place no value means all of them
        choices.setdefault("allowed", {})[field] = values


def _limit(text: str) -> float | None:
    value = number(text)
    if not math.isfinite(value) or not 0 <= value <= HUGE:
        return None
    return int(value) if value.is_integer() else value


def _place(name: str, text: str, catalogs: Catalogs | None) -> str | None:
    if name == "market":
        return text if text in ("", *MARKETS) else None
    if text == "" or catalogs is None:
        return text
    places = set(catalogs.instances["family"]) if name == "family" else catalogs.regions.index
    return text if text in places else None
