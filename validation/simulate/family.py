"""Families of models: how to build three blocks, and the names of their sizes."""

import math
from dataclasses import dataclass, field
from operator import attrgetter

from validation.simulate.device import torch, transformers  # isort: skip

VOCAB = 61


def no_further(case):
    """No sizes besides the plain ones."""
    return {}


@dataclass
class Family:
    """One kind of block.

    `fields` maps the fields of its config to widths; `fixed` are further fields.
    """

    id: str
    config: str
    head: str
    fields: dict
    fixed: dict = field(default_factory=dict)
    paths: dict = field(default_factory=lambda: {"blocks": "model.layers"})
    stack: str = "blocks"
    sizes: tuple = ("hidden", "query", "key", "ffn", "heads", "kv_heads", "scores", "mask", "one")
    widths: tuple = ()
    equal: tuple = ()
    formats: tuple = ("bf16", "fp32", "amp")
    attentions: tuple = ("sdpa", "eager")
    types: tuple = ()
    layers: tuple = ("num_hidden_layers",)
    full: dict = field(default_factory=dict)
    window: dict = field(default_factory=dict)
    constants: dict = field(default_factory=dict)
    source: str = "ids"
    drops_elsewhere: bool = False
    kernels: str = ""  # what the block runs with that the simulation stands in for
    further: object = no_further
    real: dict = field(default_factory=dict)

    def kinds(self):
        """The pairs of number format and attention that the block is read for."""
        for number_format in self.formats:
            for attention in self.attentions:
                if attention != "sdpa-grouped" or number_format == "fp32":
                    yield number_format, attention

    def made_up(self, number_format, attention):
        """Three cases with made-up widths.

        In fp32 alone, grouped heads run on another kernel than equal ones.
        """
        alike = (
            number_format == "fp32" and attention == "sdpa" and "sdpa-grouped" in self.attentions
        )
        return [self.case(widths, attention) for widths in (self.equal if alike else self.widths)]

    def case(self, widths, attention):
        """A case of these widths with this kind of attention.

        Behind a mask, a single key-value head is expanded as a view and not copied to all heads. As
        many key-value heads as queries are not copied either.
        """
        fields = self.window if attention.startswith("sdpa-window") else self.full
        single = dict(kv_heads=1) if attention.endswith("multiquery") else {}
        if attention.endswith("equal"):
            single |= dict(kv_heads=widths["heads"])
        return dict(widths, attention=attention, fields=fields) | single

    def real_cases(self, number_format):
        """The kinds of attention with which the widths of a real model are checked."""
        if number_format != "fp32" or "sdpa-grouped" not in self.attentions:
            return self.attentions
        other = "sdpa" if self.real["heads"] != self.real["kv_heads"] else "sdpa-grouped"
        return [attention for attention in self.attentions if attention != other]

    def real_case(self, attention):
        return self.case(self.real, attention)

    def model(self, case):
        """Build a model of three blocks on the current device."""
        values = {name: case[width] for name, width in self.fields.items()}
        values |= dict.fromkeys(self.layers, 3) | dict(vocab_size=case.get("vocabulary", VOCAB))
        values |= self.fixed | case.get("fields", {})
        config = getattr(transformers, self.config)(**self.arguments(values))
        attention = "eager" if case["attention"].startswith("eager") else "sdpa"
        config._attn_implementation = attention
        head = attrgetter(self.head)(transformers)
        return head._from_config(config, attn_implementation=attention)

    def arguments(self, values):
        """The arguments of the config class; two encoders take one set each."""
        return values

    def stacks(self, model):
        """The lists of blocks of the model, by name."""
        lists = {}
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        for name, path in self.paths.items():
            value = base
            for step in path.split("."):
                value = getattr(value, step)
            lists[name] = list(value)
        return lists

    def inputs(self, case, dtype):
        return INPUTS[self.source](case, dtype, self.stack)

    def loss(self, model, batch):
        return model(**batch, **({"use_cache": False} if self.source in CACHED else {})).loss

    def prefill(self, model, batch):
        batch = {
            name: value for name, value in batch.items() if name not in ("labels", "return_loss")
        }
        return model(**batch, **({"use_cache": True} if self.source in CACHED else {}))

    def measure(self, case):
        """The sizes of the block in one case, per token."""
        query = case["heads"] * case["head_dim"]
        every = dict(
            hidden=case["hidden"],
            query=query,
            key=case["kv_heads"] * case["head_dim"],
            ffn=case["ffn"],
            heads=case["heads"],
            kv_heads=case["kv_heads"],
            scores=case["heads"] * case["seq"],
            mask=case["seq"],
            one=1,
        ) | self.further(case)
        # What one table serves for the whole batch: the causal mask of the math kernel, rotary
        # angles, positions.
        angles = case.get("rope", case["head_dim"])
        shared = dict(
            shared_mask=case["seq"], position=angles, index=1, shared_hidden=case["hidden"]
        )
        shared |= dict(shared_scores=case["heads"] * case["seq"], shared_heads=case["heads"])
        shared = {name: size / case["batch"] for name, size in shared.items()}
        # The memory-efficient kernel rounds its row sums up to 32 queries.
        shared |= dict(padded_heads=case["heads"] * math.ceil(case["seq"] / 32) * 32 / case["seq"])
        return {name: every[name] for name in self.sizes} | shared


def whole_numbers(*shape):
    return torch.zeros(*shape, dtype=torch.long, device="cuda")


def ids(case, dtype, stack):
    tokens = whole_numbers(case["batch"], case["seq"])
    return dict(input_ids=tokens, labels=torch.zeros_like(tokens))


def two_sides(case, dtype, stack):
    """Sizes of an encoder-decoder's tokens.

    `seq` is the length of the measured stack, `other` that of the other side.
    """
    lengths = (case["seq"], case["other"]) if stack == "encoder" else (case["other"], case["seq"])
    source, target = (whole_numbers(case["batch"], length) for length in lengths)
    return dict(input_ids=source, decoder_input_ids=target, labels=torch.zeros_like(target))


def sound(case, dtype, stack):
    """Frames and tokens of Whisper, whose encoder halves the number of frames."""
    lengths = (case["seq"], case["other"]) if stack == "encoder" else (case["other"], case["seq"])
    frames = torch.empty(case["batch"], 8, 2 * lengths[0], dtype=dtype, device="cuda")
    target = whole_numbers(case["batch"], lengths[1])
    return dict(input_features=frames, decoder_input_ids=target, labels=torch.zeros_like(target))


def images(case, dtype, stack):
    pixels = torch.empty(case["batch"], 3, case["image"], case["image"], dtype=dtype, device="cuda")
    return dict(pixel_values=pixels, labels=whole_numbers(case["batch"]))


def images_and_texts(case, dtype, stack):
    text = case["seq"] if stack == "text" else 77
    pixels = torch.empty(case["batch"], 3, case["image"], case["image"], dtype=dtype, device="cuda")
    return dict(pixel_values=pixels, input_ids=whole_numbers(case["batch"], text), return_loss=True)


CACHED = ("ids", "two_sides", "sound")
INPUTS = dict(
    ids=ids,
    masked=ids,
    two_sides=two_sides,
    sound=sound,
    images=images,
    images_and_texts=images_and_texts,
)
