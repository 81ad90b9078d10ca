"""Sentences that compare what was paid with what was planned."""

from collections.abc import Iterator, Mapping

from calc.evaluate import Row
from calc.plan.actual import AS_PLANNED, CAUSES, NOT_SPLIT, Actual, Runway
from calc.plan.bill_lines import BillLines
from calc.plan.budgets import Budget
from calc.plan.figures import records
from calc.plan.matching import ASSIGNED, BY_MACHINE, BY_TAG, BY_TIME, OpenGroup
from calc.say.budgets import budget_name
from calc.say.numbers import (
    billed_usd,
    changed_by,
    day_text,
    is_missing,
    more,
    with_noun,
    with_sign,
)

CAUSE_WORDS = {
    "price": "a price per hour other than planned",
    "market": "hours on another market than planned",
    "machine": "another instance type than planned",
    "hours": "hours beyond the plan",
    "attempts": "further attempts",
    "idle": "capacity that was paid and not used",
    "other": "storage, traffic and fees, which no plan counts",
}
FEWER_HOURS = "fewer hours than planned"
SPLIT = 0.01  # of the planned dollars; smaller causes are not named
BASIS_WORDS = {
    BY_TAG: "by tag",
    BY_MACHINE: "by instance type and region",
    BY_TIME: "by instance type and day",
    ASSIGNED: "as you said",
}
MOST_GROUPS = 5  # groups of lines without a plan, or that are asked about
ROUNDED = 0.005  # of a ratio that is written as whole per cent


def bill_sentence(bill: BillLines, result: Actual) -> str:
    """FOCUS export: 120,000 lines, 2026-11-01 to 2026-11-30."""
    days = f", {result.first_day} to {result.last_day}" if result.first_day else ""
    return f"{' and '.join(bill.formats)}: {with_noun(bill.lines_read, 'line')}{days}."


def headline(result: Actual) -> str:
    """Say what was paid, and by how much that differs from the plan; without a full stop.

    For example: $12,400 was paid for what was planned at $10,300: 20 % more
    """
    rows = result.plans_in_bill
    paid_usd = float(rows["actual_usd"].sum())
    planned_usd = float(rows["planned_usd"].sum())
    if not len(rows):
        return "No line of the bill belongs to a plan"
    if not planned_usd > 0:
        return f"{billed_usd(paid_usd)} was paid; no plan has a price to compare it with"
    change = _change_words(paid_usd / planned_usd)
    return (
        f"{billed_usd(paid_usd)} was paid for what was planned at {billed_usd(planned_usd)}: "
        f"{change}"
    )


def plan_sentence(row: Row) -> str:
    """One plan: what it cost, what was planned, and the causes of the difference."""
    if not row["lines"]:
        planned_words = "" if row["planned_usd"] else ", and nothing was planned for these days"
        return f"{row['plan']}: no line of the bill belongs to it{planned_words}."
    paid_words = f"{row['plan']}: {billed_usd(row['actual_usd'])} paid"
    basis = f" (matched {BASIS_WORDS[row['basis']]})" if row["basis"] else ""
    if is_missing(row["ratio"]):
        has_none = is_missing(row["planned_usd"])
        why = "the plan has no price" if has_none else "nothing was planned for these days"
        return f"{paid_words}{basis}; {why}."
    of_plan = f"{billed_usd(row['planned_usd'])} planned, {_change_words(row['ratio'])}{basis}"
    causes = list(_causes(row))
    if row["cause"] == NOT_SPLIT:
        causes = ["the bill has no hours, so its causes are not known"]
    return f"{paid_words}, {of_plan}" + (f": {'; '.join(causes)}." if causes else ".")


def _causes(row: Row) -> Iterator[str]:
    """Each cause with its dollars, the largest first; none if the plan was kept."""
    if row["cause"] in (AS_PLANNED, NOT_SPLIT):
        return
    amounts = {cause: row[f"{cause}_usd"] for cause in CAUSES}
    for cause, usd in sorted(amounts.items(), key=lambda one: -abs(one[1])):
        if abs(usd) > SPLIT * row["planned_usd"]:
            yield f"{with_sign(usd, billed_usd)} {_cause_words(cause, usd)}"


def _cause_words(cause: str, usd: float) -> str:
    return FEWER_HOURS if cause == "hours" and usd < 0 else CAUSE_WORDS[cause]


def cause_label(row: Row) -> str:
    """The main cause of one plan in a table."""
    if not row["lines"]:
        return "no line in the bill" if row["planned_usd"] else "not planned for these days"
    if row["cause"] == AS_PLANNED:
        return "as planned"
    if row["cause"] == NOT_SPLIT:
        return "not known: the bill has no hours"
    return _cause_words(row["cause"], row[f"{row['cause']}_usd"])


