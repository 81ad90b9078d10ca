"""The decision guide: the questions that a team asks in turn, each with the least-money answer of today's catalogs."""

from typing import Any, NamedTuple

from calc.catalogs.load import Catalogs
from calc.search.options import options

# A question, what of the job it fixes, and what that means; the first that is answered yes is the way to go on.
Question = tuple[str, dict[str, Any], str]
TRAINING: tuple[Question, ...] = (
    ("Does full training fit on one GPU?", {"method": "full", "gpus": 1}, "No sharding, nothing to wait for"),
    ("Does LoRA fit on one GPU?", {"method": "lora", "gpus": 1}, "The weights are frozen in 16 bits; adapters are trained"),
    ("Does QLoRA fit on one GPU?", {"method": "qlora", "gpus": 1}, "The frozen weights in 4 bits"),
    (
        "Does full training fit on one instance?",
        {"method": "full", "instances_most": 1},
        "Divided over its GPUs by FSDP, faster by as many",
    ),
    ("Does full training fit on several instances?", {"method": "full"}, "The network between them is part of the time"),
)
SERVING: tuple[Question, ...] = (
    ("Do 16 bits keep the pace on one GPU?", {"fewest_bits": 16, "gpus": 1}, "The weights as they were published"),
    ("Do 8 bits keep it on one GPU?", {"fewest_bits": 8, "gpus": 1}, "Half the memory, little lost in quality"),
    ("Do 4 bits keep it on one GPU?", {"fewest_bits": 4, "gpus": 1}, "A quarter of the memory; measure the quality first"),
    ("Do 16 bits keep it on one instance?", {"fewest_bits": 16, "instances_most": 1}, "Tensor parallel inside it, or replicas"),
    ("Do 16 bits keep it on several instances?", {"fewest_bits": 16}, "Replicas side by side, behind one address"),
)
FIXED = (
    "model",
    "work",
    "train_tokens",
    "sequence_tokens",
    "step_tokens",
    "users",
    "requests_per_second",
    "prompt_tokens",
    "answer_tokens",
)
LIMITS = ("first_token_seconds", "token_seconds", "hours_per_month", "regions", "markets", "hours_most", "usd_most", "usd_per_hour_most")


class Leaf(NamedTuple):
    """One question: whether it is answered yes, the least-money row (the nearest where no), and what is in the way."""

    question: str
    meaning: str
    holds: bool
    row: dict[str, Any]
    problem: str


def guide(job: dict[str, Any], catalogs: Catalogs) -> list[Leaf]:
    """The tree of the job's kind of work, every leaf answered with the job's own load and limits; its choices by hand are left out."""
    asked = {name: job[name] for name in (*FIXED, *LIMITS) if name in job}
    serves = job.get("work") == "inference"
    tree = SERVING if serves else TRAINING
    return [_leaf(question, fixes, meaning, asked, catalogs) for question, fixes, meaning in tree]


def _leaf(question, fixes, meaning, asked, catalogs):
    found = options({**asked, **fixes}, catalogs)
    row = found.answers.iloc[0].to_dict()
    return Leaf(question, meaning, not found.problem, row, found.problem)
