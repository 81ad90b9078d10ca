"""Reads storages as linear forms: bytes per token as multiples of the block's sizes.

Each case is run with two sets of made-up widths. A storage is read as c x size when that holds,
with the same c, in both; widths are chosen so that no other reading does.
"""

from itertools import combinations

WIDEST_MULTIPLE = 64
WIDEST_IN_PAIR = 8


class Unread(ValueError):
    """A storage that no size explains."""


def multiple_of_parts(value, parts=1):
    """The value if it is a positive multiple of 1 / parts, else None."""
    near = round(value * parts) / parts
    near = int(near) if near == int(near) else near
    return near if 0 < near <= WIDEST_MULTIPLE and abs(value - near) < 1e-9 * max(1, near) else None


def multiple(first, second, one, other):
    """Return c if first = c * one and second = c * other, else None.

    Quarters are allowed, because rotary halves of heads make them.
    """
    times = multiple_of_parts(first / one, 4)
    return times if times is not None and multiple_of_parts(second / other, 4) == times else None


def read(first, second, sizes):
    """Coefficient by size of one storage; None if no size explains it.

    `first` and `second` are its bytes per token in two runs, and `sizes` the sizes of each.
    """
    names = [name for name, size in sizes[0].items() if size]
    for name in names:
        times = multiple(first, second, sizes[0][name], sizes[1][name])
        if times is not None:
            return {name: times}
    forms = []
    for one, other in combinations(names, 2):
        a, b, c, d = sizes[0][one], sizes[0][other], sizes[1][one], sizes[1][other]
        determinant = a * d - b * c
        if determinant:
            x = multiple_of_parts((first * d - second * b) / determinant)
            y = multiple_of_parts((a * second - c * first) / determinant)
            if x is not None and y is not None and max(x, y) <= WIDEST_IN_PAIR:
                forms.append({one: x, other: y})
    return min(forms, key=lambda form: sum(form.values())) if forms else None


def add(form, more):
    for name, times in more.items():
        form[name] = form.get(name, 0) + times
    return form


# How sizes of the simulation are written in sizes of the catalog. Tables of positions, outside the
# blocks, are not counted. The rotary part of a head is 64 wide, and the rest as wide as a value
# head, in every model with latent attention; a group's state is 128 wide in nearly every model with
# Mamba-2. Mamba's is 16, its step is made by way of 1 / 16 of the hidden width, and of 2,048 tokens
# one state and one decay are kept.
PUBLISHED = {
    "position": {},
    "index": {},
    "shared_heads": {},
    "pooled": {},
    "other_hidden": {},
    "padded_heads": {"heads": 1},
    "relative_heads": {"heads": 512},
    "keyless": {"value": 1},
    "patch_hidden": {"hidden": 1},
    "class_hidden": {},
    "patch_angles": {},
    "padded_hidden": {"hidden": 1},
    "stem_out": {"one": 512},
    "stem_sums": {},
    "stem_samples": {"one": 320},
    **{f"stem_{stride}": {"hidden": stride} for stride in (64, 32, 16, 8, 4, 2, 1)},
    **{f"stem_rows_{stride}": {"one": stride} for stride in (64, 32, 16, 8, 4, 2, 1)},
    "rotary": {"heads": 64},
    "rotary_head": {"one": 64},
    "rank": {"one": 64},
    "coefficients": {"one": 16},
    "latent_rank": {"latent": 1, "one": -64},
    "projected": {"state_values": 2, "state_group_keys": 2, "state_heads": 1},
    "convolved": {"state_values": 1, "state_group_keys": 2},
    "groups": {"state_group_keys": 1 / 128},
    "time_rank": {"hidden": 1 / 16},
    "state_columns": {"one": 16},
    "scan_states": {"state": 1 / 1024},
}


DROPPED = {name: f"{name}_dropout" for name in ("hidden", "scores", "source_scores")}


def published(form):
    """The form in the sizes that the catalog knows."""
    total = {}
    for name, times in form.items():
        add(
            total, {size: factor * times for size, factor in PUBLISHED.get(name, {name: 1}).items()}
        )
    return total


def with_dropout(form):
    """A form of the same bytes, which exist only if dropout is on."""
    return {DROPPED.get(name, name): times for name, times in form.items()}


class Reader:
    """Reads the storages of two runs of one case.

    `sizes` and `tokens` hold a value for each of the two runs.
    """

    def __init__(self, sizes, tokens, parameters):
        self.sizes, self.tokens = sizes, tokens
        self.weights = set(zip(*parameters, strict=True))
        self.fixed = {}

    def is_weight(self, first, second):
        """Return whether a storage is shaped like a weight, or at most 1 KiB.

        It is then the weight's gradient or its copy in another type.
        """
        if max(first, second) <= 1024:
            return True
        return any((first / width, second / width) in self.weights for width in (1, 2, 4))

    def form(self, first, second):
        """The form of one storage; {} if it does not grow with the tokens."""
        if first.operator != second.operator:
            raise Unread(f"the two runs differ: {first.operator} and {second.operator}")
        if self.is_weight(first.bytes, second.bytes):
            self.fixed[first.place] = first
            return {}
        reading = read(first.bytes / self.tokens[0], second.bytes / self.tokens[1], self.sizes)
        if reading is None:
            shapes = f"{first.shape} {first.dtype} and {second.shape}"
            raise Unread(f"{first.operator}: {first.bytes} and {second.bytes} bytes, {shapes}")
        return reading

    def total(self, firsts, seconds):
        """The form of all storages alive at one moment."""
        if len(firsts) != len(seconds):
            raise Unread(f"{len(firsts)} and {len(seconds)} storages")
        alive = {storage.place for storage in firsts}
        form = {}
        for first, second in zip(firsts, seconds, strict=True):
            one = published(self.form(first, second))
            if first.mask or first.stands_for in alive:
                one = with_dropout(one)
            add(form, one)
        return form
