"""Clauses that speak of something else: earlier attempts, what runs today, quotes."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from calc.files.words.corrected_names import (
    MACHINES,
    corrected_names,
    models_of_other_roles,
    settings_answered_no,
)
from calc.files.words.items import Item
from calc.files.words.letters import signature_of
from calc.files.words.price_parts import names_in_prices
from calc.files.words.vocabulary import signals

HARD = frozenset({"end"})
TURNS = frozenset({"but", "now", "wish"})  # tags of words that turn from today to the plan
WISH = ("'d", "'ll")  # we'd like, we'll need
FARTHEST_NAME = 4  # items behind than
BACKWARD = frozenset(
    {"which", "that", "but", "das", "was", "ce", "lo", "qui", "aber"}
)  # words that begin a clause about the one before
OF_SENTENCE = BACKWARD - {"but", "aber", "was"}
HEDGES = frozenset({"about", "around", "roughly", "some", "approximately", "~"})
AMOUNTS = frozenset({"N", "DUR", "USD", "RATE"})
GUESSED = frozenset({"DUR", "USD"})
ASIDE = frozenset({"aside", "indifferent"})
NOW = frozenset({"currently", "now", "today"})
OF_TODAY = frozenset({"now", "today_heading"})
REPLACED = MACHINES | {"MODEL"}
MAY = frozenset({"could", "can", "would", "will", "may", "might", "should", "to"})
ARTICLES = frozenset({"a", "an", "the", "one"})
LARGER = frozenset({"bigger than", "larger than", "better than", "above", "beyond", "over"})


COMMA = Item(0, 0, ",", frozenset({","}))
FARTHEST_SIZE = 4  # items behind a model
FARTHEST_WISH = 2  # items behind and: and we want


class Clause(NamedTuple):
    """The numbers of the items of a clause, their words and tags, and the mark behind it."""

    places: list[int]
    words: list[str]
    tags: frozenset[str]
    mark: Item

    @property
    def opened(self) -> int:
        """Return how many more parentheses the clause opens than it closes."""
        return self.words.count("(") - self.words.count(")")


def put_aside(items: list[Item]) -> set[int]:
    """The numbers of the items of clauses that speak of something else."""
    aside: set[int] = set()
    before: list[int] = []  # the clause before, in the same line
    follows = False  # a comma ends the clause before
    inside = False  # a parenthesis that a clause put aside has opened
    attempt = False  # the sentence is about an earlier attempt
    for clause in _clauses(items):
        attempt = (attempt or "attempt" in clause.tags) and not _turns_to_plan(clause)
        if inside:
            aside |= set(clause.places)
            inside = clause.opened >= 0 and "\n" not in clause.mark.text
        elif attempt:
            aside |= set(clause.places)
            inside = clause.opened > 0
        elif (
            (clause.tags & ASIDE and "grows" not in clause.tags)
            or _is_of_today(clause)
            or _is_guess(clause)
            or _is_of_later(clause)
            or (follows and _goes_on(clause) and set(before) <= aside)
        ):
            aside |= set(_of_parenthesis(items, clause.places))
            inside = clause.opened > 0
            if not clause.tags & AMOUNTS and _points_back(clause, follows):
                aside |= set(before)
        if "paid" in clause.tags or _runs_today(clause):  # we pay $3 an hour for an H100
            aside |= _machines(items, clause.places)
            aside |= {place for place in clause.places if "MODEL" in items[place].tags}
        aside |= _replaced(items, clause) | _left(items, clause) | _elsewhere(items, clause)
        attempt = attempt and "end" not in clause.mark.tags
        before = clause.places if "\n" not in clause.mark.text else []
        follows = "," in clause.mark.tags
    aside |= _under_heading_of_today(items)
    aside |= _days_of_reply(items) | _overloaded(items)
    aside |= _sizes_of(items, aside)
    aside |= names_in_prices(items)
    aside |= corrected_names(items) | models_of_other_roles(items)
    return aside | _compared(items) | settings_answered_no(items) | signature_of(items)


def _clauses(items: list[Item]) -> Iterator[Clause]:
    """The clauses of a text, each up to a comma, the end of a sentence, a condition or a turn."""
    places: list[int] = []
    for place, item in enumerate([*items, Item(0, 0, "", HARD)]):
        ends = bool(item.tags & {"end", ",", "provided"})
        turns = bool(places) and _turns(items, place)
        if ends or turns:
            tags = frozenset(tag for number in places for tag in items[number].tags)
            mark = item if ends else COMMA
            yield Clause(places, [items[number].text for number in places], tags, mark)
            places = []
        if not ends:
            places.append(place)


def _turns(items: list[Item], place: int) -> bool:
    """Return whether a clause about something else begins with a word: but 32k; and want L4."""
    if place >= len(items) or not items[place].tags & {"but", "and"}:
        return False
    behind = items[place + 1 : place + 1 + FARTHEST_WISH]
    wishes = any("wish" in item.tags for item in behind)
    return "but" in items[place].tags or wishes


def _runs_today(clause: Clause) -> bool:
    """Return whether a clause says where it runs today: currently it is on one g5.xlarge."""
    says = "it" in clause.words and {"is", "works"} & set(clause.words)
    return "now" in clause.tags and bool(says)


def _machines(items: list[Item], stretch: list[int]) -> set[int]:
    """The numbers of the machines of a clause and of what counts them: one g5.xlarge."""
    machines = {number for number in stretch if items[number].tags & {"CARD", "INST"}}
    counts = {
        number
        for machine in machines
        for number in range(max(machine - 2, 0), machine)
        if items[number].tags & {"N", "x"}
    }
    return machines | counts


def _elsewhere(items: list[Item], clause: Clause) -> set[int]:
    """The numbers of the machines of another place, where no wish is of them: a T4 of Colab."""
    if "wish" in clause.tags:
        return set()
    near = {
        one
        for place in clause.places
        if "elsewhere" in items[place].tags
        for one in clause.places
        if abs(one - place) <= FARTHEST_NAME
    }
    return _machines(items, sorted(near))


def _replaced(items: list[Item], clause: Clause) -> set[int]:
    """The numbers of the names that give way to others: replace our 4 A100 by L40S."""
    verb = next((place for place in clause.places if "replaced" in items[place].tags), None)
    names = [place for place in clause.places if items[place].tags & REPLACED]
    if verb is None or not names:
        return set()
    closing = next((one for one in clause.places if one > verb and items[one].text == ")"), None)
    if closing is not None:  # v2 (replaces the phi-3 one) uses phi-4
        return {place for place in names if verb < place < closing}
    joints = [one for one in clause.places if one > names[0] and "replaces" in items[one].tags]
    before = [place for place in names if place < joints[0]] if joints else []
    given = before or [place for place in names if place > verb]
    if _has_subject(items, clause, verb):  # whether one p5.48xlarge could replace our A100
        kinds = {tag for place in names if place < verb for tag in items[place].tags & REPLACED}
        given = [place for place in names if place > verb and items[place].tags & kinds]
    return {*given, *_machines(items, given)}


def _has_subject(items: list[Item], clause: Clause, verb: int) -> bool:
    """Return whether a name before a verb says what replaces others: a p5 could replace them."""
    auxiliary = items[verb - 1].text if verb else ""
    named = any(items[place].tags & REPLACED for place in clause.places if place < verb)
    return named and auxiliary in MAY and items[verb].text in ("replace", "ersetzen", "remplacer")


def _sizes_of(items: list[Item], aside: set[int]) -> set[int]:
    """The numbers of the items in a parenthesis behind a model that is put aside: bert (110M)."""
    sizes: set[int] = set()
    for place in aside:
        inside = [item.text for item in items[place + 1 : place + 1 + FARTHEST_SIZE]]
        if "MODEL" in items[place].tags and inside[:1] == ["("] and ")" in inside:
            sizes |= set(range(place + 1, place + 2 + inside.index(")")))
    return sizes


def _left(items: list[Item], clause: Clause) -> set[int]:
    """The numbers of the machines that a move begins with: from A100 to H200."""
    machines = [place for place in clause.places if items[place].tags & MACHINES]
    return {
        first
        for first, second in pairwise(machines)
        if "source" in items[first - 1].tags
        and any("into" in items[place].tags for place in range(first + 1, second))
    }


def _is_guess(clause: Clause) -> bool:
    """Return whether a clause guesses time or money: I'd estimate 10 hours; calculated $300."""
    return "estimate" in clause.tags and "N" not in clause.tags and bool(clause.tags & GUESSED)


