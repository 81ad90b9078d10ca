"""Layers of vision towers beside a text part. Most take the patches of images of any size, one after the other, as rows of one table."""

from unittest.mock import patch

from validation.simulate.dense import FIELDS, real
from validation.simulate.encoders import angles
from validation.simulate.families import EQUAL, Family
from validation.simulate.images import SIDES as IMAGE_SIDES
from validation.simulate.images import SMALL_PATCHES, TILES, Headless, rated

from validation.simulate.device import torch, transformers  # isort: skip

PLAIN_TOWER = ("hidden", "ffn", "heads", "scores", "one")
SIDES = ((8, 12), (10, 16), (14, 16))  # of an image, in patches
PATCH = 4
GIVEN = dict(hidden_size="hidden", intermediate_size="ffn")
WIDTHS = tuple(dict(widths, batch=2, sides=sides, seq=sides[0] * sides[1]) for widths, sides in zip(EQUAL, SIDES, strict=True))


class Ends:
    """Where each image ends among the patches, of which a tower takes the differences as a list: fake tensors hold no numbers."""

    def __init__(self, lengths):
        self.lengths = lengths

    def __getitem__(self, part):
        return self

    def __sub__(self, other):
        return self

    def tolist(self):
        return self.lengths


class Tower(Family):
    """A vision tower alone: what it makes is summed in place of a loss. The tables of positions are given to it."""

    def inputs(self, case, dtype):
        rows, (height, width) = case["batch"] * case["seq"], case["sides"]
        return dict(
            hidden_states=torch.empty(rows, 3 * 2 * PATCH**2, dtype=dtype, device="cuda"),
            grid_thw=torch.tensor([[1, height, width]] * case["batch"]),
            interp_indices=torch.zeros(rows, 4, dtype=torch.long, device="cuda"),
            interp_weights=torch.zeros(rows, 4, device="cuda"),
            position_ids=torch.zeros(rows, 2, dtype=torch.long, device="cuda"),
            cu_seqlens=Ends([case["seq"]] * case["batch"]),
            max_seqlen=case["seq"],
        )

    def loss(self, model, given):
        return model(**given).last_hidden_state.sum()

    def prefill(self, model, given):
        return model(**given)


