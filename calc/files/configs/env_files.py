"""Files of variables beside a compose file: .env, whose values fill the variables there."""

import re
from pathlib import PurePath

from calc.files.configs.commands import VARIABLE, variable_value

SETTING = re.compile(r"[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)=(?P<value>[^\n#]*)(?:#.*)?")
COMMENT = re.compile(r"^#.*", re.M)
SERVICES = re.compile(r"^services:", re.M)
Texts = list[tuple[str, str]]


def with_env_files(texts: Texts) -> Texts:
    """The texts (text, file) of a run; compose files with the variables of files beside them.

    Source: Docker documentation, Set environment variables, .env file.
    """
    files = {file: text for text, file in texts if is_env_file(file)}
    composed = any(SERVICES.search(text) for text, file in texts if file not in files)
    if not files or not composed:
        return texts
    known: dict[str, str] = {}
    for text in files.values():
        known |= variables_of(text)
    comments = "".join(f"{line}\n" for text in files.values() for line in COMMENT.findall(text))
    return [
        (comments + VARIABLE.sub(lambda match: variable_value(match, known), text), file)
        if SERVICES.search(text)
        else (text, file)
        for text, file in texts
        if file not in files
    ]


def is_env_file(file: str) -> bool:
    """Return whether a file holds variables, by its name: .env, prod.env."""
    path = PurePath(file)
    return path.name.startswith(".env") or path.suffix == ".env"


def variables_of(text: str) -> dict[str, str]:
    """The variables that a file of variables sets."""
    lines = (SETTING.fullmatch(line) for line in text.splitlines() if line.strip())
    return {one["name"]: one["value"].strip().strip("'\"") for one in lines if one}
