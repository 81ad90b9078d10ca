"""Moves of the hourly prices of an earlier file in words."""

from calc.plan.drift import PriceMoves


def price_moves_sentence(moves: PriceMoves) -> str:
    """Return how many hourly prices of a file have changed; empty if it names none."""
    if not moves.prices:
        return ""
    of_day = f" of {moves.day}" if moves.day else ""
    counts = {"more": moves.more, "less": moves.less}
    parts = [
        f"{count} cost{'s' if count == 1 else ''} {way}" for way, count in counts.items() if count
    ]
    if not parts:
        none = f"none of {moves.prices} has moved"
        return f"The hourly prices in the file{of_day} are today's: {none}."
    return (
        f"Of {moves.prices} hourly prices in the file{of_day}, {' and '.join(parts)} today; the "
        "rest are the same."
    )
