"""A launch kit as a folder or an archive, with the plan's CSV and a check."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.files.csv.tables import to_csv
from calc.files.launch.kit import Kit
from calc.units import GIB

SAME_DAY = (1980, 1, 1, 0, 0, 0)  # in archives, so that the same kit is the same bytes
# For GitHub Actions: the plan is checked at every change. The dollars and hours are the plan's own, with a tenth to spare.
CHECK = """# Put this under .github/workflows/ and plan.csv at the top of your repository: each pull request is asked whether the plan still
# holds, and what it changes is written into its summary. Headroom is checked out beside; put its repository's name in its place.
name: plan
on: [pull_request]
jobs:
  plan:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - uses: actions/checkout@v4
        with:
          repository: your-name/headroom
          path: headroom
      - uses: actions/setup-python@v5
        with:
          python-version: "3.11"
      - run: pip install --require-hashes -r headroom/requirements/lock/run.txt
      - run: |
          git show "origin/$GITHUB_BASE_REF:plan.csv" > before.csv || cp plan.csv before.csv
          cd headroom
          python -m calc diff ../before.csv ../plan.csv >> "$GITHUB_STEP_SUMMARY"
          python -m calc gate ../plan.csv --fits{limits}
"""


def files_of(kit: Kit, row: Row, market: str = "on-demand") -> dict[str, bytes]:
    """Name -> content: the kit, plan.csv with the row, plan.yml which checks it in a repository."""
    plan = to_csv(pd.DataFrame([{**row, "market": market}]))
    return {**{name: text.encode() for name, text in kit.files.items()}, "plan.csv": plan, "plan.yml": _check(row, market).encode()}


def not_to_launch(row: Row) -> str:
    """Why a plan should not be started, as a sentence; empty where it runs and fits."""
    if row["runs"] == "no":
        return f"This plan does not run: {row['note'].rstrip('.')}."
    if row["fits"] == "no":
        need, has = (row[name] / GIB for name in ("memory_bytes", "gpu_memory_bytes"))
        return f"This plan does not fit: it takes {need:,.1f} GiB on each GPU, and the card has {has:,.1f}."
    return ""


def warned(kit: Kit, warning: str) -> Kit:
    """A kit whose scripts say on top why not to start it."""
    start = "#!/bin/bash\n"
    scripts = {name: text.replace(start, f"{start}# WARNING: {warning}\n", 1) for name, text in kit.files.items()}
    return kit._replace(files=scripts)


def zipped(files: Mapping[str, bytes]) -> bytes:
    """The files as one archive; scripts can be run where they are unpacked."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, SAME_DAY)
            entry.external_attr = (0o755 if name.endswith(".sh") else 0o644) << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def write_folder(files: Mapping[str, bytes], folder: str) -> None:
    """The files in a folder, which is made where it is missing; scripts can be run."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (place / name).write_bytes(content)
        if name.endswith(".sh"):
            (place / name).chmod(0o755)


def _check(row: Row, market: str) -> str:
    """The gate's limits: dollars and hours of the run with a tenth to spare."""
    usd, hours = row.get(f"run_usd_{MARKETS[market].key}"), row.get("run_hours")
    limits = "".join(
        f" {flag} {1.1 * value:.3g}" for flag, value in (("--usd-most", usd), ("--hours-most", hours)) if value and value == value
    )
    return CHECK.replace("{limits}", limits)
