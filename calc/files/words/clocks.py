"""Hours of a day as people write them: 8am to 6pm, 9:00-17:30, 8h à 18h, 9 to 5."""

import re

MARK = r"(?:[ap]\.?m\b\.?|h\b|uhr|o'clock|点|點|时)"
TO = r"(-|–|—|to|till|until|til|through|bis|到|至|à|a|and|und|et|y)"
CLOCKS = re.compile(
    rf"(\d{{1,2}})(?:[:.](\d\d))? ?({MARK})? ?{TO} ?"
    rf"(\d{{1,2}})(?:[:.](\d\d))? ?({MARK})?(?![\w%])"
)
NAMED_HOURS = {
    **dict.fromkeys(("midnight", "mitternacht", "minuit", "medianoche"), 0.0),
    **dict.fromkeys(("noon", "midday", "mittags", "mittag", "midi", "mediodía"), 12.0),
}
HOUR_OR_NAME = rf"(?:(\d{{1,2}})(?:[:.](\d\d))? ?({MARK})?|({'|'.join(NAMED_HOURS)})\b)"
NAMED_CLOCKS = re.compile(rf"{HOUR_OR_NAME} ?{TO} ?{HOUR_OR_NAME}(?![\w%])")  # noon to 6pm
WEEK = ("mo", "tu", "we", "th", "fr", "sa", "su")
DAY_NAME = r"(mon|tue|wed|thu|fri|sat|sun)(?:day|sday|nesday|rsday|urday|s|rs)?s?"
TO_DAY = re.compile(rf"{DAY_NAME} ?(?:-|–|to|till?|through|thru) ?{DAY_NAME}\b")
DAYS_IN_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
A_WEEK = rf"([2-7]|{'|'.join(DAYS_IN_WORDS)}) ?(?:days?|x) ?(?:a|per|/|each|every) ?week"
DAYS_A_WEEK = re.compile(rf"{A_WEEK}\b")
NAME_OF_DAY = (
    r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:days?)?"
    r"|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?"
    r"|lundis?|mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?"
    r"|lunes|martes|miércoles|jueves|viernes|sábados?|domingos?)\b"
)
BETWEEN_DAYS = r"(?:, ?(?:and |und |et |y )?| ?(?:and|und|et|y|&|/|\+) ?)"
LIST_OF_DAYS = re.compile(rf"{NAME_OF_DAY}(?:{BETWEEN_DAYS}{NAME_OF_DAY})+")
EACH_DAY = re.compile(  # on Tuesdays; dienstags
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|(?:mon|diens|donners|frei|sams|sonn)tags\b"
    r"|mittwochs\b"
)
HOURS_BY_DAYS = re.compile(  # 12x5: hours of a day, days of a week
    r"(\d{1,2}) ?x ?([567])(?=[.,;:)\n]|$| (?:support|operation|coverage|hours|service|availability"
    r"|on|in|for|at)\b)"
)
TO_ANOTHER = re.compile(r" ?(?:[-–]|(?:to|till|until|through|thru|bis|à|au|a)\b)")
SHORTEST_DAY = 8  # hours: 4x5 is another product
WEEKENDS = re.compile(r"weekends\b|saturdays? (?:and|&) sundays?\b")
DAYS_TAGS = {5: "weekday", 6: "six_days", 7: "everyday"}  # by the days of a week
DAYS_TAG = "days:"
WORKDAYS = (
    r"(?:week ?days|work ?days|working days|business days|werktags|mon|mo-fr|en semaine"
    r"|de lunes a viernes|du lundi au vendredi|montags? bis freitags?"
    rf"|{A_WEEK})"
)
WORKDAYS_AFTER = re.compile(rf",? ?(?:(?:on|every|each|during|from) )?{WORKDAYS}")
WORKDAYS_BEFORE = re.compile(rf"{WORKDAYS}[\w-]*(?: to friday)?,? (?:from |de |von )?$")
OFFICE = re.compile(r"(?:9|nine)[ -](?:to[ -])?(?:5|five)(?![\w%:.])")
AND = ("and", "und", "et", "y")
HALF_DAY, DAY = 12.0, 24.0
# Between hours written 8h; 2h to 4h is how long it takes.
FRENCH = ("à", "a", "et", "y", "bis", "-", "–")


