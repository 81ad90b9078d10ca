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
    """Return the published file of each (model, precision), the maker's if there is one."""
    table = catalogs.checkpoints.rename_axis("file").reset_index()
    table = table.sort_values(
        ["publisher", "as_of"], ascending=[True, False], kind="stable"
    ).drop_duplicates(["model", "precision"])
    return {(entry["model"], entry["precision"]): entry for entry in table.to_dict("records")}


@cached_per_catalogs("checkpoints", "models", "precisions")
def usual_formats(catalogs: Catalogs, model: str) -> tuple[str, ...]:
    """Return a model's original format ("": 16 bits), then its other formats of at least 8 bits.

    These are all that the maker published and one by a known third party, the one with the
    narrowest products.
    """
    original = str(catalogs.models["published_precision"].get(model) or "")
    known_publishers = catalogs.about["checkpoints"]["known_publishers"]
    bytes_each = catalogs.precisions["matrix_bytes_each"]
    files = {
        precision: entry
        for (published_model, precision), entry in published_files(catalogs).items()
        if published_model == model and bytes_each[precision] >= 1
    }
    by_maker = [precision for precision, entry in files.items() if entry["publisher"] == MAKER]
    by_others = [
        precision
        for precision, entry in files.items()
        if precision not in by_maker and entry["file"].partition("/")[0] in known_publishers
    ]
    by_others.sort(
        key=lambda precision: (catalogs.precisions["compute_bytes_each"][precision], precision)
    )
    return original, *(name for name in (*by_maker, *by_others[:1]) if name != original)


@cached_per_catalogs("checkpoints", "models", "precisions")
def narrow_formats(catalogs: Catalogs, model: str, bits: int) -> tuple[str, ...]:
    """Return the formats of this many bits (8 or 4) in which a model is published.

    The original format counts.
    """
    precisions = {precision for name, precision in published_files(catalogs) if name == model}
    precisions.add(str(catalogs.models["published_precision"].get(model) or ""))
    return tuple(
        precision
        for precision in catalogs.precisions.index
        if precision in precisions and bits_of(catalogs, precision) == bits
    )


def bits_of(catalogs: Catalogs, precision: str) -> int:
    """Return the class of width that a number format belongs to: 16, 8 or 4. [bits]"""
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
    """Return the elements that share a scale (0: any number) and the padded inner width.

    A published file states both; without a file, a format has its default group and no padding.
    Shape of both: (models, precisions).
    """
    models = row_numbers(catalogs, "models")
    precisions = row_numbers(catalogs, "precisions")
    elements = np.tile(catalogs.precisions["group_elements"].to_numpy(), (len(catalogs.models), 1))
    padded_widths = np.zeros(elements.shape)
    for (model, precision), entry in published_files(catalogs).items():
        row = models[model], precisions[precision]
        width = WIDTH.fullmatch(entry["scales"])
        elements[row] = float(width[1]) if width else 0.0
        padded_widths[row] = np.nan_to_num(entry["padded_ffn"])
    return elements, padded_widths


@cached_per_catalogs("checkpoints", "models", "precisions", "stacks")
def cut_degrees(catalogs: Catalogs, model: str, degrees: tuple[int, ...]) -> dict[str, list[int]]:
    """Return by precision the tensor parallel degrees that a published model's experts rule out.

    Such a degree would split a group of elements that share a scale of an expert's matrix.
    Precisions without such a degree are left out.
    """
    width = float(
        catalogs.stacks.loc[catalogs.stacks["model"] == model, "expert_ffn_width"].fillna(0).max()
    )
    group_elements = scales_by_format(catalogs)[0][catalogs.models.index.get_loc(model)]
    splitting = {
        precision: [degree for degree in degrees if width / degree % elements]
        for precision, elements in zip(catalogs.precisions.index, group_elements, strict=True)
        if elements
    }
    return {precision: degrees for precision, degrees in splitting.items() if degrees}
