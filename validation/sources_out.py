"""Accuracy of times with each source left out in turn: `python -m validation.sources_out`.

Part of `make accuracy`. It writes results/sources_left_out.csv and adds to
results/fitted_and_left_out.csv.

Every number of catalogs/calibrated to which a source's times respond is refitted without them, and
they are estimated again with the result. All numbers move together to where the absolute error of
the other rows is least, rows of one model on one card weighing 1 together. A number moves from its
entry in the catalogs by as much as leaving the source out moves the fit. Where the times of no
other source respond to it, it rests on that source alone ("only source"). It is then taken from the
software or card that is most like it, or has no effect (validation/fitted_numbers.py), and the
range is that of an entry that nobody has measured.
"""

import numpy as np
import pandas as pd

from calc.scenarios.inputs import BY_NAME
from validation.fitted_numbers import constants, mark_assumed, with_values
from validation.fresh import (
    DATA,
    FIRST_TOKEN,
    FOLDERS,
    STATED,
    TIMES,
    closed_loop_first_tokens,
    expected,
    fresh_catalogs,
    scenarios,
)
from validation.speed import OF_PROMPTS, RESULTS, SERVED, encoders, published, time_table

PUBLISHERS = {  # words at the start of a source's name -> the publisher whose rows err together
    "InferenceX": "SemiAnalysisAI/InferenceX",
    "torchtitan": "pytorch/torchtitan",
    "TensorRT-LLM": "NVIDIA/TensorRT-LLM",
    "NVIDIA NIM": "docs.nvidia.com/nim",
    "NVIDIA NeMo": "NVIDIA/NeMo",
    "docs.nvidia.com/nemo": "NVIDIA/NeMo",
    "Qwen2": "Qwen speed benchmarks",
    "optimum-benchmark": "optimum-benchmark",
    "volcengine/verl": "verl-project/verl",
}
REPOSITORY = r"^(?:github\.com/)?([\w.-]+/[\w.-]+|[^@:(]+)"
STEP = 1.05  # factor on a number, to see which times respond to it
RESPONDS = 0.05  # logarithm of a time, for one of the number, from which it says something of it
LEAST_RESPONSE = 0.5  # of the other sources together, for a number to rest on them too
MOST_MOVED = np.log(2)
SWEEPS = 10  # over all numbers; the fit changes little after five
REFITTED = "fitted, its source left out"  # how a row is called beside those as fitted


def figures():
    """All published times of medium and high confidence with their scenarios, one a row."""
    known = pd.concat([published(), encoders()], ignore_index=True).assign(folder="")
    paths = sorted(DATA.glob("*/*_expected.csv"))
    others = [
        _stated(folder, path.name.removesuffix("_expected.csv"))
        for folder in FOLDERS
        for path in paths
        if path.parent.name == folder
    ]
    rows = pd.concat([known, *others], ignore_index=True)
    name = rows["source"].str.extract(REPOSITORY, expand=False).str.strip()
    for start, publisher in PUBLISHERS.items():
        name = name.where(~rows["source"].str.startswith(start), publisher)
    kind = rows["measured"].where(rows["measured"].isin(SERVED), "rate or step")
    return rows.assign(publisher=name, kind=kind)


def _stated(folder, family):
    """Times of a family of rows from sources that were scored before they were used."""
    rows = expected(folder, family)
    rows = rows[rows["quantity"].isin(TIMES) & (rows["confidence"] != "low")]
    asked = scenarios(folder, family, STATED).loc[rows["id"]].reset_index(drop=True)
    served = family.startswith(("serving", "encoders"))
    return asked.assign(
        row=rows["id"].to_numpy(),
        measured=rows["quantity"].to_numpy(),
        value=np.sqrt(rows["low"] * rows["high"]).to_numpy(),
        source=rows["source"].to_numpy(),
        work="inference" if served else "training",
        held_out=False,
        folder=folder,
    )


