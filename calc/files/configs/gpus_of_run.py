"""The GPUs of a run: those of each node, or those that its layout takes."""

from math import prod
from typing import Any

from calc.files.configs.fields import Tool
from calc.files.configs.run_settings import TAKES_EVERY_GPU, RunSettings

EVERY_GPU_OPEN = "{}: it takes every GPU of its machine; write how many there are (gpus)."
NODES_OPEN = "{}: it runs on {} nodes; write how many GPUs they have together (gpus)."
LEAST_OPEN = (
    "{}: its degrees of parallelism need {} GPUs, and it spreads its batch over all that it gets; "
    "write how many there are (gpus)."
)
GROUPS = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel")


def _gpus_of_a_node(settings: RunSettings) -> tuple[Any, str]:
    """The GPUs of each node, if they are said, and the part of the settings that says so."""
    values = settings.values
    per_node, source = None, "gpus_per_node"
    if "nodes" not in settings.left:
        per_node = values.get("gpus_per_node")
        if not per_node:
            per_node, source = values.get("asked_gpus"), "asked_gpus"
    if not per_node and (per_task := int(values.get("gpus_per_task") or 0)):  # of Slurm
        return int(values.get("tasks_per_node") or 0) * per_task, "gpus_per_task"
    return per_node, source


def settle_gpus(settings: RunSettings, main: Tool) -> None:
    """All GPUs of the job: those of each node, or those that the layout of a service takes."""
    if "gpus" in settings.explicit:
        return
    per_node, source = _gpus_of_a_node(settings)
    if not per_node and source == "gpus_per_task" and "tasks" in settings.values:
        of_tasks = int(settings.values["tasks"]) * int(settings.values["gpus_per_task"])
        settings.derive("gpus", of_tasks, ("gpus_per_task", "tasks"))
        return
    if not per_node:
        _ask_gpus(settings, main)
    sizes = [settings.values.get(part) for part in main.product]
    if main.work == "inference" or (not per_node and settings.values.get("dp_shard") is not None):
        product = prod(int(size or 1) for size in sizes)
        if main.work == "training":  # experts may be spread over more than the product
            product = max(product, int(settings.values.get("expert_parallel", 1)))
        settings.derive(
            "gpus",
            product,
            [part for part in main.product if part in settings.explicit],
        )
    elif per_node:
        parts = (source, *(["nodes"] if "nodes" in settings.explicit else []))
        settings.derive("gpus", int(per_node) * int(settings.values.get("nodes", 1)), parts)
    elif {"nodes", "gpus_per_node"} & settings.left:
        settings.unused |= {
            settings.fields[part]: None
            for part in ("gpus_per_node", "nodes")
            if part in settings.fields
        }
    elif "nodes" in settings.explicit:
        settings.unused[settings.fields["nodes"]] = None
    elif (least := prod(int(settings.values.get(part, 1)) for part in GROUPS)) > 1:
        settings.derive("gpus", least, [part for part in GROUPS if part in settings.values])
        settings.defaulted.add("gpus")
        if main.work == "training" and settings.values.get("global_batch"):
            settings.complain(LEAST_OPEN.format(main.name, least), "gpus")
    if settings.values.get("dp_shard") is not None and "gpus" not in settings.values:
        settings.unused[settings.fields["dp_shard"]] = None


def _ask_gpus(settings: RunSettings, main: Tool) -> None:
    """Ask for the GPUs of a run that takes all of its machines, which no file counts."""
    if TAKES_EVERY_GPU in settings.explicit:
        field, file = settings.fields[TAKES_EVERY_GPU], settings.files[TAKES_EVERY_GPU]
        where = file if field == TAKES_EVERY_GPU else f"{file}, {field}"
        settings.complain(EVERY_GPU_OPEN.format(where), "gpus")
        return
    is_said = main.work == "inference" or settings.values.get("dp_shard") is not None
    if not is_said and "nodes" in settings.explicit and int(settings.values["nodes"]) > 1:
        file, nodes = settings.files["nodes"], settings.values["nodes"]
        settings.complain(NODES_OPEN.format(file, nodes), "gpus")
