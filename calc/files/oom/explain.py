"""A pasted text explained: its figures beside the estimate, and their meaning."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.door import one_sentence
from calc.files.oom.causes import (
    HOST,
    NO_ROOM,
    OFF_CARD,
    cause_of,
    finding_of_host,
    finding_of_moment,
    finding_of_request,
    finding_without_size,
)
from calc.files.oom.cures import cures_of
from calc.files.oom.errors import last_error
from calc.files.oom.failures import Failure, failures, fullest
from calc.files.oom.findings import (
    findings_of_cache,
    findings_of_failure,
    findings_of_figures,
)
from calc.files.oom.log_problem import LogProblem
from calc.files.oom.logs import logged_figures, named_failures, silent, stated_figures
from calc.files.oom.memory_parts import (
    MeasuredPart,
    cards_of_log,
    on_card,
    parts_of_failure,
    parts_of_figures,
)
from calc.files.oom.phases import findings_of_phase
from calc.files.oom.snapshots import PICKLES, pickled_peaks
from calc.say.numbers import with_noun
from calc.say.place import short_card

__all__ = ["LogProblem", "OomExplanation", "explain_text", "origin", "tells", "text_of"]

MOST_CARDS = 5  # that are named by their capacity
SPARE_RATIO = 0.05  # of the card, which a run that fits keeps free for fragments
REFUSED = (
    "A pickle or an archive can run code when it is read, and this one is not torch's memory "
    "snapshot of builtin containers alone; "
    "give torch.cuda.memory._dump_snapshot's file, or text: the message, "
    "torch.cuda.memory_summary()."
)
NOTHING = (
    "No out-of-memory message, memory_summary or engine's log is in this text; paste the "
    "lines from 'CUDA out of memory' or "
    "'Tried to allocate' on."
)
CUT_SHORT = (
    "The card was full. The message is cut short: with its whole text (the card's capacity, what "
    "is allocated and reserved) the parts stand here."
)
OTHER_ERROR = (
    'The log ends in another error, "{}": nothing in it says that memory ran out, and its cause is '
    "not read."
)
HEALTHY = "Nothing ran out in this log: what it prints stands beside the estimate, part by part."


class OomExplanation(NamedTuple):
    """The failure of the fullest card among all messages, its row, parts and sentences.

    `cause`: what ran out, a key of the catalog's cures, empty where nothing did; `cures`: what
    helps by that cause alone, beside changes of the row.
    """

    failure: Failure | None
    messages: int
    cards: list[str]
    row: Row
    parts: list[MeasuredPart]
    sentences: list[str]
    failed: bool  # whether anything ran out
    lacking_bytes: float  # refused, with a twentieth of the card to spare; 0 if nothing was
    cause: str
    cures: list[str]

    @property
    def is_off_card(self) -> bool:
        """Return whether something off the card ran out, which no change of a row mends."""
        return self.cause in OFF_CARD

    @property
    def wants_a_machine(self) -> bool:
        """Return whether another machine helps: memory lacks by the message or by the estimate."""
        return self.lacking_bytes > 0 or self.row["fits"] != "yes"


def origin(result: OomExplanation, catalogs: Catalogs) -> str:
    """Say which GPU or card a failure is of, and which release of PyTorch reported it."""
    cards = " or ".join(short_card(card, catalogs) for card in result.cards[:MOST_CARDS])
    by_capacity = f", by its capacity {cards}" if cards else ""
    if len(result.cards) == 1:
        by_capacity = f", {cards}"
    if result.failure is None and len(result.cards) == 1:
        return f"From {cards}."
    if result.failure is None:
        return f"From a card of {cards}'s capacity." if cards else "The log names no card."
    gpu = "one GPU" if result.failure.gpu is None else f"GPU {result.failure.gpu}"
    several = ""
    if result.messages > 1:
        several = f"{with_noun(result.messages, 'message')}; this one is the fullest card's, "
    release = f"; written by PyTorch {result.failure.release}" if result.failure.release else ""
    start = f"{several}from" if several else "From"
    return f"{start} {gpu}{by_capacity}{release}."


def text_of(content: bytes) -> str:
    """The content as text, of a pickled snapshot its peaks; raises LogProblem for other pickles."""
    if content.startswith(PICKLES):
        if peaks := pickled_peaks(content):
            return peaks
        raise LogProblem(REFUSED)
    return content.decode("utf-8", "replace")


def tells(content: bytes) -> bool:
    """Return whether the content is an out-of-memory text or a pickle, and so no config."""
    if content.startswith(PICKLES):
        return True
    text = text_of(content)
    return bool(failures(text) or logged_figures(text) or named_failures(text))


def explained_logs(logs: list[bytes], row: Row, catalogs: Catalogs) -> OomExplanation:
    """Compare several texts of one failure with a row, as `explain_text` does; raise LogProblem."""
    return explain_text("\n".join(map(text_of, logs)), row, catalogs)


@one_sentence
def explain_text(text: str, row: Row, catalogs: Catalogs) -> OomExplanation:
    """The text compared with a row; raises LogProblem where it holds no figure."""
    messages = failures(text)
    sizes = stated_figures(text)
    meanings = silent(text, OFF_CARD if messages else ())
    error = last_error(text)
    if not messages and not sizes and not meanings:
        raise LogProblem(f"{OTHER_ERROR.format(error)} {NOTHING}" if error else NOTHING)
    worst = fullest(messages) if messages else None
    total = worst.total if worst else sizes.get("card")
    cards = cards_of_log(text, total, catalogs)
    here = on_card(row, cards, catalogs)
    lacking = _lacking_bytes(worst, total or 0.0, sizes)
    failed = bool(worst or meanings or lacking > 0 or sizes.get("ooms"))
    failed = failed or "free_at_start" in sizes or "request" in sizes
    cause = cause_of(text, worst) if failed else ""
    sentences = [*meanings, *_findings(text, worst, sizes, failed, here, catalogs)]
    if not sentences and worst:
        sentences = [CUT_SHORT]
    elif not failed:
        begins = OTHER_ERROR.format(error) if error else HEALTHY
        sentences = [begins, *findings_of_cache(sizes, here), *sentences]
    if failed and cause != NO_ROOM:
        sentences += findings_of_cache(sizes, here)
    if cause == HOST:
        sentences += finding_of_host(text, here["host_memory_bytes"])
    parts = parts_of_failure(worst, here) if worst else []
    parts += parts_of_figures(sizes, here, catalogs) if sizes else []
    return OomExplanation(
        failure=worst,
        messages=len(messages),
        cards=cards,
        row=here,
        parts=parts,
        sentences=sentences,
        failed=failed,
        lacking_bytes=lacking,
        cause=cause,
        cures=cures_of(text, cause, worst, here, sizes, catalogs) if failed else [],
    )


def _findings(
    text: str,
    worst: Failure | None,
    sizes: Mapping[str, float],
    failed: bool,
    row: Row,
    catalogs: Catalogs,
) -> list[str]:
    """Return what a message means, or a failure without one, and then what the figures mean."""
    sentences = []
    if worst:
        sentences += findings_of_failure(worst, row, catalogs, text)
        sentences += findings_of_phase(text, row, catalogs) or finding_of_moment(text)
    elif failed:
        sentences += finding_of_request(sizes) + finding_without_size(text)
    return sentences + (findings_of_figures(sizes, row) if sizes else [])


def _lacking_bytes(worst: Failure | None, card_bytes: float, sizes: Mapping[str, float]) -> float:
    """Memory that a card lacked: what it refused with some to spare, or what a cache lacks. [B]"""
    if worst:
        return worst.tried + SPARE_RATIO * card_bytes
    return max(sizes.get("kv_needed", 0.0) - sizes.get("kv_pool", np.inf), 0.0)
