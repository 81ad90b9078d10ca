"""The wording of the Plan page's head: the answer, its limits, the age of its prices."""

import re
from datetime import date
from urllib.parse import urlencode, urlsplit

from calc.answers.full_answer import Answer
from calc.catalogs.load import Catalogs
from calc.cost import offers
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS, spare_of
from calc.engine.one_scenario import one_scenario_with_times
from calc.evaluate import Row
from calc.plan.bill import price_facts
from calc.plan.figures import figures
from calc.rules.remarks_on_rows import calibration_remark, rests_on_runs
from calc.say.answer import rented_words, why
from calc.say.job import machines_of_job
from calc.say.numbers import (
    about,
    changed_by,
    day_text,
    gib_digits,
    is_missing,
    span,
    spoken_span,
    usd,
    with_capital,
    with_noun,
)
from calc.say.paid import month_words
from calc.say.place import short_card
from calc.say.problem import as_heading, heading_and_rest
from calc.say.remarks.text import remarks_text
from calc.say.sessions import cache_hits_text
from calc.say.speed import service_pace
from calc.say.verdict import verdict
from calc.search.row_status import scenario_of
from views.shared import row_words


def limits_cost(options: Answer) -> str:
    """Return the savings of looser limits: 8-bit weights −$2,570 a month · spot −$2,290."""
    cost = options.rows[0].get("limits_cost")
    return f"With a looser limit: {cost}" if cost else ""


def money_and_time(row: Row) -> str:
    """Return cost and time: about $245 in 4.5 h (3.6 to 6.9); about $6,050 a month."""
    if is_missing(row["usd"]):
        return "no price"
    return f"about {_costs(row)}" + (
        f" in {span(row['hours'], *hours_range(row))}" if ends_of(row) else ""
    )


def _costs(row: Row) -> str:
    """The cost of an answer: $245; $6,050 a month, 12 % less (signed for 1 year)."""
    period = month_words(row)
    return f"{about(row['usd'])}{period}{row_words.own_terms(row)}{_commitment_length(row)}"


def pace(row: Row, catalogs: Catalogs) -> str:
    """The time of a run with its range, or of one token or batch of a service: 36 min; 46.9 ms."""
    if ends_of(row):
        return span(row["hours"], *hours_range(row))
    return service_pace(row, catalogs)


def _commitment_length(row: Row) -> str:
    """Return how long a commitment binds, if the row's market is one."""
    years = MARKETS[row["market"]].committed_years if row["market"] else 0
    return f" (signed for {with_noun(int(years), 'year')})" if years else ""


def hours_range(row: Row) -> tuple[float, float]:
    """The low and the high end of the hours of a run, on its market."""
    numbers = figures(row)
    return numbers.low_hours, numbers.high_hours


def heading(options: Answer, catalogs: Catalogs, chosen_row: Row | None = None) -> str:
    """Return the answer in a line: About $49, in 54 minutes, on 1 × p5.48xlarge.

    It names the chosen row, by default the first answer.
    """
    row = chosen_row or options.rows[0]
    job = options.job
    if options.obstacle:
        wrong, _ = heading_and_rest(options.obstacle, options.resolved, catalogs)
        return row_words.on_screen(wrong)
    if job.get("have"):
        used_gib = gib_digits(row["needed_bytes"])
        card = gib_digits(row["gpu_memory_bytes"])
        word = verdict(row["fits"], row["runs"])
        return (
            f"{with_capital(word)}: {used_gib} of {card} GiB on "
            f"{_yours(row, machines_of_job(job, catalogs), catalogs)}"
        )
    where = row_words.where(row, catalogs, "+" in job["regions"])
    time = f", in {spoken_span(row['hours'])}," if ends_of(row) else ""
    return f"About {_costs(row)}{time} on {where}"


def cure(options: Answer, catalogs: Catalogs) -> str:
    """Return what to do if no plan meets every limit: the rest of the heading's problem."""
    if options.obstacle is None:
        return ""
    _, rest = heading_and_rest(options.obstacle, options.resolved, catalogs)
    if not options.reasons:
        rest += rented_words(options.rented)
    return row_words.on_screen(rest)


def small_line(
    options: Answer, catalogs: Catalogs, today: date, chosen_row: Row | None
) -> list[tuple[str, bool]]:
    """Under the heading: the age of the prices, starting, spare; each with whether it warns."""
    row = chosen_row or options.rows[0]
    if not options.rows[0]["answer"] or options.job.get("have"):
        return []
    return [
        price_age(row, catalogs, today),
        *(
            (text, False)
            for text in (
                _starting(row),
                cache_hits_text(row),
                _spare(row),
                calibration_words(row, catalogs),
            )
            if text
        ),
    ]


