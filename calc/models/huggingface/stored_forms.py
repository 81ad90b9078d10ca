"""Forms of stored weights in a config, in the words of the catalog of precisions.

The field `stored_as` of catalogs/edited/precisions.yaml lists the words by which a precision is
known: the method, the kind and width of its numbers, and what else tells two forms apart. Source:
transformers, utils/quantization_config.py; compressed-tensors, quant_scheme.py; NVIDIA ModelOpt.
"""

from collections.abc import Callable, Mapping
from typing import Any

from calc.mappings import Cells
from calc.models.huggingface.values import short_value
from calc.remarks import Remark, remark


def stored_precision(config: Cells, catalogs: Any) -> tuple[str, Remark | None]:
    """Return the precision of the stored weights, or a remark if it is not covered."""
    quantization = config.get("quantization_config") or config.get("compression_config")
    if not quantization:
        return "", None
    method = ""
    forms: tuple[str, ...] = ()
    if isinstance(quantization, Mapping):
        method = _lower(quantization, "quant_method") or (
            "modelopt" if "quant_algo" in quantization else ""
        )
        forms = FORMS[method](quantization) if method in FORMS else (method,)
    precision_by_form: dict[str, str] = {
        form: precision
        for precision, names in catalogs.precisions["stored_as"].items()
        for form in names
    }
    precision = next((precision_by_form[form] for form in forms if form in precision_by_form), "")
    if precision:
        return precision, None
    if method:
        return "", remark("form-not-covered", method=short_value(method))
    return "", remark("form-unknown")


def _lower(config: Cells, name: str) -> str:
    return str(config.get(name) or "").lower()


def _by_bits(method: str) -> Callable[[Cells], tuple[str, ...]]:
    return lambda quantization: (f"{method} {quantization.get('bits', 4)}",)


def _bitsandbytes(quantization: Cells) -> tuple[str, ...]:
    """The form in which bitsandbytes stores the weights."""
    if quantization.get("load_in_8bit"):
        return ("bitsandbytes int8",)
    if _lower(quantization, "bnb_4bit_quant_type") != "nf4":
        return ("bitsandbytes fp4",) if quantization.get("load_in_4bit") else ()
    double = " double" if quantization.get("bnb_4bit_use_double_quant") else ""
    return (f"bitsandbytes nf4{double}",)


def _common_form(quantization: Cells) -> tuple[str, ...]:
    """The one form of all groups of weights; none if the groups differ."""
    groups = quantization.get("config_groups")
    groups = groups.values() if isinstance(groups, Mapping) else ()
    groups = [group for group in groups if isinstance(group, Mapping)]
    weights = [group["weights"] for group in groups if isinstance(group.get("weights"), Mapping)]
    kinds = {(_lower(form, "type"), form.get("num_bits")) for form in weights}
    if len(kinds) != 1:
        return ()
    kind, bits = kinds.pop()
    form = f"compressed {kind} {bits}"
    if (kind, bits) == ("int", 8) and any(group.get("input_activations") for group in groups):
        form += " with inputs"
    if bits == 4 and any(one.get("group_size") == 32 for one in weights):
        form += " by 32"
        if kind == "int" and any(
            "self_attn" in str(name) for name in quantization.get("ignore") or ()
        ):
            form += " in experts"
    return (form,)


def _modelopt(quantization: Cells) -> tuple[str, ...]:
    inner = quantization.get("quantization", quantization)
    algorithm = _lower(inner if isinstance(inner, Mapping) else {}, "quant_algo")
    return (f"modelopt {algorithm}", *_common_form(quantization))


FORMS: dict[str, Callable[[Cells], tuple[str, ...]]] = {
    **{method: _by_bits(method) for method in ("awq", "gptq", "auto-round")},
    "bitsandbytes": _bitsandbytes,
    "compressed-tensors": _common_form,
    "modelopt": _modelopt,
}
