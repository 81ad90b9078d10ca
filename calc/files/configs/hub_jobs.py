"""Reads the machine and the time limit of a Hugging Face job: hf jobs run --flavor l4x1.

Source: hfjobs 0.6.1 and the Hub's documentation of Jobs, read on 2026-11-30.
"""

from itertools import pairwise

from calc.files.configs.fields import field_catalog
from calc.files.configs.inside.cards import cards_in
from calc.mappings import Json

STARTS = (["hf", "jobs"], ["huggingface-cli", "jobs"])


def job_of_hub(words: list[str]) -> tuple[Json, Json]:
    """The parts that the launcher of a job settles, and its fields that are not known."""
    if words[:2] not in STARTS:
        return {}, {}
    flags = {
        word.partition("=")[0]: word.partition("=")[2] or after for word, after in pairwise(words)
    }
    parts: Json = {}
    if timeout := flags.get("--timeout"):
        parts["time_limit"] = f"timeout {timeout}"
    flavor = flags.get("--flavor", "")
    cards = cards_in(field_catalog().machines.get(flavor, ""))
    if cards:
        parts |= {"gpu": cards[0][0], "asked_gpus": cards[0][1] or 1}
    return parts, {"flavor": flavor} if flavor and not cards else {}
