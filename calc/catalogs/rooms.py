"""Where each catalog lies, by who changes it (catalogs/README.md): people, a script, a fit."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "catalogs"
ROOMS = {
    "edited": (
        *("assumptions", "capacity", "checkpoints", "choices", "config_fields", "endpoints", "families", "gpus"),
        *("implementations", "instances"),
        *("launch_files", "model_types", "models", "obtainability", "optimizers", "precisions", "prices", "quality", "quotas"),
        *("recomputes", "serving_engines", "setups", "shardings", "starts", "storage_and_traffic", "support"),
    ),
    "read_off": ("blocks", "config_defaults", "heads", "software_blocks"),
    "calibrated": (
        *(
            "engines",
            "kernels",
            "overheads",
            "serving_releases",
            "serving_steps",
            "time_boxes",
            "time_constants",
            "time_runs",
            "time_spreads",
        ),
        "utilization",
    ),
}
ROOM_OF = {name: room for room, names in ROOMS.items() for name in names}
HISTORY = "edited/history"


def path_of(name: str, folder: Path = FOLDER) -> Path:
    """The file of a catalog in a folder of catalogs."""
    return folder / ROOM_OF[name] / f"{name}.yaml"


def schema_of(name: str, folder: Path = FOLDER) -> Path:
    """The JSON Schema of a catalog, beside it."""
    return folder / ROOM_OF[name] / "schema" / f"{name}.json"


def label_of(name: str) -> str:
    """A catalog's file as messages name it: catalogs/edited/models.yaml."""
    return f"catalogs/{ROOM_OF[name]}/{name}.yaml"


def folders_of(folder: Path = FOLDER) -> list[Path]:
    """Every folder that holds files of the catalogs."""
    return [folder / HISTORY, *(folder / room / inner for room in ROOMS for inner in ("", "schema"))]
