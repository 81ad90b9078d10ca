"""A text that is one address, and the choices of a link of this planner."""

from urllib.parse import parse_qs, urlsplit

from calc.files.configs.problem import ConfigProblem
from calc.job.fields import JOB

LONGEST_LINK = 200_000  # characters
LONG_LINK = f"This link has more than {LONGEST_LINK:,} characters; copy it again from Share."
BROKEN_ADDRESS = "This address cannot be read; copy it again, from its http to its end."


def is_address(text: str) -> bool:
    """Return whether a text is one address and nothing else."""
    text = text.strip()
    return text.startswith(("http://", "https://")) and len(text.split()) == 1


def link_query(text: str) -> dict[str, list[str]]:
    """The choices of a link of this planner; empty for any other text, raises ConfigProblem."""
    if not is_address(text):
        return {}
    if len(text) > LONGEST_LINK:
        raise ConfigProblem(LONG_LINK)
    try:
        query = parse_qs(urlsplit(text.strip()).query)
    except ValueError:
        raise ConfigProblem(BROKEN_ADDRESS) from None
    return query if query.keys() & JOB.keys() else {}
