"""One estimate as twenty lines of text, or as a mapping for programs."""

from collections.abc import Iterator

from calc.answers.advice import advise
from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.cost.job import ends_of
from calc.engine.pipeline import COLUMNS
from calc.evaluate import Row
from calc.files.configs.run_summary import phrase
from calc.files.imported_run import OtherRun
from calc.files.oom.phases import allocated_by_phase
from calc.files.request import Request
from calc.files.request_answer import RequestAnswer
from calc.files.request_job import assumed_values, assumption_sentence
from calc.mappings import Cells
from calc.plan.bill import price_facts
from calc.plan.figures import figures, parts_of, records
from calc.plan.ownership import OWNERSHIP
from calc.say.change import NOTHING_FITS, effect
from calc.say.job import job_sentence, short_job
from calc.say.named_choices import named_choices_words
from calc.say.numbers import (
    about,
    count,
    duration,
    gib,
    is_missing,
    percent,
    size,
    span,
    three_digits,
    usd,
    with_noun,
)
from calc.say.other_ways import tuned_words
from calc.say.paid import month_words, paid_hours
from calc.say.place import cards, place_with_availability
from calc.say.reading import reading_lines
from calc.say.replicas import replicas_sentence
from calc.say.sessions import turns_sentence
from calc.say.setting import setting
from calc.say.speed import one_unit, pace_range_seconds, pace_unit
from calc.say.verdict import RUNS, memory_of
from calc.scenarios.join_objectives import SUPERVISED
from calc.search.row_status import scenario_of
from calc.studies.alternatives import load_tokens_per_month
from calc.studies.named_choices import named_choices
from calc.units import MILLION

CHANGES, PARTS, LONGEST = 3, 6, 240  # changes and components that are named; characters of a line
TELLS_APART = ("model", "gpu", "instance", "gpus", "tensor_parallel", "pipeline_parallel")
NO_MONEY = "not known: name an instance, or ask in words what to rent"


def sheet(result: RequestAnswer, request: Request) -> list[str]:
    """The estimate line by line."""
    whole = reading_of(request, result.job) + data_lines(request, result.row)
    return [
        line if len(line) <= LONGEST or line in whole else f"{line[: LONGEST - 3]}..."
        for line in _lines(result, request)
    ]


def as_mapping(result: RequestAnswer, request: Request) -> Row:
    """The estimate for programs: every column of the row that has a value, and what was read."""
    row = {name: value for name in COLUMNS if not is_missing(value := result.row.get(name))}
    row |= {
        name: result.row[name]
        for name in ("market", "usd", "hours", "usd_per_hour", *OWNERSHIP)
        if not is_missing(result.row.get(name))
    }
    changes = [] if result.row["problem"] else _changes(result, request.catalogs)
    about_text = {
        "read": request.read,
        "assumed": assumption_sentence(result.job, request),
        "not_understood": request.remark,
    }
    return {
        "estimate": row,
        "scenario": scenario_of(row),
        "changes": changes,
        **about_text,
        "lines": sheet(result, request),
    }


def _lines(result: RequestAnswer, request: Request) -> Iterator[str]:
    """Yield the lines of one estimate in the order in which they are printed."""
    row, catalogs = result.row, request.catalogs
    yield from reading_of(request, result.job)
    yield from data_lines(request, result.row)
    yield job_sentence(result.job, catalogs) if result.job else f"{short_job(row, catalogs)}."
    if row["problem"]:
        yield f"Problem: {row['problem']}"
    if not is_missing(row["memory_bytes"]):
        yield from _estimate_lines(row, bool(result.job.get("have")), catalogs)
        yield from _note_lines(row)
        replicas = request.run.summary.replicas if request.run else 1
        if sentence := replicas_sentence(row, replicas, catalogs):
            yield f"Replicas: {sentence}"
        if result.options and (tuned_row := result.options.ways.tuned_row) is not None:
            yield f"Flags: as shipped; {tuned_words(tuned_row, row, catalogs)}"
        yield from _endpoint(result)
        yield from _choice_lines(result, request)
        changes = _changes(result, catalogs)
        yield from (
            f"Change: {change}"
            for change in changes or ([NOTHING_FITS] if row["fits"] == "no" else [])
        )
    else:
        yield from _note_lines(row)


def _note_lines(row: Row) -> Iterator[str]:
    """Yield what is left out of a row or assumed by its rules."""
    if row["note"]:
        yield f"Note: {row['note']}"


def data_lines(request: Request, row: Row | None = None) -> list[str]:
    """A line on each data set, in batches of the row."""
    batch = row.get("batch") if row else None
    if batch is None or is_missing(batch) or batch < 2:
        return [data.sentence() for data in request.data]
    return [data.sentence(int(batch)) for data in request.data]


