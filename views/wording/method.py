"""The wording of the Method page: derivations as lines, columns and costs."""

import numpy as np
import pandas as pd

from calc.columns import GLOSSARY
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.explain.bill import THE_OTHERS
from calc.explain.traced import plain_number
from calc.say.numbers import count, gib, usd
from calc.units import GIB

NO_SOURCE = ("", "chosen", "from the choices")
UNITS = {"B per element": " B", "B per token": " B per token", "tokens": " tokens"}
VECTORS = {
    "saved": "saved for the backward pass",
    "saved_alone": "saved where the micro-batch is one sequence",
    "saved_eight_bit": "saved where products are in 8 bits",
    "frozen": "saved where the weights are frozen (LoRA)",
    "checkpoint": "kept with full recompute",
    "selective_ops": "kept with recompute per operation",
    "backward": "worst moment of the block's backward pass",
    "recomputed": "worst moment of it where the block is recomputed",
    "forward": "worst moment of a forward pass alone",
}
LEFT_OUT = (
    "Other processes on the card, evaluation or generation during training, a moving average of the weights.",
    "What a program keeps by itself: outputs kept by a training loop, hooks, logging, a second model.",
    "Saving: a full state dict gathered on one GPU puts the whole model there for a while.",
    "What a kernel takes inside one call: flash attention's backward pass keeps about 4 bytes per query element; the range carries it.",
    "Steps of uneven length: the longest micro-batch counts, so plan with its length.",
    "Padding, packing and uneven routing of experts: tokens are taken to be spread evenly.",
    "Derived from source and not simulated: Megatron's own kernels, expert parallel, pipelines outside torchtitan, "
    "offloaded activations, fp8 training, compiled blocks.",
)
SOURCES = (
    ("ZeRO: what is divided at which stage", "Rajbhandari et al. 2019", "https://arxiv.org/abs/1910.02054"),
    ("Activations, sequence parallel and selective recompute", "Korthikanti et al. 2022", "https://arxiv.org/abs/2205.05198"),
    ("Pipeline stages and micro-batches in flight", "Narayanan et al. 2021", "https://arxiv.org/abs/2104.04473"),
    ("Interval between checkpoints, first order", "Young 1974, CACM 17(9), 530-531", "https://doi.org/10.1145/361147.361115"),
    (
        "Interval between checkpoints and a run's time with interruptions",
        "Daly 2006, FGCS 22(3)",
        "https://doi.org/10.1016/j.future.2004.11.016",
    ),
    ("LoRA", "Hu et al. 2021", "https://arxiv.org/abs/2106.09685"),
    ("NF4 and double quantisation", "Dettmers et al. 2023", "https://arxiv.org/abs/2305.14314"),
    ("8-bit optimizer states", "Dettmers et al. 2021", "https://arxiv.org/abs/2110.02861"),
    ("Attention without stored scores", "Dao et al. 2022", "https://arxiv.org/abs/2205.14135"),
    ("Paged KV cache", "Kwon et al. 2023", "https://arxiv.org/abs/2309.06180"),
    ("FSDP2, DDP, optimizers", "PyTorch", "https://github.com/pytorch/pytorch"),
    ("Models and their losses", "Hugging Face Transformers", "https://github.com/huggingface/transformers"),
    ("Adapters", "PEFT", "https://github.com/huggingface/peft"),
    ("ZeRO's buckets and buffers", "DeepSpeed", "https://github.com/deepspeedai/DeepSpeed"),
    ("Start-up profile and cache of the engine", "vLLM", "https://github.com/vllm-project/vllm"),
    ("Time to first token: an arriving prompt's wait", "Pollaczek and Khinchine, M/D/1", "https://en.wikipedia.org/wiki/M/D/1_queue"),
    ("Head and loss in one", "Liger Kernel", "https://github.com/linkedin/Liger-Kernel"),
)

RUNS_MEANING = {
    "yes": "It runs: nothing is known against this software, card, number format, cache, attention and host.",
    "emulated": "It runs, slower than its format promises. Times are given only where the speed of what runs is known.",
    "unknown": "Not verified: nobody was found who says that it runs, or that it does not. Try it before renting many.",
    "no": "It does not run, or not within the memory of the plan. The memory stands as it would be; there is no time and no cost of a run.",
}
CHOICE_NAMES = {"loading": "Loading", "host": "Host", "precision": "Precision", "kv_precision": "KV cache", "compile": "Compile"}


