"""Step through: the surfaces of the moments against the engine, and what the picture shows of
them.
"""

import json
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from examples import TIMES
from pages import opened, page_text, run, title

from calc import estimate
from calc.answers.full_answer import full_answer as options
from calc.explain.calculators import SYSTEMS
from calc.explain.step_through import MOST_MISS, Bounds, at_point, surfaces, with_point
from calc.search.row_status import scenario_of
from calc.studies.comparisons import over_cards
from calc.studies.guide import ready_jobs
from calc.studies.step_variants import scenario_at, walk_through
from calc.units import GIB
from views.charts import step_through as chart_step
from views.understand import step_through_words as words

WIDE = Bounds(1, 32, 512, 64)
POINTS = [
    (1, 512),
    (2, 4096),
    (3, 8192),
    (7, 1536),
    (16, 2048),
    (32, 32_768),
    (32, 512),
    (5, 20_480),
]
TRAINED = {
    "a dense decoder": {"model": "llama-3.1-8b"},
    "experts": {
        "model": "qwen3-30b-a3b",
        "gpus": 8,
        "sharding": "zero3",
        "implementation": "torchtitan",
    },
    "an encoder that keeps its scores": {"model": "modernbert-base", "attention": "eager"},
    "stages of a pipeline": {
        "model": "llama-3.1-8b",
        "gpus": 4,
        "pipeline_parallel": 4,
        "accumulation_steps": 8,
    },
    "windows that fill": {"model": "gemma-2-9b"},
    "adapters on 4 bits": {"model": "qwen3-14b", "tuning": "lora", "precision": "nf4-dq"},
}
BENT = {
    "a position bias": {"model": "t5-base"},
    "a mask from the window on": {"model": "mistral-7b-v0.1"},
    "copies from two sequences on": {"model": "falcon-7b"},
}
SERVED = {
    "plain": {"model": "llama-3.1-8b"},
    "pages of an engine": {"model": "llama-3.1-8b", "implementation": "vllm", "gpu": "l4"},
    "pages as large as a state": {"model": "qwen3.5-27b", "implementation": "vllm", "gpu": "l40s"},
    "windows": {"model": "gemma-3-12b", "implementation": "vllm", "gpu": "l40s"},
    "windows that a prompt fills": {"model": "gemma-3-1b"},
    "a bias": {"model": "t5-base"},
}
SHORT = Bounds(1, 32, 64, 8)  # for learned positions


def totals(rows, batch, tokens):
    """The GiB at each stop: of its largest moment."""
    return at_point(rows, batch, tokens).groupby("stop")["gib"].sum()


def peaks(scenario, catalogs, points):
    """The engine's own allocated peak at some points. [GiB]"""
    frame = with_point(pd.DataFrame([scenario] * len(points)), *zip(*points, strict=True))
    rows = estimate(frame, catalogs, solve=False)
    assert (rows["problem"] == "").all()
    return ((rows["memory_bytes"] - rows["overhead_bytes"]) / GIB).to_numpy(dtype=float)


WALKED = [
    *(
        (name, of | {"recompute": recompute})
        for name, of in (TRAINED | BENT).items()
        for recompute in ("none", "selective", "full")
    ),
    *((name, of | {"work": "inference"}) for name, of in SERVED.items()),
]


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("name", "scenario"),
    WALKED,
    ids=[f"{name}, {of.get('recompute', 'served')}" for name, of in WALKED],
)
def test_the_surfaces_meet_the_engine(name, scenario, catalogs):
    surface = surfaces(pd.DataFrame([scenario]), WIDE, catalogs)
    predicted = [totals(surface.rows, *point).max() for point in POINTS]
    miss = np.abs(predicted / peaks(scenario, catalogs, POINTS) - 1)
    assert miss.max() < MOST_MISS
    if "work" not in scenario:
        assert np.median(miss) < (1e-4 if name in TRAINED else MOST_MISS / 2)
        assert surface.miss_ratio.max() < MOST_MISS


