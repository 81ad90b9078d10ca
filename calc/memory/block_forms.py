"""Bytes per token of blocks and heads as linear forms in their sizes (catalogs/read_off)."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.memory.size_expressions import SIZES
from calc.scenarios.join_choices import FORMATS
from calc.scenarios.stack_numbers import blocks_of_kinds

# The cases that stand for a case of attention that a block does not list: the first that it has.
FALLBACKS = {
    "sdpa": ("eager",),
    "sdpa-grouped": ("sdpa", "eager"),
    "sdpa-window": ("sdpa", "eager"),
    "sdpa-window-multiquery": ("sdpa-window", "sdpa", "eager"),
    "sdpa-window-equal": ("sdpa-window", "sdpa", "eager"),
    "eager": (),
    "sdpa-wide": ("sdpa-grouped", "sdpa", "eager"),
    "sdpa-wide-multiquery": ("sdpa-wide", "sdpa-grouped", "sdpa", "eager"),
}
CASES = tuple(FALLBACKS)
VECTORS = ("saved", "saved_alone", "saved_eight_bit", "frozen", "checkpoint", "selective_ops")
MOMENTS = ("backward", "recomputed", "forward")
OF_NETWORK = (
    "ffn",
    "gated_ffn",
    "plain_ffn",
    "routed_ffn",
    "shared_ffn",
    "experts_ffn",
)  # freed once the network's backward pass is done
HIDDEN = (  # sizes that tensor parallel does not divide
    "hidden",
    "mask",
    "hidden_dropout",
    "source_hidden",
    "shared_mask",
    "shared_hidden",
    "rms_hidden",
    "layer_norm_hidden",
    "one",
)
ATTENTION_CORE = (  # attention's own scores and statistics
    "heads",
    "scores",
    "mask",
    "scores_dropout",
    "source_scores",
    "source_scores_dropout",
    "shared_mask",
    "shared_scores",
    "shared_source_scores",
    "capped_scores",
)


def vector(coefficients: Mapping[str, float]) -> np.ndarray:
    """Return the coefficients of the sizes as a row in the order of SIZES."""
    return np.array([float(coefficients.get(name, 0)) for name in SIZES])


class Form(NamedTuple):
    """A linear form as (size, coefficient) pairs: of the sizes in HIDDEN, and of all others."""

    hidden: tuple[tuple[str, float], ...]
    divided: tuple[tuple[str, float], ...]


# Name of a vector or a moment -> its form, None if it is unknown; a moment has several.
Coefficients = dict[str, Form | tuple[Form | None, ...] | None]


def form_of(coefficients: Mapping[str, float] | None) -> Form | None:
    """Return the form with these coefficients; None if the catalog has none."""
    return None if coefficients is None else _form(tuple(coefficients.items()))


@lru_cache(maxsize=1 << 14)
def _form(coefficients: tuple[tuple[str, float], ...]) -> Form:
    """Return the form of some coefficients. It is cached: many formats and cases share one."""
    pairs = [(name, float(value)) for name, value in coefficients if value]
    hidden = tuple(pair for pair in pairs if pair[0] in HIDDEN)
    others = tuple(pair for pair in pairs if pair[0] not in HIDDEN)
    return Form(hidden, others)


@cached_per_catalogs("families", "blocks", "compiled_sizes")
def block_coefficients(catalogs: Catalogs) -> dict[str, list]:
    """Return the Form of every vector for each block, format and case; None if it is unknown.

    The row of a block, format and case is (block · formats + format) · cases + case. After the
    blocks of the catalog come the kinds of blocks, with the forms of all blocks of the kind. `core`
    is what is saved without attention's own scores and statistics, `compiled` what a compiled block
    saves.
    """
    compiled = form_of(catalogs.compiled_sizes["compiled_bytes_each"].to_dict())
    rows = []
    for block in catalogs.blocks.values():
        forms = {(form["format"], form["attention"]): form for form in block["forms"]}
        for number_format in FORMATS:
            for case in CASES:
                coefficients = _coefficients_of(forms, number_format, case)
                rows.append(coefficients | {"compiled": compiled})
    tables = {name: [row[name] for row in rows] for name in rows[0]}
    for blocks in blocks_of_kinds(catalogs):
        _append_rows_of_kind(tables, [list(catalogs.blocks).index(block) for block in blocks])
    return tables


def _coefficients_of(
    forms: dict[tuple[str, str], dict], number_format: str, case: str
) -> Coefficients:
    """Return the Form of each vector of a block in a format and case, and those of each moment."""
    form = _first(forms, number_format, (case, *FALLBACKS[case]))
    vectors = {name: form.get(name) for name in VECTORS}
    for name in ("saved_alone", "saved_eight_bit"):
        vectors[name] = form.get(name, form.get("saved"))
    kernel = _first(forms, number_format, ("sdpa", *FALLBACKS["sdpa"])) if case == "eager" else form
    vectors["core"] = _without_attention_core(kernel.get("saved"))
    coefficients: Coefficients = {name: form_of(vector) for name, vector in vectors.items()}
    for name in MOMENTS:
        moments = form.get(name) or ()
        if name == "recomputed":
            moments = moments or form.get("backward") or ()
        of_attention = [moment for moment in moments if not set(OF_NETWORK) & set(moment)]
        coefficients[name] = tuple(form_of(moment) for moment in moments)
        coefficients[f"{name}_attention"] = tuple(form_of(moment) for moment in of_attention)
    return coefficients


def _without_attention_core(saved: dict[str, float] | None) -> dict[str, float] | None:
    """Return what is saved without attention's own scores and statistics; None if unknown."""
    if saved is None:
        return None
    return {name: value for name, value in saved.items() if name not in ATTENTION_CORE}


