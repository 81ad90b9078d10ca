"""The place of a row in words: instances, market, region, cards."""

import re
from collections.abc import Sequence

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS, spare_of
from calc.evaluate import Row
from calc.mappings import Cells
from calc.say.numbers import is_missing, with_noun

OBTAINABLE = {  # class of calc.cost.obtainability -> words
    "at-once": "available at once",
    "usually": "usually available",
    "unknown": "of unknown availability",
    "wait-or-quota": "rarely available on demand",
    "by-agreement": "by agreement with AWS only",
}
WAITED_FOR = {"on-demand": "rarely available on demand", "spot": "rarely available on spot"}


def obtainable_words(row: Row) -> str:
    """Return how available a row's machines are on its market, such as rarely available on Spot."""
    if row["obtainable"] != "wait-or-quota":
        return OBTAINABLE[row["obtainable"]]
    in_block = MARKETS[row["market"] or "on-demand"].block_hours
    other = "capacity block, with a wait" if in_block else OBTAINABLE["wait-or-quota"]
    return WAITED_FOR.get(row["market"], other)


# begins the part of a card's name that people leave out
MADE_AS = r" SXM| PCIe| NVL| \((?!\d)| Blackwell Server"


def card_name(gpu: str, catalogs: Catalogs) -> str:
    """The card without its vendor: H100 SXM5 80GB."""
    return catalogs.gpus["name"].get(gpu, gpu).split(" ", 1)[-1] if gpu else ""


def card_family(gpu: str, catalogs: Catalogs) -> str:
    """The first word of a card's name without its vendor: H100."""
    words = str(catalogs.gpus["name"].get(gpu, gpu)).split(" ")
    return words[1] if len(words) > 1 else words[0]


@cached_per_catalogs("gpus", "instances")
def _short_cards(catalogs: Catalogs) -> dict[str, str]:
    """The short names of the cards on AWS: H100; A100 80GB if two differ in memory alone."""
    names = {gpu: card_name(gpu, catalogs) for gpu in catalogs.instances["gpu"].unique()}
    stems = {gpu: re.split(MADE_AS, name)[0] for gpu, name in names.items()}
    several = {stem for stem in stems.values() if list(stems.values()).count(stem) > 1}
    return {
        gpu: f"{stem} {names[gpu].split()[-1]}" if stem in several else stem
        for gpu, stem in stems.items()
    }


def short_card(gpu: str, catalogs: Catalogs) -> str:
    """The card as people call it: H100, A100 80GB; in full if AWS has no such card."""
    return _short_cards(catalogs).get(gpu) or card_name(gpu, catalogs)


def region_name(region: str, catalogs: Catalogs) -> str:
    """The region as people call it: N. Virginia."""
    return str(catalogs.regions["name"].get(region, region))


def place(
    row: Row,
    catalogs: Catalogs | None = None,
    counts_one: bool = True,
    names_market: bool = True,
) -> str:
    """The machines of a row: 2 × p5.48xlarge in N. Virginia on spot + 1 spare.

    The region is named if `catalogs` are given, the market if it is not On-Demand.
    """
    region = f" in {region_name(row['region'], catalogs)}" if catalogs else ""
    market = f" {market_phrase(row)}" if names_market and market_phrase(row) else ""
    if not row["instance"]:
        return f"{row['gpus']:.0f} × {row['gpu']}"
    spare = spare_of(row) if row["market"] else 0
    in_blocks = row["market"] and MARKETS[row["market"]].block_hours
    count = row.get("instances", row["instances_needed"]) if in_blocks else row["instances_needed"]
    times = f"{count:.0f} × " if not is_missing(count) and (counts_one or count != 1) else ""
    return f"{times}{row['instance']}{region}{market}" + (
        f" + {spare:.0f} spare" if spare > 0 else ""
    )


def market_phrase(row: Cells) -> str:
    """Payment for the machines of a row: in a capacity block; empty for On-Demand."""
    market = row["market"]
    return "" if market in ("", "on-demand") else MARKETS[market].phrase


def place_with_availability(row: Row, catalogs: Catalogs, is_rented: bool) -> str:
    """The instances of a row and how easy they are to get: 1 × g6e.xlarge; usually available."""
    market = f", {MARKETS['on-demand'].label}" if row["market"] == "on-demand" else ""
    available = f"; {obtainable_words(row)}" if is_rented and row["obtainable"] else ""
    return f"{place(row, catalogs)}{market}{available}"


def cards(row: Row, catalogs: Catalogs) -> str:
    """The cards: 8 × H100 SXM5 80GB; 16 GPUs if no card is named."""
    if row["gpu"]:
        return f"{row['gpus']:.0f} × {card_name(row['gpu'], catalogs)}"
    return with_noun(int(row["gpus"]), "GPU")


def instances_in_words(names: Sequence[str], catalogs: Catalogs) -> list[str]:
    """Instance types of a list in few words: g6e instances; any instance except p5.

    A family that is listed whole is named once. A list of more than half of the catalog is said by
    what it leaves out.
    """
    every = list(catalogs.instances.index)
    instances_in_catalog = set(names) & set(every)
    if len(instances_in_catalog) == len(names) and 2 * len(instances_in_catalog) > len(every) > len(
        instances_in_catalog
    ):
        without = _families([name for name in every if name not in instances_in_catalog], every)
        return [f"any instance except {' and '.join(without)}"]
    whole = _families(names, every)
    return [name if name in names else f"{name} instances" for name in whole]


def _families(names: Sequence[str], every: Sequence[str]) -> list[str]:
    """Names of instances, those of a family of several sizes that is there whole as its name."""
    sizes: dict[str, set[str]] = {}
    for name in every:
        sizes.setdefault(name.partition(".")[0], set()).add(name)
    families = {
        family for family, members in sizes.items() if len(members) > 1 and members <= set(names)
    }
    heads = {name: name.partition(".")[0] for name in names}
    return list(dict.fromkeys(head if head in families else name for name, head in heads.items()))
