"""Serving at the steady rate: time per token, and tokens per second of prefill and decode."""

import numpy as np


def interleaved_prefill_seconds(expert_batch, generated_tokens, prompt_seconds, host_seconds, decode_step_seconds):
    """Prefill of others' prompts that falls on each token of a request. [s]

    While one request generates its g tokens, the n − 1 others each end and bring a new prompt, whose prefill runs between or
    inside the decode steps: (n − 1) · prefill of one / g. n are the sequences of a replica, or of all that share the experts,
    whose steps wait for one another. A step with a prompt in it is too long to be replayed: the CPU launches it.
    Source: Sevcik and Mitrani 1981, J. ACM 28(2), 358-371 (closed systems); Agrawal et al. 2024, arXiv 2403.02310; vLLM's
    documentation, data parallel deployment.
    """
    prompts = (expert_batch - 1) / np.maximum(generated_tokens, 1)
    launched = np.minimum(prompts, 1) * (host_seconds - decode_step_seconds)
    return np.where(generated_tokens > 0, np.maximum(prompts * prompt_seconds, launched), 0)


def time_per_output_token_seconds(decode_token_seconds, interleaved_prefill_seconds):
    """From one token of a request to its next at the steady rate, on average. [s]

    Its time without the first token / (tokens − 1): what serving benchmarks call TPOT, and the mean of the times between tokens
    (ITL), whose median is decode_token_seconds. request_seconds_per_token counts the first token too.
    """
    return decode_token_seconds + interleaved_prefill_seconds


def prefill_tokens_per_second(batch, prompt_tokens, data_parallel, burst_first_token_seconds):
    """Prompt tokens that all GPUs together take in, while they prefill. [tokens/s]"""
    return data_parallel * batch * prompt_tokens / burst_first_token_seconds


def decode_tokens_per_second(batch, data_parallel, decode_token_seconds):
    """Tokens that all GPUs together generate, while they decode. [tokens/s]"""
    return data_parallel * batch / decode_token_seconds


def serving_tokens_per_second(
    batch, data_parallel, generated_tokens, engine_request_seconds, prompt_seconds, time_per_output_token_seconds, decode_tokens_per_second
):
    """Tokens generated: batch · g / (a request's prefill + g · time per token). [tokens/s]

    Without tokens to generate (a prompt as long as the sequence) it is the rate of decoding at that length.
    """
    g = generated_tokens
    served = data_parallel * batch * g / (engine_request_seconds + prompt_seconds + g * time_per_output_token_seconds)
    return np.where(g > 0, served, decode_tokens_per_second)
