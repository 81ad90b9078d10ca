"""The wording of an out-of-memory message: its release, its card, its parts in GiB."""

from calc.catalogs.load import Catalogs
from calc.files.oom.explain import Explanation
from calc.say.numbers import counted
from calc.say.place import card_name


def read(result: Explanation, catalogs: Catalogs) -> str:
    """From GPU 0, by its capacity A10G or L4; written by PyTorch 2.2 to 2.9."""
    card = f", by its capacity {' or '.join(card_name(card, catalogs) for card in result.cards[:2])}" if result.cards else ""
    if result.failure is None:
        return f"A log{card}." if card else "A log that names no card."
    gpu = "one GPU" if result.failure.gpu is None else f"GPU {result.failure.gpu}"
    several = f"{counted(result.messages, 'message')}, here the fullest card's: from " if result.messages > 1 else "From "
    release = f"; written by PyTorch {result.failure.release}" if result.failure.release else ""
    return f"{several}{gpu}{card}{release}."
