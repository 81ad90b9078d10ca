"""The classes of quality.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from calc.catalogs.schemas.kinds import CatalogFile, Entry, Filled, FilledMap, SnakeName, Text, hint


class QualityNote(Entry, kw_only=True):
    """The cost of one change in quality."""

    note: Annotated[Text, hint("what the change costs in quality, in words")]
    source: Annotated[
        Text, hint("who measured or proved it, for example Chen et al. 2016, arXiv 1604.06174")
    ]


class File(CatalogFile, kw_only=True):
    """Quality: what a change of a choice costs in quality."""

    unchanged: Filled[Annotated[Text, hint("a note in words")]]
    quality: Annotated[FilledMap[SnakeName, QualityNote], hint("choice -> note and source, sorted")]
