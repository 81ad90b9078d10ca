"""Families that are built, fed or measured in their own way."""

from dataclasses import dataclass

import transformers.models.gemma3n.modeling_gemma3n as gemma3n_code

from validation.simulate import mamba_kernels  # noqa: F401  (puts the kernels of Mamba-2 in the models)
from validation.simulate.device import torch
from validation.simulate.family import Family

WINDOW = 64  # tokens
WIDE = ("sdpa-wide", "sdpa-wide-multiquery")


@dataclass
class Gemma4(Family):
    """Blocks of Gemma 4, the last of which attends to all tokens.

    If the measured block shares keys and values, the block before it makes them.
    """

    shares: bool = False

    def kinds(self):
        """Leave out fp32 with a single key-value head, which differs in 16 bits alone."""
        return [
            kind
            for kind in super().kinds()
            if kind[0] != "fp32" or not kind[1].endswith("multiquery")
        ]

    def real_cases(self, number_format):
        return ("sdpa", "sdpa-window", "sdpa-wide") if number_format == "bf16" else ()

    def case(self, widths, attention):
        kind = "sliding_attention" if attention.startswith("sdpa-window") else "full_attention"
        special = dict(head_dim=widths["wide"]) if attention in WIDE else {}
        below = ["full_attention"] * 2 if self.shares and kind != "full_attention" else []
        types = [*below, kind, kind, "full_attention"]
        fields = dict(
            layer_types=types,
            num_hidden_layers=len(types),
            sliding_window=WINDOW,
            num_kv_shared_layers=2 * self.shares,
        )
        return super().case(widths | special, attention) | dict(fields=fields)

    def stacks(self, model):
        return {name: blocks[-3:] for name, blocks in super().stacks(model).items()}


@dataclass
class Gemma3n(Gemma4):
    """Blocks of Gemma 3n; streams and rank are as published in all cases."""

    sparsity: float = 0.0

    def real_cases(self, number_format):
        return ("sdpa", "sdpa-window") if number_format == "bf16" else ()

    def case(self, widths, attention):
        case = super().case(widths, attention)
        return case | dict(
            fields=case["fields"]
            | dict(
                activation_sparsity_pattern=[self.sparsity] * case["fields"]["num_hidden_layers"]
            )
        )


def largest_gates(self, gates):
    """Gemma3nTextMLP._gaussian_topk with its cutoff as a fake tensor.

    A cutoff made from a Python number would be a tensor of a real device.
    """
    deviations = torch.full((), 1.64, dtype=gates.dtype, device=gates.device)
    cutoff = (
        torch.mean(gates, dim=-1, keepdim=True)
        + torch.std(gates, dim=-1, keepdim=True, unbiased=False) * deviations
    )
    return torch.nn.functional.relu(gates - cutoff)


gemma3n_code.Gemma3nTextMLP._gaussian_topk = largest_gates

STATE = 128


def sizes_of_mixer(case):
    """Sizes of Mamba-2: its own widths, what its projections make and what is convolved."""
    inner = case["mixer_heads"] * case["mixer_dim"]
    groups = case["groups"] * case.get("state", STATE)
    return {
        "state_values": inner,
        "state_heads": case["mixer_heads"],
        "state_group_keys": groups,
        "projected": 2 * inner + 2 * groups + case["mixer_heads"],
        "convolved": inner + 2 * groups,
        "groups": case["groups"],
    }


@dataclass
class Hybrid(Family):
    """A family whose blocks differ by the kind of layer."""

    around: str = (
        "sdpa"  # attention of the blocks around one that has none, which is the same whatever it is
    )

    def case(self, widths, attention):
        return super().case(widths, attention if "heads" in self.sizes else self.around)

    def measure(self, case):
        of_mixer = sizes_of_mixer(case)
        routed = {
            name: case["experts_per_token"] * width
            for name, width in (
                ("routed_hidden", case.get("expert_latent", case["hidden"])),
                ("routed_ffn", case["expert_ffn"]),
            )
        }
        more = (
            of_mixer
            | routed
            | {
                name: case.get(name, 0)
                for name in ("experts", "experts_per_token", "shared_ffn", "expert_latent")
            }
        )
        self.further = lambda _case: more
        return super().measure(case)


@dataclass
class Convolution(Family):
    """A block without attention, which is the same whatever attention the blocks around it have."""

    def case(self, widths, attention):
        return super().case(widths, "sdpa")


class TwoEncoders(Family):
    """CLIP: both encoders get the same widths, and one of them is measured."""

    def arguments(self, values):
        image = {name: values.pop(name) for name in ("image_size", "patch_size")}
        tokens = {
            name: values.pop(name)
            for name in ("vocab_size", "eos_token_id", "max_position_embeddings")
        }
        return dict(text_config=values | tokens, vision_config=values | image)


class Headless(Family):
    """A model without a head; its loss is the sum of its last hidden states."""

    def loss(self, model, batch):
        return model(batch["pixel_values"]).last_hidden_state.sum()

    def prefill(self, model, batch):
        return model(batch["pixel_values"])


class Siglip(TwoEncoders):
    """SigLIP: both sides have the same kind of block.

    Its config has no field for the end-of-text token.
    """

    def arguments(self, values):
        image = {name: values.pop(name) for name in ("image_size", "patch_size")}
        text = {name: values.pop(name) for name in ("vocab_size", "max_position_embeddings")}
        return dict(text_config=values | text, vision_config=values | image)


STRIDES = (64, 32, 16, 8, 4, 2, 1)  # frames that each convolution makes for one of the last

KERNELS = (0, 3, 3, 3, 3, 2, 2)  # of the convolution behind each, but for the last


def frames(seq):
    """Number of frames after each convolution if the last one makes `seq`."""
    lengths = [seq]
    for kernel in reversed(KERNELS[1:]):
        lengths.insert(0, 2 * (lengths[0] - 1) + kernel)
    return lengths


class Sound(Headless):
    """An audio model without a head."""

    def inputs(self, case, dtype):
        samples = 5 * (frames(case["seq"])[0] - 1) + 10
        return dict(input_values=torch.empty(case["batch"], samples, dtype=dtype, device="cuda"))

    def loss(self, model, batch):
        return model(**batch).last_hidden_state.sum()

    def prefill(self, model, batch):
        return model(**batch)


class Stem(Sound):
    """The convolutions as a block of their own, as wide as one of them."""

    def stacks(self, model):
        return {"blocks": [torch.nn.Identity(), model.feature_extractor, model.feature_projection]}

    def measure(self, case):
        lengths = frames(case["seq"])
        rows = {
            f"stem_rows_{stride}": length / case["seq"]
            for stride, length in zip(STRIDES, lengths, strict=True)
        }
        wide = {name.replace("rows_", ""): 512 * count for name, count in rows.items()}
        samples = (5 * (lengths[0] - 1) + 10) / case["seq"]
        return (
            wide | rows | dict(hidden=512, one=1, stem_sums=512 / case["seq"], stem_samples=samples)
        )
