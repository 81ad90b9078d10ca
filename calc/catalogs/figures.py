"""Figures of one row of a catalog by formula: of a model, a card, an instance, a price."""

from calc.units import GIB, PETA

BILLION = 1e9
WIDTH_BYTES = 2  # of a weight in 16 bits


def billions(parameters):
    """Parameters of a model. [billions]"""
    return parameters / BILLION


def active_billions(active_parameters):
    """Parameters that one token passes through. [billions]"""
    return active_parameters / BILLION


def weights_gib(parameters):
    """Weights of a model in 16 bits, on all GPUs together. [GiB]"""
    return parameters * WIDTH_BYTES / GIB


def bandwidth_gib(bandwidth_bytes_per_second):
    """Bandwidth of a card's own memory. [GiB per second]"""
    return bandwidth_bytes_per_second / GIB


def card_pflops(bf16_flops_per_second):
    """Dense 16-bit rate of a card. [PFLOP/s]"""
    return bf16_flops_per_second / PETA


def whole_gpus(gpus, gpu_fraction):
    """GPUs of an instance, a part of a card counted as that part. [GPUs]"""
    return gpus * gpu_fraction


def gpu_gib(gpus, gpu_memory_bytes):
    """Memory of all GPUs of an instance, as their driver reports it. [GiB]"""
    return gpus * gpu_memory_bytes / GIB


def host_gib(memory_bytes):
    """Memory of the host of an instance. [GiB]"""
    return memory_bytes / GIB


def bf16_pflops(whole_gpus, bf16_flops_per_second):
    """Dense 16-bit rate of all GPUs of an instance. [PFLOP/s]"""
    return whole_gpus * bf16_flops_per_second / PETA


def spot_discount_ratio(spot_usd_per_hour, on_demand_usd_per_hour):
    """The discount of Spot from On-Demand per hour, interruptions not counted. [share]"""
    return 1 - spot_usd_per_hour / on_demand_usd_per_hour


def usd_per_gpu_hour(usd_per_hour, whole_gpus):
    """Price of one GPU of an instance for an hour, on the market of the price. [USD]"""
    return usd_per_hour / whole_gpus


def gib_per_usd(gpu_gib, on_demand_usd_per_hour):
    """GPU memory for each dollar an hour on demand. [GiB]"""
    return gpu_gib / on_demand_usd_per_hour


def pflops_per_usd(bf16_pflops, on_demand_usd_per_hour):
    """Dense 16-bit rate for each dollar an hour on demand. [PFLOP/s]"""
    return bf16_pflops / on_demand_usd_per_hour
