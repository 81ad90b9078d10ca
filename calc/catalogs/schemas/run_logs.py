"""The classes of run_logs.yaml: its schema, its reader and its documentation."""

from typing import Annotated, ClassVar

from calc.catalogs.schemas.kinds import CatalogFile, Entry, Filled, FilledMap, Positive, Text, hint


class LogTool(Entry, kw_only=True):
    """A tool whose logs are read."""

    name: Text
    software: Annotated[list[Text], hint("ids of implementations")]
    read_in: Text


class LogLine(Entry, kw_only=True):
    """A line of a log with a figure or a fact."""

    schema_rules: ClassVar = {"oneOf": [{"required": ["figure"]}, {"required": ["fact"]}]}

    tool: Text
    figure: Text | None = None
    fact: Text | None = None
    pattern: Text
    each: Positive | None = None


class DayPattern(Entry, kw_only=True):
    """A pattern that finds the day of a log."""

    pattern: Text


class File(CatalogFile, kw_only=True):
    """Lines that trainers, engines and benchmarks print about speed and set-up."""

    tools: FilledMap[str, LogTool]
    lines: Filled[LogLine]
    days: Filled[DayPattern]
