"""Sentences on values of a job that gave way, because a model or the work cannot take them."""

from collections.abc import Mapping, Sequence

LENGTHS = {"prompt_tokens": "prompt", "answer_tokens": "answer"}  # others are the context


def model_instead(model: str, instead: str) -> str:
    """Return that a model is not in the catalog, and which one is used."""
    return f"The model '{model}' is not in the catalog; {instead} is used."


def shortened_lengths(
    model_name: str, longest_tokens: float, lengths: Mapping[str, tuple[float, float]]
) -> str:
    """Return that a model has fewer positions than were asked for.

    `lengths`: what was asked for and what is used, by column.
    """
    words = ", ".join(
        f"{LENGTHS.get(name, 'context')} {after:,}, not {before:,}"
        for name, (before, after) in lengths.items()
    )
    return f"{model_name} has learned positions for {longest_tokens:,.0f} tokens; used: {words}."


def no_images(model_name: str) -> str:
    """Return that a model has no tower for images or sounds."""
    return f"{model_name} takes no images or sounds; none are counted."


def not_possible(name: str, value: str, choices: Sequence[str]) -> str:
    """Return that the work cannot use a value of a column, and which values are kept."""
    instead = ", ".join(choices) or "the usual one"
    return f"{name} {value} is not possible for this work; {instead} is used instead."
