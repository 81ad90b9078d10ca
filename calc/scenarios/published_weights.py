"""Published weights below 16 bits: formats, publishers and the elements that share a scale."""

import re

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.scenarios.lookups import row_numbers

MAKER = "maker"
WIDTH = re.compile(r"(?:block|group)-(\d+)")


@cached_per_catalogs("checkpoints")
def published_files(catalogs: Catalogs) -> dict[tuple[str, str], Row]:
    """The published file of each (model, precision); the maker's where there is one."""
    table = catalogs.checkpoints.rename_axis("file").reset_index()
    table = table.sort_values(
        ["publisher", "as_of"], ascending=[True, False], kind="stable"
    ).drop_duplicates(["model", "precision"])
    return {(entry["model"], entry["precision"]): entry for entry in table.to_dict("records")}


@cached_per_catalogs("checkpoints", "models", "precisions")
def usual_formats(catalogs: Catalogs, model: str) -> tuple[str, ...]:
    """A model's original format, "" for 16 bits, and the published ones of at least 8 bits.

    These are the maker's, and of known third parties the one with the narrowest products, where the
    maker has none like it.
    """
    original = str(catalogs.models["published_precision"].get(model) or "")
    publishers = catalogs.about["checkpoints"]["known_publishers"]
    wide = {
        precision: entry
        for (of, precision), entry in published_files(catalogs).items()
        if of == model
    }
    wide = {
        precision: entry
        for precision, entry in wide.items()
        if catalogs.precisions["matrix_bytes_each"][precision] >= 1
    }
    ours = [precision for precision, entry in wide.items() if entry["publisher"] == MAKER]
    others = [
        precision
        for precision, entry in wide.items()
        if precision not in ours and entry["file"].partition("/")[0] in publishers
    ]
    others.sort(
        key=lambda precision: (catalogs.precisions["compute_bytes_each"][precision], precision)
    )
    return original, *(name for name in (*ours, *others[:1]) if name != original)


@cached_per_catalogs("checkpoints", "models", "precisions")
def narrow_formats(catalogs: Catalogs, model: str, bits: int) -> tuple[str, ...]:
    """The formats of 8 or of 4 bits in which a model is published, its original one included."""
    published = {precision for of, precision in published_files(catalogs) if of == model}
    published.add(str(catalogs.models["published_precision"].get(model) or ""))
    return tuple(
        precision
        for precision in catalogs.precisions.index
        if precision in published and bits_of(catalogs, precision) == bits
    )


def bits_of(catalogs: Catalogs, precision: str) -> int:
    """The step that a number format belongs to: 16, 8 or 4. [bits]"""
    width = catalogs.precisions["matrix_bytes_each"][precision]
    if width >= 2:
        return 16
    if width >= 1:
        return 8
    return 4


def published_bits_of(catalogs: Catalogs, model: str) -> int:
    """The fewest bits that a model is published in, by its maker or a known third party. [bits]"""
    return min(
        (bits_of(catalogs, precision) for precision in usual_formats(catalogs, model) if precision),
        default=16,
    )


@cached_per_catalogs("checkpoints", "models", "precisions")
def scales_by_format(catalogs: Catalogs) -> tuple[np.ndarray, np.ndarray]:
    """The elements that share a scale, 0 without a bound, and the padded inner width.

    A published file says both; without one a format has its usual group. Shape: (models,
    precisions) each.
    """
    models = row_numbers(catalogs, "models")
    precisions = row_numbers(catalogs, "precisions")
    elements = np.tile(catalogs.precisions["group_elements"].to_numpy(), (len(catalogs.models), 1))
    padded = np.zeros(elements.shape)
    for (model, precision), entry in published_files(catalogs).items():
        row = models[model], precisions[precision]
        width = WIDTH.fullmatch(entry["scales"])
        elements[row] = float(width[1]) if width else 0.0
        padded[row] = np.nan_to_num(entry["padded_ffn"])
    return elements, padded


@cached_per_catalogs("checkpoints", "models", "precisions", "stacks")
def cut_degrees(catalogs: Catalogs, model: str, degrees: tuple[int, ...]) -> dict[str, list[int]]:
    """Tensor parallel degrees, by precision, that cut a block of scales of an expert."""
    width = float(
        catalogs.stacks.loc[catalogs.stacks["model"] == model, "expert_ffn_width"].fillna(0).max()
    )
    scales = zip(
        catalogs.precisions.index,
        scales_by_format(catalogs)[0][catalogs.models.index.get_loc(model)],
        strict=True,
    )
    cut = {
        precision: [degree for degree in degrees if width / degree % elements]
        for precision, elements in scales
        if elements
    }
    return {precision: numbers for precision, numbers in cut.items() if numbers}
