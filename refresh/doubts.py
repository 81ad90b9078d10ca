"""Doubts about merged prices: on demand that moves alone, odd ratios to on demand, outliers."""

from math import log
from typing import NamedTuple

from calc.cost.markets import MARKETS
from refresh.answers import BLOCK, ON_DEMAND, PLANS, PRICED, RESERVED, SAGEMAKER, SPOT, family_of

LEAP_RATIO = 3  # a price that moves more than this, or lies further from its neighbors, is doubtful
# on demand moves further only where another price moves with it; AWS's largest moves were -45 % and
# +15 %
LONE_MOVE_RATIO = 0.3
FEWEST_FAMILIES = 5  # that move together: an error of the files; AWS cut four of P in June 2025
FEWEST_STRANGERS = (
    5  # a price is compared with those of all other families only where there are as many
)
RATIOS = {  # market -> least and most of its price over on demand
    **dict.fromkeys((*RESERVED, *PLANS), (0.25, 1)),  # AWS announces savings of up to 72 %
    **dict.fromkeys(SAGEMAKER, (1, 2)),  # published pairs lie between 1.15 and 1.40
    SPOT: (0.05, 1),  # AWS announces savings of up to 90 %
    BLOCK: (0.25, 1),  # listed ones lie between 0.50 and 0.87
}
ROUNDING = 1e-3  # of two prices of which one is printed with fewer digits
LABELS = {market.key: market.label for market in MARKETS.values()}


class Doubt(NamedTuple):
    """A sentence about one entry of a catalog, by the name with which it is accepted."""

    entry: str
    sentence: str


def entry_of(kind, *names):
    """The name of an entry: on_demand/p5.48xlarge/us-east-1."""
    return "/".join((kind, *names))


def doubts(before, after, instances, seen):
    """The doubts about prices.

    `before`, `after`: (instance, region) -> market -> price; `seen`: market -> prices of this
    refresh. On demand is judged by its own past, with other prices as witnesses; every other market
    by its ratio to on demand where that is known, else by its own past and its neighbors.
    """
    moves = {
        (market, *key): _usd(after[key], market) / _usd(before[key], market)
        for market in PRICED
        for key in seen[market]
        if market in after.get(key, {})
        and market in before.get(key, {})
        and _alike(before[key][market], after[key][market])
    }
    lone = list(_lone_moves(before, after, moves))
    yield from lone
    trusted = {
        key: row[ON_DEMAND]["usd_per_hour"] for key, row in after.items() if ON_DEMAND in row
    }
    for doubt in lone:
        key = tuple(doubt.entry.split("/")[1:])
        trusted[key] = _usd(before[key], ON_DEMAND)
    for market in PRICED:
        for key in sorted(seen[market]):
            if market not in after.get(key, {}):
                continue
            if market in RATIOS and key in trusted:
                yield from _odd_ratio(market, key, _usd(after[key], market), trusted[key])
            elif (market, *key) in moves:
                yield from _leap(market, key, before, after, moves) if market != ON_DEMAND else ()
            elif market not in before.get(key, {}):
                yield from _stranger(market, key, before, after, instances)


def _usd(row, market):
    return row[market]["usd_per_hour"]


def _alike(old, new):
    """Whether two prices can be compared: an estimate is no observation."""
    return (old.get("basis") == "estimated") == (new.get("basis") == "estimated")


def _lone_moves(before, after, moves):
    """Prices on demand that moved far, and further than any other price moved with them."""
    odd_files, odd_regions = _move_together(moves)
    for (market, instance, region), ratio in sorted(moves.items()):
        if market != ON_DEMAND or not _is_far(ratio):
            continue
        if not 1 / LEAP_RATIO <= ratio <= LEAP_RATIO:
            yield from _leap(market, (instance, region), before, after, moves)
            continue
        others = [
            other
            for (kind, name, place), other in moves.items()
            if name == instance
            and (
                (
                    kind not in (ON_DEMAND, SPOT)
                    and place == region
                    and not (kind in RESERVED and region in odd_files)
                )
                or (kind == ON_DEMAND and place != region and place not in odd_regions)
            )
        ]
        if not any(log(other) / log(ratio) >= 1 / 2 for other in others):
            was = _usd(before[instance, region], market)
            new = _usd(after[instance, region], market)
            moved = (
                f"{LABELS[market]} {instance} {region} goes from {was:g} to {new:g} "
                f"({ratio - 1:+.0%})"
            )
            yield Doubt(
                entry_of(market, instance, region), f"{moved}, and no other price moves with it"
            )


