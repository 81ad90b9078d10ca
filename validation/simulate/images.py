"""Encoders of images that came after ViT and CLIP: scaled halves of a block, rotary positions, gated networks, SigLIP's two sides."""

from validation.simulate.dense import PLAIN_SIZES, plain, real
from validation.simulate.families import EQUAL, Family
from validation.simulate.two_sided_models import TwoEncoders, tiled

SIDES = dict(hidden_size="hidden", num_attention_heads="heads", intermediate_size="ffn", image_size="image", patch_size="patch")
UNRATED = {name: width for name, width in SIDES.items() if name != "intermediate_size"}
TILES = tiled(EQUAL, (32, 48, 64))
DROPOUTS = dict(hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1)
SMALL_PATCHES = real(1024, 16, 16, 64, 4096, 17, 257) | dict(image=224, patch=14)
WHOLE_PATCHES = real(1024, 16, 16, 64, 4096, 17, 197) | dict(image=224, patch=16)


def image(id, config, head, blocks, fields, fixed, **more):
    """A block of an encoder of images alone."""
    return plain(
        id, config, head, fields, fixed, source="images", paths=dict(blocks=blocks), sizes=PLAIN_SIZES,
        **(dict(widths=TILES, real=SMALL_PATCHES) | more),
    )  # fmt: skip


class Headless(Family):
    """A model without a head: its loss is the sum of its last hidden states."""

    def loss(self, model, given):
        return model(given["pixel_values"]).last_hidden_state.sum()

    def prefill(self, model, given):
        return model(given["pixel_values"])


class Siglip(TwoEncoders):
    """SigLIP, whose two sides are of one kind of block; its config has no word for the end of a text."""

    def arguments(self, values):
        image = {name: values.pop(name) for name in ("image_size", "patch_size")}
        text = {name: values.pop(name) for name in ("vocab_size", "max_position_embeddings")}
        return dict(text_config=values | text, vision_config=values | image)


def rated(widths, ratios, kept=1):
    """Widths whose inner one a config tells as so many times the outer one; a gated network keeps but two thirds of it."""
    pairs = zip(widths, ratios, strict=True)
    return tuple(dict(each, ratio=ratio, ffn=round(kept * ratio * each["hidden"])) for each, ratio in pairs)


def patches(case):
    """What patches alone have, their angles once for the batch, and what the class token alone has, which is not rotated."""
    alone, share = case["hidden"] / case["seq"], (case["seq"] - 1) / case["seq"]
    return dict(patch_hidden=case["hidden"] - alone, class_hidden=alone, patch_angles=case["head_dim"] * share / case["batch"])


def turned(id, gated):
    """DINOv3, whose registers stand beside the patches."""
    return Headless(
        id, "DINOv3ViTConfig", "DINOv3ViTModel", SIDES, dict(use_gated_mlp=gated, attention_dropout=0.1), source="images",
        types=() if gated else ("dinov3_vit",), paths=dict(blocks="model.layer"),
        sizes=(*PLAIN_SIZES, "patch_hidden", "class_hidden", "patch_angles"), further=patches,
        widths=TILES, equal=EQUAL, real=WHOLE_PATCHES,
    )  # fmt: skip


FAMILIES = (
    image(
        "dinov2", "Dinov2Config", "Dinov2ForImageClassification", "dinov2.encoder.layer", UNRATED | dict(mlp_ratio="ratio"),
        DROPOUTS | dict(num_labels=61), widths=rated(TILES, (3, 5, 2)), types=("dinov2",), real=SMALL_PATCHES | dict(ratio=4),
    ),
    image(
        "dinov2_gated", "Dinov2Config", "Dinov2ForImageClassification", "dinov2.encoder.layer", UNRATED | dict(mlp_ratio="ratio"),
        DROPOUTS | dict(num_labels=61, use_swiglu_ffn=True), widths=rated(TILES, (3, 6, 3), 2 / 3),
        real=real(1536, 24, 24, 64, 4096, 17, 257) | dict(image=224, patch=14, ratio=4),
    ),
    turned("dinov3_vit", False),
    turned("dinov3_vit_gated", True),
    Siglip(
        "siglip", "SiglipConfig", "SiglipModel", SIDES, dict(max_position_embeddings=512, attention_dropout=0.1),
        paths=dict(vision="vision_model.encoder.layers", text="text_model.encoder.layers"), stack="vision", source="images_and_texts",
        widths=tiled(EQUAL, (32, 48, 64), 0), equal=EQUAL, sizes=PLAIN_SIZES, types=("siglip",), real=WHOLE_PATCHES | dict(seq=196),
    ),
)  # fmt: skip
