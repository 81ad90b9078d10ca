"""Reads what the blocks of one model save and need, at the widths of its config.

The forms are in bytes per token, per pair of tokens and per position.

The blocks find themselves: the longest list of modules that the forward pass goes through. Its
first layers up to the second of each kind are run on fake tensors, at a few lengths and batches;
what does not grow with the tokens is the weights' own.
"""

import contextlib
import gc
from collections import Counter
from functools import partial

import numpy as np

from validation.simulate.device import silu_in_one_kernel, torch
from validation.simulate.ledger import Ledger
from validation.simulate.observe import (
    WEIGHTS,
    autocast_of,
    build,
    first_tensor,
    input_of,
    need_gradient,
)
from validation.simulate.whole import Refused, batch_of, build_model, config_of, experts_of, loss_of

from torch._subclasses.fake_tensor import FakeTensorMode  # isort: skip
from torch.utils.checkpoint import checkpoint  # isort: skip

BATCHES, LENGTHS = (2, 3), (160, 288, 416)  # no multiple of them is a width
# Bytes per token, per pair of tokens, the same once for a batch, and at all.
EACH = (
    "one",
    "mask",
    "shared_mask",
    "position",
    "fixed",
)
ATTENTIONS, WINDOW = ("sdpa", "eager"), "sdpa-window"
WINDOW_TOKENS = 64  # shorter than every length: SDPA takes a mask then, and keeps it
MOST_MISSED, MOST_MISSED_AT_WORST = 1e-3, 0.1
WORTH_BYTES = 0.01  # less per token is rounding


def lists_of_blocks(model):
    """The innermost lists of modules of a model, the longest first."""
    lists = [
        module
        for module in model.modules()
        if isinstance(module, torch.nn.ModuleList) and len(module) > 1
    ]
    inside = {
        id(inner)
        for outer in lists
        for block in outer
        for inner in block.modules()
        if isinstance(inner, torch.nn.ModuleList)
    }
    return sorted((one for one in lists if id(one) not in inside), key=len, reverse=True)


def kind_of(block, layer_type):
    """Key of a kind of layer: its class, the shapes of its weights, and its name in the config."""
    return (
        type(block).__name__,
        tuple(tuple(parameter.shape) for parameter in block.parameters()),
        layer_type,
    )


def kinds_of(model):
    """The kind of each block of the longest list, numbered in order of appearance."""
    lists = lists_of_blocks(model)
    if not lists:
        raise Refused(
            f"{type(model).__name__} has no list of blocks; simulate whole steps with --row."
        )
    types = getattr(model.config.get_text_config(), "layer_types", None) or ()
    kinds = [
        kind_of(block, types[place] if place < len(types) else "")
        for place, block in enumerate(lists[0])
    ]
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    return [numbers[kind] for kind in kinds]


def depth_of(kinds):
    """Number of first layers to keep so that each kind appears before the last of them.

    At least three, if the model has as many.
    """
    return min(max(max(kinds.index(kind) for kind in set(kinds)) + 2, 3), len(kinds))


def cut(fields, attention, depth):
    """Build the model with its first blocks alone."""
    model = build_model(fields, attention)
    blocks = lists_of_blocks(model)[0]
    del blocks[depth:]
    for config in {id(one): one for one in (model.config, model.config.get_text_config())}.values():
        # Some configs have no such field, or count their layers from other fields.
        with contextlib.suppress(AttributeError, KeyError, NotImplementedError):
            config.num_hidden_layers = depth
    return model


class Watch(Ledger):
    """A ledger that measures one block's activations at each allocation of its pass."""

    def __init__(self, blocks):
        super().__init__()
        self.number, self.largest = None, [0] * len(blocks)

    def enter_tensor(self, tensor, operator, kind="activation"):
        storage = super().enter_tensor(tensor, operator, kind)
        if storage is not None and self.number is not None:
            mine = (("forward", self.number), "backward")
            alive = sum(
                one.bytes
                for one in self.live.values()
                if one.kind == "activation" and one.period in mine
            )
            self.largest[self.number] = max(self.largest[self.number], alive)
        return storage


def watch(blocks, ledger, trains):
    """Name the period while each block runs, and watch each through its pass.

    That is its backward pass in training, and otherwise its forward pass.
    """
    for number, block in enumerate(blocks):

        def begin(module, arguments, options, number=number):
            ledger.period = ("forward", number)
            if not trains:
                ledger.number = number
            tensor = input_of(arguments, options)
            if trains and tensor.requires_grad:
                tensor.register_hook(
                    lambda gradient: setattr(
                        ledger, "number", None if ledger.number == number else ledger.number
                    )
                )

        def end(module, arguments, options, output, number=number):
            tensor = first_tensor(output)
            if trains and tensor.requires_grad and ledger.period != "backward":
                tensor.register_hook(lambda gradient: setattr(ledger, "number", number))

        block.register_forward_pre_hook(begin, with_kwargs=True)
        block.register_forward_hook(end, with_kwargs=True)

    def after(*_):
        ledger.period, ledger.number = "after", ledger.number if trains else None

    blocks[-1].register_forward_hook(after)


