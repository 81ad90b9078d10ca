"""What is said of an answer: how it is set, what decided, which limit is missed and by how much. Words for an ML lead."""

from collections.abc import Callable, Mapping
from typing import Any

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.search.limits import STEP_FACTOR
from calc.units import GIB, HOUR_SECONDS, MILLISECONDS
from calc.words import card_name, name_of, said

# limit -> what the row has, what the job allows, and what to change
MISSED = {
    "hours_most": ("takes {has}", "{most} allowed", "allow that time, more instances or other cards"),
    "step_tokens": ("takes a step of {has} tokens", "{most} asked for", "set another micro-batch, accumulation or step_tokens"),
    "first_token_seconds": ("gives the first token after {has}", "{most} allowed", "allow that time, or shorter prompts"),
    "token_seconds": ("takes {has} for each token", "{most} allowed", "allow that time, or fewer bits"),
    "users": ("answers {has} at once", "{most} asked for", "allow more instances, or set fewer by hand"),
    "requests_per_second": ("keeps up with {has} requests a second", "{most} asked for", "allow more instances, or fewer requests"),
    "usd_most": ("costs {has}", "{most} allowed", "allow that much, or fewer tokens or hours"),
    "usd_per_hour_most": ("costs {has} an hour", "{most} allowed", "allow that much, or more time on smaller cards"),
    "instances_most": ("needs {has} instances", "{most} allowed", "allow that many"),
}
FAR_RATIO, WHOLE_RATIO = 2, 10
BRIEF_SECONDS = 600  # a run in which starting its instances counts


def money(usd: float) -> str:
    """USD as people say them: $3.36, $245."""
    return f"${usd:,.0f}" if usd >= 100 else f"${usd:,.2f}"


def duration(seconds: float) -> str:
    """Hours, minutes, seconds or milliseconds, to a tenth below sixty of them."""
    for least, unit, name in ((HOUR_SECONDS, HOUR_SECONDS, "h"), (120, 60, "min"), (1, 1, "s")):
        if seconds >= least:
            return f"{seconds / unit:,.{0 if seconds >= 60 * unit else 1}f} {name}"
    return f"{seconds * MILLISECONDS:,.1f} ms"


def more(ratio: float) -> str:
    """A ratio above 1 in words: 6 % more, 3.2 times as much, 42 times as much."""
    if ratio >= WHOLE_RATIO:
        return f"{ratio:,.0f} times as much"
    if ratio >= FAR_RATIO:
        return f"{ratio:,.1f} times as much"
    return "under 1 % more" if ratio < 1.01 else f"{100 * (ratio - 1):.0f} % more"


def place(row: Mapping[str, Any]) -> str:
    """2 x p5.48xlarge, with its market where that is not on demand."""
    market = "" if row["market"] == "on-demand" else f" {MARKETS[row['market']].phrase}"
    return f"{row['instances_needed']:.0f} x {row['instance']}{market}"


def setting(row: Mapping[str, Any], catalogs: Catalogs) -> str:
    """How the GPUs share the work: FSDP over 8 A100 SXM4 80GB, tensor parallel 2."""
    card, gpus = card_name(row["gpu"], catalogs), row["gpus"]
    replicas = gpus / (row["tensor_parallel"] * row["pipeline_parallel"] * row["context_parallel"])
    parts = []
    if row["work"] == "inference":
        parts.append(f"{replicas:.0f} replicas of {gpus / replicas:.0f} {card}" if replicas > 1 else f"{gpus:.0f} {card}")
        at_once = "1 sequence" if row["batch"] == 1 else f"{row['batch']:,.0f} sequences"
        parts.append(row["precision"] + (f" with an {row['kv_precision']} cache" if row["kv_precision"] else ""))
        parts.append(f"{at_once}{' on each' if replicas > 1 else ' at once'}")
    else:
        plain = {"none": "data parallel", "zero1": "ZeRO 1", "zero2": "ZeRO 2", "zero3": "FSDP"}
        how = plain.get(row["sharding"]) or name_of("sharding", row["sharding"], catalogs)
        shared = f"{gpus:.0f} {card}" if replicas in (1, gpus) else f"{replicas:.0f} replicas of {gpus / replicas:.0f} {card}"
        parts.append(f"{how} over {shared}" if replicas > 1 else shared)
        if row["recompute"] != "none":
            parts.append(said("recompute", row["recompute"], catalogs))
    if row["tensor_parallel"] > 1:
        parts.insert(1, f"tensor parallel {row['tensor_parallel']:.0f}")
    return ", ".join(parts)


