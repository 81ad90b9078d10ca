"""Vision towers beside a text part.

Most take the patches of images of any size one after the other, as rows of one table.
"""

from unittest.mock import patch

from validation.simulate.family import Family
from validation.simulate.kinds import Headless

from validation.simulate.device import torch, transformers  # isort: skip

PATCH = 4


class Ends:
    """The ends of images among the patches.

    A tower takes their differences as a list, which fake tensors cannot give.
    """

    def __init__(self, lengths):
        self.lengths = lengths

    def __getitem__(self, part):
        return self

    def __sub__(self, other):
        return self

    def tolist(self):
        return self.lengths


class Tower(Family):
    """A vision tower alone; the sum of its output stands in for a loss.

    Its tables of positions are given to it.
    """

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

    def loss(self, model, batch):
        return model(**batch).last_hidden_state.sum()

    def prefill(self, model, batch):
        return model(**batch)


class WindowedTower(Tower):
    """Qwen2.5-VL's tower, whose layers save the same with windows as without.

    Only the scores of eager attention differ.
    """

    def inputs(self, case, dtype):
        batch = super().inputs(case, dtype)
        order = torch.zeros(case["batch"] * case["seq"] // 4, dtype=torch.long, device="cuda")
        return batch | dict(
            window_index=order,
            cu_window_seqlens=batch["cu_seqlens"],
            max_window_seqlen=batch["max_seqlen"],
        )


class FramedTower(Tower):
    """Kimi's tower, whose positions and merger take more tables."""

    def inputs(self, case, dtype):
        batch = super().inputs(case, dtype)
        rows = len(batch.pop("hidden_states"))
        tables = dict(
            interp_indices=(rows, 16), frame_index=(rows,), temporal_merge_index=(rows // 4, 1, 4)
        )
        batch |= {
            name: torch.zeros(*shape, dtype=torch.long, device="cuda")
            for name, shape in tables.items()
        }
        batch |= dict(interp_weights=torch.zeros(rows, 16, device="cuda"))
        return batch | dict(
            pixel_values=torch.empty(rows, 3, PATCH, PATCH, dtype=dtype, device="cuda")
        )


class PaddedTower(Tower):
    """Gemma 4's tower, which pads images to one number of patches.

    So each layer builds a mask and converts it to numbers.
    """

    def inputs(self, case, dtype):
        return dict(
            pixel_values=torch.empty(
                case["batch"], case["seq"], 3 * PATCH**2, dtype=dtype, device="cuda"
            ),
            pixel_position_ids=torch.zeros(
                case["batch"], case["seq"], 2, dtype=torch.long, device="cuda"
            ),
        )

    def prefill(self, model, batch):
        """Run all but the pooling, which reads the number of tokens left from positions."""
        padded = (batch["pixel_position_ids"] == -1).all(dim=-1)
        patches = model.patch_embedder(batch["pixel_values"], batch["pixel_position_ids"], padded)
        with patch.object(
            transformers.masking_utils, "_ignore_bidirectional_mask_sdpa", lambda *_: False
        ):
            return model.encoder(
                inputs_embeds=patches,
                attention_mask=~padded,
                pixel_position_ids=batch["pixel_position_ids"],
            )

    def loss(self, model, batch):
        return self.prefill(model, batch).last_hidden_state.sum()


class Unjoined(Headless):
    """Llama 4's tower without the network behind its layers.

    That network joins four patches and takes only the resulting width.
    """

    def model(self, case):
        model = super().model(case)
        model.vision_adapter = torch.nn.Identity()
        return model
