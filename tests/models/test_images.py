"""Images and sounds in the sequences: their tokens lie inside, the tower's weights, states,
activations and arithmetic come on top.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from examples import catalogs, one

from calc import add_models, estimate
from calc.models.huggingface.config import read_config

CONFIGS = Path(__file__).parents[1] / "recorded" / "configs"
# Gemma 3 4B's SigLIP and projector (tests/recorded/towers.jsonl has the classes' own counts)
TOWER = 419_816_304
TRAINED = {
    "model": "gemma-3-4b",
    "precision": "bf16",
    "sequence_tokens": 4096,
    "instance": "p5.48xlarge",
    "gpus": 1,
}
SERVED = {
    "model": "gemma-3-4b",
    "work": "inference",
    "sequence_tokens": 4096,
    "prompt_tokens": 2048,
    "instance": "g6e.xlarge",
}
# Of one image of Gemma 3, and its tower.
PATCHES, LAYERS, HIDDEN, FFN, HEADS = (
    4096,
    27,
    1152,
    4304,
    16,
)


def problem(**scenario):
    """What is wrong with a scenario."""
    return estimate(scenario, catalogs(), solve=False)["problem"]


def pair(images=2, **scenario):
    """A scenario without and with images."""
    return one(**scenario), one(**scenario, images_per_sequence=images)


def more(name, images=2, **scenario):
    """How much more of a quantity there is with images."""
    before, after = pair(images, **scenario)
    return after[name] - before[name]


def test_the_tower_is_stored_trained_or_frozen_and_stays_in_16_bits():
    before, after = pair(**TRAINED)
    assert (
        after["parameters"] - before["parameters"]
        == after["trained_parameters"] - before["trained_parameters"]
        == TOWER
    )
    assert after["weights_bytes"] - before["weights_bytes"] == 2 * TOWER
    assert after["optimizer_bytes"] - before["optimizer_bytes"] == 4 * TOWER
    before, after = pair(**TRAINED, tuning="lora")
    assert after["weights_bytes"] - before["weights_bytes"] == 2 * TOWER
    for name in ("trained_parameters", "optimizer_bytes", "saved_activations_bytes"):
        assert after[name] == before[name]
    for scenario, gpus in (
        (TRAINED | {"gpus": 8, "sharding": "zero3"}, 8),
        (SERVED | {"precision": "awq-4bit"}, 1),
    ):
        assert more("weights_bytes", **scenario) == 2 * TOWER / gpus


@pytest.mark.parametrize(
    ("recompute", "kept"), [("none", 16 * HIDDEN + 4 * FFN + 4 * HEADS + 16), ("full", 2 * HIDDEN)]
)
def test_a_trained_tower_keeps_what_its_layers_save(recompute, kept):
    """SigLIP's layer is ViT's, read off in catalogs/read_off/blocks.yaml: of bf16 and flash
    attention so many bytes per patch.
    """
    assert (
        more("saved_activations_bytes", 3, **TRAINED, recompute=recompute, batch=2)
        == 2 * 3 * PATCHES * LAYERS * kept
    )


def test_autocast_copies_the_matrices_of_a_trained_tower():
    matrices = LAYERS * (4 * HIDDEN**2 + 2 * HIDDEN * FFN)
    two, one_image = (
        more("saved_activations_bytes", images, **TRAINED | {"precision": "bf16-mixed"})
        for images in (2, 1)
    )
    assert 2 * one_image - two == 2 * matrices


def test_the_text_part_sees_the_images_inside_its_sequence():
    before, after = pair(**SERVED)
    assert after["kv_cache_bytes"] == before["kv_cache_bytes"]
    assert after["image_tokens"] == 256
    assert before["image_tokens"] != before["image_tokens"]  # none without images
    assert problem(**TRAINED, images_per_sequence=16) == ""
    for scenario, images, tokens, most in (
        (SERVED, 9, "2,304", "prompt_tokens (2,048)"),
        (TRAINED, 17, "4,352", "sequence_tokens (4,096)"),
    ):
        sentence = f"{images} images or sounds are {tokens} tokens, more than {most}"
        assert problem(**scenario, images_per_sequence=images).startswith(sentence)


def test_the_first_token_and_the_step_wait_for_the_tower():
    """In proportion to the images: 2 · weights and 4 · width per pair of patches, for each patch
    and layer.
    """
    flops = PATCHES * LAYERS * (2 * (4 * HIDDEN**2 + 2 * HIDDEN * FFN) + 4 * HIDDEN * PATCHES)
    rate = catalogs().gpus["bf16_flops_per_second"]
    first = "time_to_first_token_seconds"
    assert more(first, 4, **SERVED) == pytest.approx(2 * more(first, 2, **SERVED), rel=1e-6)
    assert more(first, 2, **SERVED, utilization=0.5) == pytest.approx(
        2 * flops / (0.5 * rate["l40s"])
    )
    full, lora = (
        more("step_seconds", **TRAINED, tuning=tuning, utilization=0.5)
        for tuning in ("full", "lora")
    )
    # A little hides.
    assert lora == pytest.approx(2 * flops / (0.5 * rate["h100-80gb-sxm"]), rel=0.01)
    assert full > 3 * lora  # and the optimizer's step


def test_an_engine_loads_the_tower_and_profiles_images_whether_or_not_a_request_has_some():
    engine = {"implementation": "vllm", "max_batched_tokens": 2048, "max_sequences": 64}
    before, after = pair(**SERVED | engine)
    assert before["memory_bytes"] == after["memory_bytes"]
    assert before["weights_bytes"] - one(**SERVED)["weights_bytes"] == 2 * TOWER
    assert after["memory_basis"] == "derived from source: a vision tower"
    assert "Left out" not in before["note"]


def test_what_is_not_modeled_is_said():
    before, after = pair(**SERVED)
    assert "images_per_sequence counts it." in before["note"]
    assert "images_per_sequence" not in after["note"]
    without_block = replace(catalogs(), models=catalogs().models.assign(tower_block=""))
    row = estimate(SERVED | {"images_per_sequence": 2}, without_block, False)
    assert "what its vision tower keeps" in row["note"]
    assert problem(model="llama-3.1-8b", images_per_sequence=1).startswith(
        "llama-3.1-8b takes no images"
    )
    assert "pipeline" in problem(
        **TRAINED | {"gpus": 8, "pipeline_parallel": 2}, images_per_sequence=1
    )
    assert "a number from 0 to 10000" in problem(model="gemma-3-4b", images_per_sequence=-1)


def test_an_added_config_takes_images_of_its_own_size():
    config = json.loads((CONFIGS / "gemma-3-4b.json").read_text("utf-8"))
    half = config | {
        "mm_tokens_per_image": 128,
        "vision_config": config["vision_config"] | {"image_size": 448},
    }
    added = add_models(
        catalogs(),
        {
            name: read_config(fields, name, catalogs())
            for name, fields in (("same", config), ("half", half))
        },
    )
    rows = [
        estimate({**SERVED, "model": name, "images_per_sequence": 1}, added, solve=False)
        for name in ("gemma-3-4b", "same", "half")
    ]
    assert [row["image_tokens"] for row in rows] == [256, 256, 128]
    assert (rows[0]["memory_bytes"], rows[2]["problem"]) == (rows[1]["memory_bytes"], "")


def test_a_tower_of_qwen3_vl_keeps_its_rotated_heads_too():
    """Read off in validation/simulate/towers.py: queries and keys as rotated, and each image's part
    joined again.
    """
    scenario = {"model": "qwen3-vl-2b", "precision": "bf16", "sequence_tokens": 4096, "batch": 2}
    kept = 22 * 1024 + 4 * 4096 + 4 * 16 + 16
    assert more("saved_activations_bytes", **scenario) == 2 * 2 * 4 * 1024 * 24 * kept


def test_layers_that_attend_to_windows_of_an_image_have_scores_of_these_alone():
    """Qwen2.5-VL's: 4 of 32 layers attend to the 5,184 patches of an image, the others to windows
    of 8 x 8.
    """
    scenario = {"model": "qwen2.5-vl-7b", "precision": "bf16", "sequence_tokens": 4096}
    flash, eager = (
        more("saved_activations_bytes", **scenario, attention=attention)
        for attention in ("flash", "eager")
    )
    assert flash == 2 * 5184 * 32 * (30 * 1280 + 8 * 3420 + 4 * 16 + 8)
    assert eager == 2 * 5184 * (32 * (28 * 1280 + 8 * 3420 + 8) + 6 * 16 * (4 * 5184 + 28 * 64))


def test_every_tower_of_a_model_of_the_catalog_was_read_off():
    models = catalogs().models
    taking = models[models["usual_image_tokens"] > 0]
    blocks = {tower.block for tower in catalogs().model_types.towers.values()}
    assert {*taking["tower_block"], *blocks} - {*catalogs().blocks, ""} == set()
    assert (taking["tower_block"] != "").all()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("gemma4", {"model_type": "gemma4_text", "hidden_size_per_layer_input": 0}),
        ("internvl", {"model_type": "qwen2"}),
    ],
)
@pytest.mark.parametrize("special", [False, True])
def test_towers_of_gemma4_that_clip_and_of_internvl_with_normed_heads_are_told_apart(
    kind, text, special
):
    field, ending = {
        "gemma4": ("use_clipped_linears", "clipped"),
        "internvl": ("use_qk_norm", "normed"),
    }[kind]
    config = {
        "model_type": kind,
        "text_config": text,
        "vision_config": {"model_type": f"{kind}_vision", field: special},
    }
    block = f"{kind}_vision_{ending}" if special else f"{kind}_vision"
    assert read_config(config, "added", catalogs())["tower_block"] == block
    assert block in catalogs().blocks


@pytest.mark.parametrize(
    ("kind", "frames"), [("qwen2_audio", 2), ("voxtral", 4), ("audioflamingo3", 2)]
)
def test_a_sound_is_thirty_seconds_of_whispers_frames(kind, frames):
    """The layers are Whisper's, module by module: in bf16 with flash attention each frame keeps
    what the block's form says.
    """
    sizes = {
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "vocab_size": 32000,
    }
    text = {
        **sizes,
        "num_key_value_heads": 8,
        "model_type": "qwen2" if kind != "voxtral" else "llama",
    }
    entry = read_config(
        {"model_type": kind, "text_config": text, "audio_config": {}}, "it", catalogs()
    )
    scenario = {
        "model": "it",
        "precision": "bf16",
        "sequence_tokens": 4096,
        "instance": "p5.48xlarge",
        "gpus": 1,
        "batch": 2,
    }
    with_it = add_models(catalogs(), {"it": entry})
    before, after = (
        estimate(scenario | {"images_per_sequence": sounds}, with_it, solve=False)
        for sounds in (0, 3)
    )
    assert after["problem"] == ""
    assert after["image_tokens"] == 1500 / frames
    assert after["parameters"] - before["parameters"] == entry["left_out_parameters"] > 636_968_960
    kept = 18 * 1280 + 4 * 5120 + 4 * 20 + 16
    assert (
        after["saved_activations_bytes"] - before["saved_activations_bytes"]
        == 2 * 3 * 1500 * 32 * kept
    )
    assert after["step_seconds"] > before["step_seconds"]
