"""The claims of a text by role, with what is known of the work that they belong to."""

import re
from dataclasses import dataclass, field

from calc.files.words.facts import Facts, as_counted
from calc.files.words.frames import Claim
from calc.files.words.vocabulary import lexicon, silent_words

MARKS = re.compile(r"[,;:()+]")
NEXT_WORD = re.compile(r" ([a-zà-ÿ]{3,})\b")
WORD_BEFORE = re.compile(r"([a-zà-ÿ]{3,}) (?:(?:about|around|roughly|some|approximately|~) ?)?$")
KEY_BEFORE = re.compile(r"[a-z][\w.-]* ?= ?$")
FARTHEST_WORD = 40  # letters
MINUTE, HOUR, DAY, MONTH = 60.0, 3600.0, 86400.0, 2628000.0  # seconds
LONG_RUN = 1e6  # tokens from which an amount is of a run and not of one sequence
LONGEST_LENGTH = 2e5  # tokens that a length without a word about it may have


@dataclass
class Amounts:
    """The claims of a text, the columns they set, and what the work is."""

    facts: Facts
    claims: list[Claim]
    goal: str
    is_batch: bool  # the work ends
    ends: bool  # words say so: a kind of work, a time by which it is done
    embeds: bool  # the model answers with a vector or a number
    tags: frozenset[str]  # of all words
    text: str
    used: set[int] = field(default_factory=set)  # places of the claims that have had their say

    def of(self, *roles: str) -> list[Claim]:
        """The claims of these roles."""
        return [claim for claim in self.claims if claim.role in roles]

    def value(self, *roles: str) -> float:
        """The value of the first claim of these roles; 0 where there is none."""
        return next((claim.item.value for claim in self.of(*roles)), 0.0)

    def put(self, column: str, claim: Claim, value: float | None = None) -> None:
        """Set a column by a claim."""
        amount = claim.item.value if value is None else value
        if column == "hours_most" and value is None and "DUR" in claim.item.tags:
            amount = as_counted(amount / HOUR)
        scale = claim.item.extra.get("scale", "") if value is None else ""
        self.facts.put(column, float(amount), self.words(claim), scale)
        if "currency" in claim.item.extra:
            self.facts.assume(f"'{claim.item.text}' at about {claim.item.extra['currency']}")
        if "low" in claim.item.extra:
            self.facts.assume(f"the upper end of '{claim.item.text}'")

    def put_text(self, column: str, claim: Claim, value: str) -> None:
        """Set a column of text by a claim."""
        self.facts.put(column, value, self.words(claim))

    def ask(self, column: str, claim: Claim, text: str = "", choices: tuple[str, ...] = ()) -> None:
        """Ask about a claim."""
        self.facts.ask(column, self.words(claim), choices, text)

    def leave_out(self, claim: Claim) -> None:
        """Name a claim as not counted; of a phrase with others its own part: 4 on average."""
        self.words(claim)
        self.facts.not_counted.append(self._own_words(claim))

    def _own_words(self, claim: Claim) -> str:
        """The words of a claim between those of the others that its phrase has."""
        others = [one.item for one in self.claims if one.first == claim.first and one is not claim]
        if not others:
            return self.text[claim.start : claim.end]
        start = max((one.end for one in others if one.end <= claim.item.start), default=claim.start)
        end = min((one.start for one in others if one.start >= claim.item.end), default=claim.end)
        head = MARKS.split(self.text[start : claim.item.start])[-1]
        tail = MARKS.split(self.text[claim.item.end : end])[0]
        return f"{head}{claim.item.text}{tail}".strip()

    def words(self, claim: Claim) -> str:
        """The words of a claim, which has its say with them."""
        self.used.add(claim.item.start)
        return self.text[claim.start : claim.end]

    def with_noun(self, claim: Claim) -> str:
        """The words of a claim, with the word that nothing has read behind it: 35 Disponenten."""
        words, noun = self.words(claim), NEXT_WORD.match(self.text, claim.end)
        return f"{words} {noun[1]}" if noun and self.is_of_unknown(claim) else words

    def with_key(self, claim: Claim) -> str:
        """The words of a claim with the key that sets it: top_k = 4; empty without a key."""
        key = KEY_BEFORE.search(self.text, 0, claim.start)
        return f"{key[0]}{self.words(claim)}" if key else ""

    def is_of_unknown(self, claim: Claim) -> bool:
        """Return whether a word that nothing has read stands right behind a claim: 350 tokens x."""
        match = NEXT_WORD.match(self.text, claim.end)
        return match is not None and match[1] not in silent_words() | lexicon().tags.keys()

    def is_behind_unknown(self, claim: Claim) -> bool:
        """Return whether a claim stands right behind a word that nothing has read: billed $900."""
        match = WORD_BEFORE.search(self.text[max(claim.start - FARTHEST_WORD, 0) : claim.start])
        return match is not None and match[1] not in silent_words() | lexicon().tags.keys()

    def is_open(self, claim: Claim) -> bool:
        """Return whether a claim has had no say yet."""
        return claim.item.start not in self.used

    def left(self) -> list[Claim]:
        """The claims that have had no say."""
        return [claim for claim in self.claims if self.is_open(claim)]
