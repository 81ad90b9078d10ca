"""The decision guide: questions that a team asks in turn, each with its least-money answer."""

from typing import Any, NamedTuple

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.search.inputs import FIXABLE
from calc.search.options import on_several_instances, options

# A question, what it fixes of the job, and what that means; the first that is answered yes is the way to go.
Question = tuple[str, dict[str, Any], str]
SEVERAL = {"several": True}  # not a column of a job: only rows on two or more instances answer
TRAINING_QUESTIONS: tuple[Question, ...] = (
    ("Does full training fit on one GPU?", {"method": "full", "gpus": 1}, "No sharding, nothing to wait for"),
    ("Does LoRA fit on one GPU?", {"method": "lora", "gpus": 1}, "The weights are frozen in 16 bits; adapters are trained"),
    ("Does QLoRA fit on one GPU?", {"method": "qlora", "gpus": 1}, "The frozen weights in 4 bits"),
    (
        "Does full training fit on one instance?",
        {"method": "full", "instances_most": 1},
        "Divided over its GPUs by FSDP, faster by as many",
    ),
    ("Does LoRA fit on one instance?", {"method": "lora", "instances_most": 1}, "A copy on each GPU, or the frozen weights divided"),
    ("Does full training fit on two or more instances?", SEVERAL | {"method": "full"}, "The network between them is part of the time"),
)
SERVING_QUESTIONS: tuple[Question, ...] = (
    ("Do 16 bits keep the pace on one GPU?", {"fewest_bits": 16, "gpus": 1}, "The weights as they were published"),
    ("Do 8 bits keep it on one GPU?", {"fewest_bits": 8, "gpus": 1}, "Half the memory, little lost in quality"),
    ("Do 4 bits keep it on one GPU?", {"fewest_bits": 4, "gpus": 1}, "A quarter of the memory; measure the quality first"),
    ("Do 16 bits keep it on one instance?", {"fewest_bits": 16, "instances_most": 1}, "Tensor parallel inside it, or replicas"),
    ("Do 8 bits keep it on one instance?", {"fewest_bits": 8, "instances_most": 1}, "Half the memory over as many GPUs"),
    ("Do 16 bits keep it on two or more instances?", SEVERAL | {"fewest_bits": 16}, "Replicas side by side, behind one address"),
)
FREED_CHOICES = {*FIXABLE, "method", "fewest_bits"} - {"private_prices"}


SAME = ("instance", "instances_needed", "market", "precision", "tuning", "sharding", "tensor_parallel", "batch")  # of one answer


class Leaf(NamedTuple):
    """One question: whether the answer is yes, the row, and what is in the way."""

    question: str
    meaning: str
    holds: bool
    row: dict[str, Any]
    problem: str

    def is_same(self, row: Row) -> bool:
        """Whether the question is answered by this row."""
        return self.holds and all(self.row[name] == row[name] for name in SAME)


def guide(job: dict[str, Any], catalogs: Catalogs) -> list[Leaf]:
    """The questions of the job's work, answered for its load, limits and prices."""
    free = {name: value for name, value in job.items() if name not in FREED_CHOICES}
    leaves = []
    for question, fixes, meaning in SERVING_QUESTIONS if job.get("work") == "inference" else TRAINING_QUESTIONS:
        ask = on_several_instances if SEVERAL.items() <= fixes.items() else options
        answered = ask({**free, **{name: value for name, value in fixes.items() if name not in SEVERAL}}, catalogs)
        leaves.append(Leaf(question, meaning, not answered.problem, answered.rows[0], answered.problem))
    return leaves