def observe_blocks(
    fields,
    attention,
    depth,
    number_format,
    batch,
    tokens,
    frozen=False,
    recompute=False,
    trains=True,
):
    """Bytes that each block saved, and the most that it had alive, in one run."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    model = build(partial(cut, fields, attention, depth), WEIGHTS[number_format], mode)
    model.train(trains)
    blocks = lists_of_blocks(model)[0]
    if frozen:
        model.requires_grad_(False)
        blocks[0].register_forward_pre_hook(need_gradient, with_kwargs=True)
    if recompute and getattr(model, "supports_gradient_checkpointing", False):
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    elif recompute:
        for block in blocks:
            block.forward = partial(checkpoint, block.forward, use_reentrant=False)
    ledger = Watch(blocks)
    ledger.experts = experts_of(model.config)
    watch(blocks, ledger, trains)
    with mode, ledger, torch.set_grad_enabled(trains), silu_in_one_kernel(not recompute):
        ledger.enter_model(model)
        given = batch_of(model, model.config, batch, tokens, WEIGHTS[number_format])
        for tensor in given.values():
            if isinstance(tensor, torch.Tensor):
                ledger.enter_tensor(tensor, "input", "input")
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(
                    lambda p: ledger.name(p.grad, "gradient")
                )
        with autocast_of(number_format):
            out = model(**given)
            loss = loss_of(out) if trains else None
        gc.collect()
        saved = Counter()
        for storage in ledger.live.values():
            if storage.kind == "activation" and isinstance(storage.period, tuple):
                saved[storage.period[1]] += storage.bytes
        if trains:
            del out
            ledger.period = "backward"
            loss.backward()
    return [saved[number] for number in range(depth)], ledger.largest


def form_of(points, totals, most_missed=MOST_MISSED):
    """Fit a form per token to totals that grow with tokens and with pairs of tokens.

    The worst moment may be a different one at other lengths.
    """
    rows = np.array([[b * s, b * s * s, s * s, s, 1] for b, s in points], float)
    coefficients, *_ = np.linalg.lstsq(rows / rows.max(axis=0), np.array(totals, float), rcond=None)
    each = dict(zip(EACH, coefficients / rows.max(axis=0), strict=True))
    missed = np.max(np.abs(rows @ np.array([*each.values()]) - totals) / np.maximum(totals, 1))
    if missed > most_missed:
        raise Refused(
            f"what a block keeps is no sum of tokens and pairs of tokens ({missed:.1%} "
            f"missed); simulate whole steps with --row."
        )
    return {
        name: round(float(value), 4)
        for name, value in each.items()
        if name in EACH[:3] and abs(value) > WORTH_BYTES
    }


def fields_width(fields):
    """The hidden width of a config."""
    return config_of(fields).get_text_config().hidden_size


def forms_of(fields, attention, number_format, kinds):
    """The forms of each kind of block in one number format with one kind of attention."""
    depth = depth_of(kinds)
    points = [(batch, tokens) for batch in BATCHES for tokens in LENGTHS]
    places = [kinds.index(kind) for kind in range(max(kinds) + 1)]
    places = [place + 1 if place == 0 and kinds[:2] == [0, 0] else place for place in places]
    forms = [{} for _ in places]

    def read(name, peak, **more):
        runs = [
            observe_blocks(fields, attention, depth, number_format, *point, **more)
            for point in points
        ]
        for form, place in zip(forms, places, strict=True):
            if name:
                form[name] = form_of(points, [saved[place] for saved, _ in runs])
            if peak:
                form[peak] = [
                    form_of(points, [largest[place] for _, largest in runs], MOST_MISSED_AT_WORST)
                ]

    read("saved", "backward")
    read("frozen", "", frozen=True)
    try:
        read("checkpoint", "recomputed", recompute=True)
    # a class that makes real tensors on the way: its input is kept, and the worst moment is that
    # without recompute
    except RuntimeError:
        hidden = WEIGHTS[number_format].itemsize * fields_width(fields)
        for form in forms:
            form |= {"checkpoint": {"one": float(hidden)}}
    if number_format != "amp":
        read("", "forward", trains=False)
    return [{"format": number_format, "attention": attention} | form for form in forms]


def windowed(fields):
    """The config with an attention window shorter than every length; None if it has no window."""
    if not getattr(config_of(fields).get_text_config(), "sliding_window", None):
        return None
    short = {"sliding_window": WINDOW_TOKENS}
    return fields | (
        {"text_config": fields["text_config"] | short} if "text_config" in fields else short
    )


def has_experts(block):
    """Return whether a block routes tokens to experts."""
    return any("expert" in name for name, _ in block.named_modules())


def has_attention(block):
    """Return whether a block attends to earlier tokens instead of keeping a state."""
    return any("attn" in name or "attention" in name for name, _ in block.named_modules())


def blocks_of(fields, formats=("bf16", "amp"), tell=lambda share: None):
    """The kinds of block of a model with their layers, traits and forms, and all its parameters.

    `tell` gets the share that is done, from 0 to 1.
    """
    with torch.device("meta"):
        model = build_model(fields, "sdpa")
    if model.config.is_encoder_decoder:
        raise Refused("its two sides are not read off apart; simulate whole steps with --row.")
    kinds, blocks = kinds_of(model), lists_of_blocks(model)[0]
    inputs = [(attention, attention, fields) for attention in ATTENTIONS]
    inputs += [(WINDOW, "sdpa", short)] if (short := windowed(fields)) else []
    read = []
    wanted = [
        (number_format, *of_attention) for number_format in formats for of_attention in inputs
    ]
    for number_format, case, attention, these in wanted:
        tell(len(read) / len(wanted))
        read.append(
            [
                form | {"attention": case}
                for form in forms_of(these, attention, number_format, kinds)
            ]
        )
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "kinds": [
            {
                "layers": kinds.count(kind),
                "experts": has_experts(blocks[kinds.index(kind)]),
                "attends": has_attention(blocks[kinds.index(kind)]),
                "forms": [forms[kind] for forms in read],
            }
            for kind in range(max(kinds) + 1)
        ],
    }
