"""Selects from the linear forms of all moments of a pass the few that are ever the largest."""

import random

TOLERANCE = 0.01
DRAWS = 3000


def value(form, sizes):
    """Bytes per token of a form. [B]"""
    return sum(times * sizes[name] for name, times in form.items())


def draw(chance):
    """Draw sizes per token of a plausible block, for every size that any family names."""
    pick = chance.choice
    hidden = pick((768, 1024, 2048, 4096, 8192))
    head_dim = pick((64, 80, 128, 256))
    query = hidden * pick((0.5, 1, 1, 1, 2))
    key = query / pick((1, 1, 4, 8, 16))
    heads, seq = query / head_dim, pick((128, 512, 2048, 8192, 32768))
    routed = pick((1, 2, 4, 8))
    expert_ffn = hidden * pick((0.125, 0.25, 0.5, 1, 3.5))
    dropped = pick((0, 1))
    source = pick((0.25, 1, 4))
    batch = pick((1, 8))
    experts = pick((8, 32, 128, 256))
    return dict(
        hidden=hidden,
        query=query,
        key=key,
        value=query * pick((0.667, 1)),
        ffn=hidden * pick((1, 2, 2.7, 3.5, 4, 8)),
        heads=heads,
        kv_heads=key / head_dim,
        scores=heads * seq,
        mask=seq,
        one=1,
        hidden_dropout=hidden * dropped,
        scores_dropout=heads * seq * dropped,
        routed_hidden=routed * hidden,
        routed_ffn=routed * expert_ffn,
        experts=experts,
        experts_per_token=routed,
        shared_ffn=expert_ffn * pick((1, 2)),
        latent=576,
        query_latent=1536,
        source_key=query * source,
        source_hidden=hidden * source,
        source_scores=heads * seq * source,
        source_scores_dropout=heads * seq * source * dropped,
        shared_scores=heads * seq / batch,
        shared_mask=seq / batch,
        shared_hidden=hidden / batch,
        shared_source_scores=heads * seq * source / batch,
        relative_hidden=hidden * 512 / seq,
        experts_hidden=experts * hidden,
        experts_ffn=experts * expert_ffn,
        state=32 * query,
        state_values=2 * query,
        state_heads=2 * query / 64,
        state_group_keys=key,
        layer_inputs=42 * 256,
        per_layer=256,
        expert_latent=hidden / 4,
    )


def largest(forms, fixed=None):
    """Return a short list of forms whose largest is within 1 % of the largest of all.

    This holds for all sizes drawn.
    """
    unique = [dict(pairs) for pairs in sorted({tuple(sorted(form.items())) for form in forms})]
    unique = [
        one for one in unique if not any(one is not two and covers(two, one) for two in unique)
    ]
    chance = random.Random(1)
    open_draws = []
    for _ in range(DRAWS):
        sizes = draw(chance) | (fixed or {})
        values = [value(form, sizes) for form in unique]
        limit = max(values) * (1 - TOLERANCE)
        open_draws.append({place for place, size in enumerate(values) if size >= limit})
    chosen = []
    while open_draws:
        counts = [sum(place in good for good in open_draws) for place in range(len(unique))]
        best = max(range(len(unique)), key=counts.__getitem__)
        chosen.append(unique[best])
        open_draws = [good for good in open_draws if best not in good]
    return chosen


def covers(big, small):
    """Return whether no size has a larger coefficient in the second form than in the first."""
    return big != small and all(big.get(name, 0) >= times for name, times in small.items())
