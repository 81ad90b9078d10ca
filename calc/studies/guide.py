"""Ready jobs and their answers: jobs to start from, and the decision guide."""

import math
from typing import NamedTuple

from calc.catalogs.load import Catalogs, read_catalog, read_once
from calc.catalogs.schemas import setups
from calc.catalogs.schemas.setups import ReadyJob
from calc.evaluate import Row
from calc.job.columns import FIXABLE, PUBLISHED
from calc.scenarios.published_weights import published_bits_of
from calc.search.options import Options, on_several_instances, options
from calc.search.row_status import matrix_bits, method_name
from calc.table import is_missing

FREED_CHOICES = {*FIXABLE, "method", "fewest_bits"} - {"private_prices"}
SEVERAL = "several"  # not a column of a job: only rows on two or more instances answer
# Columns in which two rows are the same answer.
SAME = (
    "instance",
    "instances_needed",
    "market",
    "precision",
    "tuning",
    "sharding",
    "tensor_parallel",
    "batch",
)


class Leaf(NamedTuple):
    """A ready job answered: whether it can be done so, the row, and all options."""

    job: ReadyJob
    holds: bool
    row: Row
    options: Options

    def is_same(self, row: Row) -> bool:
        """Return whether the job is answered by this row."""
        return self.holds and all(self.row[name] == row[name] for name in SAME)


@read_once
def ready_jobs() -> setups.File:
    """The ready jobs of catalogs/edited/setups.yaml by kind, in the order of the file."""
    return read_catalog(setups.File)


def guide(job: Row, plan: Row, catalogs: Catalogs) -> list[Leaf]:
    """The questions of the job's work, answered for its load, limits and prices.

    Questions whose answer has the plan's own method, or its width of weights, come first, then the
    others, each from the cheapest on; those without an answer come last. A question that has the
    answer of an earlier one is left out.
    """
    free = {name: value for name, value in job.items() if name not in FREED_CHOICES}
    jobs = ready_jobs()
    serves = job.get("work") == "inference"
    leaves: list[Leaf] = []
    for question in jobs.serving_questions if serves else jobs.training_questions:
        leaf = _leaf(question, free | asks_of(question, str(job["model"]), catalogs), catalogs)
        if not (leaf.holds and any(other.is_same(leaf.row) for other in leaves)):
            leaves.append(leaf)

    def order(leaf: Leaf) -> tuple[bool, bool, float]:
        usd = math.inf if is_missing(leaf.row["usd"]) else float(leaf.row["usd"])
        return (not leaf.holds, not _is_alike(leaf.row, plan, catalogs), usd)

    return sorted(leaves, key=order)


def asks_of(question: ReadyJob, model: str, catalogs: Catalogs) -> Row:
    """Return the fields that a question sets for a model.

    If it asks for as few bits as the model is published in, it asks for the published weights. The
    number of bits would also allow a KV cache of as few bits, which the plan does not use.
    """
    asks: Row = dict(question.asks)
    if asks.get("fewest_bits") == published_bits_of(catalogs, model):
        asks["fewest_bits"] = PUBLISHED
    return asks


def _is_alike(row: Row, plan: Row, catalogs: Catalogs) -> bool:
    """Return whether a row trains by the plan's method, or serves weights as wide."""
    if not row["answer"] or not plan["answer"]:
        return False
    if plan["work"] == "training":
        return method_name(row, catalogs) == method_name(plan, catalogs)
    return matrix_bits(row, catalogs) == matrix_bits(plan, catalogs)


def _leaf(ready: ReadyJob, job: Row, catalogs: Catalogs) -> Leaf:
    """Answer a ready job, as a leaf of the guide."""
    ask = on_several_instances if job.pop(SEVERAL, False) else options
    answer = ask(job, catalogs)
    return Leaf(ready, not answer.obstacle, answer.rows[0], answer)