def _is_of_later(clause: Clause) -> bool:
    """Return whether a clause says what comes later: 35 sessions, later maybe 50."""
    return clause.words[:1] != [] and clause.words[0] in signals("later")


def _of_parenthesis(items: list[Item], stretch: list[int]) -> list[int]:
    """The numbers of a clause put aside; of one whose parenthesis alone is, those inside it."""
    opening = next((place for place in stretch if items[place].text == "("), None)
    if opening is None or any(items[place].tags & ASIDE for place in stretch if place < opening):
        return stretch
    return [place for place in stretch if place > opening]


def _turns_to_plan(clause: Clause) -> bool:
    """Return whether a clause turns from an attempt to what is planned: but now we want 20."""
    turns = clause.tags & TURNS or "now" in clause.words
    return bool(turns) or any(word.endswith(WISH) for word in clause.words)


def _compared(items: list[Item]) -> set[int]:
    """The numbers of the items up to a name behind than: cheaper than our 4 A100."""
    compared: set[int] = set()
    for place, item in enumerate(items):
        if "than" not in item.tags or _compares_two(items, place) or _is_denied(items, place):
            continue
        for last in range(place + 1, min(place + 1 + FARTHEST_NAME, len(items))):
            if items[last].tags & {"end", ",", "DUR", "USD"} or items[last].text == ":":
                break
            if "name" in items[last].tags:
                compared |= set(range(place, last + 1))
                break
    return compared