@pytest.mark.long
@pytest.mark.parametrize("work", ["training", "inference"])
def test_the_surfaces_of_every_architecture_meet_the_engine(work, catalogs):
    """A model of each architecture; `make bench` takes every model."""
    table = catalogs.models
    if TIMES == 1:
        table = table[~table[["model_type", "family", "kind"]].duplicated()]
    wide = table["longest_sequence_tokens"] >= WIDE.lengths[-1]
    for models, bounds in ((wide.index[wide], WIDE), (wide.index[~wide], SHORT)):
        frame = pd.DataFrame({"model": models, "work": work, "sequence_tokens": bounds.lengths[-1]})
        able = frame[(estimate(frame, catalogs, solve=False)["problem"] == "").to_numpy()]
        misses = pd.Series(surfaces(able, bounds, catalogs).miss_ratio, able["model"])
        assert len(able) > 5
        assert dict(misses[misses > MOST_MISS]) == {}


def test_what_stays_between_steps_is_weights_and_state(catalogs):
    row = estimate(
        {
            "model": "llama-3.1-8b",
            "gpus": 8,
            "sharding": "zero2",
            "batch": 2,
            "sequence_tokens": 4096,
        },
        catalogs,
        solve=False,
    )
    surface = surfaces(
        pd.DataFrame([{"model": "llama-3.1-8b", "gpus": 8, "sharding": "zero2"}]), WIDE, catalogs
    )
    stays = at_point(surface.rows[surface.rows["stop"] == 5], 2, 4096)
    assert set(stays["component"]) == {"weights_bytes", "optimizer_bytes"}
    assert stays["gib"].sum() == pytest.approx(
        (row["weights_bytes"] + row["optimizer_bytes"]) / GIB
    )
    assert totals(surface.rows, 2, 4096).idxmax() == 2  # the peak is in the backward pass


JOBS = {
    "training": {"model": "llama-3.1-8b", "method": "full"},
    "adapters": {"model": "llama-3.1-70b", "method": "qlora"},
    "a long context": {"model": "llama-3.1-8b", "method": "lora", "sequence_tokens": 65_536},
    "an encoder": {"model": "bert-base-uncased"},
    "images": {"model": "vit-base-patch16"},
    "serving": {"model": "llama-3.1-8b", "work": "inference"},
    "serving experts": {"model": "deepseek-v3", "work": "inference"},
}


LONG = ("an encoder", "a long context", "adapters", "images", "serving experts")  # in make long


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(job, id=name, marks=[pytest.mark.long] if name in LONG else [])
        for name, job in JOBS.items()
    ],
)
def walked(request, catalogs):
    """The first answer of a job, and the walk around it."""
    row = options(request.param, catalogs).rows[0]
    return row, walk_through(scenario_of(row), catalogs)


def test_the_walk_begins_at_the_plan(walked):
    row, walk = walked
    assert walk.miss_ratio < MOST_MISS
    scenario = scenario_at(scenario_of(row), walk, walk.plan)
    assert {
        name: value for name, value in scenario.items() if value != row[name] and value == value
    } == {}
    peak = totals(walk.at_dials(walk.rows), walk.plan["batch"], walk.plan["tokens"]).max()
    assert peak == pytest.approx(row["needed_bytes"] / GIB, rel=MOST_MISS)


def test_what_the_sliders_hand_over_has_the_memory_that_they_show(walked, catalogs):
    """At any place of the sliders, what must fit is the peak of the picture."""
    row, walk = walked
    rng = np.random.default_rng(3)
    for _ in range(4):
        point = {name: float(rng.integers(1, len(dial) + 1)) for name, dial in walk.dials.items()}
        point |= {
            "batch": float(rng.integers(1, 9)),
            "tokens": float(walk.bounds.step_tokens * rng.integers(1, walk.bounds.most_steps + 1)),
        }
        scenario = scenario_at(scenario_of(row), walk, point)
        engine = estimate(scenario | {"instance": ""}, catalogs, solve=False)
        here = walk.rows[
            np.logical_and.reduce([walk.rows[name] == point[name] for name in walk.dials])
        ]
        peak = totals(here, point["batch"], point["tokens"]).max()
        assert peak == pytest.approx(engine["needed_bytes"] / GIB, rel=MOST_MISS)
        assert scenario["model"] == list(walk.dials["model"])[int(point["model"]) - 1]


