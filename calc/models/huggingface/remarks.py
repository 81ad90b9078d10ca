"""What a config says besides sizes: its class, custom code, and how weights are stored.

What is covered is counted; anything else becomes a sentence, so that no model is silently estimated
as the plain one.
"""

from collections.abc import Mapping
from typing import Any

from calc.models.huggingface.model_types import ModelType
from calc.models.huggingface.values import labels_of, short_value, whole_number

Config = Mapping[str, Any]
PLAIN = (
    *(
        "ForCausalLM",
        "LMHeadModel",
        "ForConditionalGeneration",
        "ForMaskedLM",
        "ForImageClassification",
        "ForPreTraining",
        "ForCTC",
    ),
    *("MTModel", "GenerationDecoder"),
)
TWO_SIDED = ("encoder-decoder", "audio")
OF_VISION_SIDE = (
    "ForImageClassification",
    "VisionModel",
)  # suffixes of classes with only the vision side of a pair
DRAFTS = ("eagle", "medusa", "mtp", "speculator", "hydra", "draft", "assistant")


def class_name(config: Config) -> str:
    """The class that a config names; "" where it names none."""
    names = config.get("architectures")
    return names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""


def decoder_alone(config: Config, entry: Config, traits: Config) -> dict[str, Any]:
    """How a model differs from its family where its class is only the decoder; else {}.

    The decoder of a two-sided model keeps its own tables and norms, and the weights of its unused
    cross attention. An encoder whose config sets is_decoder attends to earlier tokens and caches
    them. What such blocks save for the backward pass was not read off.
    """
    name, of_two_sides = class_name(config), traits["kind"] in TWO_SIDED
    if of_two_sides and name.endswith("ForCausalLM"):
        halves = {
            trait: (traits[trait] + 1) // 2
            for trait in ("learned_positions", "embedding_norms", "final_norms")
        }
        rest = {
            "layers": entry["decoder_layers"],
            "cross_attention": 1,
            "mel_bins": 0,
            "source_positions": 0,
        }
        return {"kind": "decoder", "block": "", **halves, **rest}
    if (
        traits["kind"] == "encoder"
        and config.get("is_decoder")
        and name.endswith(("ForCausalLM", "LMHeadModel", "Decoder"))
    ):
        return {
            "kind": "decoder",
            "block": "",
            "cross_attention": int(bool(config.get("add_cross_attention"))),
        }
    return {}


def named_class(
    config: Config, name: str, kind: str, model_type: ModelType | None
) -> tuple[dict[str, int], str]:
    """Sizes of the head of the class that a config names, or a sentence where it is not covered.

    `name` is the type as which the model is estimated; an image-text pair has no `model_type`.
    """
    of_class = class_name(config)
    if any(word in of_class.lower() for word in DRAFTS):
        return (
            {},
            (
                f"Its architectures name {short_value(of_class)}, a draft head beside a model; "
                f"it is estimated as a plain {name}."
            ),
        )
    none = {"tied": 0, "head_bias": 0, "masked_head": 0, "spare_bias": 0}
    if of_class == "ElectraForPreTraining":  # classifies each token as original or replaced
        return {**none, "labels": 1, "head_bias": 1, "pooler": 1}, ""
    pre_trains_sound = kind == "sound" and of_class.endswith("ForPreTraining")
    if not of_class or (
        of_class.endswith(PLAIN) and "Reward" not in of_class and not pre_trains_sound
    ):
        return {}, ""
    if kind == "dual" and of_class.endswith("Model") and "Text" not in of_class:
        return {}, ""
    if (
        kind == "sound"
        and of_class.endswith("ForSequenceClassification")
        and not config.get("use_weighted_layer_sum")
    ):
        width = whole_number(config.get("classifier_proj_size", 256), 1, "classifier_proj_size")
        return {"labels": labels_of(config), "pooler": 1, "pooled_width": width}, ""
    poolers = model_type.classifier_poolers if model_type and kind == "encoder" else ()
    if model_type and (kind in ("decoder", "vision", "sound") or poolers):
        of_tokens = of_class.endswith("ForTokenClassification")
        if kind != "sound" and (of_tokens or of_class.endswith("ForSequenceClassification")):
            biased = bool(poolers) or of_tokens or bool(config.get("classifier_bias"))
            sizes = {
                "labels": labels_of(config),
                "head_bias": int(biased),
                "pooler": poolers[of_tokens] if poolers else 0,
            }
            return none | sizes | {"masked_head": int(model_type.classifier_keeps_head)}, ""
        if of_class.endswith("Model") and "Reward" not in of_class:
            return none | {"headless": 1, "pooler": int(model_type.headless_pooler)}, ""
    return (
        {},
        (
            f"Its architectures name {short_value(of_class)}, which is not covered; it is "
            f"estimated as a plain {name}."
        ),
    )


