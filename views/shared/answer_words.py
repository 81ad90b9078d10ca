"""The wording of the Plan page's head: the answer, its limits, the age of its prices."""

import re
from datetime import date
from typing import Any
from urllib.parse import urlencode, urlsplit

from calc.catalogs.load import Catalogs
from calc.cost import offers
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.plan.bill import price_facts
from calc.plan.figures import figures
from calc.say.numbers import about, changed_by, counted, duration, is_missing, span, usd
from calc.say.place import place
from calc.say.setting import arrangement, name_of
from calc.search.board import is_less
from calc.search.job_words import amount_words
from calc.search.options import Options
from views.shared import row_words

METHODS = {"full": "Fine-tuning", "lora": "LoRA fine-tuning", "qlora": "QLoRA fine-tuning"}
CSV_HELP = "The answers and the board with every input and result; its first row is the first answer."


def work(job: dict[str, Any], goal: str, catalogs: Catalogs) -> str:
    """Fine-tuning Llama 3.1 8B; Serving Qwen2.5 32B to 20 users."""
    model = name_of("model", job.get("model", ""), catalogs)
    if job.get("work") == "inference":
        if ends_of(job):
            return f"Running {amount_words(job, catalogs)} through {model}"
        rate = job.get("requests_per_second")
        at_once = f"{counted(int(job['users']), 'request')} at once" if job.get("users") else ""
        load = f"to {job['people']:,.0f} people ({at_once})" if job.get("people") else f"with {at_once}" if at_once else ""
        load = f"at {rate:g} requests a second" if rate else load
        return f"Serving {model} {load}".strip()
    return f"{'Training' if goal == 'train' else METHODS[job.get('method') or 'full']} {model}"


def limits_cost(options: Options) -> str:
    """What looser limits would save: 8-bit weights −$2,570 a month · spot −$2,290."""
    cost = options.rows[0].get("limits_cost")
    return f"With a looser limit: {cost}" if cost else ""


def money_and_time(row: Row) -> str:
    """about $245 in 4.5 h (3.6 to 6.9); about $6,050 a month."""
    if is_missing(row["usd"]):
        return "no price"
    if not ends_of(row):
        return f"about {about(row['usd'])} a month{row_words.own_terms(row)}{signed(row)}"
    return f"about {about(row['usd'])}{row_words.own_terms(row)}{signed(row)} in {span(row['hours'], *hours_range(row))}"


def pace(row: Row) -> str:
    """36 min of a run, with its range; 46.9 ms a token of a service, or a batch of an encoder."""
    if ends_of(row):
        return span(row["hours"], *hours_range(row))
    return f"{duration(row['seconds'])} a {'batch' if is_missing(row['time_per_output_token_seconds']) else 'token'}"


def signed(row: Row) -> str:
    """How long a commitment binds, where the row's market is one."""
    years = MARKETS[row["market"]].committed_years if row["market"] else 0
    return f" (signed for {counted(int(years), 'year')})" if years else ""


def hours_range(row: Row) -> tuple[float, float]:
    """The low and the high end of the hours of a run, on its market."""
    numbers = figures(row)
    return numbers["low_hours"], numbers["high_hours"]


def heading(options: Options, goal: str, catalogs: Catalogs) -> str:
    """The answer in one sentence: job, money, time, place."""
    row, doing = options.rows[0], work(options.job, goal, catalogs)
    if not row["answer"]:
        return f"No plan for {doing[0].lower() + doing[1:] if not doing.startswith(('LoRA', 'QLoRA')) else doing}"
    where = row_words.where(row, catalogs, "+" in str(options.job.get("regions")))
    most = "up to " if row["resting_instances"] > 0 else ""
    hourly = "" if is_missing(row["usd_per_hour"]) else f", {most}{usd(row['usd_per_hour'])} an hour"
    costs = f"costs {money_and_time(row)} on {where}{hourly}"
    if options.job.get("have"):
        costs = f"takes {pace(row)} on {where}, which you have"
    return f"{doing}: nothing meets every limit; the nearest {costs}" if row["answer"] == "nearest" else f"{doing} {costs}"


