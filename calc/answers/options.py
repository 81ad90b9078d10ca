"""The one ranked table of a job, which heading, cards, board and CSV read: answers, board, frontier."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.answers import ranking, sentences
from calc.answers.combinations import FITS, combinations
from calc.answers.grid import RECOMPUTES, SHARDINGS, Grid, grid, places_of
from calc.answers.settle import JobError, blank, settled, varied
from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.cost.job import job_of_rows
from calc.evaluate import Table
from calc.pipeline import COLUMNS, WORDS, estimate, parts
from calc.speed.training import step_tokens
from calc.stages import TIME, memory, walk
from calc.units import GIB
from calc.words import card_name

KEPT_JOBS = 64
ANSWER_COLUMNS = ("answer", "market", "why", "tried", "possible", "usd", "hours", "usd_per_hour", "seconds", "misses")
EDGE_COLUMNS = ("hours", "usd", "seconds", "instance", "instances_needed", "market")
NEAREST = "nearest"
WIDER = 8  # times as many instances, where nothing fits in those allowed


class Options(NamedTuple):
    """What a job can be done with: `board.iloc[0]` is `answers.iloc[0]`; the frames are shared, so copy before changing them."""

    job: dict[str, Any]
    answers: pd.DataFrame
    board: pd.DataFrame
    edge: pd.DataFrame
    tried: int
    possible: int
    problem: str


def options(job: Mapping[str, Any], catalogs: Catalogs) -> Options:
    """The answers of one job, the best arrangement of every instance type, and the frontier of money against time."""
    plain = {str(name): _plain(value) for name, value in job.items() if not blank(value)}
    found: Options = _remembered(catalogs)(json.dumps(plain, sort_keys=True, default=str))
    return found._replace(**{name: getattr(found, name).copy(deep=False) for name in ("answers", "board", "edge")})


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else [_plain(each) for each in value] if isinstance(value, list | tuple) else value


@kept("models")
def _remembered(catalogs: Catalogs) -> Any:
    """The last jobs asked of these catalogs, with their options."""
    return lru_cache(maxsize=KEPT_JOBS)(lambda text: _options(json.loads(text), catalogs))


def _options(job: dict[str, Any], catalogs: Catalogs) -> Options:
    try:
        whole = settled(job, catalogs)
        each = tokens_each(whole, catalogs)
        places = places_of(whole, catalogs)
    except JobError as error:
        return _refused(job, str(error), 0)
    for factor in (1, WIDER):
        tried = grid(whole, places if factor == 1 else places_of(whole, catalogs, factor), each)
        found = combinations(tried, whole, catalogs)
        if not len(found["usd"]):
            return _refused(job, found["problem"] or "Nothing can be laid out so; set less by hand.", found["tried"])
        chosen = _chosen(whole, tried, found, catalogs)
        if chosen:
            return chosen
    return _refused(job, _too_large(tried, found, catalogs), found["tried"])


def tokens_each(whole: dict[str, Any], catalogs: Catalogs) -> float:
    """Tokens that one sequence adds to a training step: both sides of an encoder-decoder, the patches of an image."""
    if whole["work"] != "training":
        return whole["sequence_tokens"]
    asked = {name: whole[name] for name in ("work", "model", "sequence_tokens")}
    asked |= {name: whole["fixed"][name][0] for name in ("decoder_tokens",) if name in whole["fixed"]}
    part = next(parts(pd.DataFrame([asked]), catalogs))
    if not part.problems.sound[0]:
        raise JobError(str(part.problems.text[0]))
    table = walk(memory(part.table), TIME[:1])
    names = ("batch", "stack_side", "stack_layers", "stack_pass_tokens", "accumulation_steps", "data_parallel")
    return float(np.ravel(step_tokens(*(table[name] for name in names)))[0])


def _chosen(whole: dict[str, Any], tried: Grid, found: Table, catalogs: Catalogs) -> Options | None:
    """Answers, board and frontier among the combinations; None where none is near."""
    kept_limits = ranking.limits(found, whole)
    verdict = ranking.classes(found, kept_limits)
    layout = _layout_numbers(tried, found)
    ties = ranking.plainness(found, whole, layout)
    qualify = np.flatnonzero(verdict == ranking.QUALIFIES)
    budget = whole["usd_most"] is not None or whole["usd_per_hour_most"] is not None
    if len(qualify):
        picks = ranking.three(found, qualify, ties, budget)
    else:
        one = ranking.nearest(found, verdict, kept_limits, ties)
        if one is None:
            return None
        picks = {NEAREST: one}
    first = next(iter(picks.values()))
    board = _board(whole, tried, found, verdict, kept_limits, ties, first)
    rows = _rows(whole, tried, found, np.array([*dict.fromkeys(picks.values()), *board]), kept_limits, catalogs)
    names: dict[int, list[str]] = {}
    for name, number in picks.items():
        names.setdefault(number, []).append(name)
    answers, shown = rows.iloc[: len(names)].reset_index(drop=True), rows.iloc[len(names) :].reset_index(drop=True)
    facts: dict[str, Any] = {"possible": len(qualify), "budget": budget}
    following = [row for row in shown.to_dict("records")[1:2] if len(qualify) and verdict[board[1]] == ranking.QUALIFIES]
    facts |= {"next": following[0] if following else None, "least_usd": answers["usd"][0], "least_seconds": answers["seconds"][0]}
    said, problems = [], []
    for number, row in zip(names, answers.to_dict("records"), strict=True):
        facts["at_once"] = row["batch"] * row["gpus"] / (row["tensor_parallel"] * row["pipeline_parallel"])
        nearest = names[number] == [NEAREST]
        problems.append(_way_off(number, row, found, verdict, kept_limits) if nearest else "")
        said.append(_nearest_why(row, catalogs) if nearest else sentences.why(names[number], row, facts, whole, catalogs))
    counted = {"tried": found["tried"], "possible": len(qualify)}
    answers = answers.assign(answer=["+".join(each) for each in names.values()], why=said, problem=problems, **counted)
    heads = {column: answers[column].iloc[0] for column in ("answer", "why", "problem")}
    shown = shown.assign(**{column: [heads[column], *shown[column].iloc[1:]] for column in heads}, **counted)
    on_edge = qualify[ranking.frontier(found["usd"][qualify], found["seconds"][qualify])]
    return Options(_told(whole), answers, shown, _edge(whole, tried, found, on_edge), found["tried"], len(qualify), problems[0])


def _layout_numbers(tried: Grid, found: Table) -> Table:
    """The numbers of each combination's layout that ties are decided by; words by their place among the plainest."""
    at, layouts = tried.layout[found["number"]], tried.layouts
    names = ("gpus", "tensor_parallel", "pipeline_parallel", "context_parallel", "accumulation_steps")
    numbers = {name: layouts[name].to_numpy()[at] for name in names}
    for name, order in (("sharding", SHARDINGS), ("recompute", RECOMPUTES)):
        if name in layouts:
            rank = np.array([order.index(word) if word in order else len(order) for word in layouts[name].cat.categories])
            numbers[name] = rank[layouts[name].cat.codes.to_numpy()][at]
        else:
            numbers[name] = np.zeros(len(at))
    own = np.array([place.gpus for place in tried.places])
    return numbers | {"gpus_paid": own[tried.place[found["number"]]] * found["instances"]}


