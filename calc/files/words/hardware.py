"""The columns of the machines, places and formats that a text names, and what it excludes."""

import re
from dataclasses import replace

from calc.catalogs.load import Catalogs
from calc.cost.markets import USUAL_MARKETS
from calc.files.words.amounts import Amounts
from calc.files.words.frames import Claim
from calc.files.words.instance_cards import (
    drop_cards_of_memory,
    drop_repeated_cards,
    own_named_instances,
    put_either,
)
from calc.files.words.items import Item
from calc.files.words.machines import of_memory
from calc.files.words.neighbors import is_noun
from calc.files.words.scopes import Scopes, is_allowed_behind, name_entry
from calc.job.cells import MOST_MACHINES

GPUS_OF_DGX = 8  # of a DGX or HGX A100, H100, H200 or B200 (NVIDIA's data sheets)
OFFERED = (2, 4, 8, 16)  # cards of a choice
AND = re.compile(r"\b(?:and|und|et|y|plus)\b|[+&]")
MOST_OFFERED = 64  # GPUs, where only the least number is said
MOST_BETWEEN = 2  # words between how many and the card
HOW_MANY = (
    "How many {} shall be planned for? AWS rents none, so their number is not searched: choose "
    "one, and the answer says whether it fits."
)
WORKSTATIONS = ("rtx-", "quadro-")  # cards that people have at home and no cloud is thought of
NOT_RENTED = (
    "AWS does not rent the {}, and the text does not say that it is your own. Do you have it? If "
    "not, name a GPU that AWS rents, such as H100."
)
OURS = re.compile(r"\b(?:our|unser\w*|notre|nos|nuestr[oa]s?) (?:\w+ ?x? ?)?$")
IN_QUESTION = re.compile(r"[^.,;:?\n]*\?")  # the rest of a clause that asks
FAILS = re.compile(
    r" (?:may |can |could )?(?:fails?|dies?|crash(?:es)?|breaks?|goes down|is down)\b"
)
ONE_FAILS = re.compile(  # two replicas, so that one can die
    r"\bone (?:of them |replica |machine |node |instance )?(?:can|may|could|might) "
    r"(?:die|fail|crash|break|go down|be lost)\b|\b(?:redundan\w+|failover|high availability|ha)\b"
)
REPLICAS = (
    "You wrote '{}'. How many machines serve follows from the load here. How many more shall stand "
    "by in case one fails?"
)
NO_REGION = "You wrote '{}'. No AWS region there has prices here. Which region is meant?"
REGION = frozenset({"region", "regions", "región", "région"})
ANYWHERE = "anywhere"
YEAR = 31536000.0  # seconds
OF_MACHINES = ("gpus_each", "nodes", "gpus", "gpus_least", "instances", "dgx_boxes")
FAMILIES = {"p": ("p",), "g": ("g", "gr")}


def put_hardware(amounts: Amounts, scopes: Scopes, items: list[Item], catalogs: Catalogs) -> None:
    """Set the columns of machines, regions and markets."""
    _count(amounts)
    _with_memory(amounts, scopes, catalogs)
    drop_repeated_cards(scopes, catalogs)
    own_named_instances(scopes, catalogs)
    _own_machines(amounts, scopes, items, catalogs)
    _ask_about_memory(amounts)
    for claim in amounts.of("replicas"):
        if ONE_FAILS.search(amounts.text):
            amounts.put("spare", claim, 1.0)
        else:
            amounts.ask("spare", claim, REPLICAS.format(amounts.words(claim)))
    _instances(amounts, scopes, catalogs)
    _cards(amounts, scopes)
    put_either(amounts.facts, scopes, items, catalogs)
    for item in scopes.open_machines:
        text = f"You wrote '{item.text}'. Which machines may it be?"
        column = "instance" if "INST" in item.tags else "gpu"
        amounts.facts.ask(column, item.text, text=text)
    _places(amounts, scopes, items)
    excluded = list(dict.fromkeys(name for name, _ in scopes.excluded))
    if excluded:
        amounts.facts.columns["excludes"] = "+".join(excluded)
        amounts.facts.words["excludes"] = ", ".join(item.text for _, item in scopes.excluded)