class WindowedTower(Tower):
    """Qwen2.5-VL's, whose layers keep the same whether they attend to an image or to its windows, but for eager attention's scores."""

    def inputs(self, case, dtype):
        given = super().inputs(case, dtype)
        order = torch.zeros(case["batch"] * case["seq"] // 4, dtype=torch.long, device="cuda")
        return given | dict(window_index=order, cu_window_seqlens=given["cu_seqlens"], max_window_seqlen=given["max_seqlen"])


class FramedTower(Tower):
    """Kimi's, whose positions and merger take more tables."""

    def inputs(self, case, dtype):
        given = super().inputs(case, dtype)
        rows = len(given.pop("hidden_states"))
        tables = dict(interp_indices=(rows, 16), frame_index=(rows,), temporal_merge_index=(rows // 4, 1, 4))
        given |= {name: torch.zeros(*shape, dtype=torch.long, device="cuda") for name, shape in tables.items()}
        given |= dict(interp_weights=torch.zeros(rows, 16, device="cuda"))
        return given | dict(pixel_values=torch.empty(rows, 3, PATCH, PATCH, dtype=dtype, device="cuda"))


class PaddedTower(Tower):
    """Gemma 4's, whose images are filled up to one number of patches, so that a mask is built, and turned into numbers in each layer."""

    def inputs(self, case, dtype):
        return dict(
            pixel_values=torch.empty(case["batch"], case["seq"], 3 * PATCH**2, dtype=dtype, device="cuda"),
            pixel_position_ids=torch.zeros(case["batch"], case["seq"], 2, dtype=torch.long, device="cuda"),
        )

    def prefill(self, model, given):
        """All but the pooling behind the layers, of which the numbers in the table of positions say how many tokens are left."""
        padded = (given["pixel_position_ids"] == -1).all(dim=-1)
        patches = model.patch_embedder(given["pixel_values"], given["pixel_position_ids"], padded)
        with patch.object(transformers.masking_utils, "_ignore_bidirectional_mask_sdpa", lambda *_: False):
            return model.encoder(inputs_embeds=patches, attention_mask=~padded, pixel_position_ids=given["pixel_position_ids"])

    def loss(self, model, given):
        return self.prefill(model, given).last_hidden_state.sum()


class Unjoined(Headless):
    """Llama 4's without the network behind its layers, which joins four patches and takes but the width that comes of that."""

    def model(self, case):
        model = super().model(case)
        model.vision_adapter = torch.nn.Identity()
        return model


def tower(id, config, head, fields, fixed, real, kind=Tower, widths=WIDTHS):
    return kind(
        id, config, head, dict(num_heads="heads") | fields, dict(patch_size=PATCH, temporal_patch_size=2, spatial_merge_size=2) | fixed,
        paths=dict(blocks="blocks"), layers=("depth",), sizes=PLAIN_TOWER, widths=widths, equal=widths, source="patches", real=real,
    )  # fmt: skip


def square(id, name, blocks, fixed, real, kind=Headless):
    """A tower of images of one size."""
    return kind(
        id, f"{name}Config", f"{name}Model", IMAGE_SIDES, fixed, paths=dict(blocks=blocks), sizes=PLAIN_TOWER, widths=TILES, equal=TILES,
        source="images", real=real,
    )  # fmt: skip


def padded(id, clipped):
    """Gemma 4's layer; the small models' clip what goes into each matrix and what comes out."""
    return PaddedTower(
        id, "Gemma4VisionConfig", "Gemma4VisionModel", FIELDS | dict(num_key_value_heads="heads"),
        dict(patch_size=PATCH, position_embedding_size=64, use_clipped_linears=clipped), paths=dict(blocks="encoder.layers"),
        sizes=(*PLAIN_TOWER, "mask", "rotary_head"), further=angles, widths=EQUAL, equal=EQUAL, source="patches",
        real=real(1152, 16, 16, 72, 4304, 2, 2520),
    )  # fmt: skip


def seen(hidden, heads, head_dim, ffn, sides=(30, 38)):
    """A real tower's widths, and two images of so many patches."""
    return real(hidden, heads, heads, head_dim, ffn, 2, sides[0] * sides[1]) | dict(sides=sides)


FAMILIES = (
    tower(
        "qwen3_vl_vision", "Qwen3VLVisionConfig", "Qwen3VLVisionModel", GIVEN,
        dict(deepstack_visual_indexes=[], num_position_embeddings=256, out_hidden_size=88), seen(1152, 16, 72, 4304),
    ),
    tower(
        "qwen2_5_vl_vision", "Qwen2_5_VLVisionConfig", "Qwen2_5_VisionTransformerPretrainedModel", GIVEN,
        dict(fullatt_block_indexes=[1], out_hidden_size=88), seen(1280, 16, 80, 3420, (30, 34)), WindowedTower,
    ),
    tower(
        "qwen2_vl_vision", "Qwen2VLVisionConfig", "models.qwen2_vl.modeling_qwen2_vl.Qwen2VisionTransformerPretrainedModel",
        dict(embed_dim="hidden", mlp_ratio="ratio"),
        {}, seen(1280, 16, 80, 5120) | dict(ratio=4), widths=rated(WIDTHS, (3, 5, 2)),
    ),
    FramedTower(
        "kimi_k25_vision", "Kimi_K25VisionConfig", "models.kimi_k25.modeling_kimi_k25.Kimi_K25VisionModel",
        GIVEN | dict(num_attention_heads="heads"), dict(patch_size=PATCH, pos_emb_height=16, pos_emb_width=16),
        sizes=PLAIN_TOWER, paths=dict(blocks="layers"), widths=WIDTHS, equal=WIDTHS, source="patches", real=seen(1152, 16, 72, 4304),
    ),
    padded("gemma4_vision", False),
    padded("gemma4_vision_clipped", True),
    square("internvl_vision", "InternVLVision", "encoder.layer", {}, SMALL_PATCHES),
    square(
        "internvl_vision_normed", "InternVLVision", "encoder.layer", dict(use_qk_norm=True, norm_type="rms_norm"),
        real(3200, 25, 25, 128, 12800, 3, 1025) | dict(image=448, patch=14),
    ),
    square("llama4_vision", "Llama4Vision", "model.layers", {}, real(1408, 16, 16, 88, 5632, 3, 577) | dict(image=336, patch=14), Unjoined),
)  # fmt: skip