def _append_rows_of_kind(tables: dict[str, list], blocks: list[int]) -> None:
    """Append for each format and case the forms that these blocks have there, as one AnyOf."""
    rows_each = len(FORMATS) * len(CASES)
    for row in range(rows_each):
        for table in tables.values():
            forms = [table[block * rows_each + row] for block in blocks]
            table.append(AnyOf(form for form in forms if form))


def _first(forms: dict[tuple[str, str], dict], number_format: str, cases: tuple[str, ...]) -> dict:
    """Return the form of the first of these cases that the block has; {} if it has none."""
    return next(
        (forms[number_format, case] for case in cases if (number_format, case) in forms), {}
    )


@cached_per_catalogs("models", "heads")
def head_rows(catalogs: Catalogs) -> np.ndarray:
    """Return the number of each model's head in the catalog.

    It is that of its family; by default the one for capped logits, or the first without families.
    """
    entries = list(catalogs.heads.values())
    of_family = {name: number for number, head in enumerate(entries) for name in head["families"]}
    first = next(number for number, head in enumerate(entries) if not head["families"])
    default = np.where(
        catalogs.models["softcap"] > 0, list(catalogs.heads).index("causal-softcap"), first
    )
    families = zip(catalogs.models["model_type"], default, strict=True)
    return np.array([of_family.get(family, number) for family, number in families])


@cached_per_catalogs("heads")
def head_coefficients(catalogs: Catalogs) -> dict[str, np.ndarray]:
    """Return the bytes per logit of heads and the bytes per token outside of the blocks.

    Shape of `forward` and `backward`: (heads, formats); of `outside`: (trained or frozen, heads,
    formats, SIZES).
    """
    entries = list(catalogs.heads.values())
    forward, backward = (np.full((len(entries), len(FORMATS)), np.nan) for _ in range(2))
    outside = np.full((2, len(entries), len(FORMATS), len(SIZES)), np.nan)
    for number, head in enumerate(entries):
        for form in head["forms"]:
            column = FORMATS.index(form["format"])
            forward[number, column], backward[number, column] = form["forward"], form["backward"]
            outside[:, number, column] = vector(form["outside"]), vector(form["frozen_outside"])
    return {"forward": forward, "backward": backward, "outside": outside}


class AnyOf(tuple):
    """The forms or moments of all blocks of a kind: a block that was not read off takes one."""


