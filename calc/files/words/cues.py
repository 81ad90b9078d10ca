"""The role of tokens by the words before them: the answers are short, perhaps 250 tokens."""

from itertools import takewhile

from calc.files.words.items import Item
from calc.files.words.neighbors import MADE
from calc.files.words.vocabulary import vocabulary

OF_COUNTS = {  # tag of the things that a number without a noun counts -> role
    "user": "users_plain",
    "people": "people",
    "example": "examples",
    "document": "documents",
    "image": "images",
    "concurrent": "users",
}
OF_THEM = "of_them"  # the role of a number of things that no words have named
AMOUNTS = frozenset({"N", "DUR", "USD", "BYTES", "PCT"})
FEW_OR_MANY = frozenset(
    {"few", "many", "lots", "several", "plenty", "limited", "low", "high", "wenige", "viele"}
) | {*("peu", "beaucoup", "quelques", "pocos", "pocas", "muchos", "muchas")}
FARTHEST = 3  # items between a cue and its number
OF_CUES = {
    "latency": "answer_tokens",
    "answer": "answer_tokens",
    "prompt": "prompt_tokens",
    "context": "context_tokens",
}
DESCRIPTIONS = frozenset(
    {
        *("short", "brief", "small", "large", "longish", "tiny", "huge", "kurz"),
        *("is", "are", "ist", "sind", "est", "sont", "es", "son"),  # output is one label, 5 tokens
    }
)
APPOSITIONS = frozenset({"so", "ie", "i.e", "meaning", "roughly", "say"})  # output, so 400
FARTHEST_DESCRIBED = 8  # items between a word such as answers and its number
NAMES = frozenset({"name", "MODEL", "PLACE"})


def role_by_words_before(items: list[Item], first: int, tokens: float) -> str:
    """Return the role of tokens right behind a word that another number has taken too.

    10 s for an answer of 300 tokens. A word about that length may stand between.
    """
    near = items[max(first - FARTHEST, 0) : first]
    before = [item for item in near if not item.is_silent]
    tags = before[-1].tags if before else frozenset()
    if tokens <= vocabulary().reach["answer_tokens"].most:
        tags |= _described_before(items, first)
    if before and before[-1].text in MADE:  # captions (70 tokens)
        tags |= {"answer"}
    role = next((role for tag, role in OF_CUES.items() if tag in tags), "tokens")
    bound = vocabulary().bounds.get(role)
    return role if bound and tokens <= bound.most else "tokens"  # 64k context for 40M tokens


def role_by_sentence_before(items: list[Item], first: int, role: str) -> str:
    """Return the role of a number that a sentence begins with, by the one thing named before it.

    The answers are short. Maybe 80 tokens. We have few users. About 30.
    """
    if role == "bare" and any("them" in item.tags for item in items[first + 1 : first + 2]):
        return _role_of_them(items, first)
    start = first
    while start and (items[start - 1].is_silent or "about" in items[start - 1].tags):
        start -= 1
    if not start or "end" not in items[start - 1].tags or "\n" in items[start - 1].text:
        return role
    before = list(takewhile(lambda item: "end" not in item.tags, reversed(items[: start - 1])))
    roles = OF_CUES if role == "tokens" else OF_COUNTS
    named = {roles[tag] for item in before for tag in item.tags & roles.keys()}
    hedged = any("about" in item.tags for item in items[start:first])
    if len(named) != 1 or any(item.tags & AMOUNTS for item in before):
        return role
    is_counted = hedged or any(item.text in FEW_OR_MANY for item in before)
    return named.pop() if role == "tokens" or is_counted else role


def _role_of_them(items: list[Item], first: int) -> str:
    """Return the role of the last things named before a number of them, if no number has them."""
    for place in range(first - 1, -1, -1):
        roles = [OF_COUNTS[tag] for tag in sorted(items[place].tags & OF_COUNTS.keys())]
        if roles:
            has_number = place and "N" in items[place - 1].tags
            return "bare" if has_number else roles[0]
    return OF_THEM


def _described_before(items: list[Item], first: int) -> frozenset[str]:
    """Return the tags of the word that a clause calls short or long, before a number."""
    near = items[max(first - 2, 0) : first]
    is_described, commas = any(item.text in APPOSITIONS for item in near), 0
    for item in reversed(items[max(first - FARTHEST_DESCRIBED, 0) : first]):
        commas += "," in item.tags
        if commas > 1 or item.tags & (NAMES | {"end", "N"}):
            break
        if commas and (item.text in DESCRIPTIONS or "long" in item.tags):
            is_described = True
        elif is_described and item.tags & OF_CUES.keys():
            return item.tags
        elif is_described and "out" in item.tags:
            return frozenset({"answer"})
    return frozenset()
