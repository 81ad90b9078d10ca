"""The bill of all replicas of a service whose figures are of one."""

import numpy as np

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.say.numbers import about, is_missing, usd


def replicas_sentence(row: Row, replicas: int, catalogs: Catalogs) -> str:
    """Return the instances and the bill of all replicas of a row, which share instances.

    Empty for one replica, and if the row names no instance with a price.
    """
    if replicas < 2 or not row["instance"] or is_missing(row["usd_per_hour"]):
        return ""
    instance_gpus = float(catalogs.instances["gpus"][row["instance"]])
    instances = np.ceil(row["gpus"] * replicas / instance_gpus)
    times = instances / row["instances_needed"]
    total = "" if is_missing(row["usd"]) else f"about {about(row['usd'] * times)} a month, "
    return (
        f"all {replicas} take {instances:.0f} × {row['instance']}: {total}"
        f"{usd(row['usd_per_hour'] * times)} an hour"
    )
