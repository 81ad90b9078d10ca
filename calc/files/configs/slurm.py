"""The options of a Slurm script, and the variables that Slurm sets for its job."""

import re

from calc.files.configs.substitutions import GPUS_OF_NODE

SLURM = re.compile(r"^#SBATCH((?:[ \t]+[^\s#]\S*)+)", re.M)
SLURM_OPTION = re.compile(
    r"(?:^|[ \t])(?:--([\w-]+)|-([A-Za-z]))(?:[= \t]*([^\s-]\S*))?"
)  # --nodes=2, -N 2, -N2


def slurm_options(text: str) -> dict[str, str]:
    """The #SBATCH options of a script by name; a letter stands for itself."""
    return {
        (name or letter).replace("-", "_"): value or "true"
        for line in SLURM.findall(text)
        for name, letter, value in SLURM_OPTION.findall(line)
    }


def slurm_variables(options: dict[str, str]) -> dict[str, str]:
    """The variables that Slurm sets for a job: its nodes, and the GPUs of each."""
    nodes = options.get("nodes") or options.get("N")
    variables = dict.fromkeys(("SLURM_JOB_NUM_NODES", "SLURM_NNODES"), nodes) if nodes else {}
    gpus = (options.get("gpus_per_node") or options.get("gres") or "").rpartition(":")[2]
    return variables | ({GPUS_OF_NODE: gpus} if gpus.isdecimal() else {})
