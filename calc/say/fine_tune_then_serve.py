"""Fine-tune, then serve, in sentences: its cost, its service, and an endpoint to compare."""

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.plan.bill import endpoint_facts
from calc.plan.fine_tune_then_serve import (
    SUM,
    TunedPlan,
    break_even_day,
    break_even_tokens_per_day,
    by_day,
    by_month,
)
from calc.say.answer_name import answer_name
from calc.say.cases import Money, money_of
from calc.say.crossover import OF_OWN_WEIGHTS
from calc.say.numbers import billed_usd, count, is_missing, usd, with_capital, with_noun
from calc.say.place import cards, place, region_name
from calc.say.problem import problem_and_cure
from calc.search.row_status import matrix_bits
from calc.studies.fine_tune_then_serve import MORE_LOADS, Service

OF_PUBLISHED = "The price per token is that of the model as it is published, not of a tuned one. "


def with_names(plan: TunedPlan, catalogs: Catalogs) -> TunedPlan:
    """The plan with a name for each row of its bill."""
    names = [answer_name(row, catalogs) for row in plan.bill.to_dict("records")]
    return plan._replace(bill=plan.bill.assign(scenario=names))


def money_of_plan(plan: TunedPlan) -> Money:
    """Return how the amounts of a plan are written, as in its bill."""
    return money_of(plan.bill["usd"].tolist(), plan.bill["year_usd"].sum())


def months_as_written(plan: TunedPlan) -> pd.DataFrame:
    """Return each month's dollars, with sums of what the bill writes, so that both agree."""
    table, money = by_month(plan), money_of_plan(plan)
    parts = table[["runs_usd", "service_usd"]]
    sums = {
        "usd": [money.total(month) for month in parts.to_numpy()],
        SUM: [money.total(months) for months in parts.cumsum().to_numpy()],
    }
    sums_usd = pd.DataFrame(sums).where(table[[*sums]].notna())
    return table.assign(**sums_usd)


def plan_money(plan: TunedPlan) -> str:
    """Say the cost of a plan: $639 in the first month, then $588 a month: $7,099 in 12 months."""
    table, money = months_as_written(plan), money_of_plan(plan)
    if (plan.bill["have"] != "").all():
        return "Nothing to pay: the machines are your own"
    if is_missing(table["usd"].iloc[0]):
        return "No price is known"
    first, last = money(table["usd"].iloc[0]), money(table["usd"].iloc[-1])
    total = money(table[SUM].iloc[-1])
    monthly = (
        f"{last} a month" if first == last else f"{first} in the first month, then {last} a month"
    )
    if len(table) > 1:
        return f"{monthly}: {total} in {with_noun(len(table), 'month')}"
    return f"{first} in a month"


def serving(services: list[Service], catalogs: Catalogs) -> str:
    """Return how the tuned models are served most cheaply, and the cost of the other way."""
    first, *others = (_service_words(service, catalogs) for service in services)
    alone = len(services) == 1 and services[0].copies > 1
    why = " All weights are tuned, so the models cannot share a service." if alone else ""
    return f"To serve the tuned models: cheapest is {first}.{why}" + "".join(
        f" {with_capital(words)}." for words in others
    )


def _service_words(service: Service, catalogs: Catalogs) -> str:
    """Return a service in words: one service with 4 adapters, 1 × g6.xlarge in 8 bits, ..."""
    row = service.options.rows[0]
    services = "one service" if service.copies == 1 else with_noun(service.copies, "service")
    what = (
        f"{services} with "
        f"{with_noun(service.adapters, 'adapter') if service.adapters else 'merged weights'}"
    )
    options = service.options
    if options.obstacle:
        wrong, cure = problem_and_cure(options.obstacle, options.resolved, catalogs)
        return f"{what}: {wrong}{f'; {cure}' if cure else ''}"
    cost = (
        "on your own machines"
        if is_missing(service.usd_per_month)
        else f"{billed_usd(service.usd_per_month)} a month"
    )
    machines = _machines(row, service.copies, catalogs)
    return f"{what}, {machines} in {matrix_bits(row, catalogs):.0f} bits, {cost}"


def _machines(row: Row, copies: int, catalogs: Catalogs) -> str:
    """The machines of a plan: 1 × g6.xlarge, each 2 × g6.xlarge of several services."""
    return ("each " if copies > 1 else "") + (
        place(row) if row["instance"] else cards(row, catalogs)
    )


def against_endpoint(plan: TunedPlan, larger: TunedPlan | None, catalogs: Catalogs) -> str:
    """Return when the plan becomes cheaper than an endpoint paid per token.

    `larger` is the plan of a larger load, for a plan that never becomes cheaper at its own.
    """
    row = plan.service
    if is_missing(plan.endpoint_usd_per_million_tokens):
        return not_sold(row, catalogs)
    table = by_day(plan)
    price = endpoint_price(row, endpoint_facts(row, catalogs), catalogs)
    load = f"{count(plan.tokens_per_day)} tokens a day"
    endpoint = (
        f"Against a price per token: {price[0].lower()}{price[1:]}: the load, {load}, costs "
        f"{usd(plan.endpoint_usd_per_day)} a day there."
    )
    if is_missing(table[SUM].iloc[-1]):
        return f"{endpoint} What the plan costs is not known."
    day = break_even_day(table)
    if is_missing(day):
        never = "At this load, the plan never becomes cheaper."
        return f"{endpoint} {never} {_cheaper_load(plan, larger, catalogs)}"
    yours = ""
    if (plan.bill["have"] != "").any():
        yours = " What your machines cost is not counted."
    return f"{endpoint} The plan, training included, costs less from day {day:,.0f} on.{yours}"


def _cheaper_load(plan: TunedPlan, larger: TunedPlan | None, catalogs: Catalogs) -> str:
    """Return the load at which a plan becomes cheaper that never does at its own."""
    even = break_even_tokens_per_day(plan)
    if even <= plan.tokens_per_day_most:
        return f"It does from {count(even)} tokens a day on."
    if larger:
        day = break_even_day(by_day(larger))
        machines = _machines(larger.service, int(larger.service["runs_per_month"]), catalogs)
        load = f"{count(larger.tokens_per_day)} tokens a day, {machines},"
        return f"At {load} it does from day {day:,.0f} on."
    return f"It does not at {MORE_LOADS[-1]} times the load either."


def price_note(plan: TunedPlan, catalogs: Catalogs) -> str:
    """Return what the price per token covers, and the cost of serving a tuned model there."""
    return OF_PUBLISHED * bool(endpoint_facts(plan.service, catalogs)) + OF_OWN_WEIGHTS


def endpoint_price(row: Row, prices: Row, catalogs: Catalogs) -> str:
    """Return the price of a million tokens at an endpoint: listed, or set by hand."""
    price = (
        f"{usd(row['endpoint_usd_per_million_tokens'])} for a million generated tokens, prompts "
        f"included"
    )
    if not prices:
        return f"At {price}"
    return (
        f"As Amazon Bedrock lists {prices['sold_as']} in {region_name(row['region'], catalogs)} "
        f"({prices['as_of']}), {price}"
    )


def not_sold(row: Row, catalogs: Catalogs) -> str:
    """Return the note that no price per token is known for the model."""
    return (
        f"Amazon Bedrock is not known to sell this model by the token in "
        f"{region_name(row['region'], catalogs)}. The command make prices "
        "reads its list; to compare with another endpoint, set its prices among the assumptions."
    )
