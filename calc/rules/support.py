"""Whether software runs on a card with the chosen formats, attention and host, and why not.

Of the rules that count for a row (support_rules.py) the worst verdict is the row's; without a rule nothing is known
against a choice. Only that software loads must be said by a rule: a card that none names, of another maker or newer than
the rules, is unknown. Judged is what a plain install of today brings, never a pinned build.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.rules.support_rules import (
    BOUNDS,
    CHOICES,
    VERDICTS,
    bounds_passed,
    counting,
    model_kinds,
    place_kinds,
    rules_of,
    rules_that_take,
    work_of_table,
)
from calc.table import Words, distinct, take, word

RUNS = ("yes", "emulated", "unknown", "no")  # what `runs` says, from the best to the worst
WORDS = np.array([*RUNS, ""], dtype=object)  # the last without a card
UNKNOWN, REFUSED = VERDICTS.index("unknown"), VERDICTS.index("refuses")
TOLD_APART = ("implementation", *CHOICES)
READS = (*TOLD_APART, "gpu_row", "instance_row", "trains", "computes_bf16", "model_row", *BOUNDS[:2])


class Support(NamedTuple):
    """Of each row what `runs` says, the note, and whether its times are those of what runs."""

    runs: Words
    note: Words
    timed: np.ndarray


def support(table: Columns, catalogs: Catalogs) -> Support:
    """The verdict and the note of every row of a settled table."""
    small, copies = asks(table, catalogs)
    counts = counting(small, catalogs)
    codes = _worst(counts, small, catalogs)
    notes, said = pd.factorize(_notes(counts, codes, small, catalogs))
    words = np.asarray(said, dtype=object)
    return Support(Words(codes[copies], WORDS), Words(notes[copies], words), _timed(counts, catalogs)[copies])


def asks(table: Columns, catalogs: Catalogs) -> tuple[Columns, np.ndarray]:
    """The distinct rows of a table that rules tell apart, and each row's number among them.

    `verdicts` takes them, and of layouts without a place `verdicts_on`.
    """
    keys = [table[name] for name in TOLD_APART] + [place_kinds(table, catalogs), model_kinds(catalogs)[table["model_row"]]]
    keys += [bounds_passed(catalogs, name, table[name]) for name in BOUNDS[:2]]
    first, copies = distinct(keys, table["rows"])
    return take(table, first, READS), copies


def verdicts(small: Columns, catalogs: Catalogs) -> tuple[np.ndarray, np.ndarray]:
    """Each row's verdict as its place in RUNS, and whether its time is known."""
    counts = counting(small, catalogs)
    return _worst(counts, small, catalogs), _timed(counts, catalogs)


def verdicts_on(small: Columns, cards: Columns, catalogs: Catalogs) -> tuple[np.ndarray, np.ndarray]:
    """`verdicts` of every row on every place, given by gpu_row and instance_row.

    Shape: (places, rows).
    """
    rows, places = small["rows"], len(cards["gpu_row"])
    every = take(small, np.tile(np.arange(rows), places))
    first, alike = asks(every | {name: np.repeat(cards[name], rows) for name in ("gpu_row", "instance_row")}, catalogs)
    verdict, timed = (np.broadcast_to(values, first["rows"])[alike] for values in verdicts(first, catalogs))
    return verdict.reshape(places, rows), timed.reshape(places, rows)


def _worst(counts: np.ndarray, small: Columns, catalogs: Catalogs) -> np.ndarray:
    worst = np.max(counts * rules_of(catalogs).worth[:, None], axis=0)
    worst = np.where(_loads(counts, catalogs), worst, np.maximum(worst, UNKNOWN))
    return np.where(small["gpu_row"] < 0, len(RUNS), worst)


def _timed(counts: np.ndarray, catalogs: Catalogs) -> np.ndarray:
    return ~np.any(counts[rules_of(catalogs).untimed], axis=0)


def _loads(counts: np.ndarray, catalogs: Catalogs) -> np.ndarray:
    """Whether a rule says of each row that its software loads on the card, or does not."""
    return np.any(counts[rules_of(catalogs).what == "loading"], axis=0)


def _notes(counts: np.ndarray, codes: np.ndarray, small: Columns, catalogs: Catalogs) -> np.ndarray:
    """The sentences of the rules that count, worst first; empty without a card."""
    rules, rows = rules_of(catalogs), small["rows"]
    speaks = _speaking(counts, small, catalogs)
    unread = np.broadcast_to(_unread(small, catalogs), rows)
    loads = _loads(counts, catalogs)
    names = dict(zip(catalogs.implementations.index, catalogs.implementations["name"], strict=True))
    notes = np.full(rows, "", dtype=object)
    for row in np.flatnonzero(codes < len(RUNS)).tolist():
        said = [*rules.sentences[rules.order[speaks[rules.order, row]]]]
        software = names[small["implementation"].in_row(row)]
        if not loads[row]:
            said.append(f"Whether {software} loads on this card is not known: no rule names it; choose an NVIDIA card that is named.")
        if unread[row]:
            said.append(f"Whether {software} takes {small['precision'].in_row(row)} was not read; nothing is known against it.")
        notes[row] = " ".join(dict.fromkeys(said))
    return notes


def _speaking(counts: np.ndarray, small: Columns, catalogs: Catalogs) -> np.ndarray:
    """The rules that a note names: the worst of each choice, or what cannot load.

    A cache that only follows a precision which is refused adds nothing. Shape (rules, rows).
    """
    rules = rules_of(catalogs)
    worth = np.where(counts, rules.worth[:, None], 0)
    worst = {what: worth[rules.what == what].max(axis=0, initial=0) for what in dict.fromkeys(rules.what)}
    speaks = counts & (rules.sentences != "")[:, None]
    speaks &= worth == np.array([worst[what] for what in rules.what])
    speaks &= (rules.what == "loading")[:, None] | (worst["loading"] < REFUSED)
    follows = (worst["precision"] == REFUSED) & small["kv_precision"].are("")
    return speaks & ~((rules.what == "kv_precision")[:, None] & follows)


def _unread(small: Columns, catalogs: Catalogs) -> np.ndarray:
    """Whether the rules on each row's precision, in its work, are all about other software."""
    rules = rules_of(catalogs)
    named = rules_that_take(rules, "precision", small["precision"]) & rules_that_take(rules, "work", word(work_of_table(small)))
    named &= (rules.what == "precision")[:, None]
    return np.any(named, axis=0) & ~np.any(named & rules_that_take(rules, "software", small["implementation"]), axis=0)
