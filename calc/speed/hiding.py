"""Communication that goes on while the GPU computes.

By definition; the share that hides is calibrated: catalogs/edited/assumptions.yaml.
"""

import numpy as np


def exposed_seconds(seconds, compute_seconds, overlap_ratio):
    """Time of a communication that computation does not hide. [s]"""
    return np.maximum(seconds - overlap_ratio * compute_seconds, (1 - overlap_ratio) * seconds)
