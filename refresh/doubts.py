"""Sanity checks of merged prices: lone moves on demand, odd ratios to on demand, outliers."""

from math import log
from typing import NamedTuple

from calc.cost.markets import MARKETS
from refresh.answers import BLOCK, ON_DEMAND, PLANS, PRICED, RESERVED, SAGEMAKER, SPOT, family_of

LEAP_RATIO = 3  # a price that moves by more, or is further from its neighbors, is doubtful
# A price on demand that moves by more is doubtful unless another price moves with it. AWS's largest
# moves were -45 % and +15 %.
LONE_MOVE_RATIO = 0.3
# So many families that move together are an error of the files; AWS cut four of P in June 2025.
FEWEST_FAMILIES = 5
FEWEST_PRICES = 5  # from which on a new price is compared with those of all families
RATIOS = {  # market -> lowest and highest ratio of its price to on demand
    **dict.fromkeys((*RESERVED, *PLANS), (0.25, 1)),  # AWS announces savings of up to 72 %
    **dict.fromkeys(SAGEMAKER, (1, 2)),  # published pairs lie between 1.15 and 1.40
    SPOT: (0.05, 1),  # AWS announces savings of up to 90 %
    BLOCK: (0.25, 1),  # listed ones lie between 0.50 and 0.87
}
ROUNDING = 1e-3  # if one of two prices is printed with fewer digits
LABELS = {market.key: market.label for market in MARKETS.values()}


class Doubt(NamedTuple):
    """A sentence about one entry of a catalog, and the name by which a user accepts the entry."""

    entry: str
    sentence: str


def entry_of(kind, *names):
    """Return the name of an entry, such as on_demand/p5.48xlarge/us-east-1."""
    return "/".join((kind, *names))


def doubts(before, after, instances, seen):
    """Yield the doubts about the prices of a refresh.

    `before`, `after`: (instance, region) -> market -> price. `seen`: market -> the keys of its
    prices in this refresh. A price on demand is compared with its earlier one and with other prices
    that should move with it. A price of another market is compared with on demand if that is known,
    else with its earlier one or its neighbors.
    """
    moves = {
        (market, *key): _usd(after[key], market) / _usd(before[key], market)
        for market in PRICED
        for key in seen[market]
        if market in after.get(key, {})
        and market in before.get(key, {})
        and _are_comparable(before[key][market], after[key][market])
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
                yield from _new_outlier(market, key, before, after, instances)


def _usd(row, market):
    return row[market]["usd_per_hour"]


def _are_comparable(old, new):
    """Return whether both prices are estimates, or neither is."""
    return (old.get("basis") == "estimated") == (new.get("basis") == "estimated")


def _lone_moves(before, after, moves):
    """Yield prices on demand that moved far while no other price moved at least half as far."""
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
    """Return the regions whose file moves as a whole, and those in which most families move.

    Both are errors of the files and not price cuts. So the reserved terms of such a file do not
    confirm its prices on demand, and such a region does not confirm another one. A region with few
    families is judged by those of all regions.
    """
    by_region = {}
    for (market, instance, region), ratio in moves.items():
        if market == ON_DEMAND:
            by_region.setdefault(region, []).append((family_of(instance), ratio))
    everywhere = [move for region_moves in by_region.values() for move in region_moves]
    odd_files, odd_regions = set(), set()
    for region, region_moves in by_region.items():
        if len(region_moves) > 1 and _most_move(region_moves):
            odd_files.add(region)
        compared = region_moves if _has_families(region_moves) else everywhere
        if _has_families(compared) and _most_move(compared):
            odd_regions.add(region)
    return odd_files, odd_regions


def _has_families(region_moves):
    """Return whether enough families are among the moves to tell an error from a price cut."""
    return len({family for family, _ in region_moves}) >= FEWEST_FAMILIES


def _is_far(ratio):
    return not 1 - LONE_MOVE_RATIO <= ratio <= 1 + LONE_MOVE_RATIO


def _most_move(region_moves):
    """Return whether more than half of the prices moved far in the same direction."""
    rises = [ratio > 1 for _, ratio in region_moves if _is_far(ratio)]
    return max(sum(rises), len(rises) - sum(rises)) > len(region_moves) / 2


def _leap(market, key, before, after, moves):
    """Yield a doubt if a price moved by more than LEAP_RATIO."""
    if not 1 / LEAP_RATIO <= moves[market, *key] <= LEAP_RATIO:
        was, new = _usd(before[key], market), _usd(after[key], market)
        yield Doubt(
            entry_of(market, *key),
            f"{LABELS[market]} {' '.join(key)} goes from {was:g} to {new:g}, more than "
            f"{LEAP_RATIO} times",
        )


def _odd_ratio(market, key, usd, on_demand):
    """Yield a doubt if a price is out of proportion to on demand."""
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


def _prices_per_gpu(prices, instance, instances):
    """The prices per GPU with which a new type is compared, and whose they are."""
    per_gpu = [
        (other, usd / _gpus(instances[other]))
        for (other, _), usd in prices.items()
        if other in instances
    ]
    of_family = [usd for other, usd in per_gpu if family_of(other) == family_of(instance)]
    if not of_family and len(per_gpu) >= FEWEST_PRICES:
        return [usd for _, usd in per_gpu], "per GPU of all"
    return of_family, "per GPU of its family"


def _new_outlier(market, key, before, after, instances):
    """Yield a doubt if a new price is far from the known ones.

    These are the prices of the type in other regions. Without any, they are the prices per GPU of
    its family, and without any of these, of all families.
    """
    instance, new_usd = key[0], _usd(after[key], market)
    prices = {place: _usd(row, market) for place, row in before.items() if market in row}
    of_type = [usd for (other, _), usd in prices.items() if other == instance]
    if of_type:
        usd, typical_usd, whose = new_usd, of_type, "of the same type elsewhere"
    else:
        usd = new_usd / _gpus(instances[instance])
        typical_usd, whose = _prices_per_gpu(prices, instance, instances)
    if typical_usd and not min(typical_usd) / LEAP_RATIO <= usd <= max(typical_usd) * LEAP_RATIO:
        yield Doubt(
            entry_of(market, *key),
            f"{LABELS[market]} {' '.join(key)} is new at {new_usd:g}, far from the prices {whose} "
            f"({min(typical_usd):g} to {max(typical_usd):g})",
        )


def _gpus(entry):
    return entry["gpus"] * entry.get("gpu_fraction", 1)
