"""Turns an answer of DescribeInstanceTypes into an entry of instances.yaml."""

import re

from calc.catalogs.schemas.gpus import Gpu
from calc.catalogs.schemas.kinds import required_fields

SXM = ("SXM", "Superchip")  # cards that NVLink joins; all others meet over PCIe


CARD_FACTS = ("source", "checked_on")  # that every entry has

# Without which nothing can be estimated.
CARD_FIGURES = (
    "memory_mib",
    "bandwidth_bytes_per_second",
    "bf16_flops_per_second",
)


def shape_of(answer, cards):
    """(entry, "") of a GPU instance; (None, reason) of an unknown card, (None, "") without GPU.

    `cards`: (name, MiB) in the EC2 API -> (id, form factor). A fraction of a card has Count 0.
    """
    gpus = answer.get("GpuInfo", {}).get("Gpus", [])
    if not gpus:
        return None, ""
    instance = answer["InstanceType"]
    mebibytes = gpus[0].get("MemoryInfo", {}).get("SizeInMiB", 0)
    gpu, form = cards.get((gpus[0].get("Name"), mebibytes), (None, ""))
    if gpu is None:
        return None, _unknown_card(instance, gpus[0], mebibytes)
    count = sum(kind.get("Count") or kind.get("LogicalGpuCount") or 1 for kind in gpus)
    has_nvlink = count > 1 and form.startswith(SXM)
    entry = {
        "family": instance.partition(".")[0],
        "gpu": gpu,
        "gpus": count,
        "gpu_fraction": float(gpus[0].get("GpuPartitionSize") or 1.0),
        "vcpus": answer["VCpuInfo"]["DefaultVCpus"],
        "memory_gib": plain(answer["MemoryInfo"]["SizeInMiB"] / 1024),
        "arm": "arm64" in answer.get("ProcessorInfo", {}).get("SupportedArchitectures", []),
        "interconnect": "single GPU" if count == 1 else "NVLink" if has_nvlink else "PCIe",
        "nvlink_domain_gpus": count if has_nvlink else 1,
        "network_bytes_per_second": _network(answer.get("NetworkInfo", {})),
        "efa_interfaces": answer.get("NetworkInfo", {})
        .get("EfaInfo", {})
        .get("MaximumEfaInterfaces", 0),
        "local_nvme_bytes": answer.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0) * 1e9
        or 0,
        "current": True,
    }
    return {name: value for name, value in entry.items() if value is not None}, ""


def _unknown_card(instance, card, mebibytes):
    """Say what to add to the catalog for a card that it does not hold."""
    name = f"{card.get('Manufacturer', '')} {card.get('Name')}"
    facts = [field for field in required_fields(Gpu) if field not in CARD_FACTS]
    entry = f"ec2_name {card.get('Name')}, ec2_memory_mib {mebibytes}"
    return (
        f"{instance} carries {name} with {mebibytes} MiB, which gpus.yaml does not hold: to use "
        f"it, add the card there ({entry}, and from its data sheet "
        f"{', '.join((*facts, *CARD_FIGURES))}) and run this again"
    )


def _network(info):
    """The sum of the baselines, or a label without 'up to'; None if there is neither. [B/s]"""
    baselines = [card.get("BaselineBandwidthInGbps") for card in info.get("NetworkCards", [])]
    if baselines and all(baselines):
        return sum(baselines) / 8 * 1e9
    label = re.fullmatch(r"(?:(\d+)x )?([\d.]+) Gigabit", info.get("NetworkPerformance", ""))
    return int(label[1] or 1) * float(label[2]) / 8 * 1e9 if label else None


def plain(number):
    """A whole number without its decimal point."""
    return int(number) if float(number).is_integer() else number
