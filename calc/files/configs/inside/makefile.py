"""A Makefile as a shell script: its variables, then the recipes of its targets."""

import re
from pathlib import PurePath

NAMES = ("makefile", "gnumakefile")
VARIABLE = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)\s*(?:\?|::?|\+)?=\s*([^\n]*)")
REMARK = re.compile(r"(?:^|\s)#.*$")
USED = re.compile(r"\$\((\w+)\)|\$\{(\w+)\}")
TARGET = re.compile(r"^[\w.%-]+(?: [\w.%-]+)*\s*::?(?!=)", re.M)
RECIPE = re.compile(r"^\t\S", re.M)


def is_makefile(text: str, file: str) -> bool:
    """Return whether a text is a Makefile, by its name or by targets with recipes."""
    path = PurePath(file.lower())
    if path.name in NAMES or path.suffix == ".mk" or path.stem.endswith("_makefile"):
        return True
    return not path.suffix and bool(TARGET.search(text) and RECIPE.search(text))


def script_of_makefile(text: str) -> str:
    """The script that a Makefile's recipes make, with its variables set before them."""
    variables, recipes = [], []
    for line in re.sub(r"\\\n\s*", " ", text).split("\n"):
        if line.startswith("\t"):
            recipes.append(_in_shell(line.strip().lstrip("-@+")))
        elif match := VARIABLE.fullmatch(line):
            value = REMARK.sub("", match[2]).strip()
            variables.append(f'{match[1]}="{_in_shell(value)}"' if '"' not in value else "")
    return "\n".join([*variables, *recipes])


def _in_shell(line: str) -> str:
    """A line with make's $(NAME) as ${NAME}, and $$NAME as $NAME."""
    return USED.sub(r"${\1\2}", line).replace("$$", "$")
