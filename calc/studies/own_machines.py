"""A job on your own machines: as it is, at its largest, what would make it fit, rented."""

from typing import NamedTuple

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.mappings import Cells
from calc.search.first_rows import first_row
from calc.search.options import Options, options
from calc.studies.stricter_limits import most_possible

SMALLER: dict[str, dict[str, dict[str, str]]] = {  # what takes less memory, the smallest loss first
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


def own_machines(job: Cells, answered: Options, catalogs: Catalogs) -> list[OwnedOption]:
    """Return the job as it is and at its largest; else what would fit; then what renting costs."""
    row = answered.rows[0]
    renting = options({**job, "have": ""}, catalogs)
    is_rentable = not renting.obstacle and renting.rows[0]["answer"]
    rented = [OwnedOption("rented", renting.rows[0], {"have": ""})] if is_rentable else []
    if row["answer"] != "fastest":
        nearest = [OwnedOption("nearest", row, {})] if row["answer"] else []
        return [*nearest, *_smaller(job, answered, catalogs), *rented]
    return [OwnedOption("as-it-is", row, {}), *_largest(job, answered, catalogs), *rented]


def _smaller(job: Cells, answered: Options, catalogs: Catalogs) -> list[OwnedOption]:
    """The first change that takes less memory and fits your machines."""
    smaller = list(SMALLER[str(answered.job["work"])].items())
    taken = [
        all(job.get(name) == value for name, value in changes.items()) for _, changes in smaller
    ]
    begin = taken.index(True) + 1 if True in taken else 0
    for kind, changes in smaller[begin:]:
        if row := first_row({**job, **changes}, catalogs):
            return [OwnedOption("smaller", row, changes, kind)]
    return []


def _largest(job: Cells, answered: Options, catalogs: Catalogs) -> list[OwnedOption]:
    """The most sequences or requests in flight that the machines take within the limits."""
    trains, row = answered.job["work"] == "training", answered.rows[0]
    name, others = ("batch", {}) if trains else ("users", {"people": None})
    present = int(row["batch"] if trains else answered.job.get("users") or 0)
    if answered.job.get("requests_per_second") or not present:
        return []
    most = most_possible({**job, **others}, name, present, catalogs)
    other = first_row({**job, **others, name: most}, catalogs) if most > present else None
    if not other:
        return []
    code = "largest-batch" if trains else "most-requests"
    return [OwnedOption(code, other, {**others, name: most}, present=present)]
