"""Merges AWS's answers into the documents of the catalogs, with changes and doubts."""

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date
from math import isfinite

from calc.say.numbers import with_noun
from refresh.answers import PLANS, PRICED, RESERVED, family_of
from refresh.doubts import LABELS, Doubt, doubts, entry_of
from refresh.history import changed_prices, last_known
from refresh.small import merge_small, set_sources

ESTIMATE_AFTER_DAYS = 90  # an observed spot price younger than this is not replaced by an estimate
SAME_SHAPE = ("gpu", "gpus", "vcpus", "memory_gib")


@dataclass
class Merged:
    """The new documents, with a sentence for each change and each doubt."""

    documents: dict
    changes: list = field(default_factory=list)
    doubts: list = field(default_factory=list)
    history: list = field(default_factory=list)

    def doubt(self, sentence, *entry):
        """Keep a doubt about one entry of a catalog."""
        self.doubts.append(Doubt(entry_of(*entry), sentence))


def merge(documents, answers, scope, today, history=None):
    """The documents with the answers, and the rows to add to the history (read_history)."""
    merged = Merged(deepcopy(documents))
    prices = merged.documents["prices"]
    _merge_shapes(merged, answers, scope, today)
    instances = merged.documents["instances"]["instances"]
    for region, name in answers.regions.items():
        prices["regions"].setdefault(region, name)
    before = {key: dict(row) for key, row in _rows(prices)}
    for market in PRICED:
        _drop_missing(merged, market, answers, scope)
        for (instance, region), figures in sorted(answers.prices[market].items()):
            if instance in instances:
                _merge_price(merged, market, instance, region, figures, before, today)
    merged.doubts += doubts(before, dict(_rows(prices)), instances, answers.prices)
    for (instance, region), entry in sorted(answers.prices["interruption"].items()):
        row = prices["prices"].get(instance, {}).get(region)
        if row is not None:
            old = row.get("interruption", {}).get("band", "unknown")
            row["interruption"] = {"band": entry["band"], "as_of": today, "source": entry["source"]}
            if old != entry["band"]:
                merged.changes.append(f"interruption {instance} {region}: {old} -> {entry['band']}")
    merged.history = changed_prices(
        before,
        dict(_rows(prices)),
        last_known(history) if history is not None else {},
        PRICED,
        today,
    )
    remembered = {row["source"] for row in merged.history} | set(
        [] if history is None else history["source"]
    )
    _tidy(
        merged.documents, {**documents["prices"]["sources"], **answers.sources}, remembered, today
    )
    merge_small(merged, answers, scope, today)
    return merged


def _rows(prices):
    return [
        ((instance, region), row)
        for instance, by_region in prices["prices"].items()
        for region, row in by_region.items()
    ]


def _merge_price(merged, market, instance, region, figures, before, today):
    old = before.get((instance, region), {}).get(market)
    new = figures["usd_per_hour"]
    name = f"{LABELS[market]} {instance} {region}"
    if not isfinite(new):
        merged.doubt(
            f"{name} is {new}, which is not a price; it is left as it was", market, instance, region
        )
        return
    if new <= 0:
        if old:
            was = f"it was {old['usd_per_hour']:g} on {old['as_of']}"
            merged.doubt(f"{name} falls to zero ({was})", market, instance, region)
            merged.documents["prices"]["prices"][instance][region].pop(market, None)
        return
    estimated = figures.get("basis") == "estimated"
    if (
        old
        and estimated
        and old["basis"] == "observed"
        and _days(old["as_of"], today) < ESTIMATE_AFTER_DAYS
    ):
        return
    row = merged.documents["prices"]["prices"].setdefault(instance, {}).setdefault(region, {})
    row[market] = {
        **{key: value for key, value in figures.items() if key != "source"},
        "as_of": today,
        "source": figures["source"],
    }
    if market == "spot" and not estimated:
        row.pop("spot_newest", None)
    if old is None:
        merged.changes.append(f"{name}: new, {new:g}")
        return
    was = old["usd_per_hour"]
    if abs(new / was - 1) > 1e-9:
        merged.changes.append(f"{name}: {was:g} -> {new:g} ({new / was - 1:+.1%})")