def written(name: str, value: np.ndarray) -> str:
    """A number as an equation shows it: memory in GiB, large counts in words."""
    values = np.ravel(value)
    if values.dtype.kind not in "bif" or len(set(values.tolist())) != 1 or not np.isfinite(values[0]):
        return plain_number(name, value)
    one = float(values[0])
    if name.endswith("_bytes"):
        return gib(one / GIB)
    return count(one) if abs(one) >= 1e6 else plain_number(name, one)


def value_text(name: str, value: np.ndarray, unit: str) -> str:
    """A value beside its unit."""
    text = written(name, value)
    return text if text.endswith("GiB") else text + UNITS.get(unit, "")


def derivation(rows: pd.DataFrame) -> str:
    """The formulas of a component as lines: description, equation, numbers, value."""
    return "\n\n".join(_lines(row) for row in rows.to_dict("records"))


def _lines(row: Row) -> str:
    result = value_text(row["formula"] if row["unit"] != "B" else "_bytes", row["value"], row["unit"])
    name = row["component"] if row["step"] == 0 and row["component"] not in ("layout", THE_OTHERS) else row["formula"]
    steps = [step for step in dict.fromkeys((row["today"], row["numbers"])) if not result.startswith(step)]
    first, *others = [*steps, result]
    return f"# {prose(row['says'])}\n{name} = {first}" + "".join(f"\n    = {step}" for step in others)


COSTS = {
    "usd": "The bill",
    "period_usd": "A year in the plan's bill",
    "committed_usd": "What is signed for",
    "break_even_hours_per_month": "From how many hours a month on it pays off",
    "usd_per_million_trained_tokens": "A million trained tokens, on demand",
    "usd_per_million_input_tokens": "A million prompt tokens, on demand",
    "usd_per_million_output_tokens": "A million generated tokens, on demand",
    "endpoint_break_even_tokens": "Generated tokens a day from which on own instances cost less than the endpoint",
}


def cost_title(row: pd.Series) -> str:
    """The bill · $84.63."""
    value, name = float(row["value"][0]), row["component"]
    if name not in COSTS:
        return "**The other figures of price, spot and storage**"
    sentence = f"{value:,.0f} h" if name.endswith("hours_per_month") else count(value) if name.endswith("even_tokens") else usd(value)
    return f"**{COSTS[name]}** · {sentence}"


def bill(row: Row) -> str:
    """What is billed, in a sentence."""
    period = "the run" if row["work"] == "training" else "a month"
    return (
        f"{usd(row['usd'])} for {period} {MARKETS[row['market']].phrase}, as on Bill: hours that are billed times what all instances cost "
        "an hour. Times come from the formulas of calc/speed; how sure they are: Bill."
    )


def columns_read(chain: pd.DataFrame) -> set[str]:
    """The names of all columns that the formulas of a chain read."""
    return {name for names in chain["reads"] for name in names}


def label(name: str) -> str:
    """The name of a quantity as the tables have it."""
    return GLOSSARY[name].label


def prose(docstring: str) -> str:
    """The words of the code on one line, names without their quotes."""
    return " ".join(docstring.replace("`", "").split())


def totals(systems: pd.DataFrame) -> pd.DataFrame:
    """What stands at the end of each system's bar: its total, and how far it is from ours."""
    sizes = systems["memory_bytes"].astype(float)
    against = [f", {100 * (size / sizes.iloc[0] - 1):+.0f} %" if index else "" for index, size in enumerate(sizes)]
    return ["cannot express it" if np.isnan(size) else gib(size / GIB) + words for size, words in zip(sizes, against, strict=True)]


def systems_alt(systems: pd.DataFrame) -> str:
    """The takeaway of the systems' chart."""
    ours, *others = systems["memory_bytes"].astype(float) / GIB
    others = pd.Series(others).dropna()
    if not len(others):
        return "None of the four systems can express this scenario"
    return f"{gib(ours)} here, {gib(others.min())} to {gib(others.max())} in the other systems"
