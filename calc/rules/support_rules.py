"""The rules of support.yaml as arrays, and which of them apply to which row.

A rule applies to a row if its work, value, card, host and conditions match. One that names the
row's software replaces those of `any` software on the same choice; where it does not apply, as
DeepSpeed's rule on fp8 from compute capability 8.9 does not apply to an A100, those of `any` still
do.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.catalogs.references import DIVIDED, DIVISIONS
from calc.catalogs.tables import capability_number
from calc.evaluate import Columns
from calc.remarks import Remark, remark
from calc.scenarios.lookups import words_of, work_of
from calc.table import Words, word

VERDICTS = ("runs", "emulated", "unknown", "refuses")  # from the best to the worst
# The columns that rules are about, besides loading, host and what is divided over GPUs.
CHOICES = ("precision", "kv_precision", "attention", "compile")
WHATS = ("loading", "host", *DIVIDED, *CHOICES)
EVERY = {  # the word of a rule that matches all values of the column
    "work": "any",
    "software": "any",
    "host_architecture": "",
    "model_types": "",
    "precisions": "",
}
# Sizes that a condition bounds from below, in the field NAME_above.
BOUNDS = ("gpus", "replica_gpus", "head_size")
HOSTS = np.array(["x86_64", "arm64"], dtype=object)
DIVISION_WORDS = np.array(DIVISIONS, dtype=object)
# Sequences of so many tokens and more are divided over GPUs in all software (NeMo's recipes
# llama3_8b_16k and llama3_70b_16k). A shorter sequence that is divided is called short.
LONG_TOKENS = 16_000
# The format of a cache without one of its own: without bf16 products, and with them.
SIXTEEN_BITS = ("fp16", "bf16")


class Rules(NamedTuple):
    """The catalog's rules as columns; `members` says which rules a row's words match."""

    what: np.ndarray
    worth: np.ndarray  # the index of the verdict in VERDICTS
    least: np.ndarray  # compute capabilities as numbers, NaN where open
    most: np.ndarray
    above: dict[str, np.ndarray]  # bounds, NaN where there is none
    latent: np.ndarray  # whether the rule is about a latent cache
    names_software: np.ndarray  # whether the rule names its software
    untimed: np.ndarray  # whether no time is known where it applies
    order: np.ndarray  # the numbers of the rules: worst first, then in the order of WHATS
    remarks: np.ndarray  # the remark on rows to which it applies; may be empty
    about: dict[str, np.ndarray]  # what -> the rules about it
    # Column -> the index of each word, the rules that match it.
    members: dict[str, tuple[dict[str, int], np.ndarray]]


@cached_per_catalogs("support")
def rules_of(catalogs: Catalogs) -> Rules:
    """Return the rules of the catalog as columns."""
    frame = catalogs.support
    what = frame["what"].to_numpy(dtype=object)
    verdict = frame["verdict"].to_numpy(dtype=object)
    worth = np.array([*map(VERDICTS.index, verdict)])
    place_of_what = np.array([*map(WHATS.index, what)])
    has_no_speed = (frame["speed_source"] == "").to_numpy()
    members = {name: _members(_lists(frame[name], every)) for name, every in EVERY.items()}
    for topic in WHATS:
        # A rule about another topic matches every word of this one.
        words = frame["values"].where(frame["what"] == topic, "")
        members[topic] = _members(_lists(words, ""))
    return Rules(
        what=what,
        worth=worth,
        least=np.array([*map(capability_number, frame["min_compute_capability"])]),
        most=np.array([*map(capability_number, frame["max_compute_capability"])]),
        above={name: frame[f"{name}_above"].to_numpy(dtype=float)[:, None] for name in BOUNDS},
        latent=frame["latent_cache"].to_numpy(dtype=bool)[:, None],
        names_software=(frame["software"] != "any").to_numpy(),
        untimed=(verdict == "refuses") | (verdict == "emulated") & has_no_speed,
        order=np.lexsort((place_of_what, -worth)),
        remarks=np.array([_remark(rule) for rule in frame.to_dict("records")], dtype=object),
        about={topic: np.flatnonzero(what == topic) for topic in WHATS},
        members=members,
    )


def _lists(column: pd.Series, every: str) -> list[list[str]]:
    """Return a column as lists of words; an empty list matches every word."""
    lists: list[list[str]] = []
    for cell in column:
        if cell == every:
            lists.append([])
        else:
            lists.append([cell] if isinstance(cell, str) else cell)
    return lists


def _members(lists: list[list[str]]) -> tuple[dict[str, int], np.ndarray]:
    """Return the index of each word that rules name, and which rules match the word of an index.

    Shape of the second: (rules, words + 1). The last index stands for any other word.
    """
    vocabulary = sorted({name for words in lists for name in words})
    matches = np.zeros((len(lists), len(vocabulary) + 1), dtype=bool)
    for rule, words in enumerate(lists):
        matches[rule] = [not words or name in words for name in vocabulary] + [not words]
    return {name: index for index, name in enumerate(vocabulary)}, matches


def rules_matching(rules: Rules, name: str, words: Words) -> np.ndarray:
    """Return which rules match each row's word of a column. Shape (rules, rows) or (rules, 1)."""
    indices, members = rules.members[name]
    return members[:, words.mapped(lambda name: indices.get(name, len(indices)))]


