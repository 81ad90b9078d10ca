"""Writes a launch kit for each tool and way to run it.

`python -m validation.launch_files FOLDER`, for validation/launch_parsers.py.
"""

import sys
from pathlib import Path

from calc import estimate, load_catalogs
from calc.catalogs.strict_yaml import read_strictly
from calc.files.launch.kit import kits
from calc.files.launch_files import files_of, write_folder

FILE = Path(__file__).parent / "data" / "launch_scenarios.yaml"


def scenario_of(entry, entries):
    """The columns of an entry, on top of those of the entry that it is like."""
    inherited = scenario_of(entries[entry["like"]], entries) if "like" in entry else {}
    return inherited | {
        name: value for name, value in entry.items() if name not in ("like", "market")
    }


def main(folder: str) -> None:
    """A folder for each scenario and tool."""
    catalogs, entries = load_catalogs(), read_strictly(FILE.read_text("utf-8"), FILE.name)
    for name, entry in entries.pop("kits").items():
        row, market = (
            estimate(scenario_of(entry, entries), catalogs, solve=False),
            entry.get("market", "spot"),
        )
        for kit in kits(row, catalogs, market):
            write_folder(files_of(kit, row, market), str(Path(folder) / f"{name}-{kit.id}"))


if __name__ == "__main__":
    main(*sys.argv[1:])
