"""Readings as a file: catalogs/own/calibration.yaml, an entry a reading."""

import json
from collections.abc import Iterable

from calc.files.calibration.run_readings import RunReading
from calc.mappings import Json

HEAD = """# yaml-language-server: $schema=schema/calibration.json
# Ratios of measured to estimated seconds or bytes of your own runs (python -m calc calibrate).
# As catalogs/own/calibration.yaml, this file corrects every estimate of this installation.
calibration:
"""


def entries_of_readings(readings: Iterable[RunReading]) -> dict[str, Json]:
    """The readings by number, in the order of their days."""
    ordered = sorted(readings, key=lambda reading: (reading.made_on, reading.quantity))
    return {f"run-{number:02d}": reading.entry() for number, reading in enumerate(ordered, start=1)}


def calibration_text(entries: dict[str, Json]) -> str:
    """The entries as the text of a catalog."""
    return HEAD + "".join(f"  {name}: {json.dumps(entry)}\n" for name, entry in entries.items())
