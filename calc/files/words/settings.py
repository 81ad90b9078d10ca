"""The columns that a phrase sets by itself, such as bf16, LoRA or DPO."""

from typing import Any

from calc.evaluate import Row
from calc.files.words.facts import Facts
from calc.files.words.items import Item
from calc.files.words.roles import ROLLS_OUT
from calc.files.words.scopes import Scopes, is_forbidden, is_needless
from calc.files.words.vocabulary import vocabulary

FARTHEST_CORRECTION = 3  # items
EXCLUSIVE = ("method", "objective")  # columns of which a text may name several and take one
CACHES = {"8": "fp8", "16": "bf16"}  # bits of the KV cache
ENGINES = frozenset({"implementation", "inference_engine"})
OTHER = "You wrote '{}', which is not estimated. Which engine shall stand for it?"
PARTLY = (
    "You wrote '{}'. Training a part of the layers is not estimated. Which method shall stand for "
    "it?"
)
METHODS = ("full", "lora")
IN_FULL = frozenset({"in full", "fully"})
SUPERVISED, SFT = ("sft", "supervised fine-tuning"), "sft"  # an objective without a column


def put_settings(facts: Facts, items: list[Item], scopes: Scopes) -> None:
    """Columns that a phrase sets; formats that are ruled out are excluded."""
    only = _exclusive(items, scopes)
    for number, item in enumerate(items):
        if "other_engine" in item.tags and number not in scopes.aside | scopes.negated:
            facts.ask("implementation", item.text, ("vllm", "sglang"), OTHER.format(item.text))
        if "quantized" in item.tags and number in scopes.negated:
            facts.put("fewest_bits", "16", item.text)
        if "partly" in item.tags and number not in scopes.aside | scopes.negated:
            facts.ask("method", item.text, METHODS, PARTLY.format(item.text))
        sets = _sets(item)
        if not sets or number in scopes.aside or _is_of_answers(items, number):
            continue
        if is_needless(items, number):
            facts.not_counted.append(item.text)
            continue
        if number in scopes.negated or is_forbidden(items, number):
            if "precision" in sets:
                scopes.excluded.append((str(sets["precision"]), item))
            continue
        if _is_of_cache(items, number):
            sets = _of_cache(sets)
        for column, value in sets.items():
            is_left_out = only.get(column, value) != value
            _put_setting(facts, items, number, (column, value), is_left_out)


def _is_of_answers(items: list[Item], place: int) -> bool:
    """Return whether a word such as fully is of answers: answered in full within 6 seconds."""
    behind = items[place + 1 : place + 2]
    return items[place].text in IN_FULL and any("within" in item.tags for item in behind)


def _put_setting(
    facts: Facts, items: list[Item], number: int, setting: tuple[str, Any], is_left_out: bool
) -> None:
    """Put the column of a phrase beside those before it; a second engine or method is settled."""
    item, (column, value) = items[number], setting
    is_other = is_left_out or (column in ENGINES and ENGINES & facts.columns.keys() - {column})
    if is_other and (column not in ENGINES or _compares(items, number)):
        facts.not_counted.append(item.text)
    elif (
        column in ("method", "implementation")
        and column in facts.columns
        and facts.columns[column] != value
    ):
        first = str(facts.columns[column])
        if column == "method" and _compares(items, number):
            methods = (first, str(value))
            facts.ask(column, " or ".join(methods), methods)
        _second(facts, column, str(value), item)
    elif column == "fewest_bits" and "precision" in facts.columns:
        return
    elif column in facts.columns and _corrects(items, number):
        facts.not_counted.append(facts.words[column])
        facts.drop(column)
        facts.put(column, value, item.text)
    else:
        facts.put(column, value, item.text)


def _exclusive(items: list[Item], scopes: Scopes) -> Row:
    """Column -> the value that a text means alone: full only, not LoRA too; sft, no DPO yet.

    A reward model beside an objective with rollouts scores them and is no run of its own.
    """
    only: Row = {}
    said: Row = {}
    heard = [item for number, item in enumerate(items) if number not in scopes.aside]
    objectives = {_sets(item).get("objective") for item in heard}
    is_only = False
    for number, item in enumerate([*items, Item(0, 0, "", frozenset({"end"}))]):
        if item.tags & {"end", ","} or item.text == ":":
            only |= said if is_only else {}
            said, is_only = {}, False
        elif number not in scopes.aside | scopes.negated:
            is_only = is_only or "only" in item.tags
            said |= {column: SFT for column in ("objective",) if item.text in SUPERVISED}
            said |= {name: value for name, value in _sets(item).items() if name in EXCLUSIVE}
    if "reward" in objectives and (rollouts := [one for one in ROLLS_OUT if one in objectives]):
        only.setdefault("objective", rollouts[0])
    return only


def _sets(item: Item) -> Row:
    """Return the columns that a phrase sets."""
    entry = next((tag.partition(":")[2] for tag in item.tags if tag.startswith("sets:")), "")
    return vocabulary().sets[int(entry)].sets if entry else {}


def _is_of_cache(items: list[Item], place: int) -> bool:
    """Return whether a format is that of the KV cache, which stands right beside it."""
    before = next((item for item in reversed(items[:place]) if not item.is_silent), None)
    beside = [before, *items[place + 1 : place + 2]]
    return any(item is not None and "kv_key" in item.tags for item in beside)


def _of_cache(sets: Row) -> Row:
    """The columns of a format or of bits that are said of the KV cache."""
    said = sets.get("precision") or CACHES.get(str(sets.get("fewest_bits", "")))
    return {"kv_precision": said} if said else sets


def _compares(items: list[Item], place: int) -> bool:
    """Return whether the item is an alternative to one before it: full or lora."""
    tags = {tag for item in items for tag in item.tags}
    before = {tag for item in items[max(place - 3, 0) : place] for tag in item.tags}
    return "or" in before or ("compare" in tags and "and" in before)


def _corrects(items: list[Item], place: int) -> bool:
    """Return whether a word such as sorry stands right before an item: fp8, sorry, int8."""
    before = items[max(place - FARTHEST_CORRECTION, 0) : place]
    return any("correction" in item.tags for item in before)


def _second(facts: Facts, column: str, value: str, item: Item) -> None:
    """A second method or engine: full says less than lora, the first engine stays."""
    if column == "method" and "full" in (value, facts.columns[column]):
        facts.columns[column] = value if facts.columns[column] == "full" else facts.columns[column]
    elif column == "method":
        facts.columns[column] = "qlora"
    else:
        facts.not_counted.append(item.text)
