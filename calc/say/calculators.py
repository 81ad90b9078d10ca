"""The comparison with published calculators in words."""

from calc.evaluate import Row

INSTEAD = {"one-gpu": "on one GPU", "no-recompute": "with every activation kept"}


def lack_text(row: Row) -> str:
    """Return what a calculator does not know and what it counts instead; "" if it knows all."""
    lack = row["lack"]
    if lack is None:
        return ""
    choices = " or ".join(f"{name.replace('_', ' ')} {value}" for name, value in lack.choices)
    problem = f"System {row['system'].upper()} does not know {choices}"
    if not lack.instead:
        return f"{problem}."
    instead = [words for code, words in INSTEAD.items() if code in lack.instead]
    return f"{problem}: this is the same {', '.join(instead)}."