def _board(whole, tried, found, verdict, kept_limits, ties, first):
    """The best combination of every instance type, market and value compared, best first; `first` leads."""
    group = tried.place[found["number"]] * len(whole["markets"]) + found["market"]
    for name in varied(whole):
        values = tried.layouts[name]
        codes = values.cat.codes.to_numpy() if isinstance(values.dtype, pd.CategoricalDtype) else pd.factorize(values)[0]
        group = group * (codes.max() + 1) + codes[tried.layout[found["number"]]]
    shown = np.flatnonzero(verdict != ranking.LEFT_OUT)
    lightest = np.full(group.max() + 1, ranking.LEFT_OUT)
    np.minimum.at(lightest, group[shown], verdict[shown])
    shown = shown[verdict[shown] == lightest[group[shown]]]
    usd = np.where(np.isnan(found["usd"]), found["usd_per_hour"], found["usd"])
    cost = np.where(verdict == ranking.OUTSIDE, ranking.distance(kept_limits), usd)[shown]
    best = shown[ranking.best_each(group[shown], cost, [key[shown] for key in ties])]
    best = np.array([first, *(each for each in best if group[each] != group[first])], dtype=int)
    order = np.lexsort((usd[best], verdict[best], np.arange(len(best)) > 0))
    return best[order]