def calibration_words(row: Row, catalogs: Catalogs) -> str:
    """Return which of your runs corrected the row; empty if none did."""
    if not len(catalogs.readings) or not row["memory_bytes"] > 0:
        return ""
    which = int(rests_on_runs(one_scenario_with_times(scenario_of(row), catalogs)).item())
    return as_heading(remarks_text(calibration_remark(which, catalogs)))


def _starting(row: Row) -> str:
    """Starting (10 min, $9) is included; empty for a service."""
    if not ends_of(row) or not row["start_hours"] > 0:
        return ""
    price = (
        ""
        if is_missing(row["usd_per_hour"])
        else f", {about(row['start_hours'] * row['usd_per_hour'])}"
    )
    return f"starting ({span(row['start_hours'])}{price}) is included"


def _spare(row: Row) -> str:
    """Return what happens when an instance of a service stops; empty for work that ends."""
    if ends_of(row) or not row["instance"]:
        return ""
    if spare := spare_of(row):
        return f"{with_noun(int(spare), 'spare instance')} {'is' if spare == 1 else 'are'} included"
    if row["instances_needed"] == 1:
        return "no spare instance: the service stops if it fails"
    return "no spare instance: if one fails, the rest cannot take the load"


def _yours(row: Row, machines: dict[str, int], catalogs: Catalogs) -> str:
    """Return which of your machines are used: each of your 8 H100; your L4."""
    if row["instance"]:
        count = machines[row["instance"]]
        instances = row["instances_needed"]
        name = row["instance"]
        per_gpu = "each GPU of "
    else:
        count = machines[row["gpu"]]
        instances = row["gpus"]
        name = short_card(row["gpu"], catalogs)
        per_gpu = "each of "
    if count == 1:
        return f"{per_gpu if row['instance'] else ''}your {name}"
    part = f"{instances:.0f} of " if instances < count else ""
    return f"{per_gpu}{part}your {count} {'× ' if row['instance'] else ''}{name}"


def tried_words(options: Answer) -> str:
    """The size of the search: 121,928 combinations tried, 42,835 of them can be answers."""
    if options.tried:
        return f"{options.tried:,} combinations tried, {options.possible:,} of them can be answers"
    return ""


def price_age(row: Row, catalogs: Catalogs, today: date) -> tuple[str, bool]:
    """The day of the row's price and its age past 90 days; whether that is a warning."""
    facts = (
        price_facts(row, row["market"], catalogs) if row["market"] else {"as_of": "", "basis": ""}
    )
    if facts["basis"] == "private":
        return "Price of your own contract", False
    own_day = facts["as_of"][:10]
    as_of = own_day or catalogs.prices_as_of
    days = offers.days_since(as_of, today)
    old = days > MARKETS[row["market"] or "on-demand"].old_days
    age = f"{offers.months(days)} months" if days > offers.MONTHS_FROM_DAYS else f"{days} days"
    return f"{'Price' if own_day else 'Prices'} of {day_text(as_of)}" + (
        f", {age} old: check before renting" if old else ""
    ), old


def older_prices(day: str, catalogs: Catalogs, row: Row) -> str:
    """Return how the price has moved since a plan was made; empty if it has not."""
    if not day or day == catalogs.prices_as_of:
        return ""
    sentence = (
        f"This plan was made with prices of {day}; those shown are of {catalogs.prices_as_of}."
    )
    change = offers.price_change(catalogs, row["instance"], row["region"], day)
    if not change.then_usd > 0 or not change.now_usd > 0:
        if row["instance"]:
            return f"{sentence} The history has no price of that day for {row['instance']}."
        return sentence
    change_words = changed_by(change.ratio) if change.ratio else "the same"
    hourly = f"{usd(change.then_usd)} per hour then and {usd(change.now_usd)} now"
    return f"{sentence} On demand, one {row['instance']} cost {hourly}: {change_words}."


def why_without_place(options: Answer, catalogs: Catalogs) -> str:
    """Why the first row is the answer, for a card that names its layout and instances already."""
    if options.resolved is None or not options.reasons:
        return ""
    sentence = why(options.reasons[0], {}, options.resolved, catalogs, is_placed=False)
    return sentence + rented_words(options.rented)


def unbroken(text: str) -> str:
    """A heading that never breaks a line between a count and its instance, or in its name."""
    return re.sub(r"-(?=\w+\.(\w*xlarge|metal))", "-\u2060", text.replace(" × ", "\u00a0×\u00a0"))


def file_name(options: Answer) -> str:
    """Return the name of a file of the answer: headroom-llama-3.1-8b-training."""
    model = options.job.get("model", "no-model")
    work = options.job.get("work", "training")
    return f"headroom-{model}-{work}"


def link(url: str | None, query: dict[str, list[str]]) -> str:
    """The full address of the plan."""
    parts = urlsplit(url or "http://localhost:8501/")
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{urlencode(query, doseq=True)}"
