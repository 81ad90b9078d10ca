"""The bill of one row: the hours paid and their cost, and the same job on other markets."""

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost import terms
from calc.cost.job import billed_hours, ends_of, job_of_rows
from calc.cost.markets import BY_USE, COMMITTED, MARKETS, SUMMED_UP, sold_for, spare_of
from calc.cost.obtainability import classes_of
from calc.cost.offers import price_of
from calc.evaluate import Row
from calc.mappings import Cells
from calc.plan.figures import records
from calc.units import GIB, HOUR_SECONDS

BILL = (
    "instances",
    "usd_per_hour",
    "hours",
    "usd",
    "seconds",
    "billed_hours",
    "billed_gpu_hours",
    "resting_instances",
)
SPOT_HOURS = ("checkpoint_hours", "lost_work_hours", "restart_hours")
PRICE_FACTS = ("as_of", "source")  # of a price
ZONES = ("low_zone_usd_per_hour", "high_zone_usd_per_hour")  # listed prices of one instance
WAY_COLUMNS = (  # what on_markets adds to the columns of a job
    "billed_hours",
    "billed_gpu_hours",
    "low_usd",
    "high_usd",
    "committed_hours",
    "committed_usd",
    "break_even_hours_per_month",
    "basis",
    *PRICE_FACTS,
    *ZONES,
)


