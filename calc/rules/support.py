"""Support: does software run on a card with the chosen formats, attention and host, and why.

A row has the worst verdict of the rules that apply to it (support_rules.py); a choice without a
rule counts as running. Only loading needs a rule: whether software loads on a card that no rule
names, of another maker or newer than the rules, is unknown. The verdict is on a plain install of
today unless `loading` is pinned.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.remarks import remark
from calc.rules.support_rules import (
    BOUNDS,
    CHOICES,
    VERDICTS,
    applying,
    bounds_passed,
    divisions,
    model_kinds,
    place_kinds,
    rules_matching,
    rules_of,
)
from calc.scenarios.lookups import work_of
from calc.table import Words, distinct, take, word

RUNS = ("yes", "emulated", "unknown", "no")  # the words of `runs`, from the best to the worst
WORDS = np.array([*RUNS, ""], dtype=object)  # the last without a card
UNKNOWN = VERDICTS.index("unknown")
REFUSED = VERDICTS.index("refuses")


class Support(NamedTuple):
    """The word of `runs`, the remarks, and whether the times are known, for each row."""

    runs: Words
    remarks: Words
    is_timed: np.ndarray


def support(table: Columns, catalogs: Catalogs) -> Support:
    """The verdict and the remarks of every row of a resolved table."""
    small, copies = distinct_rows(table, catalogs)
    applies = applying(small, catalogs)
    codes = _worst(applies, small, catalogs)
    numbers, remarks = pd.factorize(_remarks(applies, codes, small, catalogs))
    return Support(
        Words(codes[copies], WORDS),
        Words(numbers[copies], remarks),
        _has_speed(applies, catalogs)[copies],
    )


def distinct_rows(table: Columns, catalogs: Catalogs) -> tuple[Columns, np.ndarray]:
    """Return the rows that rules distinguish, for `verdicts`, and each row's number among them."""
    keys = [table[name] for name in ("implementation", "loading", *CHOICES)] + [
        place_kinds(table, catalogs),
        model_kinds(catalogs)[table["model_row"]],
        *divisions(table).values(),
    ]
    keys += [bounds_passed(catalogs, name, table[name]) for name in BOUNDS[:2]]
    first, copies = distinct(keys, table["rows"])
    return take(table, first), copies


def verdicts(small: Columns, catalogs: Catalogs) -> tuple[np.ndarray, np.ndarray]:
    """Each row's verdict as its index in RUNS, and whether its time is known."""
    applies = applying(small, catalogs)
    return _worst(applies, small, catalogs), _has_speed(applies, catalogs)


def verdicts_on(
    small: Columns, cards: Columns, catalogs: Catalogs
) -> tuple[np.ndarray, np.ndarray]:
    """Return `verdicts` of every row on every place (gpu_row, instance_row).

    Shape of both: (places, rows).
    """
    rows = small["rows"]
    places = len(cards["gpu_row"])
    table = take(small, np.tile(np.arange(rows), places))
    table |= {name: np.repeat(cards[name], rows) for name in ("gpu_row", "instance_row")}
    first, copies = distinct_rows(table, catalogs)
    verdict, is_timed = (
        np.broadcast_to(values, first["rows"])[copies] for values in verdicts(first, catalogs)
    )
    return verdict.reshape(places, rows), is_timed.reshape(places, rows)


def _worst(applies: np.ndarray, small: Columns, catalogs: Catalogs) -> np.ndarray:
    worst = np.max(applies * rules_of(catalogs).worth[:, None], axis=0)
    worst = np.where(_has_loading_rule(applies, catalogs), worst, np.maximum(worst, UNKNOWN))
    return np.where(small["gpu_row"] < 0, len(RUNS), worst)


def _has_speed(applies: np.ndarray, catalogs: Catalogs) -> np.ndarray:
    return ~np.any(applies[rules_of(catalogs).untimed], axis=0)


def _has_loading_rule(applies: np.ndarray, catalogs: Catalogs) -> np.ndarray:
    """Return whether a rule decides if the row's software loads on its card."""
    return np.any(applies[rules_of(catalogs).what == "loading"], axis=0)


def _remarks(
    applies: np.ndarray, codes: np.ndarray, small: Columns, catalogs: Catalogs
) -> np.ndarray:
    """Return each row's remarks of the rules that apply, worst first; empty without a card."""
    rules = rules_of(catalogs)
    rows = small["rows"]
    speaks = _speaking(applies, small, catalogs)
    is_unknown_format = np.broadcast_to(_lacks_format_rule(small, catalogs), rows)
    loads = _has_loading_rule(applies, catalogs)
    names = catalogs.implementations["name"].to_dict()
    remarks_by_row = np.full(rows, "", dtype=object)
    for row in np.flatnonzero(codes < len(RUNS)).tolist():
        remarks = [*rules.remarks[rules.order[speaks[rules.order, row]]]]
        software = names[small["implementation"].in_row(row)]
        if not loads[row]:
            remarks.append(remark("loading-unknown", software=software))
        if is_unknown_format[row]:
            precision = small["precision"].in_row(row)
            remarks.append(remark("format-unknown", software=software, precision=precision))
        remarks_by_row[row] = tuple(dict.fromkeys(remarks))
    return remarks_by_row


def _speaking(applies: np.ndarray, small: Columns, catalogs: Catalogs) -> np.ndarray:
    """Return which rules have their remark on a row. Shape: (rules, rows).

    These are the worst on each choice. If the software does not load at all, only the rules on
    loading are named, and a cache that follows a refused precision adds nothing.
    """
    rules = rules_of(catalogs)
    worth = np.where(applies, rules.worth[:, None], 0)
    worst = {
        what: worth[rules.what == what].max(axis=0, initial=0) for what in dict.fromkeys(rules.what)
    }
    speaks = applies & (rules.remarks != "")[:, None]
    speaks &= worth == np.array([worst[what] for what in rules.what])
    speaks &= (rules.what == "loading")[:, None] | (worst["loading"] < REFUSED)
    follows = (worst["precision"] == REFUSED) & small["kv_precision"].are("")
    return speaks & ~((rules.what == "kv_precision")[:, None] & follows)


def _lacks_format_rule(small: Columns, catalogs: Catalogs) -> np.ndarray:
    """Return whether all rules on each row's precision and work are about other software."""
    rules = rules_of(catalogs)
    about_format = (rules.what == "precision")[:, None]
    about_format = about_format & rules_matching(rules, "precision", small["precision"])
    about_format &= rules_matching(rules, "work", word(work_of(small)))
    about_software = about_format & rules_matching(rules, "software", small["implementation"])
    return np.any(about_format, axis=0) & ~np.any(about_software, axis=0)
