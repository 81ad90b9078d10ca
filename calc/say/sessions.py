"""Conversations of several turns and the prefix cache, in sentences."""

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.mappings import Cells
from calc.plan.sessions import SessionPlan
from calc.say.amounts import number_in
from calc.say.numbers import is_missing, percent, short_duration, three_digits, usd, with_noun


def turns_words(job: Cells, catalogs: Catalogs) -> str:
    """Return conversations of 8 turns, 30 s between them; nothing for single requests."""
    turns = number_in(job, "turns")
    if turns <= 1:
        return ""
    default = float(catalogs.assumptions["value"]["think_seconds"])
    between = short_duration(number_in(job, "think_seconds") or default)
    return f"in conversations of {turns:.0f} turns, {between} between them"


def cache_hits_text(row: Row) -> str:
    """Return 62 % of later turns find their conversation in the cache; empty without turns."""
    if row["work"] == "training" or not row["turns"] > 1:
        return ""
    hit_percent = percent(row["conversation_hit_ratio"])
    return f"{hit_percent} of later turns find their conversation in the cache"


def turns_sentence(row: Row) -> str:
    """Return how many turns of a row find their conversation; empty for single requests."""
    if not cache_hits_text(row) or is_missing(row["kv_pool_tokens"]):
        return ""
    hit_percent = percent(row["conversation_hit_ratio"])
    return (
        f"{hit_percent} of the turns after the first find their conversation in a prefix cache of "
        f"{row['kv_pool_tokens']:,.0f} tokens on each replica, and do not compute it again."
    )


def session_sentences(plan: SessionPlan) -> list[str]:
    """Return what the cache holds, and its effect on time to first token and cost."""
    plain, cached = plan.plain, plan.cached
    think = short_duration(plan.sessions.think_seconds)
    turns = f"{with_noun(plan.sessions.turns, 'turn')} with {think} between them"
    pool = f"the cache of {plan.pool_tokens:,.0f} tokens"
    reused_percent = percent(plan.reused_tokens / plan.prompt_tokens)
    reuse_sentence = (
        f"{turns}: {percent(plan.hit_ratio)} of the later turns find their conversation in {pool}, "
        f"where it stays for {short_duration(plan.stay_seconds)}. That is {reused_percent} of all "
        "prompt tokens, which are not computed again."
    )
    first = (
        f"Time to first token {short_duration(cached['first_token_seconds'])}, without reuse "
        f"{short_duration(plain['first_token_seconds'])}."
    )
    load = (
        f"The same machines answer {three_digits(cached['requests_per_second'])} turns a second of "
        f"{three_digits(cached['sessions'])} conversations; without reuse, "
        f"{three_digits(plain['requests_per_second'])} of {three_digits(plain['sessions'])}."
    )
    cost = [cached["usd_per_million_output_tokens"], plain["usd_per_million_output_tokens"]]
    money = ""
    if not is_missing(cost[1]):
        money = f"A million answer tokens cost {usd(cost[0])}, without reuse {usd(cost[1])}."
    return [sentence for sentence in (reuse_sentence, first, load, money) if sentence]