def test_the_figures_are_those_of_the_line(walked):
    _, walk = walked
    figures, plan = walk.figures, walk.plan
    assert figures.peak_gib == pytest.approx(figures.fixed_gib + figures.each_gib * plan["batch"])
    assert figures.peak_gib == pytest.approx(
        totals(walk.at_dials(walk.rows), plan["batch"], plan["tokens"]).max()
    )
    safe = walk.at_dials(walk.cards).set_index("card")["safe_gib"][walk.card]
    assert totals(walk.at_dials(walk.rows), figures.room, plan["tokens"]).max() <= safe + 1e-3
    assert totals(walk.at_dials(walk.rows), figures.room + 1, plan["tokens"]).max() > safe


def test_every_combination_of_the_dials_has_its_surfaces(walked):
    _, walk = walked
    combinations = np.prod([len(dial) for dial in walk.dials.values()])
    assert (
        len(walk.rows.groupby(list(walk.dials)))
        == len(walk.cards.groupby(list(walk.dials)))
        == combinations
    )
    assert all(walk.dials.values())


def test_the_line_of_a_card_is_where_the_verdict_turns(walked, catalogs):
    """The range reaches the card where the verdict turns, at the plan's length, on every card."""
    row, walk = walked
    scenario = scenario_of(row) | {"instance": ""}
    checked = 0
    for card, safe in walk.at_dials(walk.cards)[["card", "safe_gib"]].itertuples(index=False):
        frame = with_point(
            pd.DataFrame([{**scenario, "gpu": card}] * 4),
            np.array([1, 2, 4, 8]),
            walk.plan["tokens"],
        )
        rows = estimate(frame, catalogs, solve=False)
        needed = rows["needed_bytes"].to_numpy(dtype=float) / GIB
        clear = np.abs(needed / safe - 1) > 0.02
        assert ((rows["fits"].to_numpy() == "yes") == (needed < safe))[clear].all()
        checked += clear.sum()
    assert checked >= 8


@pytest.mark.long
def test_a_length_that_an_image_fixes_is_no_slider(catalogs):
    walk = walk_through(scenario_of(options(JOBS["images"], catalogs).rows[0]), catalogs)
    assert walk.bounds.most_steps == 1
    assert walk.bounds.most_batch > walk.plan["batch"]


def spec_of(app):
    """The picture's specification."""
    (chart,) = [node for node in app.get("vega_lite_chart") if chart_step.TAKE in node.proto.spec]
    return json.loads(chart.proto.spec)


def binds_of(spec):
    """The sliders, radios and the box under the picture."""
    (take,) = [param for param in spec["params"] if param["name"] == chart_step.TAKE]
    return take["bind"]


PAGES = {"training": {}, "serving": {"goal": "serve"}, "experts": {"model": "mixtral-8x7b"}}


@cache
def page_of(job):
    """The tab with all of its panels open."""
    app = opened("step", **PAGES[job])
    for panel in ("two_sizes", "step_table", "other_calculators"):
        app.session_state[panel] = True
    return run(app)


def frame(app, column):
    return next(table.value for table in app.dataframe if column in table.value)


def test_the_page_shows_the_picture_the_table_and_what_to_read():
    app = page_of("training")
    assert title(app) == "Where the memory goes in one training step"
    spec = spec_of(app)
    bound = binds_of(spec)
    assert [
        bound[name]["input"]
        for name in ("stop", "batch", "tokens", "dial_0", "dial_1", "dial_2", "use")
    ] == [
        *["radio", "range", "range"],
        *["radio"] * 3,
        "checkbox",
    ]
    assert all(bind["name"] for bind in bound.values())
    assert "The cliff:" in page_text(app)


