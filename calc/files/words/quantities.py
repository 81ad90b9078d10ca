"""The columns of each quantity: those of any work and those of a run."""

import math
import re

from calc.files.words.amounts import HOUR, LONGEST_LENGTH, Amounts
from calc.files.words.facts import Facts, as_counted
from calc.files.words.frames import Claim
from calc.files.words.limits import put_limits
from calc.files.words.memory import put_memory
from calc.files.words.roles import ROLLS_OUT
from calc.files.words.serving import OF_CONVERSATIONS, put_serving

OF_ONE_COPY = ("tensor_parallel", "pipeline_parallel", "context_parallel")
SHORT_SEQUENCE = 32768  # tokens: below, an amount without a word is of one sequence
LENGTH_STEP = 64  # tokens: a longest sequence is a multiple of it, the length of an example is not
FEWEST_EXAMPLES = 50
IN_ALL = re.compile(  # 30M tokens in total over 3 epochs
    r" ?\(?(?:in )?(?:total|all|overall|insgesamt|zusammen|au total|en tout|en total)"
    r" (?:over|for|across|in|über|für|auf|sur|pour|en|para) "
)
UP_TO = re.compile(r"(?:up to|at most|max(?:imum)?|bis zu|höchstens|jusqu'à|au plus|hasta) $")
MOST_GENERATIONS = 128  # answers to one prompt; a larger number is a length
SAME = {  # roles that are columns of any work
    *("people", "users", "share_active", "requests_per_second", "first_token_seconds"),
    *("token_seconds", "request_seconds", "epochs", "step_tokens", "lora_rank", "generations"),
    *("completion_tokens", "accumulation_steps", "batch", "adapters", "tensor_parallel"),
    *("pipeline_parallel", "context_parallel", "expert_parallel", "hours_most", "usd_most"),
    *("layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "spare", "quota_vcpus"),
    *("instances_most", "gpus_most", "prompt_tokens", "answer_tokens", "shared_prompt_tokens"),
    *(
        "gpu_hours_most",
        "prompts_per_step",
        "usd_per_million_tokens",
        "text_gigabytes",
        "words_total",
        "gpu_memory_gb",
    ),
    *("tokens_per_second", "memory_utilization", "max_batched_tokens"),
}
MEAN = "You wrote '{}'. How many tokens does an example have on average?"
TWO_JOBS = (
    "You wrote '{}', which is of a service, beside a run of training. One job is planned at a "
    "time: is it the service or the training?"
)
SEVERAL_RUNS = (
    "You wrote '{}'. One run is planned at a time: how many examples has one of these, and how "
    "many have all of them?"
)
PROMPTS = re.compile(r" prompts$")  # behind a number: so many, not so long
COUNTED = ("examples", "documents", "prompts", "requests_count", "things")  # data of a run
WHOLE = ("gpus_most", "instances_most")  # counts: less than 8 are 7
LESS = re.compile(r"(?:\b(?<!no )(?<!not )(?:less|fewer) than|\bunder|\bbelow|<(?!=)|weniger als) ")
OF_GOAL = (
    *("tokens", "each_tokens", "context_tokens", "seq_tokens", "examples", "documents", "images"),
    *("prompts", "requests_count", "things", "completions", "answers_count", "steps"),
    *("length_in", "length_out", "question_tokens", "audio_seconds", "tokens_rate", "bare"),
)
MOST_WRITERS = 20  # people of a project that trains: student project, 3 people
WE_ARE = re.compile(
    r"\b(?:we are|we're|i am in|i'm in|wir sind|nous sommes|somos)"
    r" (?:[^\W\d][^\s\d]*,? ){0,6}\d+[^.;:!?]*$"
)
OF_US = re.compile(r"\b(?:of us|von uns|d'entre nous|de nosotros)$")
OF_LOAD = (
    "users_plain",
    "users_session",
    "users_seqs",
    "users",
    "people",
    "requests_rate",
    "requests_per_second",
)


def put_quantities(amounts: Amounts) -> None:
    """Set the columns of all claims."""
    for claim in _of_writers(amounts):
        amounts.leave_out(claim)
        amounts.claims.remove(claim)
    for claim in amounts.claims:
        if claim.role in WHOLE and LESS.search(amounts.text, claim.start, claim.end):
            amounts.put(claim.role, claim, claim.item.value - 1)
        elif claim.role in SAME:
            amounts.put(claim.role, claim)
    for claim in amounts.of("of_length"):
        amounts.words(claim)
    if amounts.goal == "serve":
        put_serving(amounts)
    elif amounts.goal:
        _put_training(amounts)
    else:  # what amounts and lengths are of is open with the goal
        for claim in amounts.of(*OF_GOAL):
            amounts.words(claim)
    for claim in amounts.of("gpu_seconds_most"):
        amounts.put("gpu_hours_most", claim, claim.item.value / HOUR)
    put_limits(amounts)
    put_memory(amounts)
    _assume_words(amounts)


def _of_writers(amounts: Amounts) -> list[Claim]:
    """People who are those that ask, in a run of training or beside a load: we're a team of 6."""
    load = amounts.value("users", "users_plain")
    trains = amounts.goal in ("tune", "train") and "serve" not in amounts.tags
    return [
        claim
        for claim in amounts.of("people")
        if (trains and claim.item.value <= MOST_WRITERS)
        or (
            (amounts.goal != "serve" or load > claim.item.value)
            and (
                OF_US.search(amounts.text[: claim.end]) or WE_ARE.search(amounts.text[: claim.end])
            )
        )
    ]


def _assume_words(amounts: Amounts) -> None:
    """Name the lengths in words that were taken as tokens."""
    for claim in amounts.claims:
        if "words" in claim.item.extra and not amounts.is_open(claim):
            amounts.facts.assume(claim.item.extra["words"])


def _put_training(amounts: Amounts) -> None:
    """Put the data, the lengths and the steps of a training run."""
    run = "run_tokens" if amounts.goal == "train" else "train_tokens"
    _put_data(amounts, run)
    _put_unknown_things(amounts)
    _put_examples_each(amounts)
    _put_rollouts(amounts)
    for claim in amounts.of("tokens"):
        _put_tokens(amounts, claim, run)
    for claim in amounts.of("global_batch"):
        if length := float(amounts.facts.columns.get("sequence_tokens", 0)):
            amounts.put("step_tokens", claim, claim.item.value * length)
        else:
            amounts.ask("step_tokens", claim)
    _put_steps(amounts, run)
    for claim in amounts.of("audio_seconds"):
        amounts.put("audio_hours", claim, claim.item.value / 3600)
    _ask_about_loads(amounts)
    if not amounts.of("steps"):
        _times_epochs(amounts, run)


def _put_data(amounts: Amounts, run: str) -> None:
    """Put the examples and their lengths; `run` is the column of the tokens of the run."""
    for claim in amounts.of("context_tokens", "seq_tokens"):
        of_example = {"session", "request"} & claim.cues or (
            "per" in claim.cues and amounts.of("examples", "users_session")
        )
        of_answer = "long" in claim.cues and _rolls_out(amounts.facts)
        if of_answer and "completion_tokens" not in amounts.facts.columns:
            amounts.put("completion_tokens", claim)
        else:
            amounts.put("example_tokens" if of_example else "sequence_tokens", claim)
    for claim in amounts.of(*COUNTED, "images"):
        of_one = claim.role == "prompts" and amounts.words(claim).endswith("prompt")
        amounts.put("prompt_tokens" if of_one else "examples", claim)
    for claim in amounts.of("images_each"):
        amounts.put("images_per_sequence", claim)
    _put_turns(amounts)
    for claim in amounts.of("each_tokens"):
        is_long = claim.item.value > LONGEST_LENGTH
        of_epoch = "epochs" in amounts.facts.columns and is_long
        column = run if of_epoch else _length_of_each(amounts, claim)
        amounts.put("step_tokens" if amounts.of("steps") and is_long else column, claim)
    for claim in amounts.of("longest_each"):
        amounts.put("sequence_tokens", claim)
    for claim in amounts.of("length_at_percentile"):
        amounts.ask("example_tokens", claim, MEAN.format(amounts.words(claim)))
    for claim in amounts.of("adapters"):
        _put_adapters(amounts, claim)


def _put_turns(amounts: Amounts) -> None:
    """Put examples of so many turns of a length; turns alone do not count beside their tokens."""
    lengths = amounts.of("turn_tokens")
    for claim in lengths:
        if turns := amounts.value("turns"):
            amounts.put("example_tokens", claim, claim.item.value * turns)
        else:
            amounts.ask("example_tokens", claim)
    for claim in amounts.of(*OF_CONVERSATIONS):
        if not lengths:
            amounts.leave_out(claim)
        amounts.words(claim)


def _put_examples_each(amounts: Amounts) -> None:
    """Put the answers generated for each prompt, and the chats that a run learns from."""
    facts = amounts.facts
    for claim in amounts.of("examples_each"):
        if facts.columns.get("objective") in ROLLS_OUT and claim.item.value <= MOST_GENERATIONS:
            amounts.put("generations", claim)
        else:
            amounts.ask("examples", claim)  # 2k examples per customer
    for claim in amounts.of("users_session"):
        if claim.item.value >= FEWEST_EXAMPLES and "examples" not in facts.columns:
            amounts.put("examples", claim)


def _ask_about_loads(amounts: Amounts) -> None:
    """Ask about the load of a service that stands beside a run of training."""
    for claim in amounts.of(*OF_LOAD):
        if claim.role != "users_session" or amounts.is_open(claim):
            amounts.facts.drop(claim.role)
            amounts.ask("goal", claim, TWO_JOBS.format(amounts.words(claim)))


def _put_adapters(amounts: Amounts, claim: Claim) -> None:
    """Take adapters that are trained as LoRA; several are several runs, which are asked about."""
    amounts.facts.drop("adapters")
    amounts.facts.columns.setdefault("method", "lora")
    if claim.item.value > 1:
        amounts.ask("examples", claim, SEVERAL_RUNS.format(amounts.words(claim)))
    amounts.words(claim)


def _times_epochs(amounts: Amounts, run: str) -> None:
    """Take the tokens of a run as those of its data, which each epoch reads again.

    Where the length of an example is said, the examples give the tokens of the run. Tokens in
    total over so many epochs are those of all of them.
    """
    facts = amounts.facts
    epochs = facts.columns.get("epochs")
    if any(IN_ALL.match(amounts.text, claim.end) for claim in amounts.of("tokens")):
        facts.drop("epochs")
        return
    has_length = facts.columns.keys() >= {"examples", "example_tokens"}
    if run in facts.columns and epochs and not has_length:
        facts.columns[run] = as_counted(facts.columns[run] * epochs)
        facts.assume(f"{facts.words[run]} in each of {epochs:g} epochs")
        facts.drop("epochs")


def _put_unknown_things(amounts: Amounts) -> None:
    """The one number before an unknown word, where each has a length: 22.000 Arztbriefe."""
    things = [claim for claim in amounts.of("bare") if amounts.is_of_unknown(claim)]
    known = amounts.facts.columns.keys() & {"examples", "generations"}
    if len(things) == 1 and amounts.of("each_tokens") and not known:
        amounts.put("examples", things[0])


def _length_of_each(amounts: Amounts, claim: Claim) -> str:
    """The column of a length of each: of an example, or of what the claim before it counts.

    16 answers each, 900 tokens each; 5k prompts (300 tokens each).
    """
    before = [one for one in amounts.claims if one.item.start < claim.item.start]
    if amounts.facts.columns.get("objective") not in ROLLS_OUT or not before:
        return "example_tokens"
    if before[-1].role in ("prompts", "requests_count"):
        return "prompt_tokens"
    return "completion_tokens" if before[-1].role == "generations" else "example_tokens"


def _put_rollouts(amounts: Amounts) -> None:
    """Prompts and answers of a run, which only an objective with generated answers has."""
    facts = amounts.facts
    rolls_out = _rolls_out(facts)
    for claim in amounts.of("prompt_tokens"):
        if rolls_out and PROMPTS.search(amounts.text[: claim.item.end + len(" prompts")]):
            facts.drop("prompt_tokens")
            amounts.put("examples", claim)
    for claim in amounts.of("answer_tokens", "answers_count", "completions"):
        facts.drop("answer_tokens")
        of_prompt = claim.role != "answer_tokens" and claim.item.value <= MOST_GENERATIONS
        if rolls_out:
            amounts.put("generations" if of_prompt else "completion_tokens", claim)
        elif amounts.words(claim).endswith("s") and "examples" not in facts.columns:
            amounts.put("examples", claim)  # of a teacher, to learn from
        elif claim.role != "answer_tokens":
            amounts.ask("", claim)
    if not rolls_out:
        _put_parts(amounts, amounts.of("prompt_tokens", "question_tokens", "answer_tokens"))
        _put_parts(amounts, [*amounts.of("length_in"), *amounts.of("length_out")])


def _rolls_out(facts: Facts) -> bool:
    """Return whether the run generates the answers that it learns from."""
    of_rollouts = {"generations", "completion_tokens"} & facts.columns.keys()
    return bool(of_rollouts or facts.columns.get("objective") in ROLLS_OUT)


def _put_parts(amounts: Amounts, parts: list[Claim]) -> None:
    """Prompt and answer of each example, which are learned from together."""
    facts = amounts.facts
    facts.drop("prompt_tokens")
    if len(parts) == 1 and _is_most(amounts, parts[0]):
        amounts.put("sequence_tokens", parts[0])  # 8k max tokens
        return
    whole = any(
        claim.role in ("answer_tokens", "length_out") for claim in parts
    ) and not amounts.of("bare")
    if whole and "examples" in facts.columns and "example_tokens" not in facts.columns:
        words = " and ".join(amounts.words(claim) for claim in parts)
        facts.put("example_tokens", float(sum(claim.item.value for claim in parts)), words)
        facts.assume(f"examples of '{words}'")
        return
    for claim in parts:
        amounts.ask("example_tokens", claim)


def _put_tokens(amounts: Amounts, claim: Claim, run: str) -> None:
    """Tokens without a word about them: of the run, of an example, or of a sequence."""
    columns, tokens = amounts.facts.columns, claim.item.value
    if tokens > LONGEST_LENGTH:
        amounts.put(run, claim)
    elif amounts.is_of_unknown(claim):
        amounts.ask(run, claim)
    elif _is_most(amounts, claim) and "sequence_tokens" not in columns:
        of_answer = columns.get("objective") in ROLLS_OUT
        amounts.put("completion_tokens" if of_answer else "sequence_tokens", claim)
    elif columns.get("objective") in ROLLS_OUT and "completion_tokens" not in columns:
        amounts.put("completion_tokens", claim)
    elif "examples" in columns and "example_tokens" not in columns:
        amounts.put("example_tokens", claim)
    elif "sequence_tokens" not in columns and (
        (tokens <= SHORT_SEQUENCE and tokens % LENGTH_STEP == 0)
        or ("batch" in columns and tokens <= LONGEST_LENGTH)
    ):
        amounts.put("sequence_tokens", claim)
    else:
        amounts.ask(run, claim, choices=("tokens of the whole run", "tokens of one sequence"))


def _is_most(amounts: Amounts, claim: Claim) -> bool:
    """Return whether tokens are the most that there are: up to 900 tokens, 8k max tokens."""
    before = amounts.text[: claim.start]
    return bool(UP_TO.search(before)) or "max" in amounts.text[claim.start : claim.end].split()


def _put_steps(amounts: Amounts, run: str) -> None:
    """Put steps as tokens; ask where the tokens of a step are not known."""
    step_tokens = float(amounts.facts.columns.get("step_tokens", 0))
    for claim in amounts.of("steps"):
        if prompts := float(amounts.facts.columns.get("prompts_per_step", 0)):
            amounts.put("examples", claim, claim.item.value * prompts)
        elif step_tokens:
            amounts.put(run, claim, claim.item.value * step_tokens)
        elif step := _sequences_of_a_step(amounts):
            amounts.put(run, claim, claim.item.value * step)
            amounts.facts.assume(f"steps of {step:,.0f} tokens")
        else:
            text = f"You wrote '{amounts.words(claim)}'. How many tokens has a step?"
            amounts.ask("step_tokens", claim, text)


def _sequences_of_a_step(amounts: Amounts) -> float:
    """Tokens of a step by its sequences and their length; 0 where either is not said."""
    columns = amounts.facts.columns
    batch, length = columns.get("batch", 0), columns.get("sequence_tokens", 0)
    each = float(batch) * float(length) * float(columns.get("accumulation_steps", 1))
    return each * _data_parallel(amounts)


def _data_parallel(amounts: Amounts) -> float:
    """The GPUs that take sequences of their own; 0 where a text does not say how many."""
    gpus = amounts.value("gpus")
    if not gpus or amounts.of("nodes", "gpus_each", "instances", "instances_count"):
        return 0.0
    of_one = math.prod(amounts.value(role) or 1.0 for role in OF_ONE_COPY)
    return gpus / of_one if gpus % of_one == 0 else 0.0
