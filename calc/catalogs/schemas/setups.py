"""The classes of setups.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from calc.catalogs.schemas.kinds import CatalogFile, Entry, Filled, FilledMap, Text, hint


class ReadyJob(Entry, kw_only=True):
    """A job that many teams have, or a question of the guide: the fields that it sets."""

    name: Text
    about: Text
    asks: Annotated[FilledMap[str, str | int | float | bool], hint("field or column -> value")]


ReadyJobs = Filled[ReadyJob]


class File(CatalogFile, kw_only=True):
    """Ready jobs: set-ups to start from, use cases, questions of the decision guide."""

    setups: Annotated[ReadyJobs, hint("in the order in which they are offered")]
    use_cases: Annotated[ReadyJobs, hint("typical jobs by use case")]
    sizes: Annotated[ReadyJobs, hint("trainings whose largest batches stand side by side")]
    training_questions: Annotated[ReadyJobs, hint("of the decision guide, asked in turn")]
    serving_questions: Annotated[ReadyJobs, hint("of the decision guide, asked in turn")]
