"""The form of a text that no tool reads: a config, or a job in words."""

import re

KEY = re.compile(r"\s*([\w.-]+)\s*[:=]\s*\S")
NESTED = re.compile(  # a bracket first, or a key with keys below it
    r"\A[{\[<]|^[ \t]*[\w.-]+:[ \t]*\n[ \t]+[-\w]", re.MULTILINE
)


def is_document(text: str) -> bool:
    """Return whether a text has the form of a config; lines that name a model are words."""
    lines = text.splitlines()
    keys = [KEY.match(line) for line in lines]
    fields = len(lines) > 1 and all(keys) and "model" not in {key[1] for key in keys if key}
    return bool(fields or NESTED.search(text))
