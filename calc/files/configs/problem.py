"""The refusal of a config, and the limits on what is read."""

import re

LARGEST_BYTES = 1_000_000
DEEPEST = 30
MOST_DOCUMENTS = 20  # in one run
MOST_FIELDS = 5_000  # in one file
LONGEST_VALUE = 20_000  # characters, once variables and references are filled in
MOST_COMMANDS, MOST_WORDS = 2_000, 10_000  # in one script
LONGEST_SCRIPT = 200_000  # characters


class ConfigProblem(ValueError):
    """One sentence: what is wrong, where, and what to do."""


HOLDS = re.compile(  # the problem of a field without a value
    r"(?P<file>.+), (?P<field>\S+) holds the variable \$?\{?(?P<name>.+?)\}?; write its value\."
)
FEWEST_JOINED = 3
ELSEWHERE = (
    "{}: the values of these fields stand elsewhere: {}. Add the file that sets them with +, or "
    "write their values."
)


def joined_problems(sentences: list[str]) -> list[str]:
    """The sentences, those on the variables of a file as one where there are several."""
    rest: list[str] = []
    held: dict[str, list[re.Match]] = {}
    for sentence in sentences:
        if match := HOLDS.fullmatch(sentence):
            held.setdefault(match["file"], []).append(match)
        else:
            rest.append(sentence)
    joined: list[str] = []
    for file, matches in held.items():
        fields = ", ".join(f"{one['field']} ({one['name']})" for one in matches)
        is_long = len(matches) >= FEWEST_JOINED
        joined += [ELSEWHERE.format(file, fields)] if is_long else [one[0] for one in matches]
    return [*joined, *rest]
