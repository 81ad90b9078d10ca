"""The estimate against rows of sources that no constant was first fitted to.

`python -m validation.fresh` prints the errors by group and writes `results/fresh.csv`, a row per
published figure, `results/fresh_summary.csv`, and `results/fitted_and_left_out.csv`: the error of
fitted rows, of rows of the same sources that were held out, and of sources left out whole, side by
side. Each row of `data/fresh` is asked twice: with the columns that its source's set-up was first
put into, and with what the source states beyond them (`data/fresh/as_published.yaml`). Rows of low
confidence ask one engine as another, send a finite burst, or leave settings open: what is said of
the sources rests on the others. Half of the rows of these sources are here; the other half is kept
elsewhere and judges. `data/second` to `data/tenth` hold rows of further, newest and latest
sources, entered whole and scored before anything was changed for them.
"""

from fnmatch import fnmatchcase

import numpy as np
import pandas as pd

from calc import estimate, load_catalogs
from calc.catalogs.load import add_models
from calc.catalogs.strict_yaml import read_strictly
from calc.files.model_configs import added_models
from calc.scenarios.inputs import inputs_by_name
from validation.speed import (
    DATA,
    RESULTS,
    SERVED,
    encoders,
    errors,
    published,
    time_table,
    with_published_models,
)

FAMILIES = (
    "training",
    "train_memory",
    "serving",
    "serving_memory",
    "pools",
    "encoders",
    "post_training",
)
LEFT_OUT = {  # folder -> how a figure of it is called beside the fitted ones
    "fresh": "source left out",
    "second": "second sources left out",
    "third": "third sources left out",
    "fourth": "third sources left out",
    "fifth": "fifth sources left out",
    "sixth": "sixth sources left out",
    "seventh": "seventh sources left out",
    "eighth": "eighth sources left out",
    "ninth": "ninth sources left out",
    "tenth": "tenth sources left out",
}
ALL_LEFT_OUT = "all sources left out"  # the figures of all these folders in one row
FOLDERS = tuple(LEFT_OUT)
FIRST, STATED = "first", "stated"  # how a row is asked
TIMES = {  # quantity -> the prefix of its range, and the result column that benchmarks print
    "time_per_output_token_seconds": ("time", "time_per_output_token_seconds"),
    "time_to_first_token_seconds": ("first_token", "closed_loop_first_token_seconds"),
    "step_seconds": ("time", "step_seconds"),
    "sync_seconds": ("time", "sync_seconds"),
    "tokens_per_second_per_gpu": ("time", "tokens_per_second_per_gpu"),
}
FIRST_TOKEN = "time_to_first_token_seconds"
REQUESTS = "benchmark_requests"  # requests that a benchmark sent in all, where its source says so
MEDIAN = "median_first_token"  # "yes": its source prints the median, which the first round misses
ALLOCATED = "allocated_peak_bytes"  # its range is that of the memory without the overhead
RESERVED = "allocated_peak_bytes..memory_bytes"  # what an allocator reserved: from the low end of
# the range of the allocated peak to the high end of the memory's
ABOUT = ("id", "quantity", "low", "high", "confidence", "family", "group", "tags", "note", "source")
SHOWN = (*ABOUT, "asked", "predicted", "error_ratio", "low_ratio", "high_ratio", "inside", "fits")


def fresh_catalogs():
    """Return the catalogs with the models of all published rows added."""
    catalogs = with_published_models(load_catalogs())
    folders = [DATA / folder / "configs" for folder in FOLDERS]
    configs = [str(folder) for folder in folders if folder.exists()]
    entries = dict(added_models(configs, catalogs))
    lacking = {name: entry for name, entry in entries.items() if name not in catalogs.models.index}
    return add_models(catalogs, lacking)


def expected(folder, family):
    """The published figures of a family of rows, one a row."""
    rows = pd.read_csv(DATA / folder / f"{family}_expected.csv", keep_default_na=False)
    return rows.astype({"low": float, "high": float})


