"""Doubts about merged prices: outliers, spot above on demand, families that move together."""

from statistics import median

from calc.cost.markets import MARKETS
from refresh.answers import PLANS, PRICED, RESERVED, SAGEMAKER, family_of

LEAP_RATIO = 3  # a price that moves more than this, or lies further from its neighbours, is doubtful
FAMILY_LEAP_RATIO = 1.5  # a family may not move together by more; AWS's largest moves were 45 % down and 15 % up
LEAST_PLAN_RATIO = 0.25  # AWS announces savings of up to 72 % over on demand
DEAREST_ML_RATIO = 2  # published pairs lie between 1.15 and 1.40
LABELS = {market.key: market.label for market in MARKETS.values()}


def doubts(before, after, instances, seen):
    """A sentence for each doubt.

    `before`, `after`: (instance, region) -> market -> price; `seen`: market -> prices of this refresh.
    """
    yield from _strangers(before, after, instances, seen)
    for key, row in after.items():
        if key in seen["spot"] and {"spot", "on_demand"} <= row.keys() and _usd(row, "spot") > _usd(row, "on_demand"):
            yield f"spot {' '.join(key)} asks {_usd(row, 'spot'):g}, more than on demand ({_usd(row, 'on_demand'):g})"
    yield from _odd_ratios(after, seen)
    yield from _moved_families(before, after)


def _usd(row, market):
    return row[market]["usd_per_hour"]


def _strangers(before, after, instances, seen):
    """New prices far from those of the type elsewhere, else per GPU of the family, else of all."""
    for market in PRICED:
        prices = {key: _usd(row, market) for key, row in before.items() if market in row}
        per_gpu = {key: usd / _gpus(instances[key[0]]) for key, usd in prices.items() if key[0] in instances}
        for key in sorted(seen[market]):
            if key in prices or market not in after.get(key, {}):
                continue
            instance, new = key[0], _usd(after[key], market)
            same = [usd for (other, _), usd in prices.items() if other == instance]
            family = [usd for (other, _), usd in per_gpu.items() if family_of(other) == family_of(instance)]
            comparable = new if same else new / _gpus(instances[instance])
            near = same or family or list(per_gpu.values())
            if near and not min(near) / LEAP_RATIO <= comparable <= max(near) * LEAP_RATIO:
                whose = "of the same type elsewhere" if same else "per GPU of its family" if family else "per GPU of all"
                yield f"{LABELS[market]} {' '.join(key)} is new at {new:g}, far from the prices {whose} ({min(near):g} to {max(near):g})"


def _odd_ratios(after, seen):
    """Commitments, and SageMaker, whose price is out of proportion to on demand."""
    bounds = dict.fromkeys((*RESERVED, *PLANS), (LEAST_PLAN_RATIO, 1)) | dict.fromkeys(SAGEMAKER, (1, DEAREST_ML_RATIO))
    for name, (least, most) in bounds.items():
        for key in sorted(seen[name]):
            row = after.get(key, {})
            if {name, "on_demand"} <= row.keys():
                ratio = _usd(row, name) / _usd(row, "on_demand")
                if not least <= ratio < most:
                    yield f"{LABELS[name]} {' '.join(key)} asks {_usd(row, name):g}, {ratio:.0%} of on demand"


def _gpus(entry):
    return entry["gpus"] * entry.get("gpu_fraction", 1)


def _moved_families(before, after):
    """Families of which half the types or more moved the same way by more than prices do."""
    moves = {}
    for key, row in after.items():
        if "on_demand" in row and "on_demand" in before.get(key, {}):
            place = family_of(key[0]), key[1]
            moves.setdefault(place, []).append(_usd(row, "on_demand") / _usd(before[key], "on_demand"))
    for (family, region), ratios in moves.items():
        middle = median(ratios)
        if len(ratios) > 1 and not 1 / FAMILY_LEAP_RATIO <= middle <= FAMILY_LEAP_RATIO:
            yield f"on demand, the family {family} in {region} moves together by {middle - 1:+.0%}"
