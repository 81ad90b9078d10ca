"""The rules of support.yaml as arrays, and which of them count for which row.

A rule counts for a row where its work, value, card, host and conditions are the row's. One that names the row's software
stands for those of `any` on the same choice that count beside it; where it does not count, as DeepSpeed's
rule on fp8 from compute capability 8.9 on does not on an A100, those of `any` still hold.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.catalogs.tables import capability_number
from calc.evaluate import Columns
from calc.scenarios.lookups import words_of
from calc.table import Words, word

VERDICTS = ("runs", "emulated", "unknown", "refuses")  # from the best to the worst
CHOICES = ("precision", "kv_precision", "attention", "compile")  # the columns that rules are about, beside loading and host
WHATS = ("loading", "host", *CHOICES)
EVERY = {"work": "any", "software": "any", "host_architecture": "", "model_types": "", "precisions": ""}  # the word that takes all
BOUNDS = ("gpus", "replica_gpus", "head_size")  # what conditions have a bound on, as <name>_above
LOADING, HOSTS = "default", np.array(["x86_64", "arm64"], dtype=object)
SIXTEEN_BITS = ("fp16", "bf16")  # the cache that follows the precision: without bf16 products, and with them


class Rules(NamedTuple):
    """The catalog's rules, one value or one word each; a row's words meet them in `members`."""

    what: np.ndarray
    worth: np.ndarray  # the place of the verdict in VERDICTS
    least: np.ndarray  # compute capabilities as numbers, NaN where open
    most: np.ndarray
    above: dict[str, np.ndarray]  # bounds, NaN where there is none
    latent: np.ndarray  # whether the rule is about a latent cache
    named: np.ndarray  # whether the rule names its software
    untimed: np.ndarray  # whether no time is known where it counts
    order: np.ndarray  # the places of the rules, the worst first, then as WHATS has what they are about
    sentences: np.ndarray  # what a note says where it counts, empty where nothing
    about: dict[str, np.ndarray]  # what -> the rules about it
    members: dict[str, tuple[dict[str, int], np.ndarray]]  # column -> the place of each word, the rules that take it


@kept("support")
def rules_of(catalogs: Catalogs) -> Rules:
    """The rules, made once."""
    frame = catalogs.support
    what, verdict = frame["what"].to_numpy(dtype=object), frame["verdict"].to_numpy(dtype=object)
    least, most = (np.array([*map(capability_number, frame[f"{end}_compute_capability"])]) for end in ("min", "max"))
    untimed = (verdict == "refuses") | (verdict == "emulated") & (frame["speed_source"] == "").to_numpy()
    members = {name: _members(_lists(frame[name], every)) for name, every in EVERY.items()}
    values = frame["values"].to_numpy(dtype=object)
    members |= {each: _members([own if about == each else [] for own, about in zip(values, what, strict=True)]) for each in WHATS}
    worth = np.array([VERDICTS.index(each) for each in verdict])
    return Rules(
        what,
        worth,
        least,
        most,
        {name: frame[f"{name}_above"].to_numpy(dtype=float)[:, None] for name in BOUNDS},
        frame["latent_cache"].to_numpy(dtype=bool)[:, None],
        (frame["software"] != "any").to_numpy(),
        untimed,
        np.lexsort((np.array([WHATS.index(each) for each in what]), -worth)),
        np.array([_sentence(rule) for rule in frame.to_dict("records")], dtype=object),
        {each: np.flatnonzero(what == each) for each in WHATS},
        members,
    )


def _lists(column: pd.Series, every: str) -> list[list[str]]:
    """A column as lists of words, empty where the rule takes every word."""
    return [[] if each == every else [each] if isinstance(each, str) else each for each in column]


def _members(lists: list[list[str]]) -> tuple[dict[str, int], np.ndarray]:
    """The place of each word that rules name, and the rules that take it; last, any other word."""
    known = sorted({each for words in lists for each in words})
    rules_that_take = [[not words or each in words for each in known] + [not words] for words in lists]
    return {each: place for place, each in enumerate(known)}, np.array(rules_that_take, dtype=bool)


def rules_that_take(rules: Rules, name: str, words: Words) -> np.ndarray:
    """Which rules take each row's word of a column. Shape (rules, rows) or (rules, 1)."""
    places, members = rules.members[name]
    return members[:, np.array([places.get(each, len(places)) for each in words.vocabulary])[words.codes]]


def _sentence(rule: dict) -> str:
    """The sentence of a rule: what happens, what to install or choose; empty if it only informs."""
    if rule["verdict"] == "runs" and not rule["needs"]:
        return ""
    cures = [f"install {rule['needs']}"] if rule["needs"] else []
    cures += [f"choose {rule['instead']}"] if rule["instead"] else []
    return f"{rule['effect']}; {', or '.join(cures)}."