def _drop_missing(merged, market, answers, scope):
    """Remove the prices that a region read to the end lacks. Doubt it for published prices.

    Commitments are only doubted if a region lacks all of a market: AWS stops selling single terms.
    """
    gone, names_left = {}, set()
    for (instance, region), row in _rows(merged.documents["prices"]):
        if region not in answers.covered[market] or market not in row or not scope.wants(instance):
            continue
        place = (family_of(instance), "all regions" if market == "spot" else region)
        if (instance, region) in answers.prices[market]:
            names_left.add(place)
            continue
        old = row.pop(market)
        merged.changes.append(
            f"{LABELS[market]} {instance} {region}: {old['usd_per_hour']:g} -> none"
        )
        if old.get("basis") in ("published", "observed"):
            gone.setdefault(place, []).append((instance, region))
    for region in (
        answers.covered[market] - {region for _, region in answers.prices[market]}
        if market in (*RESERVED, *PLANS)
        else ()
    ):
        if count := sum(place[1] == region and len(keys) for place, keys in gone.items()):
            merged.doubt(
                f"{LABELS[market]} {region}: none of {with_noun(count, 'price')} is there any more",
                market,
                region,
            )
    for place, keys in gone.items():
        if market == "on_demand" or (market == "spot" and place not in names_left):
            family = "" if place in names_left else f"; family {place[0]} vanishes there"
            for key in keys:
                merged.doubt(
                    f"{LABELS[market]}: no price any more for {' '.join(key)}{family}", market, *key
                )


def _merge_shapes(merged, answers, scope, today):
    instances = merged.documents["instances"]["instances"]
    for instance, shape in sorted(answers.shapes.items()):
        old = instances.get(instance)
        entry = {**shape, "source": "ec2", "checked_on": today}
        if old is None:
            instances[instance] = entry
            merged.changes.append(f"new instance type {instance}: {shape['gpus']} x {shape['gpu']}")
            continue
        differing = [name for name in SAME_SHAPE if old[name] != shape[name]]
        for name in differing:
            merged.doubt(
                f"instance {instance}: {name} goes from {old[name]} to {shape[name]}",
                "instances",
                instance,
            )
            old[name] = shape[name]
        if not old["current"]:
            merged.changes.append(f"instance {instance} is listed again")
        old.update(source="ec2", checked_on=today, current=True)
    regions = set(merged.documents["prices"]["regions"])
    if regions <= answers.shaped:  # only once every region has answered is a missing type gone
        for instance, entry in instances.items():
            if scope.wants(instance) and entry["current"] and instance not in answers.shapes:
                entry["current"] = False
                merged.changes.append(f"instance {instance} is no longer listed by EC2")
    merged.documents["instances"]["instances"] = dict(sorted(instances.items()))


def _tidy(documents, sources, remembered, today):
    """Sort the entries, leave only the sources in use, here or in the history."""
    prices, instances = documents["prices"], documents["instances"]
    prices["prices"] = {
        instance: dict(sorted(rows.items())) for instance, rows in sorted(prices["prices"].items())
    }
    prices["regions"] = dict(sorted(prices["regions"].items()))
    for document, name in ((prices, "prices"), (instances, "instances")):
        sources_in_use = set(_sources(document[name])) | (remembered if name == "prices" else set())
        set_sources(document, sources, sources_in_use, today)


def _sources(entry):
    for key, value in entry.items() if isinstance(entry, dict) else enumerate(entry):
        if key == "source":
            yield from [value] if isinstance(value, str) else value
        elif isinstance(value, dict | list):
            yield from _sources(value)


def _days(before, after):
    return (date.fromisoformat(after) - date.fromisoformat(before)).days
