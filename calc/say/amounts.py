"""Amounts of a job in words: how much a model generates or reads, and how many users it has."""

from calc.catalogs.load import Catalogs
from calc.job.measure import SOUND, TOKENS, Measure, measure_of, sound_seconds
from calc.job.resolve import active_users
from calc.job.software import generates
from calc.mappings import Cells
from calc.say.numbers import amount, duration, is_missing

NO_LIMIT = 1e12  # from here on a limit is none


def number_in(job: Cells, name: str) -> float:
    """The number of a column; 0 if it has none, or is without a limit."""
    try:
        value = float(str(job.get(name)).replace(",", ""))
    except ValueError:
        return 0.0
    return value if 0 < value < NO_LIMIT * 1e3 else 0.0


def work_ends(job: Cells) -> bool:
    """Return whether the work of a service ends: an amount of tokens, images or hours."""
    return not is_missing(job.get("tokens_total"))


def offline_words(job: Cells, model: str, catalogs: Catalogs) -> str:
    """Return offline work in words: Generate 1 billion tokens with Llama 3.1 8B."""
    how, to = ("Generate", "with") if _counts_generated(job, catalogs) else ("Run", "through")
    return f"{how} {amount_words(job, catalogs)} {to} {model}"


def amount_words(job: Cells, catalogs: Catalogs) -> str:
    """An amount with its unit: 1 billion tokens; 1 million images; 1,000 hours of sound."""
    if isinstance(job["tokens_total"], str):  # of a job that is refused
        return job["tokens_total"]
    words, unit_tokens = _measure(job, catalogs)
    return (
        f"{amount(job['tokens_total'] / unit_tokens)} "
        f"{words[1]}{' of sound' if words == SOUND else ''}"
    )


def _counts_generated(job: Cells, catalogs: Catalogs) -> bool:
    """Return whether the amount of offline work is counted in tokens that the model generates."""
    if not is_generator(job, catalogs):
        return False
    return _measure(job, catalogs).words == TOKENS


def _measure(job: Cells, catalogs: Catalogs) -> Measure:
    """The unit of a job's offline work."""
    answer_tokens = number_in(job, "answer_tokens") or (
        number_in(job, "sequence_tokens") - number_in(job, "prompt_tokens")
    )
    return measure_of(job, number_in(job, "images_per_sequence"), answer_tokens, catalogs)


def tokens_through(job: Cells, catalogs: Catalogs) -> float:
    """Tokens of offline work with its prompts, if the job counts generated tokens; else 0."""
    total = number_in(job, "tokens_total")
    context, answer = context_tokens_of(job), _answer_tokens(job)
    is_known = total and answer > 0 and _counts_generated(job, catalogs)
    return total * context / answer if is_known else 0.0


def _answer_tokens(job: Cells) -> float:
    """Tokens of an answer: set, or what the context leaves after the prompt. [tokens]"""
    prompt = number_in(job, "prompt_tokens")
    return number_in(job, "answer_tokens") or context_tokens_of(job) - prompt


def requests_in_all(job: Cells, catalogs: Catalogs) -> str:
    """Say how many requests offline work has, or texts: 5 million texts of; else empty."""
    if isinstance(job["tokens_total"], str) or _measure(job, catalogs).words != TOKENS:
        return ""
    total = number_in(job, "tokens_total")
    if is_generator(job, catalogs):
        noun, each = "requests", _answer_tokens(job)
    else:
        noun, each = "texts", context_tokens_of(job)
    return f"{amount(round(total / each), 3)} {noun} of " if 1 < each <= total / 2 else ""


def context_tokens_of(job: Cells) -> float:
    """Tokens of a request: set, or the sum of prompt and answer. [tokens]"""
    prompt = number_in(job, "prompt_tokens")
    answer = number_in(job, "answer_tokens")
    return number_in(job, "sequence_tokens") or number_in(job, "context_tokens") or prompt + answer


def context_words(job: Cells) -> str:
    """The context of a request: 8,192 tokens each; empty if a request has no text."""
    context = context_tokens_of(job)
    return f"{amount(context)} tokens each" if context > 1 else ""


def sound_words(job: Cells, catalogs: Catalogs) -> str:
    """Return what each request of a transcriber hears: 30 s of sound each; else empty."""
    window = _sound_window(job, catalogs)
    return f"{window} of sound each" if window else ""


def window_words(job: Cells, catalogs: Catalogs) -> str:
    """Return how sound is cut into requests: in windows of 30 s; else empty."""
    window = _sound_window(job, catalogs)
    return f"in windows of {window}" if window else ""


def _sound_window(job: Cells, catalogs: Catalogs) -> str:
    """Return the length of the sound that a request holds, in words; empty without sound."""
    model = str(job.get("model"))
    seconds = sound_seconds(model, catalogs) if model in catalogs.models.index else 0.0
    return duration(seconds) if seconds else ""


def is_generator(job: Cells, catalogs: Catalogs) -> bool:
    """Return whether the job names a model of the catalog that answers token by token."""
    return job.get("model") in catalogs.models.index and generates(job["model"], catalogs)


def active_share(job: Cells, people: float, catalogs: Catalogs) -> float:
    """The share of people that is active: as assumed, else as many as the job has requests."""
    default = float(catalogs.assumptions["value"]["share_active"])
    share = number_in(job, "share_active") or default
    users = number_in(job, "users")
    is_assumed = not users or users == active_users(people, share)
    return share if is_assumed else users / people