def open_question(group: OpenGroup, regions: Mapping[str, str] | None = None) -> str:
    """The question of whose lines these are; with the names of regions by their id."""
    places = ", ".join((regions or {}).get(part, part) for part in group.parts)
    plans = f"{', '.join(group.plans)} or none"
    return f"{billed_usd(group.usd)} of {places}: which plan is it ({plans})?"


def _open_questions(result: Actual) -> list[str]:
    """Return the questions about the largest amounts, and a sentence on the number of others."""
    groups = result.matched.open_groups
    questions = [open_question(group) for group in groups[:MOST_GROUPS]]
    rest = groups[MOST_GROUPS:]
    if rest:
        usd = billed_usd(sum(group.usd for group in rest))
        questions.append(f"{usd} of {with_noun(len(rest), 'other group')}: not asked here.")
    return questions


def unplanned_sentences(result: Actual) -> list[str]:
    """Return the cost of machines or tags that no plan has, the largest first."""
    lines = result.matched.unplanned
    if not len(lines):
        return []
    sums = lines.groupby(["instance", "team"])["usd"].sum().sort_values(ascending=False)
    parts = [
        f"{billed_usd(usd)} {f'team {team}, ' if team else ''}{instance or 'no machine'}"
        for (instance, team), usd in sums.head(MOST_GROUPS).items()
    ]
    more = ""
    if len(sums) > MOST_GROUPS:
        more = f" and {with_noun(len(sums) - MOST_GROUPS, 'other group')}"
    return [f"In no plan: {billed_usd(float(sums.sum()))} ({'; '.join(parts)}{more})."]


def beside_sentences(result: Actual) -> list[str]:
    """Tax and credits, which are part of no plan."""
    amounts = {"tax": result.tax_usd, "credits and refunds": result.credit_usd}
    parts = [f"{billed_usd(usd)} {name}" for name, usd in amounts.items() if usd]
    return [f"Not compared: {' and '.join(parts)}."] if parts else []


def attempts_sentence(row: Row) -> str:
    """Return what a run's hours say about its attempts; empty if they say nothing."""
    if is_missing(row["attempts_seen"]) or row["attempts_seen"] == row["attempts"]:
        return ""
    return (
        f"{row['plan']}: its hours are enough for {row['attempts_seen']:g} attempts; the plan has "
        f"{row['attempts']:g}."
    )


def runway_sentence(runway: Runway) -> str:
    """Say when the budget ends at this rate, or what is left at its own end."""
    spent_words = f"{billed_usd(runway.spent_usd)} of {billed_usd(runway.budget_usd)} is spent"
    if runway.left_usd <= 0:
        over = f" {day_text(runway.ends_on)}" if runway.ends_on else ""
        return f"{spent_words}: the budget ended{f' on{over}' if over else ''}."
    rate = f"{billed_usd(runway.usd_per_day)} a day"
    if runway.left_at_end_usd >= 0:
        return f"{spent_words}; at {rate} {billed_usd(runway.left_at_end_usd)} is left at its end."
    if runway.ends_on is None:
        return f"{spent_words}; at {rate} the budget lasts for more than ten years."
    return f"{spent_words}; at {rate} the budget ends on {day_text(runway.ends_on)}."


def budget_sentence(budget: Budget, left: Runway, first_day: str) -> str:
    """A team's budget at the bill's rate, with what the bill does not say."""
    before = ""
    if first_day > budget.starts.isoformat():
        before = f" What was spent before {first_day} is not in the bill."
    return f"{budget_name(budget)}: {runway_sentence(left)}{before}"


def _change_words(ratio: float) -> str:
    """The difference of a cost from the plan: 20 % more, 3.2 times as much, as planned."""
    if abs(ratio - 1) < ROUNDED:
        return "as planned"
    return more(ratio) if ratio > 1 else changed_by(ratio - 1)


def report(bill: BillLines, result: Actual, runway: Runway | None) -> list[str]:
    """Return every sentence that compares a bill with its plans, in order."""
    rows = records(result.table)
    sentences = [bill_sentence(bill, result), f"{headline(result)}."]
    sentences += map(plan_sentence, rows)
    sentences += _open_questions(result)
    sentences += unplanned_sentences(result)
    sentences += beside_sentences(result)
    sentences += filter(None, map(attempts_sentence, rows))
    if runway:
        sentences.append(runway_sentence(runway))
    return sentences
