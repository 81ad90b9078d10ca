"""One training step or prefill of a model of three blocks, observed at its middle block."""

import contextlib
import gc
from dataclasses import dataclass, field
from functools import partial

from validation.simulate.device import aten, kernels_used, torch  # isort: skip
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

from validation.simulate.ledger import Ledger

WEIGHTS = {"bf16": torch.bfloat16, "fp32": torch.float32, "amp": torch.float32}
MIDDLE = 1
KEPT_OPERATORS = {
    aten._scaled_dot_product_flash_attention.default,
    aten._scaled_dot_product_efficient_attention.default,
    aten._scaled_dot_product_cudnn_attention.default,
    aten.max.default,
}


@dataclass
class Observation:
    """Storages of the middle block that the forward pass saves, and those alive at each moment."""

    saved: list = field(default_factory=list)
    moments: list = field(default_factory=list)
    operators: list = field(default_factory=list)
    kernels: tuple = ()
    parameters: list = field(default_factory=list)


def build(make, dtype, mode, trained_dtype=None):
    """Build the model with fake CUDA parameters.

    It is made on the meta device; buffers have the type that loading would give them. Adapters, the
    only trained weights beside frozen ones, may have a type of their own.
    """
    default = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device("meta"):
            model = make()
    finally:
        torch.set_default_dtype(default)
    made = {}
    with mode:
        for module in model.modules():
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    if id(parameter) not in made:
                        stored = (
                            trained_dtype if trained_dtype and parameter.requires_grad else dtype
                        )
                        empty = torch.empty(parameter.shape, dtype=stored, device="cuda")
                        made[id(parameter)] = torch.nn.Parameter(empty, parameter.requires_grad)
                    module._parameters[name] = made[id(parameter)]
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    if id(buffer) not in made:
                        made[id(buffer)] = torch.empty(
                            buffer.shape, dtype=buffer.dtype, device="cuda"
                        )
                    module._buffers[name] = made[id(buffer)]
    return model


def first_tensor(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def input_of(arguments, options):
    return arguments[0] if arguments else options.get("hidden_states", options.get("hidden_state"))


def autocast_of(number_format):
    """The context in which the forward pass runs: autocast to bf16 for amp, else no change."""
    if number_format == "amp":
        return torch.autocast("cuda", dtype=torch.bfloat16)
    return contextlib.nullcontext()


def watch_forward(blocks, ledger):
    """Name the period while each block runs; blocks is the list of the measured stack."""
    for number, block in enumerate(blocks):

        def begin(module, arguments, number=number):
            ledger.period = ("forward", number)

        block.register_forward_pre_hook(begin)
    blocks[-1].register_forward_hook(lambda *_: setattr(ledger, "period", "after"))


def watch_backward(block, ledger):
    """Watch the backward pass of a block.

    It begins when the gradient of the block's output arrives and ends when its input's is complete.
    """

    def begin(gradient):
        ledger.watching = ledger.period == "backward"

    def end(gradient):
        ledger.watching = False

    def at_input(module, arguments, options):
        tensor = input_of(arguments, options)
        if tensor.requires_grad:
            tensor.register_hook(end)

    def at_output(module, arguments, options, output):
        tensor = first_tensor(output)
        if tensor.requires_grad:
            tensor.register_hook(begin)

    block.register_forward_pre_hook(at_input, with_kwargs=True)
    block.register_forward_hook(at_output, with_kwargs=True)


def need_gradient(module, arguments, options):
    """Make a block's input need a gradient although every base weight is frozen.

    Adapters below it do so.
    """
    tensor = input_of(arguments, options)
    if not tensor.requires_grad:
        tensor.requires_grad_(True)


def set_dropout(model, on):
    if not on:
        for name, value in vars(model.config).items():
            if "drop" in name and isinstance(value, float):
                setattr(model.config, name, 0.0)
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
            for name, value in vars(module).items():
                if "drop" in name and isinstance(value, float):
                    setattr(module, name, 0.0)


def adapted(family, case, targets):
    """Return the model with rank-16 LoRA adapters on these modules and all else frozen."""
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=16, lora_alpha=16, lora_dropout=0.0, target_modules=targets, task_type="CAUSAL_LM"
    )
    return get_peft_model(family.model(case), config)


def policy():
    """Return torchtitan's checkpoint policy for one run of one block.

    It saves attention outputs and every odd matrix product, beginning with the first.
    """
    products = {True: 0, False: 0}

    def decide(context, function, *arguments, **options):
        keep = function in KEPT_OPERATORS
        if function is aten.mm.default:
            products[context.is_recompute] += 1
            keep = products[context.is_recompute] % 2 == 1
        return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(decide)