def _count(amounts: Amounts) -> float:
    """Cards in all: so many, or nodes of so many."""
    for claim in amounts.of(*OF_MACHINES):
        amounts.words(claim)
    _limit_each(amounts)
    if each := amounts.value("gpus_each"):
        for claim in amounts.of("instances_count"):
            amounts.words(claim)
        return each * (amounts.value("nodes", "instances_count") or 1)
    if "dgx" in amounts.tags and not amounts.of("gpus"):
        return GPUS_OF_DGX * (amounts.value("dgx_boxes", "nodes") or 1)
    return amounts.value("gpus", "gpus_least")


def _limit_each(amounts: Amounts) -> None:
    """Put the most GPUs of a machine as those of all machines, where their number is said."""
    nodes = amounts.of("nodes", "instances_count", "instances_most")
    for claim in amounts.of("gpus_each_most"):
        if len(nodes) == 1:
            amounts.put("gpus_most", claim, claim.item.value * nodes[0].item.value)
        else:
            amounts.ask("gpus_most", claim)


def _with_memory(amounts: Amounts, scopes: Scopes, catalogs: Catalogs) -> None:
    """An A100 with 40 GB of memory: the memory says which card of the name it is."""
    for claim in amounts.of("memory_denied"):
        drop_cards_of_memory(amounts, claim, scopes, catalogs)
    gigabytes = amounts.facts.columns.get("gpu_memory_gb")
    named = [*scopes.taken["gpu"], *scopes.owned]
    cards = [item for item in named if "CARD" in item.tags]
    meant = [of_memory(item, float(gigabytes), catalogs) for item in cards] if gigabytes else []
    if not any(meant):
        return
    amounts.facts.drop("gpu_memory_gb")
    renamed = {
        id(item): replace(item, value=value)
        for item, value in zip(cards, meant, strict=True)
        if value
    }
    scopes.taken["gpu"] = [renamed.get(id(item), item) for item in scopes.taken["gpu"]]
    scopes.owned[:] = [renamed.get(id(item), item) for item in scopes.owned]


def _ask_about_memory(amounts: Amounts) -> None:
    """Ask about the memory of a card beside one's own machine, which has its own."""
    facts = amounts.facts
    if "have" in facts.columns and "gpu_memory_gb" in facts.columns:
        words = facts.words["gpu_memory_gb"]
        facts.drop("gpu_memory_gb")
        facts.ask("gpu_memory_gb", words)


def _own_machines(amounts: Amounts, scopes: Scopes, items: list[Item], catalogs: Catalogs) -> None:
    """One's own machines: said so, or cards that AWS does not rent.

    A service on such cards is answered with what they hold. Of training, which is planned for its
    time and cost, it is asked whether they are there.
    """
    rented = set(catalogs.instances["gpu"])
    foreign = [item for item in scopes.taken["gpu"] if item.value[0] not in rented]
    own = [*scopes.owned, *foreign]
    if not own:
        return
    item = own[0]
    count, name = _own_machine(amounts, item, items, catalogs)
    if not name:
        return
    if count > MOST_MACHINES:
        amounts.facts.ask("have", f"{count:,.0f} {item.text}")
        return
    amounts.facts.put("have", f"{count:.0f} x {name}", item.text)
    is_ours = OURS.search(amounts.text[: item.start])
    at_home = is_ours or name.startswith(WORKSTATIONS)
    if item in foreign and not at_home and amounts.goal != "serve":
        choices = (f"{count:.0f} x {name}",)
        amounts.facts.ask("have", item.text, choices, NOT_RENTED.format(item.text))
    if len({one.value for one in own}) > 1 or ("CARD" in item.tags and len(item.value) > 1):
        amounts.facts.ask("have", ", ".join(one.text for one in own))
    same = {str(catalogs.instances["gpu"].get(name, ""))}
    others = [one for one in scopes.taken["gpu"] if one not in own and not same & set(one.value)]
    scopes.taken["gpu"] = [] if "CARD" in item.tags else others
    if others and "CARD" in item.tags:  # an L4 or a 3090
        words = ", ".join(one.text for one in [item, *others])
        amounts.facts.drop("have")
        amounts.facts.ask("gpu", words, text=f"You wrote '{words}'. Which of these is meant?")


