"""Time from the request for machines to the first step or token, and the last save.

Source: catalogs/edited/starts.yaml.

usual_, low_ and high_ are the middle and the ends of each phase; the phases of a start follow each
other, and so do their ends. A card without an instance is not rented, and nothing of its start is
counted.
"""

import numpy as np

from calc.evaluate import variant
from calc.units import HOUR_SECONDS

PUBLISHED_BYTES_EACH = (
    2  # of a parameter in the file that a training reads, whatever it makes of it
)
LARGE_MACHINE_GPUS = 8  # on one NVLink
LOW, HIGH = {"usual": "low"}, {"usual": "high"}


def usual_launch_seconds(
    spans_instances,
    instance_nvlink_domain_gpus,
    usual_joined_machines_seconds,
    usual_large_machine_seconds,
    usual_machine_seconds,
):
    """Usual launch and boot, until all machines that work together have joined. [s]"""
    alone = np.where(
        instance_nvlink_domain_gpus >= LARGE_MACHINE_GPUS,
        usual_large_machine_seconds,
        usual_machine_seconds,
    )
    return np.where(spans_instances > 0, usual_joined_machines_seconds, alone)


def usual_training_seconds(
    trains, gpus, compiles, usual_process_group_seconds, usual_compile_training_seconds
):
    """Usual start of the training software: process group and compilation. [s]"""
    return trains * (
        (gpus > 1) * usual_process_group_seconds + compiles * usual_compile_training_seconds
    )


def usual_serving_seconds(
    is_engine,
    most_experts,
    replica_gpus,
    usual_engine_seconds,
    usual_engine_joined_seconds,
    usual_engine_experts_seconds,
    usual_engine_joined_experts_seconds,
):
    """Usual start of a serving engine. [s]"""
    dense = np.where(replica_gpus > 1, usual_engine_joined_seconds, usual_engine_seconds)
    experts = np.where(
        replica_gpus > 1, usual_engine_joined_experts_seconds, usual_engine_experts_seconds
    )
    return is_engine * np.where(most_experts > 0, experts, dense)


def usual_first_seconds(
    start_seconds,
    instance_gpus,
    trains,
    usual_launch_seconds,
    usual_image_seconds,
    usual_training_seconds,
    usual_serving_seconds,
):
    """Time from the request for machines to the first step or token. [s]

    As set, else the sum of the phases.
    """
    software = np.where(trains > 0, usual_training_seconds, usual_serving_seconds)
    phases = np.where(
        np.isnan(instance_gpus), 0.0, usual_launch_seconds + usual_image_seconds + software
    )
    return np.where(np.isnan(start_seconds), phases, start_seconds)


low_launch_seconds = variant(
    usual_launch_seconds,
    rename=LOW,
    doc="Shortest launch and boot, until all machines that work together have joined. [s]",
)
high_launch_seconds = variant(
    usual_launch_seconds,
    rename=HIGH,
    doc="Longest launch and boot, until all machines that work together have joined. [s]",
)
low_training_seconds = variant(
    usual_training_seconds,
    rename=LOW,
    doc="Shortest start of the training software: process group and compilation. [s]",
)
high_training_seconds = variant(
    usual_training_seconds,
    rename=HIGH,
    doc="Longest start of the training software: process group and compilation. [s]",
)
low_serving_seconds = variant(
    usual_serving_seconds,
    rename=LOW,
    doc="Shortest start of a serving engine. [s]",
)
high_serving_seconds = variant(
    usual_serving_seconds,
    rename=HIGH,
    doc="Longest start of a serving engine. [s]",
)
low_first_seconds = variant(
    usual_first_seconds,
    rename=LOW,
    doc="Shortest time from the request for machines to the first step or token. [s]",
)
high_first_seconds = variant(
    usual_first_seconds,
    rename=HIGH,
    doc="Longest time from the request for machines to the first step or token. [s]",
)


def weights_read_seconds(
    trains, parameters, matrix_bytes_each, checkpoint_bytes_per_second, usual_first_seconds
):
    """Time to read the published weights into every machine; 0 if no start counts. [s]"""
    read_bytes = parameters * np.where(trains > 0, PUBLISHED_BYTES_EACH, matrix_bytes_each)
    return np.where(usual_first_seconds > 0, read_bytes / checkpoint_bytes_per_second, 0.0)


def checkpoint_bytes(
    trained_parameters,
    adapts,
    adapter_bytes_each,
    matrix_bytes_each,
    master_bytes_each,
    matrix_states,
    state_width_bytes_each,
):
    """Trained weights, their master copy and the optimizer's state, over all GPUs. [B]"""
    weights_bytes_each = np.where(
        adapts > 0, adapter_bytes_each, matrix_bytes_each + master_bytes_each
    )
    return trained_parameters * (weights_bytes_each + matrix_states * state_width_bytes_each)


def checkpoint_seconds(checkpoint_bytes, checkpoint_bytes_per_second, instances_needed):
    """Time to write one checkpoint, δ; training waits while every instance writes. [s]"""
    return checkpoint_bytes / (checkpoint_bytes_per_second * instances_needed)


def last_save_seconds(trains, checkpoint_seconds, usual_first_seconds):
    """Time to write the last checkpoint of a run; 0 if no start is counted. [s]"""
    return np.where((trains > 0) & (usual_first_seconds > 0), checkpoint_seconds, 0.0)


def start_hours(ends, attempts, usual_first_seconds, weights_read_seconds, last_save_seconds):
    """Hours of all starts and last saves; for a service, until the first token. [h]"""
    starts = np.where(ends > 0, attempts, 1)
    return starts * (usual_first_seconds + weights_read_seconds + last_save_seconds) / HOUR_SECONDS


start_low_hours = variant(
    start_hours,
    rename=LOW | {"start_hours": "start_low_hours"},
    doc="Fast end of the hours that starts and last saves take. [h]",
)
start_high_hours = variant(
    start_hours,
    rename=HIGH | {"start_hours": "start_high_hours"},
    doc="Slow end of the hours that starts and last saves take. [h]",
)
