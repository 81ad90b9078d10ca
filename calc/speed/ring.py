"""How fast a group of GPUs passes data round, by where its members sit."""

import numpy as np


def ring_bytes_per_second(size, stride, island_gpus, link_bytes_per_second, network_share_bytes_per_second):
    """Rate at which a ring over `size` GPUs, `stride` apart, passes data on. [B/s]

    A ring that leaves the island crosses the network once per island, over the shares of all its members there.
    """
    members = np.clip(island_gpus / stride, 1, size)
    network = np.minimum(network_share_bytes_per_second * members, link_bytes_per_second)
    return np.where(size * stride <= island_gpus, link_bytes_per_second, np.where(members > 1, network, network_share_bytes_per_second))
