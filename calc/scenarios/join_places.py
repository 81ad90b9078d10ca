"""Where a job stands: the columns of its card, its instance and their prices. Missing ones are NaN."""

import numpy as np
import pandas as pd

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios.lookups import columns_of, find, nearest, numbers_of, words_of
from calc.scenarios.private_prices import join_private_prices
from calc.scenarios.problems import Problems, quoted
from calc.table import Words, where, word

GPU_COLUMNS = (
    "bandwidth_bytes_per_second",
    "bf16_flops_per_second",
    "fp32_flops_per_second",
    "fp8_flops_per_second",
    "fp4_flops_per_second",
    "nvlink_bytes_per_second",
    "pcie_generation",
    "supports_bf16",
    "takes_small_engine_defaults",
)
INSTANCE_COLUMNS = ("gpus", "gpu_fraction", "vcpus", "memory_bytes", "nvlink_domain_gpus", "network_bytes_per_second", "efa_interfaces")
PRICE_COLUMNS = ("on_demand_usd_per_hour", "spot_usd_per_hour")
PRICE_WORDS = ("on_demand_as_of", "spot_as_of", "on_demand_basis", "spot_basis", "interruption_band")
CARD_COLUMNS = (
    *("matmul_ratio", "narrow_matmul_ratio", "attention_ratio", "prefill_attention_ratio"),
    *("node_gpus", "node_network_bytes_per_second"),
)
STEP_COLUMNS = (
    *("step_seconds", "block_seconds", "expert_block_seconds", "expert_cast_seconds", "sequence_seconds"),
    *("sequence_block_seconds", "all_reduce_seconds", "all_reduce_ratio", "tiles_experts", "sources"),
)
ASSUMED = "assumed"  # the basis of an entry that no published run was held against

HARDWARE = ("gpu_", "instance_", "card_")  # how the columns of a card and an instance begin


def join_places(table: Columns, catalogs: Catalogs, problems: Problems) -> None:
    """Card, instance and price of each row, NaN where none is named."""
    at = find(catalogs, "instances", table["instance"], problems, "instance")
    asked, own = table["asked_gpu"], Words(at, words_of(catalogs, "instances", "gpu"))
    own_gpu = where(at >= 0, own, asked)
    clash = ~asked.are("") & (at >= 0) & ~_same(asked, own)
    problems.add(
        clash,
        lambda row: (
            f"instance {table['instance'].at(row)} has the card {own_gpu.at(row)}, not {asked.at(row)}; leave gpu empty or name that one."
        ),
    )
    table["gpu"] = own_gpu
    card = find(catalogs, "gpus", own_gpu, problems, "gpu")
    table["gpu_row"], table["instance_row"] = card, at
    table |= columns_of(catalogs, "gpus", GPU_COLUMNS, card, "gpu_") | columns_of(catalogs, "instances", INSTANCE_COLUMNS, at, "instance_")
    share = numbers_of(catalogs, "instances", "gpu_memory_bytes")[at]
    table["gpu_memory_bytes"] = np.where(at >= 0, share, numbers_of(catalogs, "gpus", "memory_bytes")[card])
    table |= columns_of(catalogs, "utilization", CARD_COLUMNS, _card_row(catalogs)[card], "card_")
    of_class = _card_class(catalogs)[card]
    table |= columns_of(catalogs, "serving_steps", STEP_COLUMNS, of_class, "card_")
    table["card_is_of_older_release"] = np.nan_to_num(numbers_of(catalogs, "serving_steps", "of_older_release"))[of_class]
    table["card_is_assumed"] = (words_of(catalogs, "utilization", "basis") == ASSUMED).astype(float)[_card_row(catalogs)[card]]
    table["card_step_is_assumed"] = (words_of(catalogs, "serving_steps", "basis") == ASSUMED).astype(float)[of_class]
    price_of, regions = price_rows(catalogs)
    region, instance = table["region"], table["instance"]
    problems.add(
        ~region.are(regions.__contains__),
        lambda row: (
            f"region '{quoted(region.at(row))}' has no GPU prices in the catalog; choose one such as "
            f"{nearest(region.at(row), regions) or 'us-east-1'}."
        ),
    )
    price = _prices_of(price_of, instance, region)
    table |= columns_of(catalogs, "prices", PRICE_COLUMNS, price)
    table |= {name: Words(price, words_of(catalogs, "prices", name)) for name in PRICE_WORDS}
    private = join_private_prices(table["private_prices"], instance, catalogs, problems)
    table["private_usd_per_hour"] = np.where(price >= 0, private, np.nan)
    table["band_interruption_ratio"] = band_ratios(catalogs)[price]


def price_at(catalogs: Catalogs, instances: pd.Series, regions: pd.Series) -> np.ndarray:
    """The row of the price of each row's instance in its region, -1 where there is none."""
    words = [Words(codes, np.asarray(known, dtype=object)) for codes, known in map(pd.factorize, (instances, regions))]
    return _prices_of(price_rows(catalogs)[0], *words)


def _prices_of(price_of: dict[tuple[str, str], int], instance: Words, region: Words) -> np.ndarray:
    pairs, found = pd.factorize(np.atleast_1d(instance.codes * len(region.known) + region.codes))
    named = [(instance.known[pair // len(region.known)], region.known[pair % len(region.known)]) for pair in found]
    return np.array([price_of.get(pair, -1) for pair in named], dtype=np.int64)[pairs]


@kept("instances", "gpus", "utilization", "serving_steps", "prices", "interruption_bands")
def hardware(catalogs: Catalogs) -> Columns:
    """What formulas read of the card and the instance of every instance type, in the order of the catalog."""
    names = catalogs.instances.index.to_numpy(dtype=object)
    table: Columns = {
        "instance": Words(np.arange(len(names)), names),
        "asked_gpu": word(""),
        "private_prices": word(""),
        "region": word(catalogs.regions.index[0]),
    }
    join_places(table, catalogs, Problems(len(names)))
    return {name: values for name, values in table.items() if name.startswith(HARDWARE)}


def _same(first: Words, second: Words) -> np.ndarray:
    """Whether two columns have the same word in each row."""
    numbers = {word: number for number, word in enumerate({*first.known, *second.known})}
    one, other = (np.array([numbers[word] for word in words.known])[words.codes] for words in (first, second))
    return one == other


@kept("gpus", "utilization")
def _card_row(catalogs: Catalogs) -> np.ndarray:
    """For each card its row of utilization, and -1 for no card."""
    return np.append(catalogs.utilization.index.get_indexer(catalogs.gpus.index), -1)


@kept("gpus", "utilization", "serving_steps")
def _card_class(catalogs: Catalogs) -> np.ndarray:
    """For each card its class's row of serving_steps, and -1 for no card or one that no class is known of."""
    return np.append(catalogs.serving_steps.index.get_indexer(catalogs.utilization["card_class"].reindex(catalogs.gpus.index)), -1)


@kept("prices", "interruption_bands")
def band_ratios(catalogs: Catalogs) -> np.ndarray:
    """For each price the middle of its interruption band, NaN where no band is known."""
    at = catalogs.interruption_bands.index.get_indexer(words_of(catalogs, "prices", "interruption_band"))
    return numbers_of(catalogs, "interruption_bands", "band_interruption_ratio")[at]


@kept("prices")
def price_rows(catalogs: Catalogs) -> tuple[dict[tuple[str, str], int], frozenset[str]]:
    """The row of the price of each instance in each region, and all regions."""
    pairs = list(zip(catalogs.prices["instance"], catalogs.prices["region"], strict=True))
    return {pair: row for row, pair in enumerate(pairs)}, frozenset(region for _, region in pairs)
