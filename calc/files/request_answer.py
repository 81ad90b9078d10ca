"""The answer to a request: its row, and the options of a job that leaves choices open."""

from math import ceil
from typing import NamedTuple

from calc.answers.full_answer import Answer, full_answer
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.imported_run import ImportedRun, cautious
from calc.files.request import Request
from calc.files.request_job import job_of_columns, scenario_of_columns
from calc.files.words.request_reading import Question
from calc.job.cells import listed
from calc.job.columns import JOB_BY_NAME
from calc.plan.bill import bill_row
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.problems import TableError
from calc.units import DAY_HOURS, YEAR_HOURS

SET_BY = {"days_most": "hours_most"}
LONGEST_HOURS = YEAR_HOURS  # of a run whose words set no time
TOLD_OTHERWISE = ("words", "link", "run", "data")  # kinds of texts that stand for columns
COLUMNS_OF_A_JOB = JOB_BY_NAME.keys() | inputs_by_name().keys()
WHICH_MODEL = "Which model shall be trained on this data? Name one of the catalog, as qwen3-8b."
NO_MODEL = (
    "No model is named; write one of the catalog such as qwen3-8b, its address on the Hugging "
    "Face hub, or its config.json."
)


class OpenQuestions(TableError):
    """Words that leave open what changes the answer."""

    def __init__(self, questions: tuple[Question, ...], problem: str = ""):
        super().__init__(
            " ".join(dict.fromkeys([*([problem] if problem else []), *(q.text for q in questions)]))
        )
        self.questions, self.problem = questions, problem


class RequestAnswer(NamedTuple):
    """The row of a request, billed; of a job that leaves choices open its options, else None."""

    row: Row
    job: Row
    options: Answer | None


def check_open(request: Request) -> None:
    """Raise OpenQuestions where the words leave open what changes the answer."""
    problem = (
        ""
        if request.run or {"model", "goal"} <= request.columns.keys()
        else request.reading.problem
    )
    if request.questions or (problem and "words" in request.kinds):
        raise OpenQuestions(request.questions, problem)


def answer_request(request: Request, assume: bool = False) -> RequestAnswer:
    """Return the row of a request: columns and configs as they stand, words by the ranked table.

    Raises OpenQuestions where the words leave open what changes the answer, unless `assume`.
    """
    if request.logs and not request.columns:
        raise TableError(
            "This is an error or a log: explain it beside its plan or its config, `python -m "
            "calc oom LOG PLAN`."
        )
    if request.run or (
        "words" not in request.kinds and request.columns.keys() <= inputs_by_name().keys()
    ):
        return RequestAnswer({**row_of_request(request), **dict(request.owners)}, {}, None)
    if request.data and not request.columns.get("model"):
        raise OpenQuestions((Question(WHICH_MODEL, "model"),))
    if not assume:
        check_open(request)
    job = job_of_request(request)
    ranked = full_answer(job, request.catalogs)
    if not is_table(request) and (wider := wider_defaults(request.columns, ranked)):
        ranked = full_answer({**job, **wider}, request.catalogs)
    return RequestAnswer({**ranked.rows[0], **dict(request.owners)}, ranked.job, ranked)


def wider_defaults(columns: Row, ranked: Answer) -> Row:
    """Return default limits as wide as the nearest option needs them, where only they refuse it.

    A week and the usual step are defaults: columns that set neither are not refused for them. A run
    of more than a year stays refused.
    """
    obstacle = ranked.obstacle
    if obstacle is None or obstacle.row is None or obstacle.code != "limit-exceeded":
        return {}
    missed = {miss.limit: miss.value for miss in obstacle.misses}
    wider = {
        "hours_most": DAY_HOURS * ceil(missed.get("hours_most", 0) / DAY_HOURS),
        "step_tokens": obstacle.row["step_tokens"],
    }
    names_set = {SET_BY.get(name, name) for name in columns}
    is_default = missed.keys() <= wider.keys() - names_set
    too_long = wider["hours_most"] > LONGEST_HOURS
    return {} if too_long or not is_default else {name: wider[name] for name in missed}


def job_of_request(request: Request) -> Row:
    """The job of a request: columns alone as a table of jobs has them, words as the page does.

    Raise TableError if no model is named.
    """
    columns = with_model(request)
    return dict(columns) if is_table(request) else job_of_columns(columns, request.catalogs)


def is_table(request: Request) -> bool:
    """Return whether a request is columns alone, as a row of a table of jobs."""
    is_told = set(TOLD_OTHERWISE).intersection(request.kinds)
    return not is_told and request.columns.keys() <= COLUMNS_OF_A_JOB


def row_of_request(request: Request) -> Row:
    """The scenario of a request as it stands, billed; what is open has its default."""
    scenario = scenario_of_columns(request.columns)
    if request.run and not scenario:
        row = request.run.row  # with what its files contradict
    else:
        scenario = (
            {"model": "", **request.run.scenario, **scenario}
            if request.run
            else scenario_of_columns(with_model(request))
        )
        row = estimate(scenario, request.catalogs, solve=False)
        row = _with_files(row, request.run, request.columns) if request.run else row
    return bill_row(
        {**row, "market": (listed(request.columns.get("markets")) or ["on-demand"])[0]},
        request.catalogs,
    )


def _with_files(row: Row, run: ImportedRun, columns: Row) -> Row:
    """A row with what its files contradict, but for what the columns beside them settle."""
    problems = [text for text, column in run.problems if column not in columns]
    return cautious({**row, "problem": " ".join(problems) or row["problem"]}, run.summary)


def with_model(request: Request) -> Row:
    """The columns of a request that names its model; raises TableError."""
    if not request.columns.get("model"):
        raise TableError(" ".join(filter(None, (request.question or NO_MODEL, request.remark))))
    return request.columns
