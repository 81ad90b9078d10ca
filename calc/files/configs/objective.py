"""The objective of a run by preference or reward, where its trainer is read."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from calc.files.configs.fields import Tool, field_catalog, tools
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.run_settings import RunSettings

CONFIG = re.compile(  # also the default of a variable, ${CONFIG:-configs/lora.yaml}
    r"(?:(?<=:-)|(?<![\w.${}/-]))[\w./][\w./-]*\.(?:ya?ml|toml)(?![\w.])"
)
DEFAULTS = re.compile(r"^defaults:[ \t]*\n((?:[ \t]*-[^\n]*\n)+)", re.M)  # of Hydra
OF_GROUP = re.compile(r"-[ \t]*(?:override[ \t]+)?/?([\w/]+):[ \t]*([\w.-]+)")
REMARK = re.compile(r"^[ \t]*#(?!SBATCH)[^\n]*$", re.M)
MOST_NAMED = 3


def missing_configs(texts: list[tuple[str, str]]) -> list[str]:
    """The configs that texts (text, file) name and that are not among them."""
    given = {PurePath(file).name for _, file in texts}
    plain = [REMARK.sub("", text) for text, _ in texts]
    groups = (group for text in plain for group in DEFAULTS.findall(text))
    of_hydra = [
        f"{group}/{name}.yaml"
        for listed in groups
        for group, name in OF_GROUP.findall(listed)
        if not group.startswith("hydra")
    ]
    of_hydra.sort(key=lambda name: not name.startswith("model"))
    named = [*of_hydra, *(name for text in plain for name in CONFIG.findall(text))]
    return [name for name in dict.fromkeys(named) if PurePath(name).name not in given]


def unread_trainer(
    name: str, file: str, missing: Sequence[str] = (), trainer: str = ""
) -> ConfigProblem:
    """The problem of a run whose trainer by preference or reward, or objective, is not read.

    `missing`: the configs that its command names. `trainer`: the tool, where its files are read.
    """
    if missing:
        return ConfigProblem(
            f"{file}: it trains by preference or reward ({name}), and its settings stand in files "
            f"that are not here. Add {' and '.join(missing[:MOST_NAMED])} beside it."
        )
    if trainer:
        *others, last = sorted(set(filter(None, field_catalog().objectives.values())))
        return ConfigProblem(
            f"{file}: it trains with {trainer} by preference or reward, or from a teacher "
            f"({name}), in a way that is not estimated here. Set objective by hand to the one "
            f"that is most like it: {', '.join(others)} or {last}."
        )
    *others, last = sorted({tool.trainer for tool in tools().values() if tool.trainer})
    return ConfigProblem(
        f"{file}: it trains by preference or reward, or from a teacher ({name}), and its "
        f"trainer's files are not read; give a config of "
        f"{', '.join(others)} or {last}, or set objective by hand."
    )


def settle_objective(
    settings: RunSettings, main: Tool, name: str, file: str, missing: Sequence[str] = ()
) -> None:
    """Settle the objective by the tool's own fields, else by what the file calls it.

    `missing`: the configs that the files name and that are not among them. Raises ConfigProblem
    where neither is one that a row expresses; rules settle the rest.
    """
    objective = (
        settings.values.get("objective")
        or field_catalog().objectives.get(name.lower())
        or field_catalog().telling.get(name, "")
    )
    if main.objectives and objective not in main.objectives:
        objective = ""
    if name and (not objective or not main.trainer or "objective" in settings.left):
        is_other = main.trainer and not objective and "objective" not in settings.left
        raise unread_trainer(name, file, missing, main.name if is_other else "")
    if objective and main.trainer:
        settings.values |= {"objective": objective, "trainer": main.trainer}
        settings.fields |= {
            "objective": settings.fields.get("objective", name),
            "trainer": main.name,
        }
        settings.explicit.add("trainer")