def own_code(config: Config, model_type: str) -> str:
    """A sentence about a config with custom code; "" without any."""
    if not config.get("auto_map"):
        return ""
    return (
        f"It brings code of its own (auto_map), which is not read; it is estimated as a plain "
        f"{model_type}."
    )


def stored_precision(config: Config) -> tuple[str, str]:
    """The precision of the stored weights, or a sentence where it is not covered."""
    stored = config.get("quantization_config") or config.get("compression_config")
    if not stored:
        return "", ""
    method = (
        (_lower(stored, "quant_method") or ("modelopt" if "quant_algo" in stored else ""))
        if isinstance(stored, dict)
        else ""
    )
    precision = STORED[method](stored) if method in STORED else ""
    unknown = (
        f"Its quantization_config ({short_value(method or 'of an unknown form')}) is not "
        f"covered: choose a precision."
    )
    return precision, "" if precision else unknown


def _lower(config, name):
    return str(config.get(name) or "").lower()


def _four_bits(name):
    return lambda stored: (
        {4: name, 8: "gptq-8bit"}.get(stored.get("bits", 4), "")
        if isinstance(stored.get("bits", 4), int)
        else ""
    )


def _bitsandbytes(stored):
    if stored.get("load_in_8bit"):
        return "int8"
    if _lower(stored, "bnb_4bit_quant_type") != "nf4":
        return "int4" if stored.get("load_in_4bit") else ""
    return "nf4-dq" if stored.get("bnb_4bit_use_double_quant") else "nf4"


def _compressed(stored):
    groups = stored.get("config_groups")
    groups = (
        [group for group in groups.values() if isinstance(group, dict)]
        if isinstance(groups, dict)
        else []
    )
    weights = [group["weights"] for group in groups if isinstance(group.get("weights"), dict)]
    kinds = {(_lower(form, "type"), form.get("num_bits")) for form in weights}
    of_32 = any(form.get("group_size") == 32 for form in weights)
    spares_attention = any("self_attn" in str(name) for name in stored.get("ignore") or ())
    eight = "int8" if any(group.get("input_activations") for group in groups) else "gptq-8bit"
    four = ("int4-experts" if spares_attention else "int4") if of_32 else "gptq-4bit"
    precisions = {
        ("float", 8): "fp8",
        ("int", 8): eight,
        ("int", 4): four,
        ("float", 4): "mxfp4" if of_32 else "nvfp4",
    }
    return precisions.get(kinds.pop(), "") if len(kinds) == 1 else ""


def _modelopt(stored):
    algorithm = _lower(
        stored.get("quantization", stored)
        if isinstance(stored.get("quantization", stored), dict)
        else {},
        "quant_algo",
    )
    return {"fp8": "fp8", "nvfp4": "nvfp4", "w4a16_awq": "awq-4bit"}.get(
        algorithm, ""
    ) or _compressed(stored)


STORED = {
    "awq": _four_bits("awq-4bit"),
    "gptq": _four_bits("gptq-4bit"),
    "auto-round": _four_bits("gptq-4bit"),
    "fp8": lambda _stored: "fp8",
    "fbgemm_fp8": lambda _stored: "fp8",
    "mxfp4": lambda _stored: "mxfp4",
    "bitsandbytes": _bitsandbytes,
    "compressed-tensors": _compressed,
    "modelopt": _modelopt,
}