def restriction(options: Options, over_all: Options | None, chosen: list[str] | None) -> str:
    """Among the 5 instances chosen; $3.36 over all. Empty where no instance is chosen by hand."""
    if not chosen or over_all is None:
        return ""
    among = f"Among the {len(chosen)} instances chosen by hand" if len(chosen) > 1 else f"On {chosen[0]}, as set by hand"
    least = over_all.rows[0]
    if over_all.problem:
        return f"{among}."
    if options.problem:
        return f"{among}; {about(least['usd'])} over all instances."
    if not is_less(over_all, options):
        return f"{among}; no other instance costs less."
    return f"{among}; {about(least['usd'])} over all, on {least['instances_needed']:.0f} × {least['instance']}."


def in_bits(bits: int, options: Options, catalogs: Catalogs) -> str:
    """In 16 bits: about $2,460 a month on 1 × g7e.2xlarge; published weights likewise."""
    least = options.rows[0]
    money = pace(least) if options.job.get("have") else money_and_time(least)
    cost = f"{money} on {row_words.where(least, catalogs)}" if least["answer"] and not options.problem else ""
    if bits == 16:
        return f"In 16 bits: {cost or 'nothing keeps the limits'}."
    return f"The weights are published in {bits} bits, which this plan does not use{'; so served, ' + cost if cost else ''}."


def of_spare(changed: Options, catalogs: Catalogs) -> str:
    """To keep running when a machine fails: about $2,720 a month on 1 × g6e.xlarge + 1 spare."""
    least = changed.rows[0]
    start = "To keep running when a machine fails" if least["spare"] > 0 else "Without a spare machine"
    return f"{start}: {money_and_time(least)} on {row_words.where(least, catalogs)}." if least["answer"] and not changed.problem else ""


def tried(options: Options) -> str:
    """42,835 of 121,928 combinations possible."""
    return f"{options.possible:,} of {options.tried:,} combinations possible" if options.tried else ""


def price_age(row: Row, catalogs: Catalogs, today: date) -> tuple[str, bool]:
    """The day of the row's price and its age past 90 days; whether that is a warning."""
    facts = price_facts(row, row["market"], catalogs) if row["market"] else {"as_of": "", "basis": ""}
    if facts["basis"] == "private":
        return "Price of your own contract", False
    own_day = facts["as_of"][:10]
    as_of = own_day or catalogs.prices_as_of
    days = offers.days_since(as_of, today)
    old = days > MARKETS[row["market"] or "on-demand"].old_days
    age = f"{offers.months(days)} months" if days > offers.MONTHS_FROM_DAYS else f"{days} days"
    return f"{'Price' if own_day else 'Prices'} of {day_text(as_of)}" + (f", {age} old: check before renting" if old else ""), old


def day_text(day: str) -> str:
    """15 April 2026, of an ISO date."""
    try:
        when = date.fromisoformat(day)
    except ValueError:
        return day
    return f"{when.day} {when:%B %Y}"


def older_prices(made: str, catalogs: Catalogs, row: Row) -> str:
    """How the price has moved since a plan was made; empty where it has not."""
    if not made or made == catalogs.prices_as_of:
        return ""
    sentence = f"This plan was made with prices of {made}; those shown are of {catalogs.prices_as_of}."
    change = offers.price_change(catalogs, row["instance"], row["region"], made)
    if not change["then_usd"] > 0 or not change["now_usd"] > 0:
        return f"{sentence} The history has no price of that day for {row['instance']}." if row["instance"] else sentence
    moved = changed_by(change["ratio"]) if change["ratio"] else "the same"
    hourly = f"{usd(change['then_usd'])} per hour then and {usd(change['now_usd'])} now"
    return f"{sentence} On demand, one {row['instance']} cost {hourly}: {moved}."


def without_place(why: str, row: Row, catalogs: Catalogs) -> str:
    """Why a row is an answer, for a card that names its layout and instances already."""
    return why.replace(f": {arrangement(row, catalogs)} on {place(row)}", "", 1)


def unbroken(text: str) -> str:
    """A heading that never breaks a line between a count and its instance, or in its name."""
    return re.sub(r"-(?=\w+\.(\w*xlarge|metal))", "-\u2060", text.replace(" × ", "\u00a0×\u00a0"))


def file_name(row: Row) -> str:
    """headroom-llama-3.1-8b-training-2026-11-20.csv: the plan and the date of its prices."""
    return f"headroom-{row['model']}-{row['work']}-{row['prices_as_of'] or 'no-prices'}.csv"


def link(url: str | None, query: dict[str, list[str]]) -> str:
    """The full address of the plan."""
    parts = urlsplit(url or "http://localhost:8501/")
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{urlencode(query, doseq=True)}"
