"""Merges storage, traffic, endpoints and capacity into their catalogs."""

from math import isfinite

from refresh.doubts import LEAP_RATIO

FIGURES = {
    "storage_and_traffic": ("usd_per_gib",),
    "endpoints": ("usd_per_million_input_tokens", "usd_per_million_output_tokens"),
}


def merge_small(merged, answers, scope, today):
    """Merge the answers into the documents; a figure that leaps, or is no price, raises a doubt."""
    regions = merged.documents["prices"]["regions"]
    for (catalog, entry, region), figures in sorted(answers.small.items()):
        names = FIGURES[catalog]
        if region not in regions or not set(names) <= figures.keys():
            continue
        by_region = _prices(merged.documents[catalog], catalog, entry)
        if by_region is not None:
            _merge(merged, (catalog, entry, region), by_region, figures, today)
    for catalog in FIGURES:
        _tidy(merged.documents[catalog], catalog, answers.sources, today)
    _merge_signals(merged.documents["capacity"], answers.signals, today)


def _prices(document, catalog, entry):
    """Region -> figures of an entry: new for a model without any, None for unknown storage."""
    if catalog == "endpoints":
        return document[catalog].setdefault(entry, {})
    return document[catalog].get(entry, {}).get("prices")


def _merge(merged, entry, by_region, figures, today):
    catalog, name, region = entry
    old = by_region.get(region)
    others = [row for place, row in by_region.items() if place != region]
    for figure in FIGURES[catalog]:
        new, label = figures[figure], f"{name} {region} {figure}"
        if not isfinite(new) or new <= 0:
            merged.doubt(f"{label} is {new:g}, which is not a price; it is left as it was", *entry)
            return
        near = [old[figure]] if old else [row[figure] for row in others]
        if near and not min(near) / LEAP_RATIO <= new <= max(near) * LEAP_RATIO:
            was = (
                f"goes from {old[figure]:g} to {new:g}"
                if old
                else f"is new at {new:g}, far from other regions"
            )
            merged.doubt(f"{label} {was}, more than {LEAP_RATIO} times", *entry)
        if old is None or old[figure] != new:
            merged.changes.append(
                f"{label}: {f'{old[figure]:g} -> {new:g}' if old else f'new, {new:g}'}"
            )
    numbers = {key: value for key, value in figures.items() if key != "source"}
    by_region[region] = {**numbers, "as_of": today, "source": figures["source"]}


def _tidy(document, catalog, sources, today):
    """Sort the entries, drop empty ones and unused sources, and set the day of the check."""
    is_flat, sources_in_use = catalog == "endpoints", set()
    for name, entry in document[catalog].items():
        prices = dict(sorted((entry if is_flat else entry["prices"]).items()))
        sources_in_use |= {price["source"] for price in prices.values()}
        document[catalog][name] = prices if is_flat else {**entry, "prices": prices}
    document[catalog] = dict(
        sorted((name, entry) for name, entry in document[catalog].items() if entry)
    )
    set_sources(document, sources, sources_in_use, today)


def set_sources(document, sources, used, today):
    """Leave only the sources in use in a document, and set the day of its check."""
    document["sources"] = {
        key: text for key, text in sorted({**sources, **document["sources"]}.items()) if key in used
    }
    document["checked_on"] = today


def _merge_signals(document, signals, today):
    """Replace older answers to the same questions; the others keep their day."""

    def question(row):
        return row["signal"], row["region"], row["of"]

    answered = {question(row) for row in signals}
    unanswered = [row for row in document["capacity"] if question(row) not in answered]
    rows = [*unanswered, *({**row, "as_of": today} for row in signals)]
    document["capacity"] = sorted(rows, key=lambda row: (*question(row), row.get("hours", 0)))
    document["checked_on"] = today if signals else document["checked_on"]
