"""Whose a job is, in words: "for team nlp", "owner: Ana Li", "cost center: 4711"."""

import re

from calc.plan.ownership import LONGEST_OWNER

COLUMNS = {
    "team": "team",
    "owner": "owner",
    "project": "project",
    "cost center": "project",
    "cost centre": "project",
}
NAMED = "|".join(COLUMNS)
NAME = r"[A-Za-z0-9][\w.@/&-]*"
# After a colon a name may have several words, up to a comma; without one a team is one word.
WITH_COLON = rf"\b(?P<column>{NAMED})\s*[:=]\s*(?P<words>{NAME}(?:[ ](?!(?:{NAMED})\b){NAME})*)"
PLAIN_TEAM = rf"\bfor team (?P<team>{NAME})"
SAID = re.compile(rf"[,;(]?\s*(?:(?:for )?{WITH_COLON}|{PLAIN_TEAM})\s*\)?", re.IGNORECASE)


def owners_of(text: str) -> tuple[str, dict[str, str]]:
    """The text without what names a team, owner or project, and these by column."""
    owners: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        column = COLUMNS[match["column"].lower()] if match["column"] else "team"
        name = (match["words"] or match["team"]).rstrip(".")
        owners.setdefault(column, name[:LONGEST_OWNER])
        return " "

    return SAID.sub(take, text), owners
