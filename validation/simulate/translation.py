"""Encoder-decoders for translation: BART's block with its norms in front, by activation function."""

from dataclasses import replace

from validation.simulate.two_sided_models import bart

STEADY = dict(encoder_layerdrop=0.0, decoder_layerdrop=0.0)


def normed_first(stack, activation):
    """mBART's block; gelu stands for all functions that are one kernel."""
    plain, name = bart("", stack), f"mbart_{stack}" if activation == "gelu" else f"mbart_{stack}-{activation}"
    types = ("mbart", "m2m_100", "pegasus", "blenderbot") if name == "mbart_encoder" else ()
    fixed = plain.fixed | STEADY | dict(activation_function=activation)
    return replace(plain, id=name, config="MBartConfig", head="MBartForConditionalGeneration", fixed=fixed, types=types)


FAMILIES = (*(normed_first(stack, activation) for stack in ("encoder", "decoder") for activation in ("gelu", "relu")),)
