"""The role of tokens by the words before them: the answers are short, perhaps 250 tokens."""

from calc.files.words.items import Item
from calc.files.words.neighbors import MADE
from calc.files.words.vocabulary import vocabulary

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
