"""Text for a shell script: the only writer of its words, comments and templates.

Everything that a scenario holds may come from a link or a file of somebody else. A value is
therefore quoted as one word; only a `Script`, which this package writes itself, stands as it is.
"""

import re
import shlex
import unicodedata
from typing import Any

from calc.mappings import Json

PLACEHOLDER = re.compile(r"\{(\w+)\}")
BREAKS = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")  # categories of characters that a comment drops


class Script(str):
    """Text of a script that stands as it is: written here or in a catalog, never by a user."""


def shell_word(value: Any) -> str:
    """Return a value as one word of a shell."""
    return str(value) if isinstance(value, Script) else shlex.quote(str(value))


def comment_line(text: str) -> str:
    """Return a text as a single comment line, for a shell, YAML or TOML."""
    plain = (" " if unicodedata.category(letter) in BREAKS else letter for letter in text)
    return f"# {' '.join(''.join(plain).split())}"


def filled_script(template: str, values: Json) -> Script:
    """Return a template with each {name} replaced by its value as one word; other braces stay."""

    def word(match: re.Match[str]) -> str:
        name = match[1]
        return shell_word(values[name]) if name in values else match[0]

    return Script(PLACEHOLDER.sub(word, template))


def filled_text(template: str, values: Json) -> str:
    """Return a template with each {name} replaced by its value, for a comment."""
    return PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), template)
