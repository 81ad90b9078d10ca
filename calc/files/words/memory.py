"""The columns of bytes: the memory of cards, of one or of all, and the size of text."""

import re

from calc.files.words.amounts import Amounts

OF_RUN = ("train_tokens", "run_tokens", "examples", "tokens_total")  # amounts of work
LARGEST_CARD_GB = 300
OF_DATA = re.compile(r" (?:worth )?(?:of|von|de) (?!(?:the |our )?(?:gpu|card|video|memory|vram))")


def put_memory(amounts: Amounts) -> None:
    """Bytes without a word about them: a card's memory, or text that is asked about."""
    _put_memory_of_all(amounts)
    for claim in amounts.of("bytes"):
        if OF_DATA.match(amounts.text, claim.end):  # 75 GB of html
            amounts.put("text_gigabytes", claim)
            continue
        is_card = 1 <= claim.item.value <= LARGEST_CARD_GB
        amounts.put("gpu_memory_gb" if is_card else "text_gigabytes", claim)
    for claim in amounts.of("data_bytes"):  # 7 TB of recordings, beside their hours
        if amounts.of("audio_seconds", "audio_rate", "images"):
            amounts.leave_out(claim)
        else:
            amounts.ask("tokens_total", claim)
    columns = amounts.facts.columns
    if "text_gigabytes" in columns and not columns.keys() & set(OF_RUN):
        words = amounts.facts.words["text_gigabytes"]
        text = (
            f"You wrote '{words}'. How many tokens are in this text? "
            "A gigabyte of English has about 250 million tokens."
        )
        column = "tokens_total" if amounts.goal == "serve" else "train_tokens"
        amounts.facts.ask(column, words, (), text)


def _put_memory_of_all(amounts: Amounts) -> None:
    """Divide the memory of all cards among them; ask if it is not what they have together."""
    gpus = amounts.value("gpus")
    for claim in amounts.of("memory_total"):
        each = float(amounts.facts.columns.get("gpu_memory_gb", 0))
        if not each and gpus:
            amounts.put("gpu_memory_gb", claim, claim.item.value / gpus)
        elif abs(each * gpus - claim.item.value) > 1:
            amounts.ask("gpu_memory_gb", claim)
        amounts.words(claim)
