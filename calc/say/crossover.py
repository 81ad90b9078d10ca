"""Sentences that compare your own machines with a price per token."""

from collections.abc import Mapping

from calc.plan.crossover import ALWAYS_ON, BOUGHT, COMMITTED, PER_TOKEN, WHEN_USED
from calc.say.numbers import count, is_missing, with_noun

LINE_WORDS = {
    ALWAYS_ON: "rented all month",
    WHEN_USED: "rented while used",
    **{line: f"committed for {with_noun(years, 'year')}" for line, years in COMMITTED.items()},
    BOUGHT: "bought",
    PER_TOKEN: "paid per token",
}
# Amazon Bedrock User Guide, "Calculate the cost of running a custom model": model copies x units x
# price x windows
OF_OWN_WEIGHTS = (
    "Amazon Bedrock bills imported weights by units of hardware in windows of 5 minutes, at "
    "a price that is not known here. You can set another price per token among the assumptions "
    "on Plan."
)
NO_ENDPOINT = (
    "No price per token is known for this model in this region. Set one among the assumptions."
)


def crossing_sentences(days: Mapping[str, float]) -> list[str]:
    """Return from how many generated tokens a month on each way beats the endpoint."""
    if not days:
        return [NO_ENDPOINT]
    lines = [
        f"{LINE_WORDS[line].capitalize()}: {_from(days[line])}."
        for line in LINE_WORDS
        if line in days
    ]
    return [*lines, OF_OWN_WEIGHTS]


def _from(tokens: float) -> str:
    """Return from which tokens a month own machines cost no more than tokens."""
    if is_missing(tokens):
        return "costs more than paying per token, up to all that its machines generate"
    return f"costs no more than paying per token from {count(tokens)} generated tokens a month"
