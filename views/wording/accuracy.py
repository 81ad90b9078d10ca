"""How a comparison of calc/charts/accuracy.py reads on the Accuracy page: sentences, metrics, tables."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from calc.charts import accuracy as accuracy_tables
from calc.columns import GLOSSARY
from calc.evaluate import Row
from calc.say.numbers import is_missing, percent
from views.tables import NUMBER, TEXT, show, text_table

GROUPS = {
    "training": "one training step on one GPU, its peak",
    "LoRA": "one training step with adapters",
    "QLoRA": "forward and backward of four blocks, adapters over 4-bit and 8-bit weights",
    "recompute": "forward and backward of four blocks under a recompute policy",
    "FSDP": "one step of FSDP2 on one of several GPUs",
    "HSDP": "one step of FSDP2 in groups that are replicas of each other",
    "CPU offload": "one step of FSDP2 whose shards live in CPU memory",
    "DDP": "one step of DDP on one of several GPUs",
    "gradient accumulation": "the last of several micro-batches of a training step on one GPU",
    "pipeline parallel": "one step of torchtitan's Llama on the fuller end of a pipeline",
    "expert parallel": "one step of torchtitan's blocks with routed experts under FSDP2, its expert parallel inside",
    "context parallel": "one step of torchtitan's Llama under FSDP2 and a ring of context parallel",
    "FSDP with tensor parallel": "one step of torchtitan's Llama on one of a grid of GPUs",
    "tensor parallel": "forward and backward of four blocks of torchtitan's Llama",
    "inference": "a prefill and one decoded token",
    "published training, high confidence": "peaks that were published of training runs on real GPUs, every setting known",
    "published training, medium confidence": "what the allocator had reserved in published training runs on real GPUs",
    "published inference, high confidence": "peaks that were published of serving on real GPUs, every setting known",
    "published inference, medium confidence": "peaks that were published of serving quantised weights on real GPUs",
    "saved activations": "what waits for the backward pass when the forward pass ends",
    "KV cache": "bytes of the cache after one forward pass",
    "parameters": "parameters of the whole model",
    "measured training": "steps on a GPU: what PyTorch allocated, and what the driver counted",
    "measured inference": "serving on a GPU: what PyTorch allocated, and what the driver counted",
}
SETTING = ("precision", "tuning", "recompute", "attention", "optimizer", "sharding", "implementation")
PERCENT = "%.2f %%"


def error(ratio: float) -> str:
    """The size of an error in per cent, two digits; exact where it is."""
    if is_missing(ratio):
        return "unknown"
    return "none" if ratio == 0 else f"{100 * ratio:.2g} %" if abs(ratio) >= 5e-5 else "under 0.01 %"


def headline(peaks: pd.DataFrame) -> str:
    """The answer in one sentence, peaks on real GPUs first, simulated ones apart."""
    real = accuracy_tables.on_gpus(peaks)
    said = [
        f"{words.format(len(part))}: {error(size['median_error_ratio'])} off at the median, {error(size['worst_error_ratio'])} at worst"
        for words, part, size in (
            (words, part, accuracy_tables.size_of_error(part))
            for words, part in (("On real GPUs, {:,} peaks", peaks[real]), ("{:,} simulated ones", peaks[~real]))
            if len(part)
        )
    ]
    return "; ".join(said)


def introduction(errors: pd.DataFrame, peaks: int, real: int) -> str:
    """What the cases are and how far they go."""
    return (
        f"{len(errors):,} cases stand against the estimate of today's formulas. {real:,} peaks are of runs on real GPUs, published with "
        f"their settings, or measured by `make measure`; {peaks - real:,} are simulated: real models run one step on no GPU "
        "with every storage followed. A simulation has no context, no library workspace and no allocator slack: our own overhead "
        "is added before it is put beside the range."
    )


def verdicts(rows: pd.DataFrame) -> str:
    """What is said of published runs that ran, and of those that ran out of memory."""
    ran, failed = (rows[rows["outcome"] == outcome]["fits"] for outcome in ("ran", "out of memory"))
    return (
        f"Of {len(ran):,} published runs that ran, {percent((ran == 'no').mean())} are called no and "
        f"{percent((ran == 'tight').mean())} tight; of {len(failed):,} that ran out of memory, "
        f"{int((failed == 'yes').sum()):,} are called yes."
    )


def metrics(size: dict[str, float], errors: pd.DataFrame) -> tuple[tuple[str, ...], ...]:
    """The four numbers of the page: label, value, note."""
    refused = int((errors["problem"] != "").sum())
    return (
        ("Median error of a peak", error(size["median_error_ratio"]), f"{size['cases']:,} peaks"),
        ("90th percentile", error(size["p90_error_ratio"]), "nine of ten are closer"),
        ("Inside the stated range", percent(size["inside_ratio"]), "our own overhead added"),
        ("Answered", f"{len(errors) - refused:,} of {len(errors):,}", f"{refused:,} refused in their row"),
    )


def summary(rows: pd.DataFrame, by_family: bool) -> None:
    """The error of every group, or of every group and family."""
    rows = rows[rows["family"] != ""] if by_family else rows[rows["family"] == ""]
    rows = rows.assign(on_gpus=accuracy_tables.on_gpus(rows)).sort_values("on_gpus", ascending=False, kind="stable")
    table = accuracy_tables.in_percent(rows).assign(
        meaning=rows["group"].map(GROUPS).fillna(""), seen=rows["on_gpus"].map({True: "real GPUs", False: "simulated"})
    )
    columns = {"group": TEXT("Group", pinned=True), "seen": TEXT("Truth")}
    columns |= {"family": TEXT("Family", pinned=True)} if by_family else {}
    columns |= {
        "cases": NUMBER("Cases", format="%d"),
        "refused": NUMBER("Refused", format="%d"),
        "median_error_percent": NUMBER("Median", format=PERCENT, help="Median size of the error."),
        "p90_error_percent": NUMBER("90th percentile", format=PERCENT),
        "worst_error_percent": NUMBER("Worst", format=PERCENT),
        "mean_signed_error_percent": NUMBER("Mean, signed", format=PERCENT, help="Below zero: the estimate is low."),
        "inside_percent": NUMBER("Inside the range", format="%.0f %%", help="Share of the truth in the stated range."),
        "half_width_percent": NUMBER(
            "Half width", format="%.1f %%", help="Of the range at the median: cases above 6 GiB, none extrapolated."
        ),
    }
    columns |= {} if by_family else {"meaning": TEXT("A case is", width="large")}
    show(table, columns, "Error of the estimate by group", "summary", height=480 if by_family else "content")


def misses(rows: pd.DataFrame) -> None:
    """The worst cases, each with why."""
    _missed(rows, "Case", ("model", "quantity", "case"), _setting, "+.2g", "The cases that miss most, and why")


def missed_times(rows: pd.DataFrame) -> None:
    """The times that miss most, each with why."""
    names = ("published_model", "measured", "source")
    _missed(rows, "Run", names, _run, "+.0f", "The published times that miss most, and why")


def _missed(rows: pd.DataFrame, what: str, names: tuple[str, ...], setting: Callable, digits: str, alt: str) -> None:
    """A line for each row: its model, quantity, setting and origin (the columns `names`, but for the setting); its error; why."""
    model, quantity, origin = names
    lines = [
        {
            what: f"{row[model]}, {GLOSSARY[row[quantity]].label.lower()}: {setting(row)} *({row[origin]})*",
            "Error": f"{100 * row['error_ratio']:{digits}} %",
            "Why": row["why"] + (f" *{row['why_source']}*" if row["why_source"] else ""),
        }
        for row in rows.to_dict("records")
    ]
    text_table(lines, alt)


def _run(row: Row) -> str:
    gpus = f"{row['gpus']} × " if str(row["gpus"]) not in ("", "1") else ""
    return (
        f"{row['engine']} {row['engine_release']}".strip()
        + f", {gpus}{row['gpu']}, {row['precision']}, {row['batch']} × {row['sequence_tokens']}"
    )


def _setting(row: Row) -> str:
    said = [str(row[name]) for name in SETTING if name in row and str(row[name]) not in ("", "none", "full", "flash")]
    said += ["recompute full"] if str(row.get("recompute")) == "full" else []
    said += [f"{row['gpus']} GPUs"] if str(row.get("gpus")) not in ("", "1", "None") else []
    return ", ".join(said) + f", {row['batch']} × {row['sequence_tokens']}"


def reasons(rows: pd.DataFrame, alt: str, key: str) -> None:
    """Why cases are not compared, most frequent first."""
    columns = {"cases": NUMBER("Cases", format="%d"), "reason": TEXT("Reason", width="large"), "models": TEXT("Models", width="medium")}
    if len(rows):
        show(rows, columns, alt, key)
    else:
        st.caption("None.")


def speed(rows: pd.DataFrame) -> None:
    """The error of time by source of the published figures."""
    seen = rows["held_out"].astype(str).map({"True": "held out", "False": "looked at"})
    columns = {
        "source": TEXT("Published by", pinned=True),
        "software": TEXT("Software", help="Engines that the estimate does not know by name are asked as vLLM."),
        "gpu": TEXT("Card"),
        "what": TEXT("What"),
        "seen": TEXT("Rows", help="Held out: not looked at when the catalogs of time were fitted."),
        "cases": NUMBER("Figures", format="%d"),
        "median_error_percent": NUMBER("Median", format="%.0f %%"),
        "bias_percent": NUMBER("Signed median", format="%+.0f %%"),
        "p90_error_percent": NUMBER("90th percentile", format="%.0f %%"),
        "inside_percent": NUMBER("Inside the range", format="%.0f %%"),
    }
    what = rows["measured"].map(lambda name: GLOSSARY[name].label)
    software = (rows["engine"] + " " + rows["engine_release"].fillna("").astype(str)).str.strip()
    show(
        accuracy_tables.in_percent(rows).assign(seen=seen, what=what, software=software),
        columns,
        "Error of time by source",
        "speed",
        height=420,
    )


def speed_sentence(rows: pd.DataFrame) -> str:
    """The error of time on the figures that nothing was fitted to."""
    held = rows[rows["held_out"].astype(str) == "True"]
    said = [
        f"{GLOSSARY[name].label.lower()} {error(size['median_error_ratio'])} at the median over {size['cases']} figures"
        for name, size in ((name, accuracy_tables.size_of_error(part)) for name, part in held.groupby("measured"))
    ]
    return f"On published figures that nothing was fitted to: {'; '.join(said)}."


def refused_models(models: pd.DataFrame) -> str:
    """The models of the catalog that are refused, those of one reason together."""
    groups = models[models["refused"] != ""].groupby("refused", sort=False)["name"].agg(", ".join)
    return "\n".join(f"- {names}: {reason}" for reason, names in groups.items())
