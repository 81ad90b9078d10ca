"""The texts of a model's entry: source, remarks, parts that are left out, and refusals.

An entry is a document that links and files carry. So its texts are formed once, when the entry is
made, and this module stands below the readers of configs. Words of a config come shortened.
"""

from collections.abc import Sequence

from calc.remarks import Remark, Sentences
from calc.units import GIB


def _type_not_covered(model_type: str, why: str, plain: str, is_counted: bool) -> str:
    reason = f"model_type {model_type} is not covered" + (f": {why}" if why else "")
    count = (
        "its index gives its parameter count" if is_counted else "its parameter count is unknown"
    )
    return (
        f"Its {reason}; it is estimated as a plain {plain} with its sizes, read from fields with "
        f"the usual names; {count}."
    )


def _fields_not_read(fields: Sequence[str], further: int) -> str:
    names = [*fields, f"{further} more"] if further else fields
    verb = "is" if len(names) == 1 else "are"
    return (
        f"Its config also sets {in_a_list(names)}, which {verb} not read; the "
        f"estimate does not include the effect."
    )


def _sizes_missing(name: str, sizes: Sequence[str]) -> str:
    names = ", ".join(sizes)
    return (
        f"{name}: {names} missing or not valid as sizes; correct the entry or config, or choose "
        f"another model."
    )


def _total_alone(name: str, model_type: str, parameters: float, weights_bytes: float) -> str:
    return (
        f"{name}: model_type {model_type} is not covered, so its activations, caches and times "
        f"are not known; its index counts {parameters / 1e9:,.2f} billion parameters, "
        f"{weights_bytes / GIB:,.1f} GiB of weights in 16 bits."
    )


def _towers_left_out(parts: Sequence[str]) -> str:
    several = "s" if len(parts) > 1 else ""
    return f"its {in_a_list(parts)} tower{several} and the projector{several}"


def _parts_left_out(parts: Sequence[str]) -> str:
    return f"its {in_a_list(parts)} part"


def _sized_parts_left_out(unknown: Sequence[str], sized: Sequence[str]) -> str:
    texts = []
    if unknown:
        texts.append(f"{_parts_left_out(unknown)}, of unknown size")
    if sized:
        texts.append(f"{_parts_left_out(sized)}, sized as plain models")
    return " and ".join(texts)


PLAIN = "it is estimated as a plain {plain}."
TEXTS: Sentences = {
    "source-config": "its config.json, model_type {model_type}",
    "source-sizes": "six sizes given by hand",
    "text-part-alone": "The text part alone; the other parts of this config are not counted.",
    "type-not-covered": _type_not_covered,
    "class-not-covered": "Its architectures name {of_class}, which is not covered; " + PLAIN,
    "draft-head": "Its architectures name {of_class}, a draft head beside a model; " + PLAIN,
    "own-code": "It comes with its own code (auto_map), which is not read; " + PLAIN,
    "form-not-covered": "Its quantization_config ({method}) is not covered: choose a precision.",
    "form-unknown": (
        "Its quantization_config (of an unknown form) is not covered: choose a precision."
    ),
    "fields-not-read": _fields_not_read,
    "sizes-missing": _sizes_missing,
    "total-alone": _total_alone,
    "a-tower-left-out": "its vision or audio tower",
    "towers-left-out": _towers_left_out,
    "parts-left-out": _parts_left_out,
    "sized-parts-left-out": _sized_parts_left_out,
}


def entry_text(*remarks: Remark | None) -> str:
    """Return the sentences of remarks on a model's entry; None has no sentence."""
    return " ".join(_text(remark) for remark in remarks if remark)


def _text(remark: Remark) -> str:
    text = TEXTS[remark.code]
    facts = dict(remark.facts)
    return text.format_map(facts) if isinstance(text, str) else text(**facts)


def in_a_list(names: Sequence[str]) -> str:
    """Return names as a sentence lists them: vision, audio and qformer."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
