"""The card of an answer, with its reason in one line: its layout, or what its cost buys."""

from typing import NamedTuple

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.layout import replicas
from calc.say.answer import SAME_RATIO, short_title, titles
from calc.say.numbers import (
    as_sentence,
    changed_by,
    is_missing,
    times,
    with_capital,
    with_noun,
)
from calc.say.place import obtainable_words, short_card
from calc.say.setting import copies_of_attention, sharding, sharding_ranks
from calc.say.weights import publisher_words
from calc.studies.choices import PURE
from calc.studies.own_machines import OwnedOption

GENERATED = {
    "own gpus": "{rollout_gpus:.0f} of them generate the answers",
    "colocated": "answers generated on the same cards",
}
RECOMPUTED = {"none": "", "full": "activations recomputed"}
LETTERS = {"p": "P", "g": "G"}  # of instance families, whose quotas are apart


class Card(NamedTuple):
    """An answer to show: title, row, one line, the job fields that it changes, its button."""

    title: str
    row: Row
    line: str
    changes: Row
    press: str = ""

    short: str = ""

    @property
    def name(self) -> str:
        """The title in short: Lowest cost, Faster, In 16 bits."""
        return self.short or self.title


def card_line(row: Row, least: Row, catalogs: Catalogs) -> str:
    """Return the line on an answer's card next to its figures; `least` is the first answer."""
    names = row["answer"].split("+")
    if "nearest" in names:
        if row["missed_limits"]:
            return f"Exceeds a limit: {row['misses']}."
        return layout_line(row, catalogs)
    if "knee" in names:
        little = "little-more" in row["why_codes"].split("+")
        unit = "minute" if ends_of(row) else "millisecond"
        past = f"past this, each {unit} saved costs more" if little else "nothing in between"
        return (
            f"{times(least['seconds'] / row['seconds'])} as fast for "
            f"{_more_money(row, least)}; {past}."
        )
    if "easiest" in names and row["usd"] > least["usd"]:
        letter, least_letter = (LETTERS.get(one["instance"][:1], "") for one in (row, least))
        family = row["instance"].partition(".")[0]
        quota = ", with a quota of their own" if letter != least_letter else ""
        how = f"for {family} instances, {obtainable_words(row)}{quota}"
        return f"{_more_money(row, least).capitalize()} {how}."
    return layout_line(row, catalogs)


def in_bits_line(row: Row, least: Row, catalogs: Catalogs) -> str:
    """Return what other weights cost, and which they are: 80 % more: the weights as trained."""
    is_trained = catalogs.precisions["matrix_bytes_each"][row["precision"]] == 2
    weights = "the weights as trained" if is_trained else _layout_words(row, catalogs)
    if is_missing(row["usd"]):
        return f"{with_capital(weights)}."
    return f"{_more_money(row, least).capitalize()}: {weights}."


def layout_line(row: Row, catalogs: Catalogs) -> str:
    """Return the layout as a line: bf16 mixed with AdamW, ZeRO 2 on 8 H100."""
    return f"{_layout_words(row, catalogs)}."


def _layout_words(row: Row, catalogs: Catalogs) -> str:
    """The layout of a row, without a full stop."""
    cards = f"{row['gpus']:.0f} {short_card(row['gpu'], catalogs) or 'GPUs'}"
    if row["work"] == "inference":
        bits = 8 * catalogs.precisions["matrix_bytes_each"][row["precision"]]
        weights = (
            publisher_words(catalogs, row["model"], row["precision"], with_file=False)
            or f"{bits:g}-bit weights"
        )
        cache = " and an 8-bit cache" if row["kv_precision"] else ""
        sharing = copies_of_attention(row)
        copies = replicas(row) / sharing
        spread = f", {copies:.0f} copies of the model" if copies > 1 else ""
        shared = f", attention data parallel {sharing:.0f}" if sharing > 1 else ""
        return f"{weights}{cache}, on {cards}{spread}{shared}"
    sharding_words = (
        f"{sharding(row, catalogs)} on {cards}" if sharding_ranks(row) > 1 else f"on {cards}"
    )
    recompute_words = RECOMPUTED.get(row["recompute"], "some activations recomputed")
    rollout_words = GENERATED.get(str(row.get("rollout")), "").format(**row)
    parts = [
        f"{_number_format(row, catalogs)} with {catalogs.optimizers['name'][row['optimizer']]}",
        sharding_words,
        *_degrees(row),
        f"micro-batch {row['batch']:.0f}",
        recompute_words,
        "blocks compiled" if row.get("compile") == "yes" else "",
        rollout_words,
    ]
    return as_sentence(", ".join(filter(None, parts)))


def _degrees(row: Row) -> list[str]:
    """The degrees at which a training divides its matrices, blocks, sequences and experts."""
    forms = {
        "tensor_parallel": "tensor parallel {:.0f}",
        "pipeline_parallel": "{:.0f} pipeline stages",
        "context_parallel": "each sequence over {:.0f}",
        "expert_parallel": "experts over {:.0f}",
    }
    degrees = {name: row.get(name, 1) for name in forms}
    return [forms[name].format(degree) for name, degree in degrees.items() if degree > 1]


def _number_format(row: Row, catalogs: Catalogs) -> str:
    """The number format of a training in short: bf16 mixed, pure bf16, NF4."""
    name = catalogs.precisions["name"][row["precision"]].partition(",")[0]
    is_pure = row["tuning"] == "full" and row["precision"] in PURE
    return f"pure {name}" if is_pure else name


def _more_money(row: Row, least: Row) -> str:
    """Return the cost against the first answer: 18 % more; the same cost; 2.0 times the cost."""
    ratio = row["usd"] / least["usd"]
    if is_missing(ratio):
        return "without a price"
    if max(ratio, 1 / ratio) <= SAME_RATIO:
        return "the same cost"
    if ratio >= 2:
        return f"{times(ratio)} the cost"
    return changed_by(ratio - 1)


def answer_card(row: Row, least: Row, catalogs: Catalogs) -> Card:
    """The card of an answer of the job."""
    return Card(titles(row), row, card_line(row, least, catalogs), {}, short=short_title(row))


SMALLER = {  # a smaller kind of own_machines -> its words
    "lora": ("by LoRA", "LoRA"),
    "qlora": ("by QLoRA", "QLoRA"),
    "8-bit": ("in 8 bits", "8 bits"),
    "4-bit": ("in 4 bits", "4 bits"),
}


def owned_cards(options: list[OwnedOption], catalogs: Catalogs) -> list[Card]:
    """The cards of a job on your own machines."""
    return [_owned_card(option, catalogs) for option in options]


def _owned_card(option: OwnedOption, catalogs: Catalogs) -> Card:
    """The card of an option on your own machines."""
    row, changes = option.row, option.changes
    line = layout_line(row, catalogs)
    if option.code == "nearest":
        return Card("Nearest", row, card_line(row, row, catalogs), changes)
    if option.code == "smaller":
        how, what = SMALLER[option.kind]
        return Card(
            "What would make it fit", row, f"The same {how}: {line}", changes, f"Take {what}"
        )
    if option.code == "most-requests":
        most = int(changes["users"])
        requests = with_noun(most, "request")
        line = f"{requests} in flight instead of {option.present:,}, within the limits."
        return Card("Most requests", row, line, changes, f"Plan for {most:,} requests")
    title, press = {
        "as-it-is": ("As it is", ""),
        "largest-batch": ("Largest batch", "Take the largest batch"),
        "rented": ("Rented instead", "Rent instead"),
    }[option.code]
    return Card(title, row, line, changes, press)
