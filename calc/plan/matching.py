"""Matches the lines of a bill to plans: by tag, else by machine, else by the user's answer."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.evaluate import Row
from calc.plan.bill_lines import BESIDE, TAGS, BillLines
from calc.plan.figures import records

NO_PLAN = ""
BY_TAG, BY_MACHINE, BY_TIME, ASSIGNED = "tag", "machine", "time", "assigned"
NOT_IN_A_TAG = re.compile(r"[^\w .:/=+@-]")  # of a value, EC2 User Guide, tag restrictions
LONGEST_TAG = 256  # characters of a value
GROUP = (*TAGS, "instance", "region")  # what decides whose a line is


class OpenGroup(NamedTuple):
    """Lines that several plans may have caused: what they share, their sums, and those plans."""

    parts: tuple[str, ...]
    usd: float
    instance_hours: float
    plans: tuple[str, ...]

    @property
    def label(self) -> str:
        """Label of the lines, as `--assign` takes it: p5.48xlarge, us-east-1, team nlp."""
        return ", ".join(self.parts)


class Matched(NamedTuple):
    """Lines with their plan (`of_plan`, empty: none) and how it was found (`basis`).

    open_groups: what must be asked. unplanned: lines of machines or tags that no plan has.
    """

    lines: pd.DataFrame
    open_groups: tuple[OpenGroup, ...]
    unplanned: pd.DataFrame


def tag_value(name: str) -> str:
    """A name as AWS takes it for the value of a tag."""
    return NOT_IN_A_TAG.sub("-", name).strip()[:LONGEST_TAG]


def tag_key(name: str) -> str:
    """A name or a tag's value in the form in which the two are compared."""
    return tag_value(name).casefold()


def match(bill: BillLines, plans: pd.DataFrame, assigned: Mapping[str, str]) -> Matched:
    """Every line with its plan.

    plans: rows with scenario, instance, region and, if they are known, team, project, and
    starts and ends, the ISO days between which the plan is at work.
    assigned: plan by the label of a group of lines, NO_PLAN if they are none's.
    """
    lines = bill.lines[~bill.lines["counts_as"].isin(BESIDE)].reset_index(drop=True)
    groups = lines.groupby(list(GROUP), sort=True)
    rows = records(plans)
    of_plan = np.full(len(lines), "", dtype=object)
    basis = np.full(len(lines), "", dtype=object)
    open_groups = []
    is_open = np.zeros(len(lines), dtype=bool)
    for key, places in groups.indices.items():
        group = dict(zip(GROUP, key, strict=True))
        parts = _group_parts(group)
        label = ", ".join(parts)
        candidates, how = _candidates(group, rows)
        if assigned.get(label) in {NO_PLAN, *(row["scenario"] for row in rows)}:
            of_plan[places], basis[places] = assigned[label], ASSIGNED
        elif len(candidates) == 1 and how:
            of_plan[places], basis[places] = candidates[0]["scenario"], how
        elif candidates:
            if how:
                only_plans = _only_plans(candidates, lines["day"].to_numpy()[places])
                of_plan[places], basis[places] = only_plans, np.where(only_plans == "", "", BY_TIME)
                places = places[only_plans == ""]
            if not len(places):
                continue
            usd = float(lines.iloc[places]["usd"].sum())
            hours = float(lines.iloc[places]["instance_hours"].sum())
            names = tuple(row["scenario"] for row in candidates)
            open_groups.append(OpenGroup(parts, usd, hours, names))
            is_open[places] = True
    lines = lines.assign(of_plan=of_plan, basis=basis)
    lines_of_no_plan = lines[(of_plan == "") & ~is_open]
    return Matched(lines, tuple(sorted(open_groups, key=lambda one: -one.usd)), lines_of_no_plan)


def _only_plans(candidates: list[Row], days: np.ndarray) -> np.ndarray:
    """The plan that is the only one at work on each day; "" if there is none, or several."""
    alone = {}
    for day in set(days):
        at_work = [row["scenario"] for row in candidates if _is_at_work(row, day)]
        alone[day] = at_work[0] if len(at_work) == 1 else ""
    return np.array([alone[day] for day in days], dtype=object)


def _is_at_work(row: Row, day: str) -> bool:
    """Return whether a plan is at work on a day; a plan without days is at work on all."""
    starts = str(row.get("starts") or "")
    ends = str(row.get("ends") or "")
    return starts[: len(day)] <= day and (not ends or day <= ends[: len(day)])


def _group_parts(group: Mapping[str, str]) -> tuple[str, ...]:
    """Label of what lines have in common: p5.48xlarge, us-east-1, team nlp."""
    tags = [f"{tag} {group[tag]}" for tag in TAGS if group[tag]]
    parts = [group["instance"] or "no machine", group["region"], *tags]
    return tuple(filter(None, parts))


def _candidates(group: Mapping[str, str], plans: list[Row]) -> tuple[list[Row], str]:
    """Plans that may have caused lines, and what matched them; "" if the user has to choose.

    A tag that names a plan decides. If it names a plan that does not exist, the user chooses among
    the others. A tag of a team or a project leaves that team's plans; the machine decides among
    them.
    """
    if group["plan"]:
        key = tag_key(group["plan"])
        plans_of_tag = [row for row in plans if tag_key(row["scenario"]) == key]
        if plans_of_tag:
            return plans_of_tag, BY_TAG
    rest, is_tagged = plans, False
    for tag in ("team", "project"):
        theirs = [row for row in rest if _text_of(row, tag) == tag_key(group[tag])]
        if group[tag] and any(_text_of(row, tag) for row in plans):
            rest, is_tagged = theirs, True
    if group["instance"]:
        rest = [row for row in rest if _is_there(group, row)]
    elif not is_tagged:
        return [], ""
    if group["plan"]:
        return rest, ""
    return rest, BY_TAG if is_tagged else BY_MACHINE


def _text_of(row: Row, name: str) -> str:
    return tag_key(str(row.get(name) or ""))


def _is_there(group: Mapping[str, str], row: Row) -> bool:
    """Return whether a plan has the machine of the lines, in their region if both name one."""
    regions = {group["region"], row["region"]}
    return row["instance"] == group["instance"] and (len(regions) == 1 or "" in regions)