@pytest.mark.long
def test_the_plans_arrangement_is_marked_on_every_card(catalogs):
    row = options(JOBS["training"], catalogs).rows[0]
    cards = over_cards(scenario_of(row), catalogs).set_index("gpu")
    assert cards["fits"][row["gpu"]] == row["fits"]
    assert cards["needed_bytes"][row["gpu"]] == pytest.approx(row["needed_bytes"])
    assert {"yes", "no"} <= set(cards["fits"])
    said = page_text(page_of("training"))
    assert re.search(r"✓ fits: .*A100 · 40", said)
    assert re.search(r"✗ does not fit: .*A10G · 22", said)
    assert re.search(r"– does not run: .*V100 · 32", said)


@pytest.mark.bench
def test_what_a_parameter_and_a_token_take_is_said():
    assert "Each parameter takes 16.0 bytes" in page_text(page_of("training"))
    assert "says 18 bytes for AdamW" in page_text(page_of("training"))
    assert "its KV cache, 128 KiB (0.131 MB) a token on each GPU" in page_text(page_of("serving"))
    encoder = opened("step", goal="serve", model="bge-m3", requests_per_second="20")
    assert "nothing is cached" in page_text(encoder)
    assert "its KV cache" not in page_text(encoder)


@pytest.mark.bench
def test_two_sizes_stand_side_by_side_by_card():
    cells = frame(page_of("training"), "13B, AdamW")
    assert list(cells.columns) == [job.name for job in ready_jobs().sizes]
    room = {name.split(" ·")[0]: row for name, row in cells.fillna(0).to_dict("index").items()}
    # 16 bytes a parameter.
    assert all(room["L4"][wide] == room["H100"][wide] == 0 for wide in list(cells.columns)[:2])
    assert room["H200"]["7B, AdamW"] > room["H200"]["13B, AdamW"] == 0
    assert (
        1
        <= room["L40S"]["7B int8, LoRA"]
        <= room["H100"]["7B int8, LoRA"]
        <= room["H200"]["7B int8, LoRA"]
    )


@pytest.mark.bench
def test_serving_is_walked_from_load_to_decode():
    app = page_of("serving")
    assert title(app) == "Where the memory goes while serving"
    spec = spec_of(app)
    assert {"Requests in flight", "Weights", "Cache"} <= {
        bind["name"] for bind in binds_of(spec).values()
    }
    assert "3 decode" in json.dumps(spec)


def test_a_picture_that_is_not_exact_says_so(walked, catalogs):
    row, walk = walked
    assert words.around(walk, row, catalogs).endswith("the picture follows.")
    assert words.around(walk._replace(miss_ratio=0.02), row, catalogs).endswith(
        "the picture follows, within 2 % of the estimate."
    )


def test_the_moments_are_a_table_too():
    table = frame(page_of("training"), "GiB per GPU")
    assert table.columns[-1] == "zero_grad"
    assert table.iloc[-1]["GiB per GPU"] == "In all"
    assert table.iloc[-1][1:].max() == pytest.approx(table.iloc[:-1]["backward"].sum())


@pytest.mark.sample(3)
@pytest.mark.parametrize("job", PAGES)
def test_four_other_calculators_are_shown_for_this_step(job):
    app = page_of(job)
    cells = "\n".join(str(cell) for table in app.table for cell in table.value.to_numpy().ravel())
    for system in SYSTEMS:
        assert system.title in cells
        assert system.leaves_out in cells
        assert (system.warns in cells) == (not system.warns or job == "experts")
    assert ("It offers fp4 for training" in cells) == (job != "serving")
    assert "Headroom" in cells
    assert "A prints 42.7 GB" in page_text(app)
    assert "B prints 52.0 GB" in page_text(app)


def test_the_lines_are_of_cards_on_which_the_job_runs(catalogs):
    """A T4, the next smaller card than an L4, does not compute in bf16."""
    walk = walk_through(estimate({"model": "llama-3.2-1b", "gpu": "l4"}, catalogs), catalogs)
    assert not [card for card in set(walk.cards["card"]) if card.startswith("t4")]
    assert "l4" in set(walk.cards["card"])