def _move_together(moves):
    """Regions whose file moves as a whole, and those that move with most families: both are errors,
    not cuts.

    The terms of such a file are no witnesses of its prices on demand, and neither is such a region
    of another.
    """
    by_region = {}
    for (market, instance, region), ratio in moves.items():
        if market == ON_DEMAND:
            by_region.setdefault(region, []).append((family_of(instance), ratio))
    everywhere = [move for moved in by_region.values() for move in moved]
    few = {region for region, moved in by_region.items() if len(dict(moved)) < FEWEST_FAMILIES}
    judged = {region: everywhere if region in few else moved for region, moved in by_region.items()}
    odd_files = {
        region for region, moved in by_region.items() if len(moved) > 1 and _most_move(moved)
    }
    return odd_files, {
        region
        for region, moved in judged.items()
        if len(dict(moved)) >= FEWEST_FAMILIES and _most_move(moved)
    }


def _is_far(ratio):
    return not 1 - LONE_MOVE_RATIO <= ratio <= 1 + LONE_MOVE_RATIO


def _most_move(moved):
    """Whether more than half of the prices moved far, the same way."""
    far = [ratio > 1 for _, ratio in moved if _is_far(ratio)]
    return max(sum(far), len(far) - sum(far)) > len(moved) / 2


def _leap(market, key, before, after, moves):
    if not 1 / LEAP_RATIO <= moves[market, *key] <= LEAP_RATIO:
        was, new = _usd(before[key], market), _usd(after[key], market)
        yield Doubt(
            entry_of(market, *key),
            (
                f"{LABELS[market]} {' '.join(key)} goes from {was:g} to {new:g}, more than "
                f"{LEAP_RATIO} times"
            ),
        )


def _odd_ratio(market, key, usd, on_demand):
    """A price out of proportion to on demand."""
    least, most = RATIOS[market]
    ratio = usd / on_demand
    if market == SPOT and ratio > most + ROUNDING:
        yield Doubt(
            entry_of(market, *key),
            f"spot {' '.join(key)} asks {usd:g}, more than on demand ({on_demand:g})",
        )
    elif not least <= ratio <= most + ROUNDING:
        yield Doubt(
            entry_of(market, *key),
            f"{LABELS[market]} {' '.join(key)} asks {usd:g}, {ratio:.0%} of on demand",
        )


def _stranger(market, key, before, after, instances):
    """A new price far from those of the type elsewhere, else per GPU of the family, else of all."""
    instance, new = key[0], _usd(after[key], market)
    prices = {place: _usd(row, market) for place, row in before.items() if market in row}
    per_gpu = {
        place: usd / _gpus(instances[place[0]])
        for place, usd in prices.items()
        if place[0] in instances
    }
    same = [usd for (other, _), usd in prices.items() if other == instance]
    family = [usd for (other, _), usd in per_gpu.items() if family_of(other) == family_of(instance)]
    everything = list(per_gpu.values()) if len(per_gpu) >= FEWEST_STRANGERS else []
    comparable = new if same else new / _gpus(instances[instance])
    near = same or family or everything
    if near and not min(near) / LEAP_RATIO <= comparable <= max(near) * LEAP_RATIO:
        if same:
            whose = "of the same type elsewhere"
        elif family:
            whose = "per GPU of its family"
        else:
            whose = "per GPU of all"
        sentence = (
            f"{LABELS[market]} {' '.join(key)} is new at {new:g}, far from the prices {whose} "
            f"({min(near):g} to {max(near):g})"
        )
        yield Doubt(entry_of(market, *key), sentence)


def _gpus(entry):
    return entry["gpus"] * entry.get("gpu_fraction", 1)
