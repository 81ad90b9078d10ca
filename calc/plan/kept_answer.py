"""An answer as a session and a link keep it: enough to estimate it again, and what it cost."""

from dataclasses import dataclass, field

from calc.mappings import Cells


@dataclass(frozen=True)
class KeptAnswer:
    """A scenario on its market, under a name, with its owners and its figures of an earlier day.

    `scenario`: the columns that differ from their defaults. `job`: the job in short words. `have`:
    the machines that one has. `team` to `ends`: the columns of calc.plan.ownership. `then`: the
    figures of the day on which it was kept, by the names of calc.plan.drift.THEN; empty if they are
    not known.
    """

    market: str
    scenario: Cells
    name: str = ""
    job: str = ""
    have: str = ""
    team: str = ""
    owner: str = ""
    project: str = ""
    starts: str = ""
    ends: str = ""
    is_in_bill: bool = False
    then: Cells = field(default_factory=dict)
