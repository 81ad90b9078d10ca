"""An answer among those of its job: its name from what differs, and what it does otherwise."""

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.columns import STEP_FACTOR
from calc.say.place import cards, place
from calc.say.setting import choice, name_of
from calc.search.row_status import matrix_bits, method_name


def answer_name(row: Row, catalogs: Catalogs) -> str:
    """Return the name of an answer: LoRA · p5.4xlarge; Full · 2 × p5.48xlarge on spot."""
    where = place(row, counts_one=False) if row["instance"] else cards(row, catalogs)
    serves = row["work"] == "inference"
    how = f"{matrix_bits(row, catalogs):.0f} bits" if serves else method_name(row, catalogs)
    return f"{how} · {where}"


def other_work(first: Row, other: Row, catalogs: Catalogs) -> list[str]:
    """Return how an answer's work differs from the first's, which may cost quality."""
    trains = other["work"] == "training"
    words = []
    if trains and first["tuning"] != other["tuning"]:
        words.append("trains adapters only" if other["tuning"] == "lora" else "trains all weights")
    elif first["precision"] != other["precision"]:
        name = name_of("precision", other["precision"], catalogs)
        words.append(
            f"computes in {name}"
            if trains
            else f"weights in {matrix_bits(other, catalogs):.0f} bits"
        )
    if trains and first["optimizer"] != other["optimizer"]:
        words.append(f"steps with {choice('optimizer', other['optimizer'], catalogs)}")
    if not trains and first["kv_precision"] != other["kv_precision"]:
        words.append(f"cache in {other['kv_precision'] or '16 bits'}")
    steps = other["step_tokens"] / first["step_tokens"] if trains else 1.0
    if not 1 / STEP_FACTOR <= steps <= STEP_FACTOR:
        words.append(
            f"takes {other['step_tokens']:,.0f} tokens a step instead of "
            f"{first['step_tokens']:,.0f}"
        )
    return words
