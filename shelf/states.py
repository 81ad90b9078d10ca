"""The state of each plan on the shelf, with its history.

A change only adds a row, which names the row that it follows. A row can be followed only once. So
if two people decide at the same time, one of them gets an error that says what the other decided.
"""

from datetime import UTC, datetime
from typing import NamedTuple
from uuid import uuid4

from shelf.plans import LONGEST, Run, ShelfBusyError, ShelfError, create_table, one_line

PROPOSED, APPROVED, RUNNING, DONE, REJECTED = (
    "proposed",
    "approved",
    "running",
    "done",
    "rejected",
)
FOLLOWS = {  # state -> the states that may come after it
    PROPOSED: (APPROVED, REJECTED),
    APPROVED: (RUNNING, PROPOSED, REJECTED),
    RUNNING: (DONE, PROPOSED),
    DONE: (PROPOSED,),
    REJECTED: (PROPOSED,),
}
DECIDED = (APPROVED, REJECTED)  # only people with the right to decide may set these
FIRST = ""  # the value of `follows` in the first row of a plan
LONGEST_OF = {"team": 60, "budget": 60, "note": 300}  # characters
MOST_STATES = 500


class State(NamedTuple):
    """A state of a plan: who set it, when (UTC), for which version, team and budget, and why.

    `follows` is the id of the state before it, empty in the first.
    """

    id: str
    name: str
    state: str
    set_by: str
    set_at: str
    version: str
    team: str
    budget: str
    note: str
    follows: str


TABLE = """CREATE TABLE IF NOT EXISTS headroom_states (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL, set_by TEXT NOT NULL,
    set_at TEXT NOT NULL, version TEXT NOT NULL, team TEXT NOT NULL, budget TEXT NOT NULL,
    note TEXT NOT NULL, follows TEXT NOT NULL,
    UNIQUE (name, follows))"""
COLUMNS = ", ".join(State._fields)
ADD = (
    f"INSERT INTO headroom_states ({COLUMNS}) VALUES "
    f"({', '.join(f':{name}' for name in State._fields)})"
)
HISTORY = (
    f"SELECT {COLUMNS} FROM headroom_states WHERE name = :name ORDER BY set_at DESC, id LIMIT :most"
)
NEWEST = f"""SELECT {COLUMNS} FROM headroom_states AS one WHERE NOT EXISTS (
    SELECT 1 FROM headroom_states AS later WHERE later.name = one.name AND later.follows = one.id)
    ORDER BY set_at DESC LIMIT :most"""


def newest_states(run: Run) -> dict[str, State]:
    """Return the present state of each plan by its name, for the MOST_STATES latest changes."""
    create_table(run, TABLE)
    states = [State(*row) for row in run(NEWEST, {"most": MOST_STATES})]
    return {state.name: state for state in states}


def history(run: Run, name: str) -> list[State]:
    """Return the states of a plan, the newest first, at most MOST_STATES."""
    create_table(run, TABLE)
    return [State(*row) for row in run(HISTORY, {"name": name, "most": MOST_STATES})]


def set_state(
    run: Run,
    name: str,
    state: str,
    set_by: str,
    version: str,
    follows: State | None,
    **texts: str,
) -> State:
    """Add a state of a plan and return it.

    Raise ShelfError if it is not allowed or came too late. `follows` is the state that the person
    who sets it saw, or None if the plan had no state yet. `texts`: team, budget, note.
    """
    _check_follows(name, state, follows)
    set_by = one_line(set_by)
    words = {field: one_line(texts.get(field, "")) for field in LONGEST_OF}
    _check(set_by, words)
    row = State(
        uuid4().hex,
        name,
        state,
        set_by,
        datetime.now(UTC).isoformat(),
        version,
        follows=follows.id if follows else FIRST,
        **words,
    )
    create_table(run, TABLE)
    _add(run, row)
    return row


def _add(run: Run, row: State) -> None:
    """Write a state; raise ShelfError that names who was faster, if somebody was."""
    try:
        run(ADD, row._asdict())
    except ShelfBusyError:
        raise
    except ShelfError:
        present = newest_states(run).get(row.name)
        if present is None or present.id == row.follows:
            raise
        raise ShelfError(
            f"{present.set_by} has set {one_line(row.name)} to {present.state} meanwhile; look at "
            f"it, and decide again."
        ) from None


def _check_follows(name: str, state: str, follows: State | None) -> None:
    """Raise ShelfError if a state cannot come after the one that a plan has."""
    next_states = FOLLOWS[follows.state] if follows else (PROPOSED,)
    if state not in next_states:
        before = follows.state if follows else "not proposed yet"
        raise ShelfError(
            f"{one_line(name)} is {before}; it can become {' or '.join(next_states)}, not {state}."
        )


def _check(set_by: str, words: dict[str, str]) -> None:
    """Raise ShelfError if a name is missing or a text is too long."""
    if not set_by:
        raise ShelfError("A state needs the name of whoever sets it.")
    limits = {"set_by": LONGEST["saved_by"], **LONGEST_OF}
    for field, text in {"set_by": set_by, **words}.items():
        if len(text) > limits[field]:
            label = "name" if field == "set_by" else field
            raise ShelfError(
                f"The {label} has {len(text):,} characters; at most {limits[field]} are kept."
            )
