"""Facts that a config states besides sizes: its class, its decoder, and custom code.

What is covered is counted; anything else becomes a remark, so that no model is silently estimated
as the plain one.
"""

from calc.mappings import Cells, Json
from calc.models.huggingface.type_rules import ModelType
from calc.models.huggingface.values import labels_of, short_value, whole_number
from calc.remarks import Remark, remark

ELECTRA = "ElectraForPreTraining"  # classifies each token as original or replaced
PLAIN = (
    "ForCausalLM",
    "LMHeadModel",
    "ForConditionalGeneration",
    "ForMaskedLM",
    "ForImageClassification",
    "ForPreTraining",
    "ForCTC",
    "MTModel",
    "GenerationDecoder",
)
TWO_SIDED = ("encoder-decoder", "audio")
# Suffixes of classes with only the vision side of a pair.
OF_VISION_SIDE = ("ForImageClassification", "VisionModel")
DRAFTS = ("eagle", "medusa", "mtp", "speculator", "hydra", "draft", "assistant")


def class_name(config: Cells) -> str:
    """The class that a config names; "" if it names none."""
    names = config.get("architectures")
    return names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""


def decoder_alone(config: Cells, entry: Cells, traits: Cells) -> Json:
    """Return how a model differs from its family if its class is only the decoder; else {}.

    The decoder of a two-sided model keeps its own tables and norms, and the weights of its unused
    cross attention. An encoder whose config sets is_decoder attends to earlier tokens and caches
    them. What such blocks save for the backward pass was not read off.
    """
    name = class_name(config)
    of_two_sides = traits["kind"] in TWO_SIDED
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
    config: Cells, name: str, kind: str, model_type: ModelType | None
) -> tuple[dict[str, int], Remark | None]:
    """Sizes of the head of the class that a config names, or a remark if it is not covered.

    `name` is the type as which the model is estimated; an image-text pair has no `model_type`.
    """
    of_class = class_name(config)
    facts = {"of_class": short_value(of_class), "plain": name}
    if any(word in of_class.lower() for word in DRAFTS):
        return {}, remark("draft-head", **facts)
    if _is_plain(of_class, kind):
        return {}, None
    if head := _head_sizes(config, of_class, kind, model_type):
        return head, None
    return {}, remark("class-not-covered", **facts)


def _is_plain(of_class: str, kind: str) -> bool:
    """Return whether a class has the head with which its type is estimated anyway."""
    if kind == "dual" and of_class.endswith("Model") and "Text" not in of_class:
        return True
    if of_class == ELECTRA or (kind == "sound" and of_class.endswith("ForPreTraining")):
        return False
    return not of_class or (of_class.endswith(PLAIN) and "Reward" not in of_class)


def _head_sizes(
    config: Cells, of_class: str, kind: str, model_type: ModelType | None
) -> dict[str, int]:
    """Return the sizes of another head: a classifier, or none; empty if it is not covered."""
    none = {"tied": 0, "head_bias": 0, "masked_head": 0, "spare_bias": 0}
    if of_class == ELECTRA:
        return none | {"labels": 1, "head_bias": 1, "pooler": 1}
    of_sequences = of_class.endswith("ForSequenceClassification")
    if kind == "sound" and of_sequences and not config.get("use_weighted_layer_sum"):
        width = whole_number(config.get("classifier_proj_size", 256), 1, "classifier_proj_size")
        return {"labels": labels_of(config), "pooler": 1, "pooled_width": width}
    poolers = model_type.classifier_poolers if model_type and kind == "encoder" else ()
    if not model_type or (kind not in ("decoder", "vision", "sound") and not poolers):
        return {}
    of_tokens = of_class.endswith("ForTokenClassification")
    if kind != "sound" and (of_tokens or of_sequences):
        has_bias = bool(poolers) or of_tokens or bool(config.get("classifier_bias"))
        return none | {
            "labels": labels_of(config),
            "head_bias": int(has_bias),
            "pooler": poolers[of_tokens] if poolers else 0,
            "masked_head": int(model_type.classifier_keeps_head),
        }
    if of_class.endswith("Model") and "Reward" not in of_class:
        return none | {"headless": 1, "pooler": int(model_type.headless_pooler)}
    return {}


def own_code(config: Cells, model_type: str) -> Remark | None:
    """Return a remark on a config with custom code; None without any."""
    return remark("own-code", plain=model_type) if config.get("auto_map") else None