def bill_rows(rows: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """Estimated rows with the columns of BILL and how hard they are to get, each on its market.

    Your own machines, named in the column `have`, cost nothing here: NaN.
    """
    job = job_of_rows(rows, rows["market"], 0, catalogs)
    table = rows.assign(**{name: getattr(job, name) for name in BILL})
    of_run = ends_of(rows).to_numpy(dtype=bool)
    table["obtainable"] = classes_of(rows, table["instances"], catalogs)
    if "have" in rows and (has := (rows["have"] != "").to_numpy()).any():
        runs = has & of_run  # whose machines run already: no start, no market
        table.loc[has, ["usd", "usd_per_hour"]] = np.nan
        table.loc[runs, "hours"] = rows.loc[runs, "run_hours"].astype(float)
        table.loc[runs, "seconds"] = table.loc[runs, "hours"] * HOUR_SECONDS
    return table


def bill_row(row: Row, catalogs: Catalogs) -> Row:
    """Return an estimated row with its market as a row of `bill_rows`."""
    return records(bill_rows(pd.DataFrame([row]), catalogs))[0]


def lines(row: Row) -> pd.DataFrame:
    """The lines of a bill (work, start, spot, spare, attempts, unused, ratio); they sum to it.

    Columns: line, hours, gpu_hours (GPUs paid times hours) and usd.

    `row` is one of bill_rows. Work is the steps of the run without interruption, or the month: of a
    service that scales by the hour the hours that each instance runs on average. Further attempts
    have a line of their own. Unused hours are billed beyond the job, such as the rest of a capacity
    block's last day. All lines are before discount and tax, which are the last line where the row
    has any.
    """
    hours = _hours_of_run(row) if ends_of(row) else _hours_of_service(row)
    idle_hours = float(row["billed_hours"] - row["hours"])
    if idle_hours > 0:
        hours["unused"] = idle_hours
    table = pd.DataFrame({"line": list(hours), "hours": list(hours.values())})
    # Each hour is paid for all instances, except those that the spare ones share with the work.
    instance_ratio = table["line"].map(_instance_ratios(row)).fillna(1.0)
    paid_ratio = float(row["paid_ratio"])
    paid_gpus = float(row["instances"] * row["gpus_paid"] / row["instances_needed"])
    table["gpu_hours"] = paid_gpus * (table["hours"] * instance_ratio)
    table["usd"] = table["hours"] * instance_ratio * float(row["usd_per_hour"]) / paid_ratio
    if paid_ratio != 1:
        table.loc[len(table)] = ["ratio", 0.0, 0.0, sum(table["usd"].tolist()) * (paid_ratio - 1)]
    return table


def _hours_of_run(row: Row) -> dict[str, float]:
    """Hours of each line of a run: its steps, start, interruptions and further attempts. [h]"""
    start = float(row["start_hours"])
    hours = {"work": float(row["run_hours"]) - start}
    if start > 0:
        hours["start"] = start
    if MARKETS[row["market"]].interrupted:
        lost_hours = {name.removesuffix("_hours"): float(row[name]) for name in SPOT_HOURS}
        hours |= {line: value for line, value in lost_hours.items() if value > 0}
    attempts = float(row["attempts"])
    if attempts > 1:
        hours = {line: value / attempts for line, value in hours.items()}
        hours["attempts"] = float(row["hours"]) * (1 - 1 / attempts)
    return hours


def _hours_of_service(row: Row) -> dict[str, float]:
    """Hours of a service's work, without those at rest on average, and of its spare ones. [h]"""
    month = float(row["hours"])
    spare = spare_of(row)
    hours = {"work": month}
    if row["resting_instances"] > 0:
        hours["work"] *= 1 - float(row["resting_instances"] / (row["instances"] - spare))
    if spare > 0:
        hours["spare"] = month
    return hours


def _instance_ratios(row: Row) -> dict[str, float]:
    """Share of the instances that each line pays for, if it is not all of them. [ratio]"""
    spare = 0.0 if ends_of(row) else spare_of(row)
    if spare <= 0:
        return {}
    spare_ratio = float(spare / row["instances"])
    return {"spare": spare_ratio, "work": 1 - spare_ratio}


def attempt_usd(row: Row) -> float:
    """One more attempt at the run of a billed row, on its market. [USD]"""
    attempts = float(row["attempts"])
    hours = float(row["hours"]) * (attempts + 1) / attempts
    slow = hours * float(row["run_high_hours"] / row["run_hours"])
    hours_billed = billed_hours(
        row["market"], np.ones(1), np.array([hours]), np.array([slow]), attempts + 1
    )
    return float((hours_billed[0] - row["billed_hours"]) * row["usd_per_hour"])


def spare_usd(row: Row) -> float:
    """One more instance of a billed row's service for its hours, on its market. [USD]"""
    return float(row["usd_per_hour"] / row["instances"] * row["billed_hours"])


def working_instances(row: Cells) -> float:
    """Instances of a billed row without the spare ones of a service. [instances]"""
    return float(row["instances"] - spare_of(row))


def month_generated_tokens(row: Cells) -> float:
    """Tokens that a billed service generates in its month at the steady rate. [tokens]"""
    running = working_instances(row) - row["resting_instances"]
    return float(
        row["tokens_per_second"] * running / row["instances_needed"] * row["hours"] * HOUR_SECONDS
    )


def worth_signing(markets: pd.DataFrame, market: str) -> pd.DataFrame:
    """The market of a row, and what costs less where one signs: the cheapest of each term.

    `markets` is a table of on_markets. What is signed for is a commitment of years or a capacity
    block; one that costs more than the market or than on demand is left out.
    """
    most = markets.loc[markets["market"].isin([market, BY_USE[0]]), "usd"].min()
    candidates = markets[
        markets["committed_usd"].notna() & (markets["usd"] < most) & (markets["market"] != market)
    ]
    least = (
        candidates.sort_values("usd", kind="stable")
        .drop_duplicates("committed_hours")
        .sort_values("committed_hours", kind="stable")
    )
    return pd.concat([markets[markets["market"] == market], least])


def _markets_for(row: Row, catalogs: Catalogs) -> list[str]:
    """The markets to compare: all paid by use, the row's, and every commitment with a price."""
    commitments = [
        name for name in COMMITTED if not np.isnan(listed_usd_per_hour(row, name, catalogs))
    ]
    by_use = [name for name in BY_USE if sold_for(name, row["work"], ends_of(row))]
    return [*by_use, *([row["market"]] if row["market"] in SUMMED_UP else []), *commitments]


def on_markets(row: Row, catalogs: Catalogs) -> pd.DataFrame:
    """The row on every market: its bill, the commitment and the facts of the price.

    low_usd and high_usd are a run at the fast and at the slow end of its range; committed_hours,
    committed_usd and break_even_hours_per_month are set where unused hours are paid. Without a
    price all of them are empty.
    """
    markets = _markets_for(row, catalogs)
    table = bill_rows(pd.DataFrame([row] * len(markets)).assign(market=markets), catalogs)
    columns = ["market", *[name for name in BILL if name not in ("seconds", "resting_instances")]]
    facts = pd.DataFrame([price_facts(row, name, catalogs) for name in markets])
    ends = _usd_of_range(row, table)
    table_of_markets = pd.concat(
        [table[columns].assign(**ends).reset_index(drop=True), facts], axis="columns"
    )
    return table_of_markets.assign(**_commitment_columns(table_of_markets))


def _usd_of_range(row: Row, table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Cost at the fast and the slow end of a run's range, on each market of the table. [USD]"""
    low_ratio, high_ratio = 1.0, 1.0
    if ends_of(row):
        low_ratio = float(row["run_low_hours"] / row["run_hours"])
        high_ratio = float(row["run_high_hours"] / row["run_hours"])
    hours = table["hours"].to_numpy(dtype=float)
    hourly_usd = table["usd_per_hour"].to_numpy(dtype=float)
    usd = table["usd"].to_numpy(dtype=float)
    billed_now = table["billed_hours"].to_numpy(dtype=float)
    of_run = ends_of(table).to_numpy(dtype=float)
    slow_hours = hours * high_ratio
    ends = {}
    for name, ratio in (("low_usd", low_ratio), ("high_usd", high_ratio)):
        jobs = zip(
            table["market"], of_run, hours * ratio, slow_hours, table["attempts"], strict=True
        )
        billed_then = [float(billed_hours(*job)) for job in jobs]
        ends[name] = usd + hourly_usd * (billed_then - billed_now)
    return ends


def row_per_market(row: Row, markets: pd.DataFrame) -> pd.DataFrame:
    """Return one row per market of `markets` (from on_markets), as scenarios to read again."""
    return pd.DataFrame([row] * len(markets)).assign(
        **{name: markets[name].to_numpy() for name in markets}
    )


def _commitment_columns(table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return what each market commits to, and the hours of use from which it pays off.

    NaN for a market that is paid by use, and without a price.
    """
    markets = [MARKETS[market] for market in table["market"]]
    block_hours = np.array([market.block_hours for market in markets])
    years = np.array([market.committed_years for market in markets])
    hours = terms.committed_hours(block_hours, years, table["billed_hours"].to_numpy(dtype=float))
    usd_per_hour = table["usd_per_hour"].to_numpy(dtype=float)
    on_demand_usd_per_hour = usd_per_hour[table["market"].tolist().index(BY_USE[0])]
    columns = {
        "committed_hours": hours,
        "committed_usd": terms.committed_usd(hours, usd_per_hour),
        "break_even_hours_per_month": terms.break_even_hours_per_month(
            usd_per_hour, on_demand_usd_per_hour
        ),
    }
    commits = (hours > 0) & ~np.isnan(usd_per_hour)
    return {name: np.where(commits, values, np.nan) for name, values in columns.items()}


def listed_usd_per_hour(row: Cells, market: str, catalogs: Catalogs) -> float:
    """The listed price of a row's instance in its region; NaN if there is none. [USD/h]"""
    return float(
        price_of(catalogs, row["instance"], row["region"]).get(MARKETS[market].price, np.nan)
    )


def price_facts(row: Row, market: str, catalogs: Catalogs) -> Row:
    """The basis, date and source of an instance's price on a market, and its range over zones."""
    key = MARKETS[market].key
    if MARKETS[market].takes_private and row.get("private_usd_per_hour", 0) > 0:
        return {
            "basis": "private",
            "as_of": "",
            "source": "private_prices of the scenario",
            **dict.fromkeys(ZONES, np.nan),
        }
    price = price_of(catalogs, row["instance"], row["region"])
    if not price or np.isnan(price[MARKETS[market].price]):
        return {"basis": "", **dict.fromkeys(PRICE_FACTS, ""), **dict.fromkeys(ZONES, np.nan)}
    zones = {
        f"{end}_zone_usd_per_hour": price.get(f"{key}_{end}_usd_per_hour", np.nan)
        for end in ("low", "high")
    }
    basis = price.get(f"{key}_basis", price.get(f"{key}_kind", ""))
    return {
        "basis": str(basis or ""),
        **{fact: str(price[f"{key}_{fact}"] or "") for fact in PRICE_FACTS},
        **zones,
    }


def small_lines(row: Row, catalogs: Catalogs) -> pd.DataFrame:
    """Costs that the bill leaves out: kind, label, gib, usd (a month, or once), as_of, source.

    They are the checkpoints or weights on each storage of the region, in the sizes that it is sold
    in, and their transfer out of it once. A kind without a price in the region has NaN.
    """
    prices = catalogs.storage_and_traffic
    stored_gib = float(row["stored_bytes"]) / GIB
    kinds = prices.drop_duplicates("kind")[["kind", "label", "least_gib", "step_gib"]]
    here = prices.loc[prices["region"] == row["region"], ["kind", "usd_per_gib", "as_of", "source"]]
    priced = kinds.merge(here, on="kind", how="left", validate="one_to_one").fillna(
        {"as_of": "", "source": ""}
    )
    gib = provisioned_gib(stored_gib, priced["least_gib"], priced["step_gib"])
    return priced.assign(gib=gib, usd=gib * priced["usd_per_gib"]).drop(
        columns=["least_gib", "step_gib"]
    )


def provisioned_gib(stored_gib: float, least_gib: pd.Series, step_gib: pd.Series) -> np.ndarray:
    """The sizes paid for what is stored: the smallest sold, or a multiple of the step. [GiB]"""
    multiple = np.ceil(stored_gib / step_gib.mask(step_gib == 0)) * step_gib
    return np.where(stored_gib <= least_gib, least_gib, multiple.fillna(stored_gib))


def endpoint_facts(row: Row, catalogs: Catalogs) -> Row:
    """Amazon Bedrock's entry for the row's model: sold_as, as_of, source; empty without one."""
    is_set = (
        row["endpoint_usd_per_million_input_tokens"] + row["endpoint_usd_per_million_output_tokens"]
        > 0
    )
    table = catalogs.endpoints
    endpoints = table[(table["model"] == row["model"]) & (table["region"] == row["region"])]
    return {} if is_set or not len(endpoints) else endpoints.iloc[0].to_dict()


def answers_of_aws(row: Row, quota_code: str, catalogs: Catalogs) -> pd.DataFrame:
    """AWS's answers to the account about the region: quota, blocks on offer, spot scores.

    `instances` is the number of the row's type that a quota of vCPUs allows on its own; NaN for
    other answers.
    """
    table = catalogs.capacity[catalogs.capacity["region"] == row["region"]]
    pools = [row["instance"] in of.split("+") for of in table["of"]]
    answers = table[(table["of"] == quota_code) | pd.Series(pools, index=table.index, dtype=bool)]
    instances = answers["value"].astype(float) // catalogs.instances["vcpus"].get(
        row["instance"], np.nan
    )
    return answers.assign(instances=instances.where(answers["signal"] == "quota"))
