"""A job on machines that one has: as it is, at its largest, what would make it fit, rented."""

from collections.abc import Mapping
from typing import Any

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.say.numbers import counted
from calc.search.card_lines import Card, card_line, layout_line
from calc.search.options import Options, first_row, options
from calc.search.tightened import most_possible

SMALLER = {  # work -> what takes less memory, the smallest loss first: words, fields of the job
    "training": (("by LoRA", {"method": "lora"}), ("by QLoRA", {"method": "qlora"})),
    "inference": (("in 8 bits", {"fewest_bits": "8"}), ("in 4 bits", {"fewest_bits": "4"})),
}


def owned_cards(job: Mapping[str, Any], answered: Options, catalogs: Catalogs) -> list[Card]:
    """The cards of a job on one's machines: as it is and at its largest; else what would fit."""
    row, renting = answered.rows[0], options({**job, "have": ""}, catalogs)
    rented = [] if renting.problem else [row for row in renting.rows[:1] if row["answer"]]
    instead = [
        Card("Rented instead", row, layout_line(row, catalogs), {"have": ""}, "Rent instead")
        for row in rented
    ]
    if row["answer"] != "fastest":
        return [*_nearest(row, catalogs), *_that_fits(job, answered.job, catalogs), *instead]
    as_it_is = Card("As it is", row, layout_line(row, catalogs), {})
    return [as_it_is, *_largest(job, answered, catalogs), *instead]


def _nearest(row: Row, catalogs: Catalogs) -> list[Card]:
    return [Card("Nearest", row, card_line(row, row, catalogs), {})] if row["answer"] else []


def _that_fits(
    job: Mapping[str, Any], settled: Mapping[str, Any], catalogs: Catalogs
) -> list[Card]:
    """The first of the smaller ways that fits what one has."""
    work = str(settled["work"])
    present = [changes for _, changes in SMALLER[work]]
    begun = next(
        (
            number + 1
            for number, changes in enumerate(present)
            if changes.items() <= dict(job).items()
        ),
        0,
    )
    for words, changes in SMALLER[work][begun:]:
        if row := first_row({**job, **changes}, catalogs):
            line = f"The same {words}: {layout_line(row, catalogs)}"
            return [
                Card("What would make it fit", row, line, changes, f"Take {words.split(' ', 1)[1]}")
            ]
    return []


def _largest(job: Mapping[str, Any], answered: Options, catalogs: Catalogs) -> list[Card]:
    """The most sequences or requests at once that the machines take within the limits."""
    trains, row = answered.job["work"] == "training", answered.rows[0]
    name, others = ("batch", {}) if trains else ("users", {"people": None})
    present = int(row["batch"] if trains else answered.job.get("users") or 0)
    most = (
        0
        if answered.job.get("requests_per_second") or not present
        else most_possible({**job, **others}, name, present, catalogs)
    )
    other = first_row({**job, **others, name: most}, catalogs) if most > present else None
    if not other:
        return []
    if trains:
        return [
            Card(
                "Largest batch",
                other,
                layout_line(other, catalogs),
                {"batch": most},
                "Take the largest batch",
            )
        ]
    line = f"{counted(most, 'request')} at once instead of {present:,}, within the limits."
    return [
        Card("Most requests", other, line, {**others, "users": most}, f"Plan for {most:,} requests")
    ]