def scenarios(folder, family, asked):
    """The scenarios of a family by id, as first asked or as their source states them."""
    path = DATA / folder / f"{family}_scenarios.csv"
    rows = pd.read_csv(path, keep_default_na=False, dtype=str).set_index("scenario")
    beyond = DATA / folder / "as_published.yaml"
    if asked == FIRST or not beyond.exists():
        return rows
    name = f"validation/data/{folder}/as_published.yaml"
    stated = read_strictly(beyond.read_text("utf-8"), name)["rows"]
    for entry in stated:
        matches = [fnmatchcase(name, entry["id"]) for name in rows.index]
        for column, value in entry["set"].items():
            if column not in rows and any(matches):
                rows[column] = ""
            if any(matches):
                rows.loc[matches, column] = str(value)
    return rows


def closed_loop_first_tokens(asks, table):
    """Time to first token as each benchmark reports it, by its number of requests. [s]

    The first round of requests is sent at one moment; the more rounds follow, the less it weighs.
    Without a number, that of calc/speed/prefill.py.
    """
    usual = table["closed_loop_first_token_seconds"]
    if REQUESTS not in asks:
        return usual
    rounds = pd.to_numeric(asks[REQUESTS]).to_numpy() / pd.to_numeric(asks["batch"]).to_numpy()
    sent = table[FIRST_TOKEN] + table["first_round_seconds"] / rounds
    if MEDIAN in asks:
        sent = np.where(asks[MEDIAN] == "yes", table[FIRST_TOKEN], sent)
    return np.where(np.isnan(rounds), usual, sent)


def _error(true_low, true_high, low, high):
    """Signed distance between an estimate and a figure that each have two ends. [ratio]"""
    return np.where(
        low > true_high, low / true_high - 1, np.where(high < true_low, high / true_low - 1, 0.0)
    )


def comparison(folder, family, asked, catalogs):
    """The figures of a family with the estimate, its error, and whether the range holds them."""
    rows, told = expected(folder, family), scenarios(folder, family, asked)
    told = told.loc[rows["id"]].reset_index(drop=True)
    asks = told[[name for name in told if name in inputs_by_name()]]
    estimates = estimate(asks, catalogs, solve="max_batch" in set(rows["quantity"]))
    table, problems = time_table(asks, catalogs)
    table["closed_loop_first_token_seconds"] = closed_loop_first_tokens(told, table)
    made = rows.assign(asked=asked, problem=problems, fits=estimates["fits"].astype(str))
    bytes_each = rows["quantity"].str.endswith("_bytes").to_numpy()
    predicted, low, high = (np.full(len(rows), np.nan) for _ in range(3))
    ends = np.ones((2, len(rows)))
    for place, quantity in enumerate(rows["quantity"]):
        if quantity in TIMES:
            kind, column = TIMES[quantity]
            predicted[place] = table[column][place]
            ends[:, place] = [table[f"{kind}_{end}_ratio"][place] for end in ("low", "high")]
            low[place] = high[place] = predicted[place]
        elif quantity == RESERVED:
            low[place], high[place] = estimates.loc[
                place, ["allocated_peak_bytes", "memory_bytes"]
            ].astype(float)
            predicted[place] = high[place]
        else:
            predicted[place] = low[place] = high[place] = estimates.at[place, quantity]
    rate = rows["quantity"].str.startswith("tokens_per_second").to_numpy()
    error = _error(rows["low"], rows["high"], low, high)
    range_low = np.where(rate, predicted / ends[1], predicted * ends[0])
    range_high = np.where(rate, predicted / ends[0], predicted * ends[1])
    peak = rows["quantity"].isin([RESERVED, ALLOCATED, "memory_bytes"]).to_numpy()
    overhead = estimates["overhead_bytes"].astype(float)
    without = {"low": (RESERVED, ALLOCATED), "high": (ALLOCATED,)}  # ends of an allocated peak
    for end, values in (("low", range_low), ("high", range_high)):
        outside = overhead * rows["quantity"].isin(without[end])
        values[peak] = (estimates[f"memory_{end}_bytes"].astype(float) - outside)[peak]
    inside = (rows["low"] <= range_high) & (rows["high"] >= range_low)
    ranged = ~bytes_each | peak
    return made.assign(
        predicted=predicted,
        error_ratio=error,
        low_ratio=range_low / predicted,
        high_ratio=range_high / predicted,
        inside=np.where(ranged, inside.astype(float), np.nan),
        half_width=np.where(ranged, (range_high - range_low) / 2 / predicted, np.nan),
    )


