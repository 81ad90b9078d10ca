"""`python -m calc oom`: explains an out-of-memory text with the estimate, as Markdown."""

import argparse
from pathlib import Path

from calc.answers.advice import advise
from calc.catalogs.load import Catalogs
from calc.commands.command import pasted_text, plan_rows, write_result
from calc.commands.imports import named_files
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.configs.problem import ConfigProblem
from calc.files.imported_run import ImportedRun, import_run
from calc.files.oom.causes import NO_ROOM, cures_by_cause
from calc.files.oom.engine import takes_a_share
from calc.files.oom.explain import OomExplanation, explain_text, origin
from calc.files.oom.findings import OTHER_WORK
from calc.files.oom.logs import logged_figures
from calc.files.oom.memory_parts import MeasuredPart, cards_of_log
from calc.files.oom.run_in_log import documents_in_log
from calc.files.oom.sizes import MOST_CHARACTERS
from calc.plan.figures import records
from calc.say.change import ENGINE_OPTIONS, MACHINES, NOTHING_FITS, WHAT_HELPS, effect

CHANGES = 5
WITHOUT_PLAN = (
    "The log prints no command of its run: add its config, its command or a plan "
    "(python -m calc oom LOG RUN), and each part stands beside its estimate, each cure with "
    "what it saves."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `oom`."""
    log = "text: the message, memory_summary or an engine's log"
    parser.add_argument("log", metavar="LOG", help=log)
    run = (
        "CSV of a scenario, or the configs of the run joined by +; without it, the command that "
        "the log prints of its run"
    )
    parser.add_argument("run", metavar="RUN", nargs="?", default="", help=run)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write a message or a log as Markdown with the estimate of its run."""
    return write_result(options, _markdown(options.log, options.run, catalogs))


def _markdown(log: str, run: str, catalogs: Catalogs) -> str:
    """Explain the text of `log` with `run`, a scenario CSV or configs joined by +."""
    text = pasted_text(log, 4 * MOST_CHARACTERS)
    if not run:
        return explained_alone(log, text, catalogs)
    reading: list[str] = []
    if run.lower().endswith(".csv"):
        row = records(plan_rows(run, catalogs).head(1))[0]
    else:
        brought_run = import_run(
            [(name, Path(name).read_bytes()) for name in named_files(run)], catalogs
        )
        row, catalogs = brought_run.row, brought_run.catalogs
        reading = [*brought_run.summary.lines(), ""]
    if row["problem"] and not row["memory_bytes"] > 0:
        return explained_alone(log, text, catalogs, f"{run}: {row['problem']}")
    return (
        "\n".join([f"# {log} and {run}", "", *reading, *explained_lines(text, row, catalogs)])
        + "\n"
    )


def explained_alone(log: str, text: str, catalogs: Catalogs, problem: str = "") -> str:
    """The text of a log without a plan, beside the command that it prints if it prints one.

    `problem`: why the plan that was given with it has no estimate.
    """
    lines = [f"# {log}", "", *([problem, ""] if problem else [])]
    if run := _run_in_log(log, text, catalogs):
        lines += [*run.summary.lines(), "", *explained_lines(text, run.row, run.catalogs)]
        return "\n".join(lines) + "\n"
    row = estimate({"model": ""}, catalogs, solve=False)
    explanation = explain_text(text, row, catalogs)
    sentences = [one for one in explanation.sentences if one != OTHER_WORK]
    lines += [f"- {one}" for one in (origin(explanation, catalogs), *sentences)]
    if explanation.parts:
        lines += ["", "| part | measured, GiB |", "|---|---|"]
        lines += [
            f"| {part.name} | {part.in_gib()['measured_gib']:.2f} |" for part in explanation.parts
        ]
    if explanation.failed:
        cures = cures_by_cause(text, explanation.failure)
        lines += ["", f"## {WHAT_HELPS}", "", *(f"- {cure}." for cure in cures)]
    return "\n".join([*lines, *([] if problem else ["", WITHOUT_PLAN])]) + "\n"


def _run_in_log(log: str, text: str, catalogs: Catalogs) -> ImportedRun | None:
    """The run of the command that a log prints; None without one that names its model."""
    documents = documents_in_log(log, text)
    cards = cards_of_log(text, logged_figures(text).get("card"), catalogs)
    card_in_log = {"gpu": cards[0]} if cards else {}
    try:
        run = import_run(documents, catalogs, "", card_in_log) if documents else None
    except ConfigProblem:  # a command of no tool that is read
        return None
    return None if run is None or run.lacks_model else run


def explained_lines(text: str, row: Row, catalogs: Catalogs) -> list[str]:
    """Return the text explained with a row, as lines of Markdown. Raises LogProblem."""
    explanation = explain_text(text, row, catalogs)
    lines = [
        f"- {sentence}" for sentence in (origin(explanation, catalogs), *explanation.sentences)
    ]
    if explanation.parts:
        lines += [
            "",
            "| part | measured, GiB | estimate, GiB | difference |",
            "|---|---|---|---|",
            *map(_part, explanation.parts),
        ]
    if not explanation.failed:
        return lines
    mends_cache = explanation.cause == NO_ROOM and takes_a_share(explanation.row)
    title = ENGINE_OPTIONS if mends_cache else WHAT_HELPS
    cures = [f"- {cure}" for cure in explanation.cures]
    lines += ["", f"## {title}", "", *cures] if cures else []
    changes = [] if explanation.is_off_card else _changes(explanation, catalogs)
    return [*lines, *changes] if cures or changes else [*lines, "", NOTHING_FITS]


def _changes(explanation: OomExplanation, catalogs: Catalogs) -> list[str]:
    """Changes of the plan that mend it, as lines of Markdown."""
    row, lacking_bytes = explanation.row, explanation.lacking_bytes
    changes = advise(row, catalogs, lacking_bytes=lacking_bytes)
    lines = []
    for stays, title in MACHINES.items():
        if not stays and not explanation.wants_a_machine:
            continue
        largest_changes = changes[changes["same_machine"] == stays].head(CHANGES).to_dict("records")
        effects = [
            f"- {change['change']}: {effect(change, row, catalogs, lacking_bytes > 0)}"
            for change in largest_changes
        ]
        lines += ["", f"## {title}", "", *effects] if largest_changes else []
    return lines


def _part(part: MeasuredPart) -> str:
    """A part of the memory, measured and estimated, as a row of a Markdown table."""
    figures = part.in_gib()
    numbers = [
        "" if figures[name] is None else f"{figures[name]:{form}}"
        for name, form in (
            ("measured_gib", ".2f"),
            ("estimated_gib", ".2f"),
            ("difference_gib", "+.2f"),
        )
    ]
    return f"| {part.name} | {' | '.join(numbers)} |"