def _remark(rule: dict) -> Remark | str:
    """Return a rule's effect and what to install or choose; "" if the rule only informs."""
    if rule["verdict"] == "runs" and not (rule["needs"] or rule["instead"]):
        return ""
    return remark("support", **{name: rule[name] for name in ("effect", "needs", "instead")})


def applying(table: Columns, catalogs: Catalogs) -> np.ndarray:
    """Return which rules apply to each row. Shape: (rules, rows)."""
    rules = rules_of(catalogs)
    model = table["model_row"]
    card, instance = table["gpu_row"], table["instance_row"]
    capability, arm_card, arm = _hosts(catalogs)
    host = Words(np.where(instance >= 0, arm[instance], arm_card[card]), HOSTS)
    family = Words(instance, words_of(catalogs, "instances", "family"))
    size, latent, model_type = model_traits(catalogs)
    values = {
        "loading": table["loading"],
        "host": family,
        **{name: Words(codes, DIVISION_WORDS) for name, codes in divisions(table).items()},
        **{name: table[name] for name in CHOICES},
        "kv_precision": _cache_formats(table),
        "work": word(work_of(table)),
        "software": table["implementation"],
        "host_architecture": host,
        "model_types": Words(model, model_type),
        "precisions": table["precision"],
    }
    applies = np.ones((len(rules.what), table["rows"]), dtype=bool)
    applies &= _at_least(capability[card], rules.least) & _at_least(-capability[card], -rules.most)
    for name, words in values.items():
        applies &= rules_matching(rules, name, words)
    for name, sizes in zip(
        BOUNDS, (table["gpus"], table["replica_gpus"], size[model]), strict=True
    ):
        applies &= np.isnan(rules.above[name]) | (sizes > rules.above[name])
    applies &= ~rules.latent | latent[model]
    for topic in rules.about.values():
        about, names_software = applies[topic], rules.names_software[topic, None]
        applies[topic] = about & (names_software | ~np.any(about & names_software, axis=0))
    return applies


def needs_pinned_build(gpu: str, software: str, catalogs: Catalogs) -> bool:
    """Return whether today's build of a software refuses a card, and an older one may run on it."""
    rules = rules_of(catalogs)
    capability, arm_card, _ = _hosts(catalogs)
    card = [catalogs.gpus.index.get_loc(gpu)]
    on_card = _at_least(capability[card], rules.least) & _at_least(-capability[card], -rules.most)
    words = {"software": software, "host_architecture": HOSTS[arm_card[card[0]]]}

    def worst(loading: str) -> int:
        applies = on_card & (rules.what == "loading")[:, None]
        for name, text in {"loading": loading, **words}.items():
            applies = applies & rules_matching(rules, name, word(text))
        applies = applies[:, 0]
        of_software = applies & rules.names_software
        return int(rules.worth[of_software if of_software.any() else applies].max(initial=-1))

    refuses = VERDICTS.index("refuses")
    return worst("default") == refuses and -1 < worst("pinned") < refuses


def divisions(table: Columns) -> dict[str, np.ndarray]:
    """Return what each row divides over GPUs, as codes in DIVISIONS. Shape (rows,) or (1,)."""
    is_short = table["sequence_tokens"] < LONG_TOKENS
    return {
        "experts": np.asarray(table["expert_parallel"] > 1, dtype=int),
        "stages": np.asarray(table["pipeline_parallel"] > 1, dtype=int),
        "sequence": np.asarray((table["context_parallel"] > 1) * (1 + is_short), dtype=int),
    }