def counting(table: Columns, catalogs: Catalogs) -> np.ndarray:
    """The rules that count for each row. Shape: (rules, rows)."""
    rules, own = rules_of(catalogs), table["model_row"]
    capability, host, family = _places(table, catalogs)
    size, latent, model_type = model_traits(catalogs)
    asked = {"loading": word(LOADING), "host": family, **{name: table[name] for name in CHOICES}, "kv_precision": _cache(table)}
    asked |= {"work": word(work_of_table(table)), "software": table["implementation"], "host_architecture": host}
    asked |= {"model_types": Words(own, model_type), "precisions": table["precision"]}
    holds = np.ones((len(rules.what), table["rows"]), dtype=bool)
    holds &= at_least(capability, rules.least) & at_least(-capability, -rules.most)
    for name, words in asked.items():
        holds &= rules_that_take(rules, name, words)
    for name, values in zip(BOUNDS, (table["gpus"], table["replica_gpus"], size[own]), strict=True):
        holds &= np.isnan(rules.above[name]) | (values > rules.above[name])
    holds &= ~rules.latent | latent[own]
    for about in rules.about.values():
        here, named = holds[about], rules.named[about, None]
        holds[about] = here & (named | ~np.any(here & named, axis=0))
    return holds


def work_of_table(table: Columns) -> str:
    """The kind of work that all rows of a table do."""
    return "training" if table["trains"][0] > 0 else "inference"


def at_least(values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Whether each value reaches each bound; an open bound (NaN) takes every value."""
    return np.isnan(bounds)[:, None] | (values >= bounds[:, None])


def _cache(table: Columns) -> Words:
    """The cache's number format; unnamed, that of 16-bit products in the row's precision."""
    asked = table["kv_precision"]
    own = len(asked.vocabulary) + (table["computes_bf16"] > 0)
    return Words(np.where(asked.are(""), own, asked.codes), np.append(asked.vocabulary, SIXTEEN_BITS))


def _places(table: Columns, catalogs: Catalogs) -> tuple[np.ndarray, Words, Words]:
    """Compute capability (NaN for none), architecture of the host, family of the instance."""
    capability, arm_card, arm = _hosts(catalogs)
    card, instance = table["gpu_row"], table["instance_row"]
    on_arm = np.where(instance >= 0, arm[instance], arm_card[card])
    return capability[card], Words(on_arm, HOSTS), Words(instance, words_of(catalogs, "instances", "family"))


@kept("gpus", "instances")
def _hosts(catalogs: Catalogs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each card's compute capability and whether all its instances are Arm; each instance's.

    A card without an instance stands in the host that AWS sells it with, one that AWS does not sell in an x86-64 host.
    """
    arm = catalogs.instances["arm"]
    of_card = arm.groupby(catalogs.instances["gpu"]).all().reindex(catalogs.gpus.index, fill_value=False)
    capability = np.array([*map(capability_number, catalogs.gpus["compute_capability"]), np.nan])
    return capability, np.append(of_card.to_numpy(dtype=int), 0), np.append(arm.to_numpy(dtype=int), 0)


@kept("gpus", "instances", "support")
def _place_kinds(catalogs: Catalogs) -> tuple[np.ndarray, np.ndarray]:
    """A number of each card and instance, alike where no rule tells them apart; last for none."""
    capability, arm_card, arm = _hosts(catalogs)
    card = catalogs.gpus.index.get_indexer(catalogs.instances["gpu"])
    named = {each for values in catalogs.support["values"][catalogs.support["what"] == "host"] for each in values}
    family = [each if each in named else "" for each in catalogs.instances["family"]]
    of_cards = zip(np.nan_to_num(capability).tolist(), arm_card.tolist(), [*[""] * len(catalogs.gpus), "none"], strict=True)
    of_instances = zip(np.nan_to_num(capability)[card].tolist(), arm[:-1].tolist(), family, strict=True)
    numbers: dict[tuple, int] = {}
    cards, instances = (np.array([numbers.setdefault(place, len(numbers)) for place in places]) for places in (of_cards, of_instances))
    return cards, np.append(instances, -1)


def place_kinds(table: Columns, catalogs: Catalogs) -> np.ndarray:
    """A number of each row's card and host, the same for those that no rule tells apart."""
    cards, instances = _place_kinds(catalogs)
    return np.where(table["instance_row"] >= 0, instances[table["instance_row"]], cards[table["gpu_row"]])


@kept("models", "stacks")
def model_traits(catalogs: Catalogs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each model's width of attention heads, whether its cache is latent, its model_type."""
    latent = catalogs.models.index.isin(catalogs.stacks["model"][catalogs.stacks["latent_width"] > 0])
    return catalogs.models["head_dim"].to_numpy(dtype=float), latent, catalogs.models["model_type"].to_numpy(dtype=object)


@kept("models", "stacks", "support")
def model_kinds(catalogs: Catalogs) -> np.ndarray:
    """A number of each model, the same for those that no rule tells apart."""
    size, latent, model_type = model_traits(catalogs)
    named = {each for types in catalogs.support["model_types"] for each in types}
    kinds = [bounds_passed(catalogs, "head_size", size), latent, [each if each in named else "" for each in model_type]]
    return pd.factorize(pd.MultiIndex.from_arrays(kinds))[0]


def bounds_passed(catalogs: Catalogs, name: str, values: np.ndarray) -> np.ndarray:
    """How many of the rules' bounds on a size each value exceeds."""
    return np.searchsorted(np.unique(catalogs.support[f"{name}_above"].dropna()), values)
