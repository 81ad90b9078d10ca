"""Layers of vision towers that take the patches of images of any size, one after the other, as rows of one table."""

from validation.simulate.families import EQUAL, Family

from validation.simulate.device import torch  # isort: skip

PLAIN_TOWER = ("hidden", "ffn", "heads", "scores", "one")
SIDES = ((8, 12), (10, 16), (14, 16))  # of an image, in patches
PATCH = 4
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


def tower(id, name, fields, fixed, real, sizes=PLAIN_TOWER):
    common = dict(hidden_size="hidden", num_heads="heads") | fields
    return Tower(
        id, f"{name}Config", f"{name}Model", common, dict(patch_size=PATCH, temporal_patch_size=2, spatial_merge_size=2) | fixed,
        paths=dict(blocks="blocks"), layers=("depth",), sizes=sizes, widths=WIDTHS, equal=WIDTHS, source="patches", real=real,
    )  # fmt: skip


FAMILIES = (
    tower(
        "qwen3_vl_vision", "Qwen3VLVision", dict(intermediate_size="ffn"),
        dict(deepstack_visual_indexes=[], num_position_embeddings=256, out_hidden_size=88),
        dict(hidden=1152, heads=16, kv_heads=16, head_dim=72, ffn=4304, batch=2, seq=1140, sides=(30, 38)),
    ),
)  # fmt: skip
