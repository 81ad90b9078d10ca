"""A step of reinforcement learning for charts: what each pool of GPUs does and stores."""

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
    "rollout": ("rollout",),
    "log-probs": ("log-probs",),
    "update": ("forward", "backward", "step"),
}


def has_rollout(row: Row) -> bool:
    """Return whether a step of this row generates answers and its time is known."""
    return bool((row.get("rollout_seconds") or 0) > 0)


def pools(row: Row) -> dict[str, int]:
    """Return the number of GPUs of each pool: of training and of rollout, or of one for both."""
    rollout_gpus = int(row["rollout_gpus"])
    if row["rollout"] == "own gpus":
        return {TRAINS: int(row["gpus"]) - rollout_gpus, GENERATES: rollout_gpus}
    return {BOTH: int(row["gpus"])}


def timeline(row: Row) -> pd.DataFrame:
    """Return the activities of each pool in one step, with start and end in seconds.

    Columns: pool, rank, activity, start, end, share_ratio (of the step). If training is one step
    off, the rollout is that of the next step and begins with this step's training.
    """
    seconds = {phase: float(row[name]) for name, phase in PHASES.items()}
    step_seconds = float(row["step_seconds"])
    start = 0.0 if row["asynchronous"] == "one-step-off" else seconds["rollout"]
    rollout, training = [("rollout", 0.0, seconds["rollout"])], []
    for phase in list(seconds)[1:]:
        training.append((phase, start, start + seconds[phase]))
        start += seconds[phase]
    of_pool = {BOTH: rollout + training, TRAINS: training, GENERATES: rollout}
    rows = []
    for rank, (pool, gpus) in enumerate(pools(row).items()):
        label = (
            f"{with_noun(gpus, 'GPU')}: {'rollout and training' if pool == BOTH else pool.lower()}"
        )
        for activity, start, end in _with_waits(of_pool[pool], step_seconds):
            rows.append(
                {
                    "pool": label,
                    "rank": rank,
                    "activity": activity,
                    "start": start,
                    "end": end,
                    "share_ratio": (end - start) / step_seconds,
                }
            )
    return pd.DataFrame(rows)


def _with_waits(
    spans: list[tuple[str, float, float]], step_seconds: float
) -> list[tuple[str, float, float]]:
    """Return the spans of a pool, and a span of WAITS wherever it does nothing."""
    with_waits, last = [], 0.0
    for activity, start, end in [*spans, ("", step_seconds, step_seconds)]:
        if start > last + 1e-9 * step_seconds:
            with_waits.append((WAITS, last, start))
        if end > start:
            with_waits.append((activity, start, end))
        last = end
    return with_waits


def idle_sentence(row: Row) -> str:
    """Say how long each pool waits: The 2 that generate wait 63 % of a step, ...

    If training and rollout share their GPUs, say how much of the step the rollout takes.
    """
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
    """Return the memory of training and rollout in each phase: phase, rank, pool, gib.

    `phases`: phase, component, bytes (phases_table). On cards of its own, the rollout engine takes
    its share of them all the time.
    """
    total_bytes = phases.groupby("phase")["bytes"].sum()
    engine_bytes = phases[phases["component"] == "rollout_engine_bytes"].set_index("phase")["bytes"]
    has_own_gpus = row["rollout"] == "own gpus"
    share_bytes = float(row["rollout_share"]) * float(row["gpu_memory_bytes"])
    rows = []
    for rank, (phase, names) in enumerate(MOMENTS.items()):
        moments = [name for name in names if name in total_bytes.index]
        if moments:
            largest = max(moments, key=total_bytes.__getitem__)
            by_pool = {
                TRAINS: total_bytes[largest] - engine_bytes[largest],
                GENERATES: share_bytes if has_own_gpus else engine_bytes[largest],
            }
            rows += [
                {"phase": phase, "rank": rank, "pool": pool, "gib": value / GIB}
                for pool, value in by_pool.items()
            ]
    return pd.DataFrame(rows)
