"""Text for Markdown: words of a link or a file stay text."""

import re

MEANT_BY_MARKDOWN = re.compile(r"[\\$\[\]<`&]")
# Inside what makes an address: between scheme and colon, after www, before the @ of a mailbox. A
# mark further on does not help: Markdown takes every character without a picture into the address.
INSIDE_ADDRESS = re.compile(r"(?=:/)|(?<=mailto)(?=:)|(?<=xmpp)(?=:)|(?<=www)(?=\.)|(?=@)", re.I)
JOINER = "\u2060"  # has no width
NO_BREAK = "\u00a0"  # a space at which no line is broken
CLAUSE_END = re.compile(r"([;.](?= |$))")
BEFORE_PERCENT = re.compile(r"(?<=\d) (?=%)")


def plain(text: str) -> str:
    """Text that may hold words of a link or a file, with all Markdown and HTML escaped.

    Bold, italics and lists remain available to our own texts. An address that Markdown would turn
    into a link gets a mark of no width in its scheme. An entity stays as typed. No line breaks
    before a percent sign.
    """
    text = BEFORE_PERCENT.sub(NO_BREAK, text)
    return INSIDE_ADDRESS.sub(JOINER, MEANT_BY_MARKDOWN.sub(r"\\\g<0>", text))


def with_lead(text: str) -> str:
    """Markdown of a text whose first clause, up to a semicolon or a full stop, is bold."""
    lead, end, rest = CLAUSE_END.split(text, 1) if CLAUSE_END.search(text) else (text, "", "")
    return f"**{plain(lead)}**{end}{plain(rest)}"


def faint(text: str) -> str:
    """Markdown that stands back as a caption does, in the same element as other text."""
    return f":small[:gray[{text}]]"
