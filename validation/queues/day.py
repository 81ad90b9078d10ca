"""Machines by hour of the load plan against a simulation of every request of a day.

    make queues

Requests arrive at random at the rate of their hour and take a random time to answer. The plan has
so many replicas in each hour; each was planned for so many requests in flight. The simulation runs
on ciw. Writes results/load_day.csv: a row for each curve, number of replicas at the peak and time
of an answer, with the requests in flight on a replica over those planned: in the mean of the
busiest hour, and the share of the day in which a replica has a tenth more than planned.
"""

from itertools import product
from pathlib import Path

import ciw
import numpy as np
import pandas as pd

from calc.files.traces import curve_of
from calc.plan.load_day import Load
from calc.units import DAY_HOURS, HOUR_SECONDS

RESULTS = Path(__file__).parents[1] / "results"
CURVES, PEAK_REPLICAS = ("office", "consumer"), (2, 4, 12)
ANSWER_SECONDS, IN_FLIGHT = (30.0, 120.0), 24  # on each replica at the planned peak
OVER_RATIO, SEED = 1.1, 28
DAY_SECONDS = DAY_HOURS * HOUR_SECONDS


def in_flight(rates: list[float], answer_seconds: float) -> np.ndarray:
    """Requests in flight at each minute of a day whose hours have these rates."""
    ends = [HOUR_SECONDS * (hour + 1) for hour in range(DAY_HOURS)]
    arrivals = ciw.dists.PoissonIntervals(rates, ends, DAY_SECONDS)
    network = ciw.create_network(
        arrival_distributions=[arrivals],
        service_distributions=[ciw.dists.Exponential(1 / answer_seconds)],
        number_of_servers=[float("inf")],
    )
    ciw.seed(SEED)
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_time(DAY_SECONDS)
    records = simulation.get_all_records()
    times = np.arange(0, DAY_SECONDS, 60.0)
    arrivals_so_far = np.searchsorted(
        np.sort([record.arrival_date for record in records]), times, "right"
    )
    exits_so_far = np.searchsorted(
        np.sort([record.exit_date for record in records]), times, "right"
    )
    return arrivals_so_far - exits_so_far


def main() -> None:
    """Simulate every curve, number of replicas and answer time; write and print the comparison."""
    rows = []
    for curve, replicas, answer in product(CURVES, PEAK_REPLICAS, ANSWER_SECONDS):
        ratios = Load(curve_of(curve)).ratios
        planned_replicas = np.maximum(np.ceil(replicas * ratios - 1e-9), 1)
        rates = [float(ratio) * replicas * IN_FLIGHT / answer for ratio in ratios]
        requests = in_flight(rates, answer).reshape(DAY_HOURS, -1)  # by hour and minute
        load_ratio = requests / planned_replicas[:, None] / IN_FLIGHT
        rows.append(
            {
                "curve": curve,
                "peak_replicas": replicas,
                "answer_seconds": answer,
                "busiest_hour_ratio": load_ratio.mean(axis=1).max(),
                "mean_ratio": load_ratio.mean(),
                "over_share": (load_ratio > OVER_RATIO).mean(),
                "most_ratio": load_ratio.max(),
                "replica_hours": planned_replicas.sum(),
                "saved_share": 1 - planned_replicas.sum() / (DAY_HOURS * planned_replicas.max()),
            }
        )
    table = pd.DataFrame(rows).round(3)
    table.to_csv(RESULTS / "load_day.csv", index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