def _at_least(values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return whether each value reaches each bound; every value reaches an open one (NaN)."""
    return np.isnan(bounds)[:, None] | (values >= bounds[:, None])


def _cache_formats(table: Columns) -> Words:
    """Return the number format of each row's cache, by default bf16 or fp16 as its products."""
    formats = table["kv_precision"]
    vocabulary = np.append(formats.vocabulary, SIXTEEN_BITS)
    default_code = len(formats.vocabulary) + (table["computes_bf16"] > 0)
    return Words(np.where(formats.are(""), default_code, formats.codes), vocabulary)


@cached_per_catalogs("gpus", "instances")
def _hosts(catalogs: Catalogs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each card's compute capability, and if each card and instance has an Arm host.

    Without a named instance, a card is in the host that AWS sells it with, and in an x86-64 host if
    AWS does not sell it. The last entry of each array is for row -1.
    """
    arm = catalogs.instances["arm"]
    of_card = (
        arm.groupby(catalogs.instances["gpu"]).all().reindex(catalogs.gpus.index, fill_value=False)
    )
    capability = np.array([*map(capability_number, catalogs.gpus["compute_capability"]), np.nan])
    return (
        capability,
        np.append(of_card.to_numpy(dtype=int), 0),
        np.append(arm.to_numpy(dtype=int), 0),
    )


@cached_per_catalogs("gpus", "instances", "support")
def _place_kinds(catalogs: Catalogs) -> tuple[np.ndarray, np.ndarray]:
    """Number the cards and the instances; those that no rule distinguishes share a number."""
    capability, arm_card, arm = _hosts(catalogs)
    card = catalogs.gpus.index.get_indexer(catalogs.instances["gpu"])
    families_in_rules = {
        name
        for values in catalogs.support["values"][catalogs.support["what"] == "host"]
        for name in values
    }
    family = catalogs.instances["family"].where(
        catalogs.instances["family"].isin(families_in_rules), ""
    )
    of_cards = zip(
        np.nan_to_num(capability).tolist(),
        arm_card.tolist(),
        [*[""] * len(catalogs.gpus), "none"],
        strict=True,
    )
    of_instances = zip(
        np.nan_to_num(capability)[card].tolist(), arm[:-1].tolist(), family, strict=True
    )
    numbers: dict[tuple, int] = {}
    cards = np.array([numbers.setdefault(place, len(numbers)) for place in of_cards])
    instances = np.array([numbers.setdefault(place, len(numbers)) for place in of_instances])
    return cards, np.append(instances, -1)


def place_kinds(table: Columns, catalogs: Catalogs) -> np.ndarray:
    """Number each row's card and host; those that no rule distinguishes share a number."""
    cards, instances = _place_kinds(catalogs)
    return np.where(
        table["instance_row"] >= 0, instances[table["instance_row"]], cards[table["gpu_row"]]
    )


@cached_per_catalogs("models", "stacks")
def model_traits(catalogs: Catalogs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each model's head width, whether its cache is latent, and its model_type."""
    latent = catalogs.models.index.isin(
        catalogs.stacks["model"][catalogs.stacks["latent_width"] > 0]
    )
    return (
        catalogs.models["head_dim"].to_numpy(dtype=float),
        latent,
        catalogs.models["model_type"].to_numpy(dtype=object),
    )


@cached_per_catalogs("models", "stacks", "support")
def model_kinds(catalogs: Catalogs) -> np.ndarray:
    """Number the models; those that no rule distinguishes share a number."""
    size, latent, model_type = model_traits(catalogs)
    types_in_rules = {name for types in catalogs.support["model_types"] for name in types}
    kinds = [
        bounds_passed(catalogs, "head_size", size),
        latent,
        [name if name in types_in_rules else "" for name in model_type],
    ]
    return pd.factorize(pd.MultiIndex.from_arrays(kinds))[0]


def bounds_passed(catalogs: Catalogs, name: str, values: np.ndarray) -> np.ndarray:
    """Count the rules' bounds on a size that each value exceeds."""
    return np.searchsorted(_bounds(catalogs, name), values)


@cached_per_catalogs("support")
def _bounds(catalogs: Catalogs, name: str) -> np.ndarray:
    """Return the bounds that rules set on a size, each once, in ascending order."""
    return np.unique(catalogs.support[f"{name}_above"].dropna())
