"""The wording of the Accuracy page: sentences, metrics and tables of a comparison."""

import pandas as pd

from calc.charts import accuracy as accuracy_tables
from calc.columns import GLOSSARY
from calc.say.numbers import is_missing, percent
from views.shared.texts import texts_beside

GROUPS = texts_beside(__file__)["accuracy"]["groups"]


def error(ratio: float) -> str:
    """The size of an error in per cent, two digits; exact where it is."""
    if is_missing(ratio):
        return "unknown"
    return "none" if ratio == 0 else f"{100 * ratio:.2g} %" if abs(ratio) >= 5e-5 else "under 0.01 %"


def headline(peaks: pd.DataFrame) -> str:
    """The answer in one sentence, peaks on real GPUs first, simulated ones apart."""
    real = accuracy_tables.on_gpus(peaks)
    sentences = [
        f"{words.format(len(part))}: {error(size['median_error_ratio'])} off at the median, {error(size['worst_error_ratio'])} at worst"
        for words, part, size in (
            (words, part, accuracy_tables.size_of_error(part))
            for words, part in (("On real GPUs, {:,} peaks", peaks[real]), ("{:,} simulated ones", peaks[~real]))
            if len(part)
        )
    ]
    return "; ".join(sentences)


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


def speed_sentence(rows: pd.DataFrame) -> str:
    """The error of time on the figures that nothing was fitted to."""
    held_out = rows[rows["held_out"].astype(str) == "True"]
    sentences = [
        f"{GLOSSARY[name].label.lower()} {error(size['median_error_ratio'])} at the median over {size['cases']} figures"
        for name, size in ((name, accuracy_tables.size_of_error(part)) for name, part in held_out.groupby("measured"))
    ]
    return f"On published figures that nothing was fitted to: {'; '.join(sentences)}."


def refused_models(models: pd.DataFrame) -> str:
    """The models of the catalog that are refused, those of one reason together."""
    groups = models[models["refused"] != ""].groupby("refused", sort=False)["name"].agg(", ".join)
    return "\n".join(f"- {names}: {reason}" for reason, names in groups.items())