def _own_machine(
    amounts: Amounts, item: Item, items: list[Item], catalogs: Catalogs
) -> tuple[float, str]:
    """The number of one's own machines and their id; no id where that is asked."""
    if "INST" not in item.tags:
        count, name = _count(amounts) or amounts.value("gpus_most") or 1, item.value[0]
        if count == 1 and _asks_number(item, items):
            choices = tuple(f"{number} x {name}" for number in OFFERED)
            amounts.facts.ask("have", item.text, choices, HOW_MANY.format(item.text))
            return 0, ""
        return count, name
    if len(item.value) > 1 and not item.extra.get("exact"):
        text = f"You wrote '{item.text}'. Which size of it do you have?"
        amounts.facts.ask("have", item.text, item.value[:4], text)
        return 0, ""
    name = item.value[-1]
    return _count_of_instances(amounts, float(catalogs.instances["gpus"][name])), name


def _count_of_instances(amounts: Amounts, gpus: float) -> float:
    """Return how many instances of so many GPUs a text counts, or what its GPUs make."""
    named = amounts.value("instances", "nodes", "instances_count")
    return named or max(amounts.value("gpus") // gpus, 1)


def _asks_number(card: Item, items: list[Item]) -> bool:
    """Return whether a text asks how many of a card, as in how many H20 GPUs."""
    place = next((place for place, item in enumerate(items) if item.text == card.text), 0)
    before = items[max(place - MOST_BETWEEN, 0) : place]
    return any("how_many" in item.tags for item in before)


def _instances(amounts: Amounts, scopes: Scopes, catalogs: Catalogs) -> None:
    """Put the instance types that a text names, and how many it allows."""
    facts, names = amounts.facts, []
    excluded = {part for name, _ in scopes.excluded for part in name.split("+")}
    for item in scopes.taken["instance"]:
        names += [name for name in item.value if name not in names]
    for item in scopes.taken["family"]:
        heads = FAMILIES[item.text[:1]] if item.text[:1] in FAMILIES else (item.text[:1],)
        names += [
            str(name)
            for name in catalogs.instances.index
            if _of_family(str(name), heads) and name not in names
        ]
    names = [name for name in names if name.partition(".")[0] not in excluded]
    if names:
        facts.columns["instance"] = names
        facts.words["instance"] = ", ".join(
            item.text for item in [*scopes.taken["instance"], *scopes.taken["family"]]
        )
    if "have" in facts.columns and not names:
        return
    nodes = amounts.of("gpus_each") and amounts.of("instances_count")
    for claim in amounts.of("instances", "instances_count"):
        if nodes and claim in nodes:
            amounts.words(claim)  # nodes of so many GPUs each
        elif FAILS.match(amounts.text, claim.end) and amounts.goal == "serve":
            amounts.put("spare", claim)
        elif claim.role == "instances_count" and IN_QUESTION.match(amounts.text, claim.end):
            amounts.leave_out(claim)  # does it need 2 nodes?
        else:
            amounts.put("instances_most", claim)
    if not amounts.of("gpus_each"):
        for claim in amounts.of("nodes"):
            amounts.put("instances_most", claim)


def _of_family(name: str, heads: tuple[str, ...]) -> bool:
    family = name.partition(".")[0]
    letters = family[: len(family) - len(family.lstrip("abcdefghijklmnopqrstuvwxyz"))]
    return letters in heads


def _cards(amounts: Amounts, scopes: Scopes) -> None:
    """Put the cards that a text names, and how many it wants of them."""
    facts = amounts.facts
    cards = list(dict.fromkeys(card for item in scopes.taken["gpu"] for card in item.value))
    if cards:
        facts.columns["gpu"] = cards[0] if len(cards) == 1 else "+".join(cards)
        facts.words["gpu"] = ", ".join(item.text for item in scopes.taken["gpu"])
    if "have" in facts.columns:
        return
    counts = amounts.of("gpus", "gpus_each", "gpus_least")
    if counts and _is_open_count(amounts, counts[0]):
        return
    if count := _count(amounts):
        if not counts:
            facts.put("gpus", count, facts.words["gpu"])
        elif (
            len({claim.item.value for claim in counts}) > 1
            or (len(cards) > 1 and _are_together(amounts, counts))
        ) or (
            len(cards) > 1 and amounts.of("nodes")  # 1 node of H200 or 2 nodes of H100
        ):
            facts.ask("gpus", " and ".join(amounts.words(claim) for claim in counts))
            if _are_together(amounts, counts):
                facts.drop("gpu")
        else:
            amounts.put("gpus", counts[0], count)


def _are_together(amounts: Amounts, counts: list[Claim]) -> bool:
    """Return whether cards of two kinds are counted as one machine: two L4 and two T4."""
    between = amounts.text[counts[0].end : counts[-1].start]
    return len(counts) > 1 and bool(AND.search(between))


def _is_open_count(amounts: Amounts, claim: Claim) -> bool:
    """Return whether a count of GPUs has several values, which are put: at least 4; 4 to 8."""
    least, most = float(claim.item.extra.get("low", 0)), claim.item.value
    if claim.role == "gpus_least":
        least, most = claim.item.value, float(MOST_OFFERED)
    if not least or amounts.of("gpus_each", "nodes"):
        return False
    usual = [2**power for power in range(MOST_OFFERED.bit_length())]
    counts = sorted({least, *(one for one in usual if least <= one <= most), most})
    amounts.facts.columns["gpus"] = [round(count) for count in counts]
    amounts.facts.words["gpus"] = amounts.words(claim)
    return True


def _places(amounts: Amounts, scopes: Scopes, items: list[Item]) -> None:
    """Put the regions and markets that a text names or allows."""
    facts = amounts.facts
    excluded = {part for name, _ in scopes.excluded for part in name.split("+")}
    regions: list[str] = []
    words: list[str] = []
    for item in scopes.taken["regions"]:
        regions += [one for one in _ids(item) if one not in regions and one not in excluded]
        words.append(item.text)
    if len(regions) > 1:  # any region in Europe
        regions = [one for one in regions if one != ANYWHERE]
    if regions:
        facts.columns["regions"] = regions
        facts.words["regions"] = ", ".join(words)
    else:
        _ask_about_places(amounts, scopes, items)
    markets = [_ids(item)[0] for item in scopes.taken["markets"]]
    commitments = _commitments(amounts, scopes)
    is_allowed = any(
        is_allowed_behind(items, claim.item.end) for claim in amounts.of("commit_seconds")
    )
    markets = [*(markets or USUAL_MARKETS), *commitments] if is_allowed else markets + commitments
    for market, _ in scopes.allowed:
        markets = [*(markets or USUAL_MARKETS), market]
    if markets := [market for market in markets if market not in excluded]:
        facts.columns["markets"] = list(dict.fromkeys(markets))
        named = [*scopes.taken["markets"], *(item for _, item in scopes.allowed)]
        words = [item.text for item in named]
        words += [amounts.words(claim) for claim in amounts.of("commit_seconds")]
        facts.words["markets"] = ", ".join(words)
    tags = {
        tag for number, item in enumerate(items) if number not in scopes.aside for tag in item.tags
    }
    if "quality" in tags:
        facts.columns["obtainable"] = "at-once"
        facts.words["obtainable"] = next(item.text for item in items if "quality" in item.tags)


def _ask_about_places(amounts: Amounts, scopes: Scopes, items: list[Item]) -> None:
    """Ask which region is meant by a place that has none in the catalog: in Zurich; region X."""
    for place, item in enumerate(items):
        behind_region = place > 0 and items[place - 1].text in REGION
        is_place = "no_region" in item.tags or (behind_region and is_noun(item))
        if is_place and place not in scopes.aside | scopes.negated:
            amounts.facts.ask("regions", item.text, text=NO_REGION.format(item.text))


def _commitments(amounts: Amounts, scopes: Scopes) -> list[str]:
    """The markets of commitments for one year or three; another time is asked about."""
    markets = []
    for claim in amounts.of("commit_seconds"):
        years = round(claim.item.value / YEAR, 2)
        if years not in (1.0, 3.0):
            amounts.ask("markets", claim)
        elif claim.first in scopes.negated:
            amounts.leave_out(claim)
        else:
            markets.append(f"commit-{years:.0f}y")
    return markets


def _ids(item: Item) -> tuple[str, ...]:
    """The ids that a name of the text stands for."""
    entry = name_entry(item)
    return entry[1] if entry else ()
