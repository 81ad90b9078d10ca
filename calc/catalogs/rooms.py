"""The folder of each catalog: edited, read off by a script, calibrated, or your own."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "catalogs"
# The room of what an installation may add, and its catalogs.
OWN, READINGS, BUDGETS = "own", "calibration", "budgets"
ROOMS = ("edited", "read_off", "calibrated", OWN)
ROOM_OF = {
    path.stem: room for room in ROOMS[:-1] for path in sorted((FOLDER / room).glob("*.yaml"))
} | {BUDGETS: OWN, READINGS: OWN}
HISTORY = "edited/history"


def path_of(name: str, folder: Path = FOLDER) -> Path:
    """The file of a catalog in a folder of catalogs."""
    return folder / ROOM_OF[name] / f"{name}.yaml"


def schema_of(name: str) -> Path:
    """The JSON Schema of a catalog for editors, in the schema folder of its room."""
    return FOLDER / ROOM_OF[name] / "schema" / f"{name}.json"


def label_of(name: str) -> str:
    """A catalog's file as messages name it: catalogs/edited/models.yaml."""
    return f"catalogs/{ROOM_OF[name]}/{name}.yaml"


def folders_of(folder: Path) -> list[Path]:
    """Every folder that holds files of the catalogs."""
    folders = [folder / HISTORY]
    for room in ROOMS:
        folders += [folder / room, folder / room / "schema"]
    return folders
