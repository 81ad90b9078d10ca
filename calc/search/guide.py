"""The decision guide: questions that a team asks in turn, each with its least-money answer."""

from typing import Any, NamedTuple

from calc.catalogs.load import Catalogs
from calc.search.inputs import FIXABLE
from calc.search.options import options

# A question, what it fixes of the job, and what that means; the first that is answered yes is the way to go.
Question = tuple[str, dict[str, Any], str]
TRAINING_QUESTIONS: tuple[Question, ...] = (
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
SERVING_QUESTIONS: tuple[Question, ...] = (
    ("Do 16 bits keep the pace on one GPU?", {"fewest_bits": 16, "gpus": 1}, "The weights as they were published"),
    ("Do 8 bits keep it on one GPU?", {"fewest_bits": 8, "gpus": 1}, "Half the memory, little lost in quality"),
    ("Do 4 bits keep it on one GPU?", {"fewest_bits": 4, "gpus": 1}, "A quarter of the memory; measure the quality first"),
    ("Do 16 bits keep it on one instance?", {"fewest_bits": 16, "instances_most": 1}, "Tensor parallel inside it, or replicas"),
    ("Do 16 bits keep it on several instances?", {"fewest_bits": 16}, "Replicas side by side, behind one address"),
)
FREED_CHOICES = {*FIXABLE, "method", "fewest_bits"} - {"private_prices"}


class Leaf(NamedTuple):
    """One question: whether the answer is yes, the row, and what is in the way."""

    question: str
    meaning: str
    holds: bool
    row: dict[str, Any]
    problem: str


def guide(job: dict[str, Any], catalogs: Catalogs) -> list[Leaf]:
    """The questions of the job's work, answered for its load, limits and prices."""
    free = {name: value for name, value in job.items() if name not in FREED_CHOICES}
    leaves = []
    for question, fixes, meaning in SERVING_QUESTIONS if job.get("work") == "inference" else TRAINING_QUESTIONS:
        answered = options({**free, **fixes}, catalogs)
        leaves.append(Leaf(question, meaning, not answered.problem, answered.rows[0], answered.problem))
    return leaves
