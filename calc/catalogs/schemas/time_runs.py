"""The classes of time_runs.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Count, Entry, FilledMap, hint

RunKey = Annotated[
    str,
    Meta(pattern=r"^(training|inference)( [\w.-]+){4}$"),
    hint("work, model, software, card and precision with spaces between them"),
]


class PublishedRuns(Entry, kw_only=True):
    """A count of published runs."""

    runs: Annotated[Count, hint("a count of published runs")]


class File(CatalogFile, kw_only=True):
    """Numbers of published runs by work, model, software, card and precision."""

    time_runs: FilledMap[RunKey, PublishedRuns]
