"""Idle hours of a service: windows in which some of its machines are free for other runs."""

from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.evaluate import Row
from calc.plan.load_day import LoadDay
from calc.units import DAY_HOURS

LEAST_HOURS = 2  # of a window: shorter ones pass in starts and loads
LENT_COLUMNS = ["pool", "instance", "region", "instances", "market", "starts", "ends"]
DAY_FORMAT, HOUR_FORMAT = "%Y-%m-%d", "%Y-%m-%d %H:%M"


class Window(NamedTuple):
    """Hours in which instances are free: the first hour, the number of hours, and of instances."""

    starts: int  # hour of the day or the week
    hours: int
    instances: int

    @property
    def instance_hours(self) -> int:
        """Instances times hours."""
        return self.instances * self.hours


def free_windows(day: LoadDay) -> list[Window]:
    """The windows of a day or a week in which machines that are paid all the time are free.

    For each day, from noon to noon, the window with the most instance-hours.
    """
    instances = day.table["instances"].to_numpy(dtype=int)
    free = instances.max() - instances
    noon = DAY_HOURS // 2
    days = len(free) // DAY_HOURS
    windows = [
        _largest(np.roll(free, -(place * DAY_HOURS + noon))[:DAY_HOURS], place * DAY_HOURS + noon)
        for place in range(days)
    ]
    return [
        window._replace(starts=window.starts % len(free))
        for window in windows
        if window.hours >= LEAST_HOURS
    ]


def _largest(free: np.ndarray, first_hour: int) -> Window:
    """The run of hours with the most free instance-hours, of any number of instances."""
    best = Window(first_hour, 0, 0)
    for level in range(1, int(free.max()) + 1):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], free >= level, [0]])))
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            window = Window(first_hour + int(start), int(end - start), level)
            best = max(best, window, key=lambda one: one.instance_hours)
    return best


def lent_pools(
    row: Row, windows: list[Window], period_hours: int, begins: datetime, days: int
) -> pd.DataFrame:
    """Return idle windows of the next days as machines of the schedule, already paid for.

    `begins`: midnight of the first day. Windows of a week are counted from Monday.
    """
    first = begins.weekday() * DAY_HOURS if period_hours > DAY_HOURS else 0
    pools = [
        (begins + timedelta(hours=offset), window)
        for offset in range(days * DAY_HOURS)
        for window in windows
        if window.starts == (first + offset) % period_hours
    ]
    rows = [
        {
            "pool": f"{row['scenario']} {starts:{DAY_FORMAT}}",
            "instance": row["instance"],
            "region": row["region"],
            "instances": window.instances,
            "market": "owned",
            "starts": f"{starts:{HOUR_FORMAT}}",
            "ends": f"{starts + timedelta(hours=window.hours):{HOUR_FORMAT}}",
        }
        for starts, window in pools
    ]
    return pd.DataFrame(rows, columns=LENT_COLUMNS)
