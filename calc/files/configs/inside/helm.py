"""The values that a helm command sets, as the values file of its chart would have them."""

import re

from calc.mappings import Json, put_at_path

COMMAND = re.compile(r"\bhelm\s(?:[^\n]|\\\n){0,400}?\b(?:install|upgrade|template)\b")
SET = re.compile(r"--set(?:-string)?[ =]+(?P<quote>['\"]?)(?P<pairs>[^\s'\"]{1,500})(?P=quote)")
INDEX = re.compile(r"\[(\d{1,3})\]")  # of modelSpec[0].name
MOST_STEPS = 12


def values_of_helm(text: str) -> Json:
    """Return the values of a helm command as nested mappings; empty where a text has none."""
    tree: Json = {}
    for match in SET.finditer(text) if COMMAND.search(text) else ():
        for pair in match["pairs"].split(","):
            name, equals, value = pair.partition("=")
            if equals:
                put_at_path(tree, INDEX.sub(r".\1", name).split(".")[:MOST_STEPS], value)
    return {"values": tree} if tree else {}