def _rows(whole, tried, found, chosen, kept_limits, catalogs):
    """Combinations as rows of estimate, with their market and money and what they miss."""
    number = found["number"][chosen]
    frame = tried.layouts.iloc[tried.layout[number]].reset_index(drop=True)
    names = [tried.places[place].instance for place in tried.place[number]]
    regions = [whole["regions"][region] for region in found["region"][chosen]]
    rows: Any = estimate(frame.assign(batch=found["batch"][chosen], instance=names, region=regions), catalogs, solve=False)
    markets = [whole["markets"][market] for market in found["market"][chosen]]
    done = job_of_rows(rows, markets, 0, catalogs)
    excess = {limit.name: limit.excess()[chosen] for limit in kept_limits}
    steps = found["step_tokens"][chosen]
    misses = [
        "; ".join(sentences.missed(name, ratios[at], whole, steps[at]) for name, ratios in excess.items() if ratios[at] > 0)
        for at in range(len(chosen))
    ]
    money = {"usd": done.usd, "hours": done.hours, "usd_per_hour": done.usd_per_hour, "seconds": done.seconds}
    head = {"answer": "", "market": markets, "why": "", "tried": 0, "possible": 0, **money, "misses": misses}
    words = {name: rows[name].astype(object) for name in rows if isinstance(rows[name].dtype, pd.CategoricalDtype)}
    return pd.concat([pd.DataFrame(head, index=rows.index), rows.assign(**words)], axis=1)[[*ANSWER_COLUMNS, *COLUMNS]]


def _edge(whole, tried, found, on_edge):
    """The frontier: hours, usd, instance, instances_needed, market, seconds."""
    columns = {name: found[name][on_edge] for name in ("hours", "usd", "seconds")}
    columns["instance"] = [tried.places[place].instance for place in tried.place[found["number"][on_edge]]]
    columns |= {"instances_needed": found["instances"][on_edge], "market": [whole["markets"][at] for at in found["market"][on_edge]]}
    return pd.DataFrame(columns)


def _way_off(number, row, found, verdict, kept_limits):
    """What is in the way of the nearest plan, and what to do."""
    where = f"the nearest plan, {sentences.place(row)},"
    if row["misses"]:
        name = max(kept_limits, key=lambda limit: limit.excess()[number]).name
        return f"Nothing keeps every limit: {where} {row['misses']}; {sentences.MISSED[name][2]}."
    if found["fits"][number] == FITS.index("tight"):
        return f"Nothing fits over the whole range: {where} is tight and may run out of memory; try it before you rely on it."
    how = {ranking.EMULATED: "runs only by emulation", ranking.UNKNOWN: "is not known to run"}[int(verdict[number])]
    return f"Nothing that surely runs fits: {where} {how}; allow other instances, number formats or software."


def _nearest_why(row, catalogs):
    return f"Nearest of what was tried: {sentences.setting(row, catalogs)} on {sentences.place(row)}."


def _too_large(tried, found, catalogs):
    """The smallest memory against the largest card."""
    names = list(dict.fromkeys(place.instance for place in tried.places))
    largest = catalogs.instances.loc[names, "gpu_memory_bytes"].idxmax()
    card, held = card_name(catalogs.instances["gpu"][largest], catalogs), catalogs.instances["gpu_memory_bytes"][largest]
    return (
        f"Nothing holds this job: its smallest arrangement takes {found['memory_bytes'].min() / GIB:,.1f} GiB on each GPU, and the "
        f"largest card allowed, {card}, has {held / GIB:,.1f}; allow larger instances, or take LoRA or fewer bits."
    )


def _told(whole: dict[str, Any]) -> dict[str, Any]:
    """The settled job: every job column with its value, and the scenario columns that it fixes."""
    fixed = {name: values[0] if len(values) == 1 else values for name, values in whole["fixed"].items()}
    rest = {name: value for name, value in whole.items() if name not in ("fixed", "assumed")}
    return rest | {"regions": "+".join(whole["regions"]), "markets": "+".join(whole["markets"])} | whole["assumed"] | fixed


def _refused(job: dict[str, Any], problem: str, tried: int) -> Options:
    """The one row of a job that has no plan: its problem alone."""
    row: dict[str, Any] = dict.fromkeys((*ANSWER_COLUMNS, *COLUMNS), np.nan)
    row |= dict.fromkeys([name for name in row if name in WORDS or name in ("answer", "market", "why", "misses")], "")
    row |= {"model": job.get("model", ""), "work": job.get("work", "training"), "tried": tried, "possible": 0, "problem": problem}
    frame = pd.DataFrame([row])
    return Options(dict(job), frame, frame, pd.DataFrame(columns=EDGE_COLUMNS), tried, 0, problem)
