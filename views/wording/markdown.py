"""Text for Markdown elements: what a link or a file brought stays text, and some of it stands back."""

import re

MEANT_BY_MARKDOWN = re.compile(r"[\\$\[\]<`]")
ADDRESS = re.compile(r"://?|www\.|@(?=\w)", re.IGNORECASE)


def plain(text: str) -> str:
    """Text for Markdown elements that may hold words of a link or a file: no formula, link, picture, code or tag comes of it.

    Bold, italics and lists stay ours to use; an address that Markdown would link by itself gets a mark of no width.
    """
    return ADDRESS.sub("\\g<0>\u2060", MEANT_BY_MARKDOWN.sub(r"\\\g<0>", text))


def faint(text: str) -> str:
    """Markdown that stands back as a caption does, in the same element as other text."""
    return f":small[:gray[{text}]]"