def reading_of(request: Request, job: Cells) -> list[str]:
    """Return how a request was read, what is assumed, and what is not counted."""
    if request.run is None:
        return _reading_of_words(request, job)
    lines = request.run.summary.lines()
    others = [_other_run(other) for other in request.run.others]
    return lines + (
        [f"Also in your file, each a run of its own: {' | '.join(others)}."] if others else []
    )


def _other_run(other: OtherRun) -> str:
    """Return the name of another run of the files, what tells it apart, and its replicas."""
    row = other.row
    name = row["scenario"].removeprefix(row["source_file"]).strip()
    traits = [phrase(name, row[name]) for name in TELLS_APART if row[name]]
    traits += [f"{other.replicas} replicas"] if other.replicas > 1 else []
    return f"{name} {', '.join(traits)}"


def _estimate_lines(row: Row, have: bool, catalogs: Catalogs) -> Iterator[str]:
    """Yield the setting, the memory by component, the time and the cost of a row."""
    yield f"Setting: {setting(row, catalogs)}"
    if row["instance"]:
        yield f"On: {place_with_availability(row, catalogs, is_rented=not have)}"
    else:
        yield f"On: {cards(row, catalogs)}"
    yield f"Memory: {memory_of(row)}"
    yield from _component_lines(row)
    yield (
        f"Peak: {row['peak_phase']}, {size(row['allocated_peak_bytes'])} allocated; "
        f"{row['memory_basis']}"
    )
    yield from _phases(row, catalogs)
    yield from _engine_cache(row, catalogs)
    yield from _machine_lines(row)
    if turns := turns_sentence(row):
        yield f"Turns: {turns}"
    yield f"Time: {'; '.join(_times(row, catalogs)) or 'not known'}"
    yield f"Money: {_money(row, catalogs) if not have else 'nothing is rented'}"


def _component_lines(row: Row) -> Iterator[str]:
    """Yield the largest components of memory, and the sum of the others."""
    parts = parts_of(row).sort_values("gib", ascending=False)
    largest = parts if len(parts) <= PARTS else parts.head(PARTS - 1)
    for name, part_gib, share in largest.itertuples(index=False):
        yield f"  {GLOSSARY[name].label:<18}{gib(part_gib):>10}  {percent(share)}"
    others = parts.iloc[len(largest) :]
    if len(others):
        share = percent(others["share_ratio"].sum())
        yield f"  {'Others':<18}{gib(others['gib'].sum()):>10}  {share}"


def _in_nvidia_smi(row: Row) -> str:
    """Return what nvidia-smi shows of a row: the engine's share, or what the allocator keeps."""
    if not is_missing(row["kv_pool_bytes"]):
        return "what the engine takes, however little the run needs"
    is_whole = row["memory_bytes"] >= row["gpu_memory_bytes"]
    most = "the whole card" if is_whole else size(row["memory_bytes"])
    return f"up to {most}, with the blocks that the allocator keeps"


def _machine_lines(row: Row) -> Iterator[str]:
    """Yield the host memory that the row takes, and the memory of its card."""
    if row["host_memory_bytes"] > 0:
        where = f" of {row['instance']}" if row["instance"] else ""
        host_memory = size(row["host_memory_bytes"])
        yield f"Host memory: {host_memory} of RAM{where} for offloading and loading"
    card = "none is named"
    if row["gpu"]:
        shows = _in_nvidia_smi(row)
        card = f"{size(row['gpu_memory_bytes'])} as its driver reports; nvidia-smi shows {shows}"
    yield f"Card: {'; '.join(filter(None, (card, RUNS.get(row['runs'], ''))))}"


def _phases(row: Row, catalogs: Catalogs) -> Iterator[str]:
    """Yield the memory of each phase of a step that generates answers or scores them."""
    if row["work"] != "training" or row["objective"] in ("", SUPERVISED):
        return
    phases = {
        name: phase_bytes
        for name, phase_bytes in allocated_by_phase(row, catalogs).items()
        if phase_bytes
    }
    if len(phases) > 1:
        yield f"Phases: {', '.join(f'{name} {size(phases[name])}' for name in phases)} allocated"


def _endpoint(result: RequestAnswer) -> Iterator[str]:
    """Yield the price of a service's tokens on Amazon Bedrock, in a sentence."""
    job = result.options.resolved if result.options else None
    price = result.row.get("endpoint_usd_per_million_tokens")
    if job is None or job.trains or is_missing(price) or not price:
        return
    period = month_words(result.row)
    tokens = load_tokens_per_month(result.row, job)
    even = result.row["endpoint_break_even_tokens"]
    own = "" if result.job.get("have") else f"; own instances cost less from {count(even)} a day"
    yield (
        f"Bedrock: {about(tokens * price / MILLION)}{period} for the same "
        f"{count(tokens)} generated tokens with their prompts, {usd(price)} a million{own}"
    )


