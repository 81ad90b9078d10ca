"""A pasted text explained: its messages and figures, beside the estimate of the run that it is of, and what they mean."""

from typing import NamedTuple

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.oom import beside, findings
from calc.files.oom.failures import Failure, failures, fullest
from calc.files.oom.logs import figures, silent

PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"PK\x03\x04")
REFUSED = (
    "This is a pickle or an archive, which runs what it holds when it is read; give text: the message, torch.cuda.memory_summary(), "
    "or torch.cuda.memory_stats() written as JSON."
)
NOTHING = (
    "No out-of-memory message, memory_summary or engine's log is in this text; paste the lines from 'CUDA out of memory' or "
    "'Tried to allocate' on."
)


class LogProblem(ValueError):
    """One sentence: why the text says nothing, and what to give instead."""


class Explanation(NamedTuple):
    """`failure` of the fullest card, of `messages`; the row on the card that the text tells of; parts beside it; sentences."""

    failure: Failure | None
    messages: int
    cards: list[str]
    row: Row
    parts: list[beside.Part]
    sentences: list[str]


def text_of(content: bytes) -> str:
    """The content as text; raises LogProblem for a pickle or an archive, which is never read."""
    if content.startswith(PICKLES):
        raise LogProblem(REFUSED)
    return content.decode("utf-8", "replace")


def tells(content: bytes) -> bool:
    """Whether the content is of memory that ran out, or a pickle that might be: what is not a config."""
    if content.startswith(PICKLES):
        return True
    text = text_of(content)
    return bool(failures(text) or figures(text) or silent(text))


def explained(text: str, row: Row, catalogs: Catalogs) -> Explanation:
    """What the text tells beside an estimated row; raises LogProblem where it tells nothing."""
    found, told, meant = failures(text), figures(text), silent(text)
    if not found and not told and not meant:
        raise LogProblem(NOTHING)
    worst = fullest(found) if found else None
    total = worst.total if worst else told.get("card")
    here = beside.on_card(row, total, catalogs)
    parts, sentences = [], list(meant)
    if worst:
        parts += beside.of_failure(worst, here)
        sentences += findings.of_failure(worst, here, catalogs)
    if told:
        parts += beside.of_figures(told, here, catalogs)
        sentences += findings.of_figures(told, here)
    return Explanation(worst, len(found), beside.cards(total, catalogs), here, parts, sentences)
