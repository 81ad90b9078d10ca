"""The origin of a served model's weights, in words."""

from calc.catalogs.load import Catalogs
from calc.scenarios.published_weights import MAKER, published_files


def publisher_words(catalogs: Catalogs, model: str, precision: str, with_file: bool = True) -> str:
    """The source of the served file: 8-bit weights published by Qwen (Qwen/Qwen3-32B-FP8).

    Empty for weights of 16 bits or more.
    """
    width = catalogs.precisions["matrix_bytes_each"].get(precision, 2.0)
    if width >= 2:
        return ""
    weights = f"{8 if width >= 1 else 4}-bit weights"
    entry = published_files(catalogs).get((model, precision))
    if entry is None:
        own = [catalogs.models[f"{name}_precision"].get(model) for name in ("published", "stored")]
        if precision in own:
            return f"its {weights} are the original"
        return f"no published {weights} are known: you have to produce them"
    publisher = entry["file"].partition("/")[0]
    facts = [] if entry["publisher"] == MAKER else ["third party"]
    facts += [entry["file"]] if with_file else []
    return f"{weights} published by {publisher}" + (f" ({', '.join(facts)})" if facts else "")