def kept_products(blocks):
    """Wrap the forward pass of each block in this checkpoint."""
    for block in blocks:
        block.forward = partial(checkpoint, block.forward, use_reentrant=False, context_fn=policy)


def observe_training(
    family, case, number_format, recompute="none", frozen=False, dropout=True, adapters=None
):
    """Observe what the middle block saves, and what is alive in its backward pass.

    recompute: none, full, products; adapters: the targets of LoRA and the adapters' type.
    """
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    targets, trained_dtype = adapters or (None, None)
    make = partial(adapted, family, case, targets) if adapters else partial(family.model, case)
    model = build(make, WEIGHTS[number_format], mode, trained_dtype)
    model.train()
    set_dropout(model, dropout)
    if frozen and not adapters:
        model.requires_grad_(False)
    seen = Observation()
    kernels_used.clear()
    ledger = Ledger()
    stacks = family.stacks(model)
    blocks = stacks[family.stack]
    for other in stacks.values():
        if frozen:
            other[0].register_forward_pre_hook(need_gradient, with_kwargs=True)
    if recompute == "full" and model.supports_gradient_checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    elif recompute == "full":  # as one wraps the blocks of a class that cannot do it itself
        for block in blocks:
            block.forward = partial(checkpoint, block.forward, use_reentrant=False)
    if recompute == "products":
        kept_products(blocks)
    watch_forward(blocks, ledger)
    watch_backward(blocks[MIDDLE], ledger)
    with mode:
        batch = family.inputs(case, WEIGHTS[number_format])
        with ledger:
            ledger.enter_model(model)
            for tensor in batch.values():
                ledger.enter_tensor(tensor, "input", "input")
            for parameter in model.parameters():
                if parameter.requires_grad:
                    parameter.register_post_accumulate_grad_hook(
                        lambda p: ledger.name(p.grad, "gradient")
                    )
            with autocast_of(number_format):
                loss = family.loss(model, batch)
            gc.collect()
            seen.saved = [
                s
                for s in ledger.live.values()
                if s.period == ("forward", MIDDLE) and s.kind == "activation"
            ]
            ledger.period = "backward"
            loss.backward()
    mine = {("forward", MIDDLE), "backward"}
    for _, operator, storages in ledger.snapshots:
        seen.operators.append(operator)
        seen.moments.append([s for s in storages if s.period in mine and s.kind == "activation"])
    seen.kernels = tuple(sorted(set(kernels_used)))
    seen.parameters = [p.numel() for p in model.parameters()] + [
        p.numel() for p in blocks[MIDDLE].parameters()
    ]
    return seen


def tensors_in(thing, tensors, depth=0):
    """All CUDA tensors that can be reached from a cache object."""
    if isinstance(thing, torch.Tensor):
        if thing.device.type == "cuda":
            tensors.append(thing)
    elif isinstance(thing, dict):
        for value in thing.values():
            tensors_in(value, tensors, depth + 1)
    elif isinstance(thing, (list, tuple)):
        for value in thing:
            tensors_in(value, tensors, depth + 1)
    elif (
        hasattr(thing, "__dict__") and depth < 6 and not isinstance(thing, (torch.nn.Module, type))
    ):
        for value in vars(thing).values():
            tensors_in(value, tensors, depth + 1)
    return tensors


def observe_prefill(family, case, number_format):
    """Observe what is alive in the middle block without gradients, besides weights and cache.

    The embedding's output, which the model's own code still holds, is included.
    """
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    model = build(lambda: family.model(case), WEIGHTS[number_format], mode).eval()
    ledger, seen = Ledger(), Observation()
    kernels_used.clear()
    blocks = family.stacks(model)[family.stack]
    watch_forward(blocks, ledger)
    blocks[MIDDLE].register_forward_pre_hook(lambda *_: setattr(ledger, "watching", True))
    blocks[MIDDLE + 1].register_forward_pre_hook(lambda *_: setattr(ledger, "watching", False))
    with mode, torch.no_grad():
        batch = family.inputs(case, WEIGHTS[number_format])
        with ledger:
            ledger.enter_model(model)
            for tensor in batch.values():
                ledger.enter_tensor(tensor, "input", "input")
            out = family.prefill(model, batch)
            for tensor in tensors_in(
                getattr(out, "past_key_values", None) or getattr(out, "cache_params", None), []
            ):
                ledger.name(tensor, "cache")
    for _, operator, storages in ledger.snapshots:
        seen.operators.append(operator)
        seen.moments.append([s for s in storages if s.kind == "activation"])
    seen.kernels = tuple(sorted(set(kernels_used)))
    seen.parameters = [p.numel() for p in model.parameters()]
    return seen