def largest_before(items: list[Item], place: int) -> str:
    """Return the words that make a machine the largest one allowed: bigger than; else nothing.

    Nothing bigger than g5.48xlarge says what is ruled out, and not which machines are left.
    """
    near = items[max(place - 3, 0) : place]
    before = [item for item in near if item.text not in ARTICLES and "N" not in item.tags]
    is_bound = bool(before) and before[-1].text in LARGER
    return before[-1].text if is_bound and _is_denied(items, place - 1) else ""


def _is_denied(items: list[Item], place: int) -> bool:
    """Return whether a negation stands before an item in its clause: cannot use more than."""
    for other in reversed(items[:place]):
        if other.tags & {"end", ","}:
            return False
        if "not" in other.tags:
            return True
    return False


def _compares_two(items: list[Item], place: int) -> bool:
    """Return whether machines stand on both sides of than, as a choice: is A cheaper than B."""
    for other in reversed(items[:place]):
        if other.tags & {"end", ","} or other.text == ":":
            return False
        if other.tags & {"CARD", "INST"}:
            return True
    return False


def _is_of_today(clause: Clause) -> bool:
    """Return whether a clause says what runs today: we run it on two p4d today."""
    words = clause.words
    past = signals("past") | (signals("lasted") if "DUR" in clause.tags else frozenset())
    if any(
        one in signals("testers")
        and (past & set(_behind_owner(words[place + 1 : place + 5])[:2]) or _ends_in_past(words))
        and "never" not in words[place + 1 : place + 2]
        for place, one in enumerate(words)
    ):
        return True  # we recently tested it on an A10G
    if _is_on_machine_now(clause):
        return True
    if not clause.tags & {"runs", "paid"}:
        return False
    if signals("present") & set(words) and "wish" not in clause.tags:
        return True
    return "now" in clause.tags and bool(signals("ours") & set(words) or "own" in clause.tags)