def read_clocks(text: str, place: int) -> tuple[int, float, float] | None:
    """(end, first hour, last hour) of the hours of a day that begin at a place of the text.

    The last hour is above 24 where it is of the next day. None where no mark of a clock (am, pm,
    h, Uhr, minutes) tells hours from other numbers.
    """
    if place and (text[place - 1].isalnum() or text[place - 1] in ".,:-"):
        return None
    if office := OFFICE.match(text, place):
        return office.end(), 9.0, 17.0
    if named := _named_clocks(text, place):
        return named
    match = CLOCKS.match(text, place)
    if not match:
        return None
    marks = {(match[mark] or "").replace(".", "") for mark in (3, 7)}
    minutes = any(":" in text[match.start(hour) : match.end(hour) + 1] for hour in (1, 5))
    only_hours = marks <= {"", "h"} and not minutes
    of_work = marks == {""} and _are_of_workdays(match, text)
    bare = marks == {""} and not of_work
    if (only_hours and (bare or (not of_work and match[4] not in FRENCH))) or _is_sentence(
        match[4], match, text
    ):
        return None
    first, last = _hour(match[1], match[2], match[3]), _hour(match[5], match[6], match[7])
    if max(first, last) > DAY:
        return None
    return match.end(), first, _later(first, last, bool(match[7]))


def _named_clocks(text: str, place: int) -> tuple[int, float, float] | None:
    """(end, first hour, last hour) of hours of which one has a name: midnight to 5am."""
    match = NAMED_CLOCKS.match(text, place)
    if not match or not (match[4] or match[9]) or _is_sentence(match[5], match, text):
        return None
    first = NAMED_HOURS[match[4]] if match[4] else _hour(match[1], match[2], match[3])
    last = NAMED_HOURS[match[9]] if match[9] else _hour(match[6], match[7], match[8])
    if max(first, last) > DAY:
        return None
    return match.end(), first, _later(first, last, bool(match[8] or match[9]))


def _later(first: float, last: float, is_marked: bool) -> float:
    """The last hour behind the first: in the afternoon without a mark, else on the next day."""
    if last > first:
        return last
    return last + (HALF_DAY if not is_marked and last + HALF_DAY > first else DAY)


def read_days(text: str, place: int) -> tuple[int, str] | None:
    """(end, tag) of the days of a week that begin at a place: tue-thu, 3 days a week."""
    if place and text[place - 1].isalnum():
        return None
    if match := TO_DAY.match(text, place):
        first, last = (WEEK.index(match[group][:2]) for group in (1, 2))
        count = (last - first) % len(WEEK) + 1
    elif match := DAYS_A_WEEK.match(text, place):
        count = DAYS_IN_WORDS.get(match[1]) or int(match[1])
    elif match := WEEKENDS.match(text, place):
        count = 2
    elif match := _listed_days(text, place):
        count = len(re.findall(NAME_OF_DAY, match[0]))
    else:
        return None
    return match.end(), DAYS_TAGS.get(count, f"{DAYS_TAG}{count}")


def _listed_days(text: str, place: int) -> re.Match[str] | None:
    """Days that a list names, or that are said of each week; none of a range: montags bis ..."""
    match = LIST_OF_DAYS.match(text, place) or EACH_DAY.match(text, place)
    return None if match is None or TO_ANOTHER.match(text, match.end()) else match


def read_hours_by_days(text: str, place: int) -> tuple[int, float, str] | None:
    """(end, hours of a day, tag of the days) of hours written 12x5 that begin at a place."""
    match = HOURS_BY_DAYS.match(text, place)
    if not match or (place and (text[place - 1].isalnum() or text[place - 1] in ".,-*")):
        return None
    hours = float(match[1])
    if not SHORTEST_DAY <= hours <= DAY:
        return None
    return match.end(), hours, DAYS_TAGS[int(match[2])]


def _are_of_workdays(match: re.Match[str], text: str) -> bool:
    """Return whether days of the week stand beside two numbers, which are hours then: 9 to 6."""
    beside = WORKDAYS_AFTER.match(text, match.end()) or WORKDAYS_BEFORE.search(
        text[: match.start()]
    )
    return bool(beside) and max(float(match[1]), float(match[5])) <= DAY


def _is_sentence(joint: str, match: re.Match[str], text: str) -> bool:
    """Return whether "and" joins two numbers without "between" before them."""
    before = text[: match.start()].rstrip()
    return joint in AND and not before.endswith(("between", "zwischen", "entre"))


def _hour(hour: str, minute: str | None, mark: str | None) -> float:
    """Return the hour of the day from 0 to 24; `mark` is am, pm, or a form such as p.m."""
    number = float(hour) + float(minute or 0) / 60
    plain = (mark or "").replace(".", "")
    if plain == "pm" and number < HALF_DAY:
        return number + HALF_DAY
    return 0.0 if plain == "am" and number == HALF_DAY else number
