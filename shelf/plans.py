"""The plans on the shelf. Each change only adds a version, so that of two people who save at once
neither loses anything.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import uuid4

MOST_SHOWN = 200  # plans, the newest first; and versions of one
LONGEST = {"name": 60, "saved_by": 40, "answer": 300, "link": 60_000}  # characters
CALLED = {"name": "name", "saved_by": "name of who saves it", "answer": "answer", "link": "link"}
FORMULA = ("=", "+", "-", "@")  # what a spreadsheet would run

# A statement with :names and their values -> the rows.
Run = Callable[[str, dict[str, Any]], list[tuple]]


class ShelfError(Exception):
    """One sentence: what the shelf cannot do, and what still works."""


class ShelfBusyError(ShelfError):
    """Another program holds the shelf for longer than the patience of a call."""


class Plan(NamedTuple):
    """A version of a plan: its name, who saved it, when (UTC), its answer in words and figures, and
    its link, which brings it back.

    `usd` is the cost of the run or the month, None if no price is known. `versions`: how many
    of this name there are.
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
    """A plan onto the shelf, as the newest version of its name; raises ShelfError."""
    texts: dict[str, Any] = {
        "name": one_line(name),
        "saved_by": one_line(saved_by),
        "answer": one_line(answer),
        "link": link,
    }
    for field, text in texts.items():
        if not text:
            raise ShelfError(f"A plan on the shelf needs a {CALLED[field]}.")
        if len(text) > LONGEST[field]:
            raise ShelfError(
                f"The {CALLED[field]} has {len(text):,} characters; at most "
                f"{LONGEST[field]:,} go onto the shelf."
            )
        if text.startswith(FORMULA):
            raise ShelfError(
                f"The {CALLED[field]} begins with {text[0]}, which a spreadsheet reads as a "
                f"formula; begin with a letter."
            )
    plan = Plan(
        uuid4().hex,
        saved_at=datetime.now(UTC).isoformat(),
        usd=usd,
        usd_per_hour=usd_per_hour,
        **texts,
    )
    _ready(run)
    run(ADD, {field: getattr(plan, field) for field in STORED})
    return plan


def take_off(run: Run, name: str, taken_by: str) -> Plan:
    """A plan off the shelf: its versions stay, and saving its name puts it back; raises
    ShelfError.
    """
    return save(run, name, taken_by, "taken off the shelf", OFF)


def newest(run: Run) -> list[Plan]:
    """The newest version of each plan, the latest saved first, at most MOST_SHOWN."""
    _ready(run)
    return [Plan(*row) for row in run(NEWEST, {"most": MOST_SHOWN, "off": OFF})]


def taken_off(run: Run) -> list[Plan]:
    """For each plan that was taken off, the version that says by whom and when.

    At most MOST_SHOWN plans.
    """
    _ready(run)
    return [Plan(*row) for row in run(TAKEN_OFF, {"most": MOST_SHOWN, "off": OFF})]


def last_to_open(run: Run) -> dict[str, Plan]:
    """For each plan that was taken off, by name, the newest version that can be opened."""
    _ready(run)
    return {plan.name: plan for plan in (Plan(*row) for row in run(LAST_TO_OPEN, {"off": OFF}))}


def versions(run: Run, name: str) -> list[Plan]:
    """Every version of a plan, the newest first, at most MOST_SHOWN."""
    _ready(run)
    return [Plan(*row) for row in run(VERSIONS, {"name": name, "most": MOST_SHOWN})]


def one_line(text: str) -> str:
    """Typed words as a table can hold them: on one line, without what cannot be seen."""
    return " ".join(
        "".join(
            character for character in text if character.isprintable() or character.isspace()
        ).split()
    )


def _ready(run: Run) -> None:
    """The table is there. Two that make it at once may fail at that, and find it made.

    A busy shelf is reported at once: the statement itself would only wait again.
    """
    try:
        run(TABLE, {})
    except ShelfBusyError:
        raise
    except ShelfError:
        pass
