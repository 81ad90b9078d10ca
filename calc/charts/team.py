"""The table of the chart of a team's plan."""

from textwrap import wrap

import pandas as pd

from calc.say.numbers import billed_usd, with_noun

MOST_COLORS = 10
LONGEST_LINE = 36  # characters of a label


def on_chart(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the placed runs in order of their start, with their labels, ranks and ISO times."""
    table = runs[runs["problem"] == ""].reset_index(drop=True)
    pools = {pool: rank % MOST_COLORS for rank, pool in enumerate(sorted(table["pool"].unique()))}
    where = [
        f"{row.pool}: {with_noun(int(row.instances), 'instance')}" for row in table.itertuples()
    ]
    times = {
        name: pd.to_datetime(table[name]).dt.strftime("%Y-%m-%dT%H:%M")
        for name in ("starts", "deadline", "begins", "ends")
    }
    cost = [billed_usd(usd) if usd else "paid anyway" for usd in table["usd"]]
    return pd.DataFrame(
        {
            "label": ["\n".join(wrap(run, LONGEST_LINE)) for run in table["run"]],
            "rank": table.index,
            "pool_rank": table["pool"].map(pools),
            "where": where,
            "cost": cost,
            **times,
        }
    )
