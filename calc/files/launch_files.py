"""A launch kit as a folder or an archive, with the plan's CSV and a workflow that checks it."""

import io
import math
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.files.csv.tables import to_csv
from calc.files.launch.kit import Kit
from calc.files.launch.shell import comment_line
from calc.files.launch.specs import check_file

SAME_DAY = (1980, 1, 1, 0, 0, 0)  # in archives, so that the same kit is the same bytes
SPARE_RATIO = 1.1  # of the plan's own dollars and hours: what the check allows


def files_of(kit: Kit, row: Row, market: str = "on-demand") -> dict[str, bytes]:
    """Name -> content: the kit, plan.csv with the row, and plan.yml, which checks the plan."""
    plan = to_csv(pd.DataFrame([{**row, "market": market}]))
    values = {
        "--usd-most": row.get(f"run_usd_{MARKETS[market].key}"),
        "--hours-most": row.get("run_hours"),
    }
    limits = "".join(
        f" {flag} {SPARE_RATIO * value:.3g}"
        for flag, value in values.items()
        if value and not math.isnan(value)
    )
    return {
        **{name: text.encode() for name, text in kit.files.items()},
        "plan.csv": plan,
        "plan.yml": check_file(limits).encode(),
    }


def with_warning(files: Mapping[str, bytes], warning: str) -> dict[str, bytes]:
    """The files, each saying on top why not to start it; JSON and CSV cannot, so a README does."""
    line = f"{comment_line(f'WARNING: {warning}')}\n".encode()
    silent = [name for name in files if name.endswith((".json", ".csv"))]
    readme = f"WARNING: {warning} {' and '.join(silent)} cannot say so themselves.\n"
    commented = {
        name: re.sub(rb"\A(#!.*\n)?", lambda start: start[0] + line, text)
        for name, text in files.items()
        if name not in silent
    }
    return {**files, **commented, "README.txt": readme.encode()}


def zip_files(files: Mapping[str, bytes]) -> bytes:
    """The files as one archive; scripts are executable once unpacked."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, SAME_DAY)
            entry.external_attr = (0o755 if name.endswith(".sh") else 0o644) << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def write_folder(files: Mapping[str, bytes], folder: str) -> None:
    """Write the files into a folder, made if it is missing; scripts are executable."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (place / name).write_bytes(content)
        if name.endswith(".sh"):
            (place / name).chmod(0o755)
