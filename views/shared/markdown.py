"""Text for Markdown: words of a link or a file stay text."""

import re

MEANT_BY_MARKDOWN = re.compile(r"[\\$\[\]<`]")
ADDRESS = re.compile(r"://?|www\.|@(?=\w)", re.IGNORECASE)


def plain(text: str) -> str:
    """Text that may hold words of a link or a file, with all Markdown and HTML escaped.

    Bold, italics and lists stay ours to use; an address that Markdown would link by itself gets a
    mark of no width.
    """
    return ADDRESS.sub("\\g<0>\u2060", MEANT_BY_MARKDOWN.sub(r"\\\g<0>", text))


def faint(text: str) -> str:
    """Markdown that stands back as a caption does, in the same element as other text."""
    return f":small[:gray[{text}]]"
