"""Time to first token of a request among others: waves, waits, rounds of a benchmark.

Source: iteration-level scheduling, Yu et al. 2022, Orca, OSDI; prompts by themselves: prefill.
"""

import numpy as np


def wave_pass_seconds(
    batch, wave_passes, prefill_compute_seconds, prefill_link_seconds, prompt_compute_seconds
):
    """One pass of a wave of prompts, full up to the engine's budget. [s]

    At least as long as one prompt alone.
    """
    full = (prefill_compute_seconds + prefill_link_seconds) / wave_passes
    return np.maximum(full, prompt_compute_seconds + prefill_link_seconds / batch)


def wave_wait_seconds(wave_passes, wave_pass_seconds, engine_ahead_steps):
    """Mean wait of a prompt for the passes of the wave before its own. [s]

    Requests of one length that end in one step are followed by prompts that come together. These
    run in W passes. A prompt finds those before it, (W − 1) / 2 at the mean, but no more than the
    engine has ahead of an arrival, since its predecessor ended only as they ran; the first pass
    finds none. Source: vLLM, v1/core/sched/scheduler.py, schedule: waiting requests fill the token
    budget of a step, first come, first served.
    """
    at_most = engine_ahead_steps * (1 - 1 / wave_passes)
    return np.minimum((wave_passes - 1) / 2, at_most) * wave_pass_seconds


def prompt_wait_seconds(
    batch,
    prefill_queue_seconds,
    decode_step_seconds,
    shared_read_seconds,
    engine_ahead_steps,
    engine_replays_steps,
    in_waves,
    wave_wait_seconds,
):
    """Time that a prompt waits for others at the steady rate: prompts and decode steps. [s]

    One decode step of the others rides with it; an engine that schedules ahead has more before it.
    Source: iteration-level scheduling, Yu et al. 2022, Orca, OSDI; vLLM's asynchronous scheduling.
    """
    steps = (
        1 + engine_ahead_steps * engine_replays_steps
    ) * decode_step_seconds - shared_read_seconds
    steady = prefill_queue_seconds + np.where(batch > 1, steps, 0)
    waves = (in_waves > 0) & (batch > 1)
    return np.where(waves, wave_wait_seconds + decode_step_seconds, steady)


def room_wait_seconds(
    batch, running_sequences, prompt_seconds, generated_tokens, decode_token_seconds
):
    """Time that a request waits until another leaves its slot: (C − K) / K rounds. [s]

    Of C users K run at once; a round of these is a prefill of each and g steps.
    Source: Little 1961, Operations Research 9(3), 383-387.
    """
    round_seconds = running_sequences * prompt_seconds + generated_tokens * decode_token_seconds
    return (batch / running_sequences - 1) * round_seconds


def in_step_first_token_seconds(
    batch,
    running_sequences,
    burst_first_token_seconds,
    burst_wait_ratio,
    arrival_seconds,
    first_token_run_ratio,
):
    """Time to the first token of requests that begin together, round after round. [s]

    They wait for each other's prompts, not for those that wait for room. Source: SGLang 0.5.15,
    managers/scheduler.py, get_next_batch_to_run: "Run prefill first if possible", and alone.
    """
    burst_seconds = burst_first_token_seconds * running_sequences / batch
    waited = burst_wait_ratio * burst_seconds
    return waited + (1 - burst_wait_ratio) * arrival_seconds * first_token_run_ratio


def straddled_seconds(wave_passes, wave_pass_seconds, computed_tokens, engine_batched_tokens):
    """Rest of the next pass in which a prompt of a wave ends, if it begins late in one. [s]

    An engine cuts a prompt at the end of its budget B, so that one of L tokens spans 1 + L / B
    passes in the mean where other prompts fill them; the last of W passes has none after it.
    Source: vLLM, v1/core/sched/scheduler.py, schedule: min(num_new_tokens, token_budget).
    """
    budgets = np.maximum(computed_tokens, 1) / engine_batched_tokens
    followed_ratio = np.maximum(1 - 1 / wave_passes, 0)
    return np.minimum(budgets, 1 / budgets) * followed_ratio * wave_pass_seconds


def own_pass_seconds(
    batch,
    in_waves,
    wave_pass_seconds,
    straddled_seconds,
    prompt_compute_seconds,
    prefill_link_seconds,
):
    """The pass of a prompt: by itself, or with the others of its wave. [s]

    By definition.
    """
    alone = prompt_compute_seconds + prefill_link_seconds / batch
    return np.where((in_waves > 0) & (batch > 1), wave_pass_seconds + straddled_seconds, alone)


def time_to_first_token_seconds(
    in_step,
    generated_tokens,
    own_pass_seconds,
    prompt_wait_seconds,
    room_wait_seconds,
    arrival_seconds,
    in_step_first_token_seconds,
    first_token_run_ratio,
):
    """Time from the arrival of one prompt to its first token at the steady rate. [s]

    If nothing is generated there is no steady rate, and only its prefill counts. Valid: prompts
    that an engine does not cut into chunks; the decode steps between chunks are left out.
    """
    alone = arrival_seconds + own_pass_seconds
    staggered = (
        alone + np.where(generated_tokens > 0, prompt_wait_seconds, 0)
    ) * first_token_run_ratio
    reached = np.where(
        (in_step > 0) & (generated_tokens > 0), in_step_first_token_seconds, staggered
    )
    return reached + room_wait_seconds


def first_round_seconds(
    in_step,
    in_waves,
    batch,
    burst_wait_ratio,
    burst_first_token_seconds,
    time_to_first_token_seconds,
):
    """Wait of a benchmark's first requests, sent at one moment, beyond that of later ones. [s]

    Half of the burst, or what it takes more than a wave; in step every round is such a burst.
    """
    whole = burst_wait_ratio * burst_first_token_seconds - time_to_first_token_seconds
    waves = np.where(batch > 1, np.maximum(whole, 0), 0)
    others = np.where(in_waves > 0, waves, burst_first_token_seconds / 2)
    return np.where(in_step > 0, 0, others)


def closed_loop_first_token_seconds(
    time_to_first_token_seconds, first_round_seconds, closed_loop_rounds
):
    """Mean time to first token of a benchmark that keeps `batch` requests in flight. [s]

    All of them are sent at one moment at the start, and as many again in each of the later rounds:
    the first round weighs 1 / rounds over all requests. Source: InferenceX, README, Benchmark
    Client Configuration: --request-rate inf, --max-concurrency C, --num-prompts 10 C.
    """
    return time_to_first_token_seconds + first_round_seconds / closed_loop_rounds
