"""The card of a run where its files say it otherwise than as an id: by its memory or family."""

from typing import Any

from calc.catalogs.load import Catalogs
from calc.files.configs.comments import machine_in_comments
from calc.files.configs.fields import Tool
from calc.files.configs.run_settings import RunSettings
from calc.units import GIB

SHOWN_SHARE = 0.9  # of the memory that a card is sold with, its driver reports at least so much
ALIKE_RATIO = 1.02  # cards of nearly the same memory count as equal
FRACTION = "/"  # in the id of a fraction of a card


def machine(settings: RunSettings, main: Tool, catalogs: Catalogs) -> None:
    """Settle what a file says of its machine otherwise than as an id: its memory, all its GPUs."""
    if not {"gpu", "instance"} & settings.explicit:
        _settle_card(settings, catalogs)
    elif _is_alike(settings.values.get("gpu"), settings.values.get("slurm_card")):
        settings.derive("gpu", settings.values["slurm_card"], ("slurm_card",))
    if not {"gpu", "instance"} & (settings.values.keys() | settings.left):
        _settle_comment(settings)
    instance = settings.values.get("instance")
    if instance in catalogs.instances.index and "asked_gpus" not in settings.values:
        settings.values["asked_gpus"] = int(catalogs.instances["gpus"][instance])
        settings.fields["asked_gpus"] = settings.fields["instance"]
        if main.work == "training":
            settings.explicit.add("asked_gpus")


def _is_alike(card: Any, other: Any) -> bool:
    """Return whether two cards are of one family: gres=gpu:a100:8 and constraint=a100_80gb."""
    return bool(card and other) and str(card).split("-")[0] == str(other).split("-")[0]


def _settle_comment(settings: RunSettings) -> None:
    """Take the machine of a comment, and its number of cards where nothing says how many."""
    found = machine_in_comments(str(settings.values.get("comment", "")))
    named = {"gpu", "instance"} & found.keys()
    if not {"gpus", "gpus_per_node", "asked_gpus"} & settings.explicit:
        named |= {"asked_gpus"} & found.keys()
    for part in named:
        settings.derive(part, found[part], ("comment",))


def _settle_card(settings: RunSettings, catalogs: Catalogs) -> None:
    """Set the card from Slurm's name of it, the family of the instance, or its memory.

    The last of the three that a file gives counts.
    """
    values = settings.values
    if "slurm_card" in values:
        settings.derive("gpu", values["slurm_card"], ("slurm_card",))
    if family := values.get("instance_family"):
        of_family = catalogs.instances.index.str.startswith(f"{family}.")
        cards = set(catalogs.instances["gpu"][of_family])
        if len(cards) == 1:
            settings.derive("gpu", str(cards.pop()), ("instance_family",))
    memory_gb = values.get("card_memory_gb")
    if memory_gb and (card := _smallest_card(float(memory_gb), catalogs)):
        settings.derive("gpu", card, ("card_memory_gb",))


def _smallest_card(memory_gb: float, catalogs: Catalogs) -> str:
    """The whole card with the least memory that is sold as this much; empty if none has it."""
    sold = catalogs.gpus.loc[catalogs.gpus.index.isin(catalogs.instances["gpu"])]
    sizes = sold["memory_bytes"].astype(float) / GIB
    large = sizes[sizes >= SHOWN_SHARE * memory_gb]
    whole = large[[FRACTION not in str(name) for name in large.index]]
    smallest = whole.index[whole <= ALIKE_RATIO * whole.min()]
    return max(map(str, smallest), default="")
