"""Encoder-decoders for translation: BART's block with its norms in front, by activation function, and T5's with its bias in each layer."""

from dataclasses import replace

from validation.simulate.two_sided_models import bart, t5

STEADY = dict(encoder_layerdrop=0.0, decoder_layerdrop=0.0)


def normed_first(stack, activation):
    """mBART's block; gelu stands for all functions that are one kernel."""
    plain, name = bart("", stack), f"mbart_{stack}" if activation == "gelu" else f"mbart_{stack}-{activation}"
    types = ("mbart", "m2m_100", "pegasus") if name == "mbart_encoder" else ()
    fixed = plain.fixed | STEADY | dict(activation_function=activation)
    return replace(plain, id=name, config="MBartConfig", head="MBartForConditionalGeneration", fixed=fixed, types=types)


def biased_layers(stack):
    """UMT5's block: T5's gated one with a relative bias of its own."""
    like = t5("", stack, True)
    types = ("umt5",) if stack == "encoder" else ()
    return replace(like, id=f"umt5_{stack}", config="UMT5Config", head="UMT5ForConditionalGeneration", types=types)


FAMILIES = (
    *(normed_first(stack, activation) for stack in ("encoder", "decoder") for activation in ("gelu", "relu")),
    *(biased_layers(stack) for stack in ("encoder", "decoder")),
)