def estimate_times(rows, catalogs):
    """Add the estimate to rows: its log error as a time, and whether the range holds the figure."""
    asks = rows[[name for name in rows if name in BY_NAME]].fillna("").reset_index(drop=True)
    table, problems = time_table(asks, catalogs)
    measured = rows["measured"].to_numpy()
    kinds, of = list(dict.fromkeys(measured)), table
    if FIRST_TOKEN in kinds:
        of = table | {FIRST_TOKEN: closed_loop_first_tokens(rows, table)}
    predicted = np.select([measured == kind for kind in kinds], [of[kind] for kind in kinds])
    logarithm = np.log(predicted / rows["value"].to_numpy())
    is_time = np.array([name.endswith("_seconds") for name in measured])
    ends = (
        np.where(
            np.isin(measured, OF_PROMPTS),
            table[f"first_token_{end}_ratio"],
            table[f"time_{end}_ratio"],
        )
        for end in ("low", "high")
    )
    slower = np.where(is_time, logarithm, -logarithm)  # the estimated time over the true one
    low, high = (np.log(end) for end in ends)
    return rows.assign(
        slower_ln=np.where(problems == "", slower, np.nan),
        error_ratio=predicted / rows["value"].to_numpy() - 1,
        inside=(-slower >= low) & (-slower <= high),
    )


def responses(rows, at_first, catalogs, numbers):
    """Derivative of each row's log time by the log of each number. Shape (rows, numbers)."""
    found = np.zeros((len(rows), len(numbers)))
    reach = {
        "engines": rows["implementation"],
        "utilization": rows["gpu"],
        "kernels": rows["precision"],
        "serving_steps": rows["gpu"].map(catalogs.utilization["card_class"]),
    }
    for place, number in enumerate(numbers):
        touched = np.ones(len(rows), dtype=bool)
        if number.table in reach:
            touched = reach[number.table].isin(number.entries).to_numpy()
        if touched.any():
            moved = with_values(catalogs, {number: number.value * STEP})
            after = estimate_times(rows[touched], moved)["slower_ln"]
            found[touched, place] = (after - at_first[touched]) / np.log(STEP)
    return np.where(np.abs(found) > RESPONDS, np.nan_to_num(found), 0)


def weights(rows):
    """Weight of each row: the rows of one model, card, source and kind of time sum to 1."""
    alike = rows.groupby(["publisher", "kind", "model", "gpu"])["row"]
    return 1 / alike.transform("size").to_numpy()


def least_error(errors, response, weight, start):
    """Logs by which the numbers move to minimize the weighted absolute error.

    One number after another: with the others as they are, the best value is the median of the
    values that the rows imply, weighted by how much each row responds.
    """
    moved = start.copy()
    left = errors + response @ moved
    for _ in range(SWEEPS):
        for place in range(response.shape[1]):
            rows = np.flatnonzero(response[:, place])
            if len(rows):
                of_it = response[rows, place]
                implied = moved[place] - left[rows] / of_it
                best = np.clip(
                    _median(implied, weight[rows] * np.abs(of_it)), -MOST_MOVED, MOST_MOVED
                )
                left[rows] += of_it * (best - moved[place])
                moved[place] = best
    return moved


def _median(values, weight):
    """The weighted median."""
    order = np.argsort(values)
    total = np.cumsum(weight[order])
    return values[order][np.searchsorted(total, total[-1] / 2)]


def without(publisher, rows, response, numbers, every, catalogs):
    """Estimate a source's rows from the other sources; name the numbers that rest on it alone."""
    own = (rows["publisher"] == publisher).to_numpy()
    fits = ~(own | rows["held_out"].to_numpy(dtype=bool))
    weight = weights(rows) * fits
    errors = rows["slower_ln"].to_numpy()
    moved = least_error(errors[fits], response[fits], weight[fits], every) - every
    own_response = np.abs(response[own]).sum(axis=0)
    says = own_response > 0
    alone = says & ((weight[:, None] * np.abs(response)).sum(axis=0) < LEAST_RESPONSE)
    values = {
        number: number.unmeasured if alone[place] else number.value * np.exp(moved[place])
        for place, number in enumerate(numbers)
        if says[place]
    }
    unknown = _resting_alone(numbers, own_response, alone)
    after = estimate_times(rows[own], mark_assumed(with_values(catalogs, values), unknown))
    alone_names = [str(number) for place, number in enumerate(numbers) if alone[place]]
    return after.assign(numbers=int(says.sum()), only_source="; ".join(alone_names))