def all_compared(catalogs):
    """Every figure; those of the folder that was first asked otherwise appear in both ways."""
    asks = [("fresh", FIRST), *((folder, STATED) for folder in FOLDERS)]
    parts = [
        comparison(folder, family, asked, catalogs)
        for folder, asked in asks
        for family in FAMILIES
        if (DATA / folder / f"{family}_expected.csv").exists()
    ]
    return pd.concat(parts, ignore_index=True)


def summary(rows, by):
    """Number of figures, their error, the share inside the range, its half width, and verdicts."""
    answered = rows[rows["problem"] == ""]
    keys = [answered[name] for name in by]
    size = answered["error_ratio"].abs().groupby(keys)
    table = pd.DataFrame(
        {
            "figures": rows.groupby(by).size(),
            "refused": (rows["problem"] != "").groupby([rows[name] for name in by]).sum(),
            "median_error_ratio": size.median(),
            "p90_error_ratio": size.quantile(0.9),
            "bias_ratio": answered.groupby(by)["error_ratio"].median(),
            "inside_ratio": answered.groupby(by)["inside"].mean(),
            "half_width": answered.groupby(by)["half_width"].median(),
            "called_no": (answered["fits"] == "no").groupby(keys).sum(),
        }
    )
    return table.round(3)


def side_by_side(rows, catalogs):
    """Errors of times by kind of row: fitted, held out, and sources added later.

    Of the fresh rows those of medium and high confidence, as their sources state them.
    """
    known = errors(pd.concat([published(), encoders()], ignore_index=True), catalogs)
    known["rows"] = np.where(known["held_out"], "held out", "fitted")
    fresh = rows[(rows["asked"] == STATED) & (rows["confidence"] != "low")]
    fresh = fresh[fresh["quantity"].isin(TIMES)]
    served = fresh["family"].str.contains("serving|encoders")
    fresh = fresh.assign(
        rows=fresh["family"].str.split("_").str[0].map(LEFT_OUT),
        work=np.where(served, "inference", "training"),
        measured=fresh["quantity"],
    )
    both = pd.concat([known, fresh, fresh.assign(rows=ALL_LEFT_OUT)], ignore_index=True)
    both = both[both["problem"] == ""]
    both["measured"] = both["measured"].where(both["measured"].isin(SERVED), "rate or step")
    groups = both.groupby(["work", "measured", "rows"])
    table = groups["error_ratio"].agg(
        figures="size",
        median_error_ratio=lambda error: error.abs().median(),
        p90_error_ratio=lambda error: error.abs().quantile(0.9),
    )
    return table.assign(inside_ratio=groups["inside"].mean()).astype(float).round(3)


def main():
    """Print the errors by family and by group, and write them."""
    catalogs = fresh_catalogs()
    rows = all_compared(catalogs)
    rows = rows.assign(
        judged=rows["family"].str.removeprefix("fresh_").str.replace("_", " ", n=1)
        + " "
        + np.where(rows["quantity"].isin(TIMES), rows["quantity"], "memory")
    )
    headline = rows[rows["headline"] == "yes"]
    sure = headline[headline["confidence"] != "low"]
    tables = [
        side_by_side(rows, catalogs),
        summary(sure, ["family", "asked"]),
        summary(rows, ["judged", "group", "asked"]),
    ]
    RESULTS.mkdir(exist_ok=True)
    rows[[*SHOWN]].to_csv(RESULTS / "fresh.csv", index=False, float_format="%.5g")
    tables[2].reset_index().to_csv(RESULTS / "fresh_summary.csv", index=False)
    tables[0].reset_index().to_csv(RESULTS / "fitted_and_left_out.csv", index=False)
    for table in tables:
        print(table.to_string(na_rep=""), "\n")


if __name__ == "__main__":
    main()
