"""The classes of budgets.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from msgspec import Meta

from calc.catalogs.schemas.kinds import Day, Entry, hint

ShortText = Annotated[str, Meta(min_length=1, max_length=60)]


class Budget(Entry, kw_only=True):
    """A budget of a team for one period, in USD, GPU-hours or both."""

    team: Annotated[ShortText | None, hint("whose it is; left out: of all teams")] = None
    project: Annotated[ShortText | None, hint("left out: of all projects of the team")] = None
    starts: Annotated[Day, hint("the first day")]
    ends: Annotated[Day, hint("the last day")]
    usd: Annotated[float, Meta(gt=0, le=1000000000000.0)] | None = None
    gpu_hours: Annotated[float, Meta(gt=0, le=1000000000000.0)] | None = None


class File(Entry, kw_only=True):
    """Budgets of teams, in dollars and GPU-hours."""

    budgets: Annotated[dict[str, Budget], Meta(min_length=1, max_length=200)]