def _resting_alone(numbers, own_response, alone):
    """Entries whose numbers mostly rest on one source.

    More than a quarter of what its rows respond to are numbers that no other source gives.
    """
    shares = {}
    for place, number in enumerate(numbers):
        for name in number.entries:
            share = shares.setdefault((number.table, name), [0.0, 0.0])
            share[0] += own_response[place] * alone[place]
            share[1] += own_response[place]
    return [entry for entry, (of_it, every) in shares.items() if of_it > every / 4]


def table_of(before, after):
    """Errors as fitted and with the source left out, by source and kind of time."""
    parts = []
    for rows in (before, after):
        groups = rows.groupby(["publisher", "kind"])
        error = rows["error_ratio"].abs().groupby([rows["publisher"], rows["kind"]])
        parts.append(
            pd.DataFrame(
                {
                    "median_error_ratio": error.median(),
                    "p90_error_ratio": error.quantile(0.9),
                    "inside_ratio": groups["inside"].mean(),
                }
            )
        )
    joined = parts[0].add_prefix("fitted_").join(parts[1].add_prefix("left_out_"))
    about = after.groupby(["publisher", "kind"])
    joined.insert(0, "figures", about.size())
    return joined.assign(numbers=about["numbers"].first(), only_source=about["only_source"].first())


def of_every_source(rows, catalogs):
    """The rows as fitted, and each estimated without its source; refused rows are left out."""
    rows = estimate_times(rows, catalogs)
    rows = rows[rows["slower_ln"].notna()].reset_index(drop=True)
    errors = rows["slower_ln"].to_numpy()
    numbers = constants(catalogs)
    response = responses(rows, errors, catalogs, numbers)
    used = np.abs(response).sum(axis=0) > 0
    numbers = [number for number, is_used in zip(numbers, used, strict=True) if is_used]
    response = response[:, used]
    fits = ~rows["held_out"].to_numpy(dtype=bool)
    start = np.zeros(len(numbers))
    every = least_error(errors[fits], response[fits], weights(rows)[fits], start)
    names = rows["publisher"].unique()
    parts = [without(name, rows, response, numbers, every, catalogs) for name in names]
    return rows, pd.concat(parts)


def beside_the_others(after):
    """Errors of the refitted rows by kind, in the form of fitted_and_left_out.csv."""
    fitted = after[(after["folder"] == "") & ~after["held_out"].astype(bool)]
    groups = fitted.groupby(["work", "kind"])
    error = fitted["error_ratio"].abs().groupby([fitted["work"], fitted["kind"]])
    table = pd.DataFrame(
        {
            "figures": groups.size(),
            "median_error_ratio": error.median(),
            "p90_error_ratio": error.quantile(0.9),
            "inside_ratio": groups["inside"].mean(),
        }
    )
    table = table.astype(float).round(3).rename_axis(["work", "measured"]).reset_index()
    table.insert(2, "rows", REFITTED)
    return table


def main():
    """Print the errors by source, write them, and add those by kind to the other table."""
    rows, after = of_every_source(figures(), fresh_catalogs())
    table = table_of(rows, after).round(3)
    table.reset_index().to_csv(RESULTS / "sources_left_out.csv", index=False)
    path = RESULTS / "fitted_and_left_out.csv"
    others = pd.read_csv(path)
    kinds = beside_the_others(after)
    both = pd.concat([others[others["rows"] != REFITTED], kinds])
    both.sort_values(["work", "measured", "rows"]).to_csv(path, index=False)
    for shown in (kinds, table.drop(columns="only_source")):
        print(shown.to_string(), "\n")


if __name__ == "__main__":
    main()
