"""The sentences and numbers of the Run and month page."""

from calc.cost.markets import MARKETS
from calc.units import GIB
from calc.words import name_of
from views.wording.numbers import count, duration, gib, hours, is_missing, percent, three, usd

VERBS = {"training": "trained on", "inference": "served"}


def heading(row, catalogs):
    """The answer in one sentence."""
    model = name_of("model", row["model"], catalogs)
    if row["problem"]:
        return f"{model}: no bill for this plan"
    if row["work"] == "inference":
        return (
            f"{model} on {where(row)}: {usd(row['usd_per_million_output_tokens'])} per million output tokens, "
            f"{usd(row['usd_per_month_on_demand'])} a month on demand"
        )
    return (
        f"{count(row['train_tokens'])} tokens of {model} on {where(row)}: {usd(row['run_usd_on_demand'])} on demand, "
        f"{usd(row['run_usd_spot'])} on spot"
    )


def where(row):
    """2 × p5.48xlarge."""
    return f"{row['instances_needed']:.0f} × {row['instance']}" if row["instance"] else f"{row['gpus']:.0f} GPUs"


def between(low, high, say=duration):
    """3.35 to 7.58 hours: the stated range."""
    return f"{say(low)} to {say(high)}"


def run(row):
    """Label, value, note of a training run."""
    spot_more = f"interruptions and checkpoints add {100 * row['spot_overhead_ratio']:.2g} % time"
    on_spot = f"{usd(row['usd_per_hour_spot'])} per hour; {hours(row['spot_run_hours'])}"
    return (
        ("Time of the run", hours(row["run_hours"]), between(row["run_low_hours"], row["run_high_hours"], hours)),
        ("On demand", usd(row["run_usd_on_demand"]), f"{usd(row['usd_per_hour_on_demand'])} per hour"),
        ("On spot", usd(row["run_usd_spot"]), on_spot),
        ("Spot saves", percent(row["spot_saving_ratio"]), spot_more),
        ("A million tokens", usd(row["usd_per_million_trained_tokens"]), "on demand"),
    )


def spot(row):
    """Label, value, note of what interruptions do to the run."""
    known = "the middle of AWS's band " + row["interruption_band"] if row["interruption_band"] else "no band published"
    told = "as set below" if row["interruption_month_ratio"] > 0 else known
    young = duration(row["young_interval_seconds"])
    each = f"one in {duration(row['mean_uninterrupted_seconds'])}"
    return (
        ("Interruptions expected", three(row["expected_interruptions"]), each),
        ("Interrupted in a month", f"{100 * row['interruption_ratio']:.3g} %", told),
        ("Checkpoint", gib(row["checkpoint_bytes"] / GIB), f"written in {duration(row['checkpoint_seconds'])}"),
        ("Best interval", duration(row["checkpoint_interval_seconds"]), f"Daly; to first order {young}, Young"),
    )


def lost(row):
    """What the overhead on spot is made of, in a sentence."""
    parts = (
        (row["checkpoint_hours"], "writing checkpoints"),
        (row["lost_work_hours"], "work done twice"),
        (row["restart_hours"], "restarts"),
    )
    said = ", ".join(f"{duration(each * 3600)} {words}" for each, words in parts)
    saved = row["run_usd_on_demand"] - row["run_usd_spot"]
    return (
        f"On spot the run takes {hours(row['spot_run_hours'])} instead of {hours(row['run_hours'])}: {said}. "
        f"After that spot saves {usd(saved)} of {usd(row['run_usd_on_demand'])}."
    )


SOURCES = (
    "Best interval between checkpoints: Young 1974, CACM 17(9), 530-531 (√(2 δ M)); Daly 2006, FGCS 22(3), 303-312, "
    "equation 37; the run's time with interruptions: the same, equation 20. δ: one checkpoint, M: mean time between "
    "interruptions of the whole job. One instance taken back stops all of them."
)


def serving(row):
    """Label, value, note of serving."""
    batch = f"{row['batch']:,.0f} at once" if row["batch"] > 1 else "one at a time"
    first = between(row["time_to_first_token_low_seconds"], row["time_to_first_token_high_seconds"])
    burst = between(row["burst_first_token_low_seconds"], row["burst_first_token_high_seconds"])
    each = between(row["time_per_output_token_low_seconds"], row["time_per_output_token_high_seconds"])
    rate = f"{three(row['low_tokens_per_second'])} to {three(row['high_tokens_per_second'])}, {batch}"
    return (
        ("Time to first token", duration(row["time_to_first_token_seconds"]), first),
        ("All prompts at one moment", duration(row["burst_first_token_seconds"]), burst),
        ("Time per token", duration(row["time_per_output_token_seconds"]), each),
        ("Tokens per second", three(row["tokens_per_second"]), rate),
        ("Million input tokens", usd(row["usd_per_million_input_tokens"]), "on demand"),
        ("Million output tokens", usd(row["usd_per_million_output_tokens"]), "on demand"),
    )


def month(row):
    """Label, value, note of a month."""
    up = f"{row['hours_per_month']:,.0f} hours up"
    saves = percent(1 - row["usd_per_month_spot"] / row["usd_per_month_on_demand"])
    numbers = [
        ("A month on demand", usd(row["usd_per_month_on_demand"]), up),
        ("A month on spot", usd(row["usd_per_month_spot"]), f"{up}; spot saves {saves}"),
    ]
    if not is_missing(row["load_deployments"]):
        load = f"{three(row['served_tokens_per_second'])} tokens per second"
        numbers += [
            ("Instances for the load", f"{row['load_instances']:,.0f}", f"{load}, {row['load_deployments']:,.0f} copies"),
            ("The load, a month", usd(row["load_usd_per_month_on_demand"]), "on demand"),
        ]
    return tuple(numbers)


def load_note(row):
    """How many a load takes, and what a month on spot leaves out."""
    each = three(row["tokens_per_second"])
    asked = "" if row["served_tokens_per_second"] else " Set the load to serve below to see how many it takes."
    spare = " On spot AWS takes instances back at two minutes' notice; spare ones are not counted."
    return f"One deployment generates {each} tokens per second.{asked}{spare}"


def fits_note(row):
    """A warning where the bill is of a plan that does not fit."""
    return {"no": "This plan does not fit its card: the bill is of a run that would fail.", "": ""}.get(row["fits"], "")


def prices(row, catalogs):
    """One row per price used: USD per instance-hour, what it rests on, and of when it is."""
    table = catalogs.prices
    found = table[(table["instance"] == row["instance"]) & (table["region"] == row["region"])]
    if not len(found):
        return []
    price = found.iloc[0]
    low, high = price["spot_low_usd_per_hour"], price["spot_high_usd_per_hour"]
    zones = "" if is_missing(low) else f", from {usd(low)} to {usd(high)}"
    return [_price(market, price, zones if market.interrupted else "") for market in MARKETS.values()]


def _price(market, price, zones):
    value, kind = price[market.price], market.key
    known = not is_missing(float(value))
    return {
        "Price": market.label.capitalize(),
        "USD per instance-hour": float(value),
        "Is": str(price.get(f"{kind}_basis", price.get(f"{kind}_kind", "")) or "") if known else "not known here",
        "Of": str(price[f"{kind}_as_of"] or "") if known else "",
        "Note": market.note + zones if known else "",
        "Source": str(price[f"{kind}_source"] or "") if known else "",
    }
