"""Addresses that the words of a source name: a repository, a file in it, a paper, a page."""

import re

REPOSITORY = (
    r"(?!\S+\.(?:py|md|yaml|json|csv)\b)(?P<repository>[A-Za-z][\w-]*/[A-Za-z][\w.-]*\w)(?![\w/])"
)
GITHUB = "https://github.com/{repository}"
ADDRESSES = tuple(  # a pattern and its address; of two at one place the first counts
    (re.compile(pattern), address)
    for pattern, address in (
        (r"(?P<page>https?://[^\s,;)]*[^\s,;).])", "{page}"),
        (r"arXiv (?P<paper>\d{4}\.\d{4,5})", "https://arxiv.org/abs/{paper}"),
        (
            rf"(?:github\.com/)?{REPOSITORY},? (?:PR|pull request|issues?) (?P<thread>\d+)",
            f"{GITHUB}/issues/{{thread}}",
        ),
        (
            rf"{REPOSITORY}, (?P<file>[\w./-]+\.\w+), commit (?P<commit>[0-9a-f]{{7,40}})",
            f"{GITHUB}/blob/{{commit}}/{{file}}",
        ),
        (
            rf"(?:github\.com/)?{REPOSITORY},? (?:commit )?(?P<commit>[0-9a-f]{{7,40}})\b",
            f"{GITHUB}/tree/{{commit}}",
        ),
        (rf"github\.com/{REPOSITORY}", GITHUB),
        (
            rf"(?:^|(?<=; )|(?<=copied (?:in|by) )|(?<=(?:read|kept) by )){REPOSITORY}(?=[,; ]|$)",
            GITHUB,
        ),
        (
            r"(?P<page>(?:[a-z][\w-]*\.)+(?:com|org|dev|ai|co|sh)\b(?:/[^\s,;)]+)?)",
            "https://{page}",
        ),
    )
)


def with_addresses(text: str) -> list[tuple[str, str]]:
    """The parts of a text in order, each with the address that it names, or with none."""
    matches = [
        (match.start(), order, match.end(), address.format(**match.groupdict()))
        for order, (pattern, address) in enumerate(ADDRESSES)
        for match in pattern.finditer(text)
    ]
    parts, end = [], 0
    for start, _, stop, address in sorted(matches):
        if start >= end:
            parts += [(text[end:start], ""), (text[start:stop], address)]
            end = stop
    return [part for part in [*parts, (text[end:], "")] if part[0]]
