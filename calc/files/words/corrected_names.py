"""Names that a text takes back, denies in answer to its own question, or gives another role."""

from itertools import pairwise

from calc.files.words.items import Item
from calc.files.words.vocabulary import signals

NO = frozenset({"no", "nope", "nein", "non"})
MACHINES = frozenset({"CARD", "INST"})
PLACES = frozenset({"PLACE"})
FARTHEST_CORRECTION = 7  # items between two names
FARTHEST_ROLE = 4  # items behind a model: as the draft model
AS, FOR = frozenset({"as", "als", "comme", "como"}), frozenset({"for", "für", "pour", "para"})


def corrected_names(items: list[Item]) -> set[int]:
    """The numbers of the names that a text takes back: clip? no, qwen2.5-vl-7b; g5, sorry, g6."""
    corrected: set[int] = set()
    for tags in (frozenset({"MODEL"}), MACHINES, PLACES):
        names = [place for place, item in enumerate(items) if item.tags & tags]
        corrected |= {
            first
            for first, second in pairwise(names)
            if second - first <= FARTHEST_CORRECTION
            and any(_takes_back(items, place) for place in range(first + 1, second))
        }
    return corrected


def _takes_back(items: list[Item], place: int) -> bool:
    """Return whether a word corrects what stands before it: sorry, or a no by itself."""
    behind = items[place + 1]
    ends = bool(behind.tags & {"arrow", ",", "end"}) or behind.text == ":"
    return "correction" in items[place].tags or (items[place].text in NO and ends)


def settings_answered_no(items: list[Item]) -> set[int]:
    """The numbers of the settings of a question that the text answers with no: in int4? No."""
    denied: set[int] = set()
    for place, item in enumerate(items[:-1]):
        if item.text != "?" or items[place + 1].text not in NO:
            continue
        for number in range(place - 1, -1, -1):
            if items[number].tags & {"end", ","}:
                break
            if any(tag.startswith("sets:") for tag in items[number].tags):
                denied.add(number)
    return denied


def models_of_other_roles(items: list[Item]) -> set[int]:
    """The numbers of the models beside the one that is planned: teacher llama-3.3-70b."""
    models = [place for place, item in enumerate(items) if "MODEL" in item.tags]
    said = {place for place in models if _has_other_role(items, place)}
    return said if len(said) < len(models) else set()


def _has_other_role(items: list[Item], place: int) -> bool:
    """Return whether a word beside a model gives it a role: draft phi-4-mini; phi-4 as a judge."""
    before = [item.text for item in items[max(place - 2, 0) : place]]
    behind = [item.text for item in items[place + 1 : place + 1 + FARTHEST_ROLE]]
    roles = signals("other_models")
    if behind[:1] and behind[0] in AS and roles & set(behind):
        return True
    return bool(roles & set(before)) and before[-1] not in FOR  # as draft for llama-3.3-70b
