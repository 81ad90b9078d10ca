"""One scenario over the length of its run, and over the sequences served at once."""

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS, PLAN_MARKETS
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.plan.break_even import PER_TOKEN
from calc.units import MILLISECONDS

TIMES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # multiples of the run
_MOST_SEQUENCES = 256


def _run_columns(market: str) -> tuple[str, tuple[str, str]]:
    """A market in words, and the columns of a run's USD and hours on it."""
    terms = MARKETS[market]
    label = f"{terms.label}, interruptions counted" if terms.interrupted else terms.label
    return label, (f"run_usd_{terms.key}", "spot_run_hours" if terms.interrupted else "run_hours")


def over_tokens(scenario: Row, catalogs: Catalogs) -> pd.DataFrame:
    """The run from a tenth to ten times its tokens: times, line, usd, hours, fits, now."""
    times = np.array(TIMES)
    name = "tokens_total" if scenario.get("work") == "inference" else "train_tokens"
    rows = pd.DataFrame(
        estimate(pd.DataFrame(scenario | {name: scenario[name] * times}), catalogs, solve=False)
    )
    shared = {"times": times, "tokens": rows[name], "fits": rows["fits"], "now": times == 1}
    parts = [
        pd.DataFrame({**shared, "line": label, "usd": rows[usd], "hours": rows[hours]})
        for label, (usd, hours) in map(_run_columns, PLAN_MARKETS)
    ]
    table = pd.concat(parts, ignore_index=True)
    return table[table["usd"].notna()]


def over_concurrency(scenario: Row, market: str, catalogs: Catalogs) -> pd.DataFrame:
    """Return the cost of serving 1, 2, 4 ... concurrent sequences, and that of an endpoint.

    Columns: sequences, line, usd (per million tokens), milliseconds (per token), fits, now.
    """
    counts = sorted(
        {2**power for power in range(_MOST_SEQUENCES.bit_length())} | {int(scenario["batch"])}
    )
    rows = estimate(
        pd.DataFrame(scenario | {"batch": [float(count) for count in counts]}),
        catalogs,
        solve=False,
    )
    share = rows["usd_per_hour_spot"] / rows["usd_per_hour_on_demand"] if market == "spot" else 1.0
    table = pd.DataFrame(
        {
            "sequences": counts,
            "line": MARKETS[market].label,
            "usd": rows["usd_per_million_output_tokens"] * share,
            "milliseconds": rows["time_per_output_token_seconds"] * MILLISECONDS,
            "fits": rows["fits"],
            "now": [count == scenario["batch"] for count in counts],
        }
    )
    table = table[table["usd"].notna() & (table["fits"] != "")]
    endpoint = table.assign(
        line=PER_TOKEN, usd=rows["paid_usd_per_million_output_tokens"].loc[table.index], now=False
    )
    return pd.concat([table, endpoint[endpoint["usd"] > 0]], ignore_index=True)
