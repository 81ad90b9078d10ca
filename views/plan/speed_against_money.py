"""The cost of a service at each speed: the frontier, with what is shown on it."""

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.charts.against_time import against_time, within_sight
from calc.cost.job import ends_of
from calc.plan.figures import records
from calc.say.numbers import about
from calc.say.speed import pace_ratio, paced_by
from views.charts.against_time import cost_against_time
from views.session.present_plan import Present
from views.shared import row_words
from views.shared.elements import draw
from views.shared.theme import Ink

HEIGHT = 250
HOURS, PACE = "hours of the job", "milliseconds for each {}"


def has_speeds(plan: Present) -> bool:
    """Return whether a service has answers at several speeds."""
    return plan.scenario["work"] == "inference" and not plan.options.edge.empty


def speed_against_money(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """The lowest cost for each speed of a service; nothing where no time is known."""
    edge = within_sight(plan.options.edge)
    labels = [row_words.where(row, catalogs) for row in records(edge)]
    names = {
        "kind": "now",
        "label": row_words.where(plan.row, catalogs),
        "seconds": plan.row["seconds"],
        "usd": plan.row["usd"],
    }
    points = pd.concat(
        [edge[["seconds", "usd"]].assign(kind="frontier", label=labels), pd.DataFrame([names])],
        ignore_index=True,
    )
    ends = bool(ends_of(plan.row))
    pace = HOURS if ends else PACE.format(paced_by(plan.row, catalogs))
    cost = "USD of the job" if ends else "USD a month"
    spec = cost_against_time(ink, pace, cost, "", HEIGHT)
    alt = (
        f"{len(edge)} answers that none beats in both, {about(edge['usd'].min())} to "
        f"{about(edge['usd'].max())}{'' if ends else ' a month'}"
    )
    draw(
        spec, against_time(points, ends, pace_ratio(plan.row, catalogs)), alt, "speed_against_money"
    )
