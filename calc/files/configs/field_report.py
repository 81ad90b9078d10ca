"""Report of how each field of a run's files was read, line by line."""

from typing import Any, NamedTuple

from calc.files.configs.run_settings import RunSettings
from calc.files.configs.tool_commands import Reading
from calc.scenarios.inputs import BY_NAME

STANDINGS = ("read", "unused", "assumed", "open", "idle", "aside")


class Line(NamedTuple):
    """A field as its file writes it, its status, and the columns that it settles.

    read: it sets columns. unused: it affects memory or cost, or is unknown, and has no column.
    assumed: no file says it, the tool's default does. open: no file settles the column. idle: as it
    stands it affects neither memory nor cost. aside: a statement of a script that starts no tool
    that is read.
    """

    file: str
    field: str
    text: str
    standing: str
    columns: dict[str, str]


def field_lines(readings: list[Reading], settings: RunSettings, row: dict[str, str]) -> list[Line]:
    """The fields of the files in order, then the columns of tool defaults, then open columns."""
    sources = {name: _sources(name, settings) for name in BY_NAME if row[name]}
    lines = []
    for reading in readings:
        for field, value in {**reading.parts, **reading.fields}.items():
            columns = {name: row[name] for name, fields in sources.items() if field in fields}
            lines.append(
                Line(
                    reading.file,
                    field,
                    _text(value),
                    _standing(reading, field, columns, settings),
                    columns,
                )
            )
        lines += [Line(reading.file, statement, "", "aside", {}) for statement in reading.asides]
    read = {name for line in lines for name in line.columns} | {"scenario"}
    taken = [name for name in BY_NAME if row[name] and name not in read]
    assumed = [
        Line("", settings.fields.get(name, ""), "", "assumed", {name: row[name]}) for name in taken
    ]
    return [
        *lines,
        *assumed,
        *(
            Line("", "", "", "open", {name: ""})
            for name in filter(None, row["not_said"].split("+"))
        ),
    ]


def _standing(reading: Reading, field: str, columns: dict[str, str], settings: RunSettings) -> str:
    """Return how a field was read: read, left open, idle (it changes nothing), or unused."""
    if field in settings.unused:
        return "unused"
    if columns:
        return "read"
    meaning = reading.tool.fields.get(field) if reading.tool else None
    return "open" if meaning and meaning.to in settings.left else "idle"


def _sources(name: str, settings: RunSettings) -> set[str]:
    """The fields of the files that a column was made from."""
    parts, fields = [name], set()
    while parts:
        part = parts.pop()
        if part in settings.explicit or part == name:
            fields |= {settings.fields[part]} if part in settings.fields else set()
        parts += [component for component in settings.made_of.get(part, ()) if component != part]
    return fields


def _text(value: Any) -> str:
    """A value as YAML writes it."""
    return (
        {True: "true", False: "false", None: "null"}[value]
        if isinstance(value, bool | None)
        else str(value)
    )
