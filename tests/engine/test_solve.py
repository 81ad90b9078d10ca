"""The largest batch and the longest sequence: the estimate at the answer lives on the card, one
more does not.
"""

import numpy as np
import pytest
from examples import at_random, catalogs, one, table

from calc import estimate
from calc.engine.largest import LARGEST

CARDS = ("h100-80gb-sxm", "l4", "a100-40gb-sxm", "t4", "p5.48xlarge")


def test_the_answer_lives_and_one_more_does_not():
    cards = np.resize(np.array(CARDS, dtype=object), 160)
    instances = np.array(["." in card for card in cards])
    rows = at_random(len(cards), seed=11).assign(
        gpu=np.where(instances, "", cards), instance=np.where(instances, cards, "")
    )
    results = estimate(rows, catalogs())
    rows, results = rows[results["problem"] == ""], results[results["problem"] == ""]
    assert len(rows) > 100
    context = results["context_parallel"]
    for name, step in (("batch", 1), ("sequence_tokens", np.where(context > 1, 2 * context, 1))):
        answer = results[f"max_{name}"]
        of_images = (rows["model"] == "vit-large-patch16") & (name == "sequence_tokens")
        assert (answer.isna() == of_images).all()
        assert (answer % step)[~of_images].eq(0).all()
        at_it = estimate(rows.assign(**{name: answer})[answer > 0], catalogs(), solve=False)
        assert at_it["fits"].isin(("yes", "tight")).all()
        beyond = estimate(
            rows.assign(**{name: answer + step})[answer < LARGEST[name] // step * step],
            catalogs(),
            solve=False,
        )
        ended = beyond["problem"].str.contains("learned positions|CPU memory|which vllm refuses")
        assert ((beyond["fits"] == "no") | ended).all()


@pytest.mark.parametrize("name", ["max_batch", "max_sequence_tokens"])
@pytest.mark.parametrize("work", ["training", "inference"])
def test_a_larger_card_never_holds_less(work, name):
    cards = ["t4", "l4", "a100-40gb-sxm", "a100-80gb-sxm", "h200-sxm", "b200"]
    answers = table(
        [{"gpu": card} for card in cards],
        solve=True,
        model="llama-3.2-1b",
        work=work,
        precision="bf16",
    )[name]
    assert (np.diff(answers) >= 0).all()
    assert answers.iloc[-1] > answers.iloc[0]


def test_the_answer_depends_on_what_is_set_and_not_on_where_the_search_begins():
    """The prompt is as long as the sequence unless it is set; a set prompt stays."""
    free, short = table(
        [{}, {"prompt_tokens": 64}],
        solve=True,
        model="llama-3.1-8b",
        work="inference",
        gpu="h100-80gb-sxm",
    )["max_sequence_tokens"]
    assert short > free
    answers = table([{"gpu": ""}, {"gpu": "t4"}], solve=True, model="llama-3.1-70b")
    none, tiny = answers[["max_batch", "max_sequence_tokens"]].to_numpy()
    assert np.isnan(none).all()
    assert (tiny == 0).all()
    result = estimate({"model": "gpt2", "gpu": "l4"}, catalogs(), solve=False)
    assert np.isnan(result["max_batch"])
    assert result["fits"] == "yes"


def test_an_image_has_no_longest_sequence_and_learned_positions_or_the_context_bound_it():
    row = one(solve=True, model="vit-large-patch16", gpu="l4")
    assert np.isnan(row["max_sequence_tokens"])
    assert row["max_batch"] > 0
    assert (
        one(solve=True, model="gpt2", gpu="h100-80gb-sxm", work="inference")["max_sequence_tokens"]
        == 1024
    )
    # Every layer of Mistral 7B v0.1 keeps a window of 4096 tokens: a paged cache never holds more,
    # its context ends it.
    row = one(
        solve=True,
        model="mistral-7b-v0.1",
        gpu="h100-80gb-sxm",
        work="inference",
        implementation="vllm",
    )
    assert row["max_sequence_tokens"] == 32_768


def test_what_the_cpu_holds_of_offloaded_activations_bounds_the_batch():
    scenario = {
        "model": "llama-3.1-8b",
        "offload": "activations",
        "precision": "bf16",
        "loss": "fused",
    }
    row = one(solve=True, **scenario, instance="p5.4xlarge")
    card = one(solve=True, **scenario, gpu="h100-80gb-sxm")
    beyond = estimate(
        {**scenario, "instance": "p5.4xlarge", "batch": row["max_batch"] + 1},
        catalogs(),
        solve=False,
    )
    assert 0 < row["max_batch"] < card["max_batch"]
    assert beyond["problem"].startswith("Offloading takes ")
