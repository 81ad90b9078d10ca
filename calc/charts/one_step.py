"""A step of reinforcement learning for charts: what each pool of GPUs does and holds."""

import pandas as pd

from calc.evaluate import Row
from calc.say.numbers import percent, with_noun
from calc.units import GIB

TRAINS, GENERATES, BOTH = "Training", "Rollout", "Both"
PHASES = {
    "rollout_seconds": "rollout",
    "log_prob_seconds": "log-probs",
    "update_seconds": "update",
    "sync_seconds": "new weights",
}
WAITS = "waits"
# The moments of memory in each phase of a step.
MOMENTS = {
    "rollout": "rollout",
    "log-probs": "log-probs",
    "update": ("forward", "backward", "step"),
}


def has_rollout(row: Row) -> bool:
    """Return whether a step of this row generates answers and its time is known."""
    return bool((row.get("rollout_seconds") or 0) > 0)


def pools(row: Row) -> dict[str, int]:
    """The GPUs of each pool: those that train and those that generate, or all for both."""
    generating = int(row["rollout_gpus"])
    if row["rollout"] == "own gpus":
        return {TRAINS: int(row["gpus"]) - generating, GENERATES: generating}
    return {BOTH: int(row["gpus"])}


def timeline(row: Row) -> pd.DataFrame:
    """Activities of each pool in one step: pool, rank, activity, start, end, share_ratio.

    One-step-off the rollout is that of the next step and begins with the update of this one.
    """
    seconds = {phase: float(row[name]) for name, phase in PHASES.items()}
    step = float(row["step_seconds"])
    overlaps = row["asynchronous"] == "one-step-off"
    begins = 0.0 if overlaps else seconds["rollout"]
    generating, training = [("rollout", 0.0, seconds["rollout"])], []
    for phase in list(seconds)[1:]:
        training.append((phase, begins, begins + seconds[phase]))
        begins += seconds[phase]
    of_pool = {BOTH: generating + training, TRAINS: training, GENERATES: generating}
    rows = []
    for rank, (pool, gpus) in enumerate(pools(row).items()):
        label = (
            f"{with_noun(gpus, 'GPU')}: {'rollout and training' if pool == BOTH else pool.lower()}"
        )
        for activity, start, end in _with_waits(of_pool[pool], step):
            rows.append(
                {
                    "pool": label,
                    "rank": rank,
                    "activity": activity,
                    "start": start,
                    "end": end,
                    "share_ratio": (end - start) / step,
                }
            )
    return pd.DataFrame(rows)


def _with_waits(
    spans: list[tuple[str, float, float]], step: float
) -> list[tuple[str, float, float]]:
    """The spans of a pool with the time between them, before and after, in which it waits."""
    filled, last = [], 0.0
    for activity, start, end in [*spans, ("", step, step)]:
        if start > last + 1e-9 * step:
            filled.append((WAITS, last, start))
        if end > start:
            filled.append((activity, start, end))
        last = end
    return filled


def idle_sentence(row: Row) -> str:
    """The 2 GPUs that generate wait 63 % of a step, the 6 that train 37 %; both are paid."""
    if row["rollout"] != "own gpus":
        return (
            f"The rollout takes {percent(row['rollout_seconds'] / row['step_seconds'])} of a "
            f"step; no GPU waits for another."
        )
    waits = timeline(row).query("activity == @WAITS").groupby("rank")["share_ratio"].sum()
    gpus = pools(row)
    return (
        f"The {gpus[GENERATES]} that generate wait {percent(waits.get(1, 0.0))} of a step, "
        f"the {gpus[TRAINS]} that train "
        f"{percent(waits.get(0, 0.0))}; both are paid all the time."
    )


def memory_by_pool(row: Row, phases: pd.DataFrame) -> pd.DataFrame:
    """Memory of training and rollout in each phase: phase, rank, pool, gib.

    `phases`: phase, component, bytes (phases_table). Apart, the engine keeps its share of its own
    cards all the time.
    """
    total = phases.groupby("phase")["bytes"].sum()
    engine = phases[phases["component"] == "rollout_engine_bytes"].set_index("phase")["bytes"]
    apart = row["rollout"] == "own gpus"
    share = float(row["rollout_share"]) * float(row["gpu_memory_bytes"])
    rows = []
    for rank, (phase, names) in enumerate(MOMENTS.items()):
        moments = [
            name for name in ((names,) if isinstance(names, str) else names) if name in total.index
        ]
        if moments:
            largest = max(moments, key=total.__getitem__)
            by_pool = {
                TRAINS: total[largest] - engine[largest],
                GENERATES: share if apart else engine[largest],
            }
            rows += [
                {"phase": phase, "rank": rank, "pool": pool, "gib": value / GIB}
                for pool, value in by_pool.items()
            ]
    return pd.DataFrame(rows)
