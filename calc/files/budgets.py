"""Budgets of teams: a file of one's own (budgets.yaml), an upload, or a named file."""

from datetime import date
from pathlib import Path

from calc.catalogs.rooms import BUDGETS, FOLDER, label_of, path_of
from calc.catalogs.schema_check import check_schema
from calc.catalogs.strict_yaml import CatalogError, read_bytes_strictly
from calc.files.door import one_sentence
from calc.files.simulated_models import own_folder
from calc.files.streams import read
from calc.mappings import Json
from calc.plan.budgets import Budget

LARGEST_BYTES = 200_000
EXAMPLE = "budgets: {nlp-q4: {team: nlp, starts: 2026-10-01, ends: 2026-12-31, usd: 50000}}"


@one_sentence
def budgets_of(content: bytes, name: str) -> list[Budget]:
    """The budgets of a file's bytes, by their end; raises CatalogError."""
    if len(content) > LARGEST_BYTES:
        raise CatalogError(f"{name} has more than 200 kB; give the budgets alone, as in {EXAMPLE}.")
    document = read_bytes_strictly(content, name)
    check_schema(document, BUDGETS, name)
    budgets = [_budget(identity, entry, name) for identity, entry in document[BUDGETS].items()]
    return sorted(budgets, key=lambda budget: (budget.ends, budget.id))


def budgets_of_file(path: str) -> list[Budget]:
    """The budgets of a file; raises CatalogError or OSError."""
    with read(path) as stream:
        return budgets_of(stream.read(LARGEST_BYTES + 1), Path(path).name)


def own_budgets() -> tuple[list[Budget], tuple[str, ...]]:
    """The budgets of one's own folders, and a sentence for each file that is left out."""
    budgets: list[Budget] = []
    left_out: list[str] = []
    for path in (path_of(BUDGETS, FOLDER), own_folder() / f"{BUDGETS}.yaml"):
        if not path.exists():
            continue
        try:
            budgets += budgets_of_file(str(path))
        except (CatalogError, OSError) as error:
            left_out.append(f"{label_of(BUDGETS)}: {error} Until then this file is left out.")
    return budgets, tuple(left_out)


def _budget(identity: str, entry: Json, name: str) -> Budget:
    """One entry as a Budget; raises CatalogError."""
    where = f"{name}, entry {identity}"
    try:
        starts = date.fromisoformat(entry["starts"])
        ends = date.fromisoformat(entry["ends"])
    except ValueError:
        raise CatalogError(f"{where}: a day does not exist; write it as 2026-12-31.") from None
    if ends < starts:
        raise CatalogError(f"{where}: it ends before it starts; correct one of the two.")
    usd = entry.get("usd")
    gpu_hours = entry.get("gpu_hours")
    if usd is None and gpu_hours is None:
        raise CatalogError(f"{where}: it has neither usd nor gpu_hours; add one of them.")
    return Budget(
        identity, entry.get("team", ""), entry.get("project", ""), starts, ends, usd, gpu_hours
    )
