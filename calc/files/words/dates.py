"""Dates as people write them: 2026-11-28, 12/15/2026, 15.3., March 15, le 15 mars."""

import re

MONTHS = (
    *("jan", "january", "januar", "janvier", "enero", "feb", "february", "februar", "février"),
    *("febrero", "march", "märz", "mars", "marzo", "apr", "april", "avril", "abril", "mai"),
    *("mayo", "june", "juni", "juin", "junio", "july", "juli", "juillet", "julio", "aug"),
    *("august", "août", "agosto", "sept", "september", "septembre", "septiembre", "oct"),
    *("october", "oktober", "octobre", "octubre", "nov", "november", "novembre", "noviembre"),
    *("dec", "december", "dezember", "décembre", "diciembre"),
)
MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
DAY = r"(?:3[01]|[12]\d|0?[1-9])"
YEAR = r"(?:19|20)\d\d"
ORDINAL = r"(?:st|nd|rd|th|er|\.)?"
ALONE = (
    r"(?=[.,;:!?)]?(?:\s|$))(?! (?!at|for|and|we|it|on|in|with|or|until|to)\w)"  # counts nothing
)
OF = r" ?(?:of |de )?"
DATES = re.compile(
    "|".join(
        (
            rf"{YEAR}-[01]?\d-{DAY}(?!\d)",
            rf"[01]?\d/{DAY}/(?:{YEAR}|\d\d)(?!\d)",
            rf"{DAY}/[01]?\d/(?:{YEAR}|\d\d)(?!\d)",
            rf"{DAY}\. ?[01]?\d\.(?: ?{YEAR})?(?!\d)",
            rf"(?:the )?{DAY}{ORDINAL}{OF}{MONTH}(?:{OF},? ?{YEAR}(?!\d))?",
            rf"{MONTH} {YEAR}(?!\d)",
            rf"{MONTH} {DAY}(?:st|nd|rd|th)?(?:,? {YEAR}(?!\d)|{ALONE})",
            rf"(?<=\bam ){DAY}\.(?! ?\d)",
            rf"{YEAR}年(?:[01]?\d月(?:{DAY}[日号])?)?",
            rf"[01]?\d月{DAY}[日号]",
        )
    )
)


DUE = re.compile(
    r"(?:by|until|till|before|deadline|due|frist|échéance|plazo|bis(?: zum)?|avant|d'ici|antes)"
    r"(?::| is| ist| est| es)?(?: on)?(?: the| le| el| del)? $"
)
MONTH_AND_DAY = re.compile(r"[01]?\d/(?:3[01]|2\d|1[3-9])(?![\d/])")  # 12/31, no 8/16
WEEKDAY = re.compile(  # deadline Freitag
    r"(?:next |nächsten |kommenden )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|montag|dienstag"
    r"|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi"
    r"|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b"
)
DUE_BEFORE = re.compile(r"\b(?:expires?|expiring|by|until|till|before|due|on|ends?) $")
DUE_BEHIND = re.compile(r" ?之?前")


def is_due(text: str, start: int, end: int) -> bool:
    """Return whether the date between two places of a text is one by which work is done."""
    return bool(DUE.search(text[:start]) or DUE_BEHIND.match(text, end))


def read_date(text: str, place: int) -> int:
    """Return the end of the date that begins at a place of the text; 0 where none does."""
    if place and (text[place - 1].isalnum() or text[place - 1] in ".,:/-"):
        return 0
    match = DATES.match(text, place)
    if match is None and DUE_BEFORE.search(text[:place]):
        match = MONTH_AND_DAY.match(text, place)
    if match is None and DUE.search(text[:place]):
        match = WEEKDAY.match(text, place)
    return match.end() if match else 0
