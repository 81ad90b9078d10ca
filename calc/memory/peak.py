"""The moment of the peak: which moment is the largest. Bytes on one GPU.

Memory is a peak, not a sum: the estimate is the largest moment, and the breakdown is that moment's.
"""

import numpy as np


def peak_moment(moment_bytes):
    """The number of the largest moment, the first of equals."""
    largest, number = moment_bytes[0], np.zeros(1, dtype=np.int64)
    for place, total in enumerate(moment_bytes[1:], start=1):
        larger = total > largest
        largest, number = np.where(larger, total, largest), np.where(larger, place, number)
    return number


def allocated_peak_bytes(moment_bytes):
    """What torch.cuda.max_memory_allocated shows: the largest moment. [B]"""
    return np.maximum.reduce(np.broadcast_arrays(*moment_bytes))