def _ends_in_past(words: list[str]) -> bool:
    """Return whether a clause ends with a verb of the past: wir haben es auf zwei T4 getestet."""
    return words[-1:] != [] and words[-1] in signals("past_last")


def _behind_owner(words: list[str]) -> list[str]:
    """The words behind the one whose person it is: a colleague of mine ran."""
    return words[2:] if words[:1] == ["of"] else words


def _under_heading_of_today(items: list[Item]) -> set[int]:
    """The numbers of the items between a heading of today and the one of the plan, to its line."""
    headings = [place for place in range(len(items)) if _is_heading(items, place)]
    plans = [place for place in headings if "plan_heading" in items[place].tags]
    under: set[int] = set()
    for place in headings:
        if not plans or not items[place].tags & OF_TODAY:
            continue
        ends = [plan for plan in plans if plan > place]
        ends = ends or [one for one in range(place, len(items)) if "\n" in items[one].text]
        stretch = range(place, min(ends, default=len(items)))
        if not any("wish" in items[one].tags for one in stretch[1:]):  # today: I need ...
            under |= set(stretch)
    return under


def _overloaded(items: list[Item]) -> set[int]:
    """The numbers of the items of sentences about what is full today or over: our box is full."""
    sentence: list[int] = []
    aside: set[int] = set()
    for place, item in enumerate([*items, Item(0, 0, "", HARD)]):
        if item.tags & {"end", ","} and any("ended" in items[one].tags for one in sentence[-1:]):
            aside |= set(sentence)  # the pilot is over, ...
        if not item.tags & HARD:
            sentence.append(place)
            continue
        tags = {tag for one in sentence for tag in items[one].tags}
        words = {items[one].text for one in sentence}
        is_ours = bool(words & signals("own")) and "wish" not in tags
        is_full = "overloaded" in tags and tags & MACHINES and is_ours
        if is_full:
            aside |= set(sentence)
        sentence = []
    return aside


def _days_of_reply(items: list[Item]) -> set[int]:
    """The numbers of the days by which an answer is due, not the work: a quote by Friday."""
    days = {place for place, item in enumerate(items) if "by_day" in item.tags}
    return {place for place in days if _is_of_reply(items, place)}


def _is_of_reply(items: list[Item], place: int) -> bool:
    """Return whether words of a reply stand before a day or open what is asked by it."""
    for other in reversed(items[:place]):
        if other.tags & {"end", ","}:
            break
        if other.text in signals("replies"):
            return True
    behind = [item.text for item in items[place + 1 : place + 4] if item.text not in ARTICLES]
    return behind[:1] == [":"] and bool(signals("replies") & set(behind[1:]))


def _is_heading(items: list[Item], place: int) -> bool:
    """Return whether a word alone stands between the end of a sentence and a colon."""
    begins = place == 0 or bool(items[place - 1].tags & HARD)
    return begins and place + 1 < len(items) and items[place + 1].text.startswith(":")


def _is_on_machine_now(clause: Clause) -> bool:
    """Return whether a clause names what something is on today: currently on two T4."""
    behind = {word for before, word in pairwise(clause.words) if before in NOW}
    return "on" in behind and bool(clause.tags & MACHINES) and "wish" not in clause.tags


def _goes_on(clause: Clause) -> bool:
    """Return whether a clause says more of the one before: 45 tested it, about 700 times a day."""
    begins = clause.words[:1]
    return bool(HEDGES & set(begins)) and not _turns_to_plan(clause)


def _points_back(clause: Clause, follows: bool) -> bool:
    """Return whether a clause is about the one before, or the sentence: which is another story."""
    return bool((BACKWARD if follows else OF_SENTENCE) & set(clause.words[:1]))