def _choice_lines(result: RequestAnswer, request: Request) -> Iterator[str]:
    """The choices that the words leave, each with its own answer."""
    if not result.job or result.job.get("have"):
        return
    reading = request.reading
    if choices := named_choices(result.job, request.columns, reading.words, request.catalogs):
        yield f"Compared: {named_choices_words(choices, request.catalogs)}"


def _engine_cache(row: Row, catalogs: Catalogs) -> Iterator[str]:
    """Yield how a serving engine divides its share of the card, and what its cache holds."""
    if is_missing(row["kv_pool_bytes"]):
        return
    engine = catalogs.serving_engines.loc[row["inference_engine"]]
    share = f"{percent(row['memory_utilization'])} {engine['share_of']}"
    parts = [f"weights {size(row['weights_bytes'])}"]
    if not engine["leaves_context"]:
        share_bytes = row["memory_utilization"] * row["gpu_memory_bytes"]
        start_bytes = max(share_bytes - row["weights_bytes"] - row["kv_pool_bytes"], 0)
        left_bytes = row["gpu_memory_bytes"] - share_bytes
        share += f" = {size(share_bytes)}, leaves {size(left_bytes)} (part of the overhead)"
        parts += [f"start-up {size(start_bytes)}"]
    holds = ""
    if not is_missing(row["kv_pool_tokens"]):
        requests = three_digits(row["max_concurrency"])
        length = f"{row['sequence_tokens']:,.0f}"
        holds = f" = {row['kv_pool_tokens']:,.0f} tokens = {requests} requests of {length}"
    parts += [f"KV cache {size(row['kv_pool_bytes'])}{holds}"]
    yield f"Engine: takes {share}: {', '.join(parts)}"


def _times(row: Row, catalogs: Catalogs) -> Iterator[str]:
    """Yield a run's hours and step, or a service's first token and pace, and the throughput."""
    number = figures(row)
    if ends_of(row) and not is_missing(number.hours):
        yield span(number.hours, number.low_hours, number.high_hours)
    if row["work"] == "training" and not is_missing(row["step_seconds"]):
        step = duration(row["step_seconds"], row["step_low_seconds"], row["step_high_seconds"])
        yield f"{step} a step of {with_noun(int(row['step_tokens']), 'token')}"
    if row["work"] == "inference":
        yield from _paces(row, catalogs)
    if not is_missing(row["tokens_per_second"]):
        ends = [three_digits(row[f"{end}_tokens_per_second"]) for end in ("low", "high")]
        yield (
            f"{three_digits(row['tokens_per_second'])} tokens a second ({' to '.join(ends)}), "
            f"{row['time_basis']}"
        )


def _paces(row: Row, catalogs: Catalogs) -> Iterator[str]:
    """Yield the time to the first token, where one token follows another, and the pace."""
    is_per_token = pace_unit(row, catalogs) == "token"
    if is_per_token and not is_missing(row["time_to_first_token_seconds"]):
        ends = (row[f"time_to_first_token_{end}seconds"] for end in ("", "low_", "high_"))
        yield f"first token {duration(*ends)}"
    pace = pace_range_seconds(row, catalogs)
    if not is_missing(pace[0]):
        unit = "each token" if is_per_token else one_unit(row, catalogs)
        yield f"{unit} {duration(*pace)}"


def _money(row: Row, catalogs: Catalogs) -> str:
    """The cost of a row in words, with the day of its price."""
    if is_missing(row["usd_per_hour"]):
        return NO_MONEY
    total = "" if is_missing(row["usd"]) else f"about {about(row['usd'])}{month_words(row)}, "
    token_usd = row.get("usd_per_million_trained_tokens")
    is_left_out = total or is_missing(token_usd) or row["market"] != "on-demand"
    tokens = "" if is_left_out else f", {usd(token_usd)} a million tokens"
    day = price_facts(row, row["market"], catalogs).get("as_of") or row["prices_as_of"]
    hours = "".join(f", {part}" for part in paid_hours(row))
    return f"{total}{usd(row['usd_per_hour'])} an hour{hours}{tokens}; price of {day}"


def _changes(result: RequestAnswer, catalogs: Catalogs) -> list[str]:
    """The most useful changes with their effects, one line each."""
    if result.job.get("have"):
        return []
    rows = records(advise(result.row, catalogs, result.row["market"], result.job).head(CHANGES))
    return [f"{change['change']}: {effect(change, result.row, catalogs)}" for change in rows]


def _reading_of_words(request: Request, job: Cells) -> list[str]:
    """The three lines of a text in plain words; none where columns alone were given."""
    reading = request.reading
    items = [
        meaning if words in request.columns else f"{words} ({meaning})"
        for words, meaning in request.read.items()
    ]
    defaults = assumed_values(job, request) if job else []
    assumptions = list(dict.fromkeys([*reading.assumed, *defaults]))
    open_words = [question.words for question in request.questions if question.words]
    return reading_lines(items, assumptions, [*reading.not_counted, *open_words], "text")
