"""The first three lines of every answer: understood, assumed, not counted."""

from collections.abc import Sequence

MOST_ITEMS = 14  # of one line
LONGEST_ITEM = 110  # characters


def reading_lines(
    understood: Sequence[str], assumed: Sequence[str], not_counted: Sequence[str], of: str = "file"
) -> list[str]:
    """The lines that have items: what was read, what is assumed, what is not counted.

    `of`: what was brought, file or text.
    """
    titles = {
        "Understood": understood,
        "Assumed": assumed,
        f"In your {of} but not counted": not_counted,
    }
    return [f"{title}: {_list_words(items)}." for title, items in titles.items() if items]


def _list_words(items: Sequence[str]) -> str:
    """Items joined by semicolons; of many the first, and how many more."""
    short_items = [
        item if len(item) <= LONGEST_ITEM else f"{item[:LONGEST_ITEM]}..." for item in items
    ]
    more = len(short_items) - MOST_ITEMS
    text = "; ".join(short_items[:MOST_ITEMS])
    return (f"{text}; and {more} more" if more > 0 else text).rstrip(".")