class LinearForms:
    """The linear forms of every stack and row: `forms(name)` is a vector times the sizes.

    Sequence parallelism divides everything except the gathered outputs of the two norms, and
    divides those too if the backward pass gathers them again. Without it, sizes in HIDDEN are not
    divided. Each form is summed over the rows that have it. For a kind of blocks, the block at the
    `quantile` counts.

    Source: Korthikanti et al. 2022, arXiv 2205.05198, section 4.2.2.
    """

    def __init__(
        self,
        coefficients: dict[str, list],
        form: np.ndarray,
        present: np.ndarray,
        columns: dict[str, np.ndarray],
    ):
        """`columns`: sizes, `whole_most`, `tensor_parallel`, as (stacks, rows); `quantile`."""
        self.coefficients, self.columns = coefficients, columns
        self.shape = np.broadcast_shapes(
            form.shape, present.shape, *(np.shape(values) for values in columns.values())
        )
        of_row = np.broadcast_to(form, self.shape).ravel()
        rows = np.flatnonzero(np.broadcast_to(present, self.shape).ravel())
        self.order = rows[np.argsort(of_row[rows], kind="stable")]
        forms, starts = np.unique(of_row[self.order], return_index=True)
        ends = [*starts[1:].tolist(), len(self.order)][: len(forms)]
        self.parts = [
            (form, slice(start, end))
            for form, start, end in zip(forms.tolist(), starts.tolist(), ends, strict=True)
        ]
        self.sorted: dict[str, np.ndarray] = {}

    def __call__(self, name: str, is_needed: Any = 1, is_divided: bool = True) -> np.ndarray:
        """Bytes per token of one vector; 0 for absent stacks, and if no row needs it."""
        vectors = self.coefficients[name]
        return self._by_entry(
            vectors, lambda form, part: self._sum(form, part, is_divided), is_needed
        )

    def worst(self, name: str, is_needed: Any = 1) -> np.ndarray:
        """The largest of a block's moments, in bytes per token.

        Without moments it is NaN, or 0 for those of attention.
        """
        moments = self.coefficients[name]
        nothing = 0.0 if name.endswith("_attention") else np.nan

        def largest(of_block: Sequence[Form | None], part: slice) -> Any:
            return (
                np.fmax.reduce([self._sum(moment, part, True) for moment in of_block])
                if of_block
                else nothing
            )

        return self._by_entry(moments, largest, is_needed)

    def _by_entry(
        self, entries: Sequence[Any], make: Callable[[Any, slice], Any], is_needed: Any
    ) -> np.ndarray:
        """Call `make` for the rows of each entry. Return the results in the order of the rows."""
        out = np.zeros(self.shape)
        if np.any(is_needed):
            total = np.empty(len(self.order))
            for form, part in self.parts:
                entry = entries[form]
                total[part] = (
                    self._one_of(entry, make, part)
                    if isinstance(entry, AnyOf)
                    else make(entry, part)
                )
            out.reshape(-1)[self.order] = total
        return out

    def _one_of(self, entries: AnyOf, make: Callable[[Any, slice], Any], part: slice) -> Any:
        """The quantile over the blocks of a kind, for each row; NaN if none has this form."""
        if not entries:
            return np.nan
        results = [np.broadcast_to(make(entry, part), part.stop - part.start) for entry in entries]
        return np.quantile(np.array(results), float(self.columns["quantile"][0]), axis=0)

    def _sum(self, form: Form | None, part: slice, is_divided: bool) -> Any:
        """Bytes per token of one form for the rows that have it; NaN if it is unknown."""
        if form is None:
            return np.nan
        hidden = self._terms(form.hidden, part)
        others = self._terms(form.divided, part)
        if not is_divided:
            return others + hidden
        whole = np.minimum(hidden, self._column("whole_most")[part])
        return (others + hidden - whole) / self._column("tensor_parallel")[part] + whole

    def _terms(self, terms: tuple[tuple[str, float], ...], part: slice) -> Any:
        """The sum of coefficient · size."""
        total: Any = 0.0
        for name, coefficient in terms:
            total = total + coefficient * self._column(name)[part]
        return total

    def _column(self, name: str) -> np.ndarray:
        """A column in the order of the forms."""
        if name not in self.sorted:
            self.sorted[name] = np.broadcast_to(self.columns[name], self.shape).ravel()[self.order]
        return self.sorted[name]
