"""The verdict on a row in words: whether it fits and runs, and its memory."""

from calc.evaluate import Row
from calc.memory.fit import HOLDS
from calc.say.numbers import gib, gib_digits, is_missing, three_digits, with_noun

FITS = {"yes": "fits", "tight": "tight", "no": "does not fit", "": "no card named"}
FITS_MEANING = {
    "yes": "what must fit is within the card, with 95 % probability",
    "tight": "the estimate of what must fit is within the card, its upper end is not",
    "no": "not even the estimate of what must fit is within the card",
}
RUNS = {"no": "does not run", "emulated": "emulated", "unknown": "not known to run"}


def fit_word(fits: str) -> str:
    """The word for fits, tight or no."""
    return FITS.get(fits, FITS[""])


def _likely_percent(probability: float) -> int:
    """Return the probability that a row fits as times in 100, never 0 and never 100."""
    return int(min(max(100 * probability + 1e-9, 1), 99))


def fit_words(row: Row) -> str:
    """Return the verdict with its probability: fits, 97 % likely."""
    word = fit_word(row["fits"])
    probability = float(row.get("fit_probability", "nan"))
    if row["fits"] not in HOLDS or is_missing(probability):
        return word
    likely = f"{_likely_percent(probability)} % likely"
    return f"{word}, {likely}" if row["fits"] == "yes" else f"{word}, {likely} to fit"


def verdict(fits: str, runs: str) -> str:
    """Return whether a row fits and runs: fits; fits, emulated; does not run."""
    if runs == "no":
        return RUNS[runs]
    return f"{fit_word(fits)}, {RUNS[runs]}" if runs in RUNS else fit_word(fits)


def memory_of(row: Row, with_verdict: bool = True) -> str:
    """Return what must fit, its range, the card and the verdict."""
    if is_missing(float(row["memory_bytes"])):
        return "unknown"
    low = gib_digits(row["needed_low_bytes"])
    high = gib_digits(row["needed_high_bytes"])
    exceeds = row["needed_bytes"] > row["gpu_memory_bytes"] > 0  # also of a row with a problem
    if row["fits"]:
        words = fit_words(row)
    elif exceeds:
        words = FITS["no"]
    else:
        words = ""
    if not (words and with_verdict):
        return f"{_size_in_card(row)} GiB per GPU ({low} to {high})"
    return f"{_size_in_card(row)} GiB per GPU ({low} to {high}): {words}{cache_words(row)}"


def cache_words(row: Row) -> str:
    """Return how full a service's cache is, which the engine makes as large as its card allows.

    Requests beyond it wait, so a full card alone says nothing of a service.
    """
    holds = float(row.get("max_concurrency", "nan"))
    if row["fits"] not in HOLDS or is_missing(holds):
        return ""
    return f"; cache for {with_noun(int(holds), 'request')}, {row['batch']:,.0f} in flight"


def memory_in_card(row: Row) -> str:
    """Return what must fit in the card, and the verdict, without the range."""
    if is_missing(float(row["memory_bytes"])):
        return "memory not known"
    words = verdict(row["fits"], row["runs"])
    return f"{_size_in_card(row)} GiB on each GPU: {words}{cache_words(row)}"


def _size_in_card(row: Row) -> str:
    """Return what must fit and the size of the card, in GiB without the unit: 61.2 of 79.6."""
    size = gib_digits(row["needed_bytes"])
    card_bytes = row["gpu_memory_bytes"]
    return f"{size} of {gib_digits(card_bytes)}" if card_bytes > 0 else size


def range_text(low_gib: float, high_gib: float) -> str:
    """The range around an estimate: 48.1 to 62.0 GiB."""
    return f"{three_digits(low_gib)} to {gib(high_gib)}"
