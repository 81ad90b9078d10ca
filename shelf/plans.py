"""The plans on the shelf.

Each change only adds a version. So if two people save a plan at the same time, neither loses
anything.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import uuid4

MOST_SHOWN = 200  # plans, the newest first; and versions of one
LONGEST = {"name": 60, "saved_by": 40, "answer": 300, "link": 60_000}  # characters
LABELS = {"name": "name", "saved_by": "name of who saves it", "answer": "answer", "link": "link"}
FORMULA_SIGNS = ("=", "+", "-", "@")  # a spreadsheet would run a text that begins with one

# A statement with :names and their values -> the rows.
Run = Callable[[str, dict[str, Any]], list[tuple]]


class ShelfError(Exception):
    """The shelf cannot do something. The text says what, and what still works."""


class ShelfBusyError(ShelfError):
    """Another program locks the shelf for longer than a call waits."""


class Plan(NamedTuple):
    """A version of a plan: who saved it, when (UTC), its answer, and its link.

    `usd` is the cost of the run or the month, None if no price is known. `versions` is the number
    of versions under this name.
    """

    id: str
    name: str
    saved_by: str
    saved_at: str
    answer: str
    usd: float | None
    usd_per_hour: float | None
    link: str
    versions: int = 1


STORED = Plan._fields[:-1]
TABLE = """CREATE TABLE IF NOT EXISTS headroom_plans (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, saved_by TEXT NOT NULL, saved_at TEXT NOT NULL,
    answer TEXT NOT NULL, usd DOUBLE PRECISION, usd_per_hour DOUBLE PRECISION,
    link TEXT NOT NULL)"""
ADD = (
    f"INSERT INTO headroom_plans ({', '.join(STORED)}) VALUES "
    f"({', '.join(f':{name}' for name in STORED)})"
)
NUMBERED = """SELECT headroom_plans.*,
    ROW_NUMBER() OVER (PARTITION BY name ORDER BY saved_at DESC, id) AS place,
    COUNT(*) OVER (PARTITION BY name) AS versions FROM headroom_plans"""
PLANS = (
    f"SELECT {', '.join(Plan._fields)} FROM ({NUMBERED}) AS numbered WHERE {{}} ORDER BY "
    f"saved_at DESC, id LIMIT :most"
)
OFF = "off"  # in place of its link, the last version of a plan that was taken off the shelf
NEWEST = PLANS.format("place = 1 AND link <> :off")
TAKEN_OFF = PLANS.format("place = 1 AND link = :off")
VERSIONS = PLANS.format("name = :name")
LAST_TO_OPEN = f"""SELECT {", ".join(Plan._fields)} FROM (
    {NUMBERED} WHERE link <> :off) AS opened
    WHERE place = 1 AND name IN (
        SELECT name FROM ({NUMBERED}) AS numbered WHERE place = 1 AND link = :off)"""


def save(
    run: Run,
    name: str,
    saved_by: str,
    answer: str,
    link: str,
    usd: float | None = None,
    usd_per_hour: float | None = None,
) -> Plan:
    """Save a plan as the newest version of its name and return it. Raise ShelfError on failure."""
    texts: dict[str, Any] = {
        "name": one_line(name),
        "saved_by": one_line(saved_by),
        "answer": one_line(answer),
        "link": link,
    }
    for field, text in texts.items():
        if not text:
            raise ShelfError(f"A plan on the shelf needs a {LABELS[field]}.")
        if len(text) > LONGEST[field]:
            raise ShelfError(
                f"The {LABELS[field]} has {len(text):,} characters; at most "
                f"{LONGEST[field]:,} go onto the shelf."
            )
        if text.startswith(FORMULA_SIGNS):
            raise ShelfError(
                f"The {LABELS[field]} begins with {text[0]}, which a spreadsheet reads as a "
                f"formula; begin with a letter."
            )
    plan = Plan(
        uuid4().hex,
        saved_at=datetime.now(UTC).isoformat(),
        usd=usd,
        usd_per_hour=usd_per_hour,
        **texts,
    )
    create_table(run, TABLE)
    run(ADD, {field: getattr(plan, field) for field in STORED})
    return plan


def take_off(run: Run, name: str, taken_by: str) -> Plan:
    """Take a plan off the shelf. Raise ShelfError on failure.

    Its versions stay, and saving a plan under its name puts it back.
    """
    return save(run, name, taken_by, "taken off the shelf", OFF)


def newest(run: Run) -> list[Plan]:
    """Return the newest version of each plan, the latest first, at most MOST_SHOWN."""
    create_table(run, TABLE)
    return [Plan(*row) for row in run(NEWEST, {"most": MOST_SHOWN, "off": OFF})]


def taken_off(run: Run) -> list[Plan]:
    """Return for each plan that was taken off the version that says by whom and when.

    They are at most MOST_SHOWN.
    """
    create_table(run, TABLE)
    return [Plan(*row) for row in run(TAKEN_OFF, {"most": MOST_SHOWN, "off": OFF})]


def newest_openable(run: Run) -> dict[str, Plan]:
    """Return by name the newest version that can be opened of each plan that was taken off."""
    create_table(run, TABLE)
    return {plan.name: plan for plan in (Plan(*row) for row in run(LAST_TO_OPEN, {"off": OFF}))}


def versions(run: Run, name: str) -> list[Plan]:
    """Return the versions of a plan, the newest first, at most MOST_SHOWN."""
    create_table(run, TABLE)
    return [Plan(*row) for row in run(VERSIONS, {"name": name, "most": MOST_SHOWN})]


def one_line(text: str) -> str:
    """Return a typed text on one line, without characters that cannot be printed."""
    return " ".join(
        "".join(
            character for character in text if character.isprintable() or character.isspace()
        ).split()
    )


def create_table(run: Run, table: str) -> None:
    """Create a table unless it exists. Raise ShelfBusyError if the shelf is locked.

    If another process creates it at the same time, this one may fail although the table exists. So
    other errors are ignored: if the table is missing, the next statement fails.
    """
    try:
        run(table, {})
    except ShelfBusyError:
        raise
    except ShelfError:
        pass