def missed(name: str, ratio: float, whole: Mapping[str, Any], step_tokens: float) -> str:
    """Which limit a row misses, and by how much."""
    asked = whole[name]
    has, most, _ = MISSED[name]
    if name == "step_tokens":
        return f"{has.format(has=f'{step_tokens:,.0f}')}, beyond a factor of {STEP_FACTOR:.0f} ({most.format(most=f'{asked:,.0f}')})"
    if name in ("users", "requests_per_second"):
        return f"{has.format(has=count(asked / ratio))} ({most.format(most=count(asked))})"
    spell = spoken(name)
    slow = " at the slow end of the range" if whole["hold_slow_end"] == "yes" and ("hours" in name or "seconds" in name) else ""
    return f"{has.format(has=spell(asked * ratio))}{slow}, {more(ratio)} ({most.format(most=spell(asked))})"


def smaller(whole: Mapping[str, Any], published_bits: int) -> str:
    """What makes an arrangement smaller: first to free what is set by hand, then the bits of the published weights."""
    fixed, serves = whole["fixed"], whole["work"] == "inference"
    cures = {
        "sharding": "FSDP" if "none" in fixed.get("sharding", ()) else "",
        "batch": ("fewer sequences at once" if serves else "a smaller micro-batch") if max(fixed.get("batch", [1])) > 1 else "",
        "recompute": "recompute" if "none" in fixed.get("recompute", ()) else "",
    }
    parts = [f"set {' or '.join(filter(None, cures.values()))}"] if any(cures.values()) else []
    parts += ["allow larger instances"]
    fewer = "take fewer bits" if serves or whole["method"] != "full" else "take LoRA or fewer bits"
    parts += [f"allow {published_bits} bits, in which its weights are published" if published_bits else fewer]
    return f"{', '.join(parts[:-1])}, or {parts[-1]}"


def count(value: float) -> str:
    """A count or a rate, to a tenth where it is small and broken."""
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:,.1f}"


def spoken(name: str) -> Callable[[float], str]:
    """How a limit's numbers are said."""
    if "usd" in name:
        return money
    if "hours" in name:
        return lambda hours: duration(hours * HOUR_SECONDS)
    return duration if "seconds" in name else "{:,.0f}".format


def why(names: list[str], row: Mapping[str, Any], facts: Mapping[str, Any], whole: Mapping[str, Any], catalogs: Catalogs) -> str:
    """What decided: one sentence. `facts`: possible, budget, the least-money row, the next, one that yields, published_bits."""
    how, place_ = setting(row, catalogs), place(row)
    if names == ["nearest"]:
        return f"Nearest of what was tried: {how} on {place_}."
    trains = whole["work"] == "training"
    parts = []
    if "least-money" in names:
        also = {("fastest",): " and fastest", ("roomiest",): " and roomiest", ("fastest", "roomiest"): ", fastest and roomiest"}
        kind = also.get(tuple(name for name in names if name != "least-money"), "")
        many = f" of {facts['possible']:,} arrangements that run, fit and keep the limits" if facts["possible"] > 1 else ""
        only = "" if many else ", the only one that runs, fits and keeps the limits"
        parts.append(f"Least money{kind}{many}{only}: {how} on {place_}")
        if facts["next"] is not None:
            beside = place(facts["next"])
            beside = beside if beside != place_ else setting(facts["next"], catalogs)
            parts.append(f"the next, {beside}, costs {_against(facts['next']['usd'], row['usd'])}")
        if facts["older"] is not None:
            parts.append(f"{place(facts['older'])} at {money(facts['older']['usd'])} rests on an old price and yields to this one")
        if facts["published_bits"]:
            parts.append(f"its weights are published in {facts['published_bits']} bits, which are not allowed here")
    else:
        budget = f" of those that cost at most {{}} times the least money ({money(facts['least']['usd'])})"
        parts += ["Fastest" + ("" if facts["budget"] else budget.format("3"))] if "fastest" in names else []
        room = f"{row['headroom_bytes'] / GIB:,.1f} of {row['gpu_memory_bytes'] / GIB:,.1f} GiB free"
        parts += [f"Most headroom{budget.format('1.5')}, {room}"] if names == ["roomiest"] else []
        time, usual = duration(row["seconds"]), duration(facts["least"]["seconds"])
        instead = "" if time == usual else f", {time}{'' if trains else ' a token'} instead of {usual}"
        parts[0] += f"{' and roomiest' if len(names) > 1 else ''}: {how} on {place_}{instead}"
    if whole["requests_per_second"]:
        at_once = row["batch"] * row["gpus"] / (row["tensor_parallel"] * row["pipeline_parallel"])
        parts.append(
            f"{count(whole['requests_per_second'])} requests a second keep {at_once:,.0f} sequences busy (rate x time of a request)"
        )
    if trains and row["seconds"] < BRIEF_SECONDS:
        parts.append("starting the instances and loading the model are not counted")
    if row["market"] == "spot" and not trains:
        parts.append(f"{count(row['spare_instances'])} spare in another zone or of another type counted; capacity is not promised")
    return "; ".join(parts) + "."


def _against(usd: float, least: float) -> str:
    """Money beside the least: more, as much, or less by what counts as a tie."""
    return "as much within 0.5 %" if usd <= least * 1.005 else more(usd / least)
