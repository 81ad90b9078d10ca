"""What one block of a model keeps and needs, in bytes per token: a row of coefficients (catalogs/blocks.yaml) times the block's sizes.

Every quantity here has one row per stack of like blocks: arrays of shape (stacks, rows).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.scenarios.join import FORMATS

SIZES = (
    "hidden", "query", "key", "value", "ffn", "heads", "kv_heads", "scores", "mask", "hidden_dropout", "scores_dropout",
    "routed_hidden", "routed_ffn", "experts", "experts_per_token", "experts_hidden", "experts_ffn", "shared_ffn", "latent", "query_latent",
    "relative_hidden", "source_hidden", "source_key", "source_scores", "source_scores_dropout", "shared_mask", "shared_hidden",
    "shared_scores", "shared_source_scores", "one",
)  # `source` is the other side of an encoder-decoder, per own token; `shared` is one table for the whole batch
RELATIVE_POSITIONS = 512  # of DeBERTa, projected once for all tokens (He et al. 2021, arXiv 2006.03654)
CASES = ("sdpa", "sdpa-grouped", "sdpa-window", "sdpa-window-multiquery", "sdpa-window-equal", "eager")
FALLBACKS = {  # a case that a kind of block does not tell apart is read from the next
    "sdpa": ("eager",), "sdpa-grouped": ("sdpa", "eager"), "sdpa-window": ("sdpa", "eager"), "eager": (),
    "sdpa-window-multiquery": ("sdpa-window", "sdpa", "eager"), "sdpa-window-equal": ("sdpa-window", "sdpa", "eager"),
}
VECTORS = ("saved", "saved_alone", "frozen", "checkpoint", "selective_ops")
MOMENTS = ("backward", "recomputed", "forward")
HIDDEN = [SIZES.index(name) for name in ("hidden", "mask", "hidden_dropout", "source_hidden", "shared_mask", "shared_hidden", "one")]
DIVIDED = [place for place in range(len(SIZES)) if place not in HIDDEN]
ATTENTION_CORE = [SIZES.index(name) for name in (
    "heads", "scores", "mask", "scores_dropout", "source_scores", "source_scores_dropout", "shared_mask", "shared_scores",
    "shared_source_scores")]


def vector(coefficients: Mapping[str, float]) -> np.ndarray:
    """A mapping of sizes to coefficients as a row in the order of SIZES."""
    return np.array([float(coefficients.get(name, 0)) for name in SIZES])


@kept("blocks", "compiled_sizes")
def block_coefficients(catalogs: Catalogs) -> dict[str, np.ndarray]:
    """Per name of a vector an array (form, size), of a moment (form, moment, size); NaN where the catalog has none.

    A form is a kind of block in a number format with an attention kernel: (kind · formats + format) · cases + case. `core`
    is what is saved without attention's own scores and statistics, `compiled` what a compiled block saves.
    """
    forms = len(catalogs.blocks) * len(FORMATS) * len(CASES)
    depth = max(len(form.get(name) or ()) for block in catalogs.blocks.values() for form in block["forms"] for name in MOMENTS)
    tables = {name: np.full((forms, len(SIZES)), np.nan) for name in (*VECTORS, "core")}
    tables |= {name: np.full((forms, depth, len(SIZES)), np.nan) for name in MOMENTS}
    for kind, block in enumerate(catalogs.blocks.values()):
        held = {(form["format"], form["attention"]): form for form in block["forms"]}
        for f, number_format in enumerate(FORMATS):
            for c, case in enumerate(CASES):
                number = (kind * len(FORMATS) + f) * len(CASES) + c
                form = next((held[number_format, name] for name in (case, *FALLBACKS[case]) if (number_format, name) in held), {})
                for name in VECTORS:
                    own = form.get(name, form.get("saved") if name == "saved_alone" else None)
                    if own is not None:
                        tables[name][number] = vector(own)
                for name in MOMENTS:
                    instead = form.get("backward") if name == "recomputed" else None
                    for m, moment in enumerate(form.get(name) or instead or ()):
                        tables[name][number, m] = vector(moment)
            first = (kind * len(FORMATS) + f) * len(CASES)
            plain = [first + (0 if case == "eager" else c) for c, case in enumerate(CASES)]
            tables["core"][first : first + len(CASES)] = tables["saved"][plain]
    tables["core"][:, ATTENTION_CORE] = 0
    compiled = vector(catalogs.compiled_sizes["compiled_bytes_each"].to_dict())
    return tables | {"compiled": np.broadcast_to(compiled, (forms, len(SIZES)))}


class LinearForms:
    """The linear forms of every stack and row: `forms(name)` is a vector times the sizes, in bytes per token on one GPU.

    With sequence parallelism all is divided but the gathered outputs of the two norms, and those too where the backward
    pass gathers them again (Korthikanti et al. 2022, arXiv 2205.05198, section 4.2.2); without it all that is `hidden`
    wide stays whole. Each form that occurs is summed over its own rows, size by size.
    """

    def __init__(self, coefficients: dict[str, np.ndarray], form: np.ndarray, present: np.ndarray, columns: dict[str, Any]):
        """`columns`: the sizes by name, `whole_most` and `tensor_parallel`, each of a shape that goes with (stacks, rows)."""
        self.coefficients, self.columns = coefficients, columns
        self.shape = np.broadcast_shapes(form.shape, present.shape, *(np.shape(values) for values in columns.values()))
        each = np.broadcast_to(form, self.shape).ravel()
        rows = np.flatnonzero(np.broadcast_to(present, self.shape).ravel())
        self.order = rows[np.argsort(each[rows], kind="stable")]
        self.forms, self.starts = np.unique(each[self.order], return_index=True)
        self.sorted: dict[str, np.ndarray] = {}

    def __call__(self, name: str, needed: Any = 1, divided: bool = True) -> np.ndarray:
        """Bytes per token of one vector, (stacks, rows): 0 for absent stacks, and everywhere where no row needs it."""
        return self._of(self.coefficients[name], needed, divided)

    def worst(self, name: str, needed: Any = 1) -> np.ndarray:
        """The largest of the moments of a block, in bytes per token."""
        moments = self.coefficients[name]
        return np.fmax.reduce([self._of(moments[:, m], needed, True) for m in range(moments.shape[1])])

    def _of(self, coefficients: np.ndarray, needed: Any, divided: bool) -> np.ndarray:
        out = np.zeros(self.shape)
        if not len(self.order) or not np.any(needed):
            return out
        total = np.empty(len(self.order))
        for form, start, end in zip(self.forms, self.starts, [*self.starts[1:], len(self.order)], strict=True):
            part = slice(start, end)
            own = coefficients[form]
            whole, split = self._sum(own, HIDDEN, part), self._sum(own, DIVIDED, part)
            if divided:
                kept_whole = np.minimum(whole, self._column("whole_most")[part])
                total[part] = (split + whole - kept_whole) / self._column("tensor_parallel")[part] + kept_whole
            else:
                total[part] = split + whole
        out.reshape(-1)[self.order] = total
        return out

    def _sum(self, coefficients: np.ndarray, places: list[int], part: slice) -> np.ndarray:
        """coefficient · size over some of the sizes, for the rows of one form."""
        total = np.zeros(part.stop - part.start)
        for place in places:
            if coefficients[place] != 0:
                total += coefficients[place] * self._column(SIZES[place])[part]
        return total

    def _column(self, name: str) -> np.ndarray:
        """A column in the order of the forms."""
        if name not in self.sorted:
            self.sorted[name] = np.broadcast_to(self.columns[name], self.shape).ravel()[self.order]
        return self.sorted[name]
