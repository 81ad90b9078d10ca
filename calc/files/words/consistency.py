"""Contradictions between a text and its model, or between two columns: they are asked about."""

from calc.catalogs.load import Catalogs
from calc.files.words.facts import Facts

LENGTHS = (
    "context_tokens",
    "sequence_tokens",
    "prompt_tokens",
    "answer_tokens",
    "completion_tokens",
)
SIZES = ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab")  # of a model without a name
ROUNDED = 1.05  # 128k may be 131,072 or 128,000
MONTH = 2628000.0  # seconds
RATE_OF_ONE = 0.5  # requests a second that one person may send, programs aside
FEWEST_WORK_TOKENS = 10_000  # of work that ends: fewer are the length of one request
NO_TOKENS = ("images", "hours")
LOADS = (
    *("tokens_total", "requests_total", "requests_per_second", "tokens_per_day"),
    *("people", "users"),
)


def ask_about_contradictions(facts: Facts, model: str, catalogs: Catalogs) -> None:
    """Ask about lengths beyond the model, loads beyond their users, and work that is too small."""
    _within_context(facts, model, catalogs)
    _within_users(facts)
    _as_the_model(facts, model, catalogs)
    total, _, unit = str(facts.columns.get("tokens_total", "")).partition(" ")
    if total and unit not in NO_TOKENS and float(total) < FEWEST_WORK_TOKENS:
        _doubt(facts, "tokens_total", "which is little for work that ends")
    step = float(facts.columns.get("step_tokens", 0))
    run = float(facts.columns.get("train_tokens", 0) or facts.columns.get("run_tokens", 0))
    if run and step > run:
        _doubt(facts, "step_tokens", f"more than the {run:,.0f} tokens of the run")


def ask_for_work_of_deadline(facts: Facts, goal: str) -> None:
    """Ask how much is to be done by a deadline: summarize all our contracts overnight."""
    has_load = any(column in facts.columns for column in LOADS)
    if goal == "serve" and "hours_most" in facts.columns and not (has_load or facts.questions):
        words = facts.words.get("hours_most", "")
        text = (
            f"You wrote '{words}'. How much is to be done by then, for example in tokens or pages?"
        )
        facts.ask("tokens_total", words, text=text)


def _within_context(facts: Facts, model: str, catalogs: Catalogs) -> None:
    """Ask about a length that is longer than the model's own context."""
    if model not in catalogs.models.index:
        return
    one = catalogs.models.loc[model]
    longest = max(float(one["longest_sequence_tokens"]), float(one["extended_tokens"] or 0.0))
    for column in LENGTHS:
        if longest and float(facts.columns.get(column, 0)) > longest * ROUNDED:
            words = facts.words[column]
            facts.drop(column)
            facts.ask(
                column,
                words,
                text=f"You wrote '{words}'; {model} takes at most {longest:,.0f} tokens of "
                f"context. Which length is meant?",
            )


def _as_the_model(facts: Facts, model: str, catalogs: Catalogs) -> None:
    """Ask about a size that is not that of the model named: only the last 4 layers of it."""
    if model not in catalogs.models.index:
        return
    for column in SIZES:
        if column in facts.columns and column in catalogs.models.columns:
            size = float(catalogs.models[column][model])
            if facts.columns[column] != size:
                _doubt(facts, column, f"and {model} has {size:,.0f}")
            else:
                facts.drop(column)


def _within_users(facts: Facts) -> None:
    """Ask about more users at once than people, and about a rate that so few do not send."""
    columns = facts.columns
    people, users = float(columns.get("people", 0)), float(columns.get("users", 0))
    if people and users > people:
        _doubt(facts, "people", f"fewer than the {users:,.0f} at once")
    rate = float(columns.get("requests_per_second", 0))
    if people and rate > people * RATE_OF_ONE:
        _doubt(facts, "people", f"few for {rate:g} requests a second")
    elif people and rate and rate * MONTH < people:
        _doubt(facts, "requests_per_second", f"less than one of each of {people:,.0f} a month")


def _doubt(facts: Facts, column: str, reason: str) -> None:
    words = facts.words[column]
    facts.drop(column)
    facts.ask(column, words, text=f"You wrote '{words}', {reason}. What is meant?")
