"""Files of one command and its settings as shell scripts: justfiles, systemd units."""

import re
from pathlib import PurePath

from calc.files.configs.inside.makefile import is_makefile, script_of_makefile

JUSTFILES = ("justfile", ".justfile")
JUST_VARIABLE = re.compile(r"(?:export\s+)?([A-Za-z_][\w-]*)\s*:=\s*(.*)")
JUST_RECIPE = re.compile(r"@?[A-Za-z_][\w-]*((?:\s+[+*$]?[\w-]+(?:=\S+)?)*)\s*:(?!=)")
JUST_DEFAULT = re.compile(r"([A-Za-z_][\w-]*)=(\S+)")
JUST_VALUE = re.compile(r"\{\{\s*([A-Za-z_][\w-]*)\s*\}\}")
FROM_ENVIRONMENT = re.compile(
    r"env(?:_var)?(?:_or_default)?\(\s*['\"](\w+)['\"]\s*(?:,\s*['\"]([^'\"]*)['\"]\s*)?\)"
)
UNIT = re.compile(r"^\[(?:Unit|Service|program:[\w.-]+)\][ \t]*$", re.M)
UNIT_LINE = re.compile(r"(ExecStart|command|Environment|environment)\s*=\s*[-@+!]*(.*)")
UNIT_SETTING = re.compile(
    r"""(?P<quote>["'])?(?P<name>[A-Za-z_]\w*)="""
    r"""(?:(?(quote)(?P<in_quotes>[^"']*)["']"""
    r"""|(?:["'](?P<quoted>[^"']*)["']"""
    r"""|(?P<plain>[^\s"']*?)(?=,\w+=|\s|$))))"""
)  # "A=1 2", A="1" and A=1, as systemd and supervisor write them
MOST_CHARACTERS = 200_000


def script_form(text: str, file: str) -> str:
    """The form of a file that is read as a shell script: Makefile, justfile or unit; or empty."""
    name = PurePath(file.lower()).name
    if name.endswith((".just", "_justfile")) or name in JUSTFILES:
        return "justfile"
    if UNIT.search(text[:MOST_CHARACTERS]) and UNIT_LINE.search(text[:MOST_CHARACTERS]):
        return "unit"
    return "Makefile" if is_makefile(text, file) else ""


def as_script(text: str, form: str) -> str:
    """A file of such a form as a shell script; any other text as it stands."""
    writers = {"Makefile": script_of_makefile, "justfile": _of_justfile, "unit": _of_unit}
    return writers[form](text) if form in writers else text


def _of_justfile(text: str) -> str:
    """The variables of a justfile, the defaults of its parameters, and its recipes."""
    variables, recipes = [], []
    for line in re.sub(r"\\\n\s*", " ", text[:MOST_CHARACTERS]).split("\n"):
        if line[:1] in (" ", "\t"):
            recipes.append(JUST_VALUE.sub(r"${\1}", line.strip().lstrip("@-")))
        elif match := JUST_VARIABLE.fullmatch(line.strip()):
            variables.append(f"{match[1]}={_just_value(match[2])}")
        elif match := JUST_RECIPE.match(line):
            variables += [f"{name}={value}" for name, value in JUST_DEFAULT.findall(match[1])]
    return "\n".join([*variables, *recipes])


def _just_value(value: str) -> str:
    """The value of a variable as a shell writes it, with the default of what it takes over."""
    value = FROM_ENVIRONMENT.sub(lambda match: f'"${{{match[1]}:-{match[2] or ""}}}"', value)
    return JUST_VALUE.sub(r"${\1}", value)


def _of_unit(text: str) -> str:
    """The variables of a unit of systemd or a program of supervisor, and the command it starts."""
    lines: list[str] = []
    starts: list[str] = []
    for line in re.sub(r"\\\n\s*", " ", text[:MOST_CHARACTERS]).split("\n"):
        match = UNIT_LINE.fullmatch(line.strip())
        if match and match[1].lower() == "environment":
            lines += [
                f'export {one["name"]}="{one["in_quotes"] or one["quoted"] or one["plain"] or ""}"'
                for one in UNIT_SETTING.finditer(match[2])
            ]
        elif match:
            starts = [*starts, match[2]] if match[2] else []  # an empty one takes those before away
    return "\n".join([*lines, *starts])
