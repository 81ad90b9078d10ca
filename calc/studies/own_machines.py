"""A job on your own machines: as it is, at its largest, what would fit, and rented."""

from typing import NamedTuple

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.mappings import Cells
from calc.search.first_rows import first_row
from calc.search.options import Options, options
from calc.studies.stricter_limits import most_possible

SMALLER: dict[str, dict[str, dict[str, str]]] = {  # changes that save memory, by their loss
    "training": {"lora": {"method": "lora"}, "qlora": {"method": "qlora"}},
    "inference": {"8-bit": {"fewest_bits": "8"}, "4-bit": {"fewest_bits": "4"}},
}


class OwnedOption(NamedTuple):
    """An option on your own machines: its code, its row, and the job fields it changes.

    `code`: as-it-is, nearest, smaller, largest-batch, most-requests or rented. `kind`: for a
    smaller one, its key in SMALLER. `present`: for the most requests, those in flight today.
    """

    code: str
    row: Row
    changes: Row
    kind: str = ""
    present: int = 0


def own_machines(job: Cells, answer: Options, catalogs: Catalogs) -> list[OwnedOption]:
    """Return the job as it is, at its largest or what would fit, and what renting costs.

    `answer`: the options of the job on your machines.
    """
    row = answer.rows[0]
    renting = options({**job, "have": ""}, catalogs)
    is_rentable = not renting.obstacle and renting.rows[0]["answer"]
    rental = [OwnedOption("rented", renting.rows[0], {"have": ""})] if is_rentable else []
    if row["answer"] != "fastest":
        nearest = [OwnedOption("nearest", row, {})] if row["answer"] else []
        return [*nearest, *_smaller(job, answer, catalogs), *rental]
    return [OwnedOption("as-it-is", row, {}), *_largest(job, answer, catalogs), *rental]


def _smaller(job: Cells, answer: Options, catalogs: Catalogs) -> list[OwnedOption]:
    """Return the first change with which the job fits your machines; [] if none does.

    Changes up to one that the job already makes are not tried.
    """
    smaller = list(SMALLER[str(answer.job["work"])].items())
    for position, (_, changes) in enumerate(smaller):
        if all(job.get(name) == value for name, value in changes.items()):
            smaller = smaller[position + 1 :]
            break
    for kind, changes in smaller:
        if row := first_row({**job, **changes}, catalogs):
            return [OwnedOption("smaller", row, changes, kind)]
    return []


def _largest(job: Cells, answer: Options, catalogs: Catalogs) -> list[OwnedOption]:
    """Return the most sequences or requests in flight within the limits; [] if no more fit."""
    trains, row = answer.job["work"] == "training", answer.rows[0]
    name, others = ("batch", {}) if trains else ("users", {"people": None})
    present = int(row["batch"] if trains else answer.job.get("users") or 0)
    if answer.job.get("requests_per_second") or not present:
        return []
    most = most_possible({**job, **others}, name, present, catalogs)
    largest = first_row({**job, **others, name: most}, catalogs) if most > present else None
    if not largest:
        return []
    code = "largest-batch" if trains else "most-requests"
    return [OwnedOption(code, largest, {**others, name: most}, present=present)]
