"""Objectives by preference or reward that a config trains with."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

from calc.files.configs.commands import shell_commands
from calc.files.configs.fields import field_catalog
from calc.files.configs.flags import fields_of
from calc.files.configs.inside.programs import programs_of
from calc.files.configs.inside.trees import file_form, tree_of
from calc.files.configs.own_scripts import ANY_TRAINER
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.sections import fields_of_sections
from calc.files.configs.texts import flat, read_mapping
from calc.files.configs.tool_commands import LAUNCHERS, best_tool
from calc.files.configs.values import as_word
from calc.mappings import Json

OTHER_TRAINERS = ("open_instruct", "swift")  # whose scripts have names and flags of TRL's
RESULTS = ("hub_model_id", "output_dir", "run_name", "exp_name", "experiment_name")
BY_RESULT = ("dpo", "orpo", "kto", "simpo", "cpo", "grpo", "rloo")  # no names of anything else
METHODS = (
    *("training_method", "train_method", "method", "algorithm", "objective", "trainer_type"),
    *("training_type", "train_type", "task_type", "task", "training_stage", "stage", "algo"),
)
REFERENCE = re.compile(r"\bref(?:erence)?_model\s*=\s*\w+\.from_pretrained\(")
WORD = re.compile(r"[a-z]+")
VAGUE = ("max_prompt_length",)  # which trainers of several objectives have
SUPERVISED = ("sft", "pt", "normal")
RUNNERS = (*LAUNCHERS, "uv", "ray", "mpirun", "colossalai")
MODULES, SUBCOMMANDS = ("-m", "--module"), ("trl", "swift", "megatron")
SHELLS = ("run", "setup", "command", "args")  # fields that hold commands
OF_TORCHTUNE = ("torchtune.rlhf.", "torchtune.dev.grpo.", "torchtune.dev.rl.")
LOSS = re.compile(r"([A-Z]+?)(?:Simple|WithChunkedOutput)?Loss")
OFF = ("null", "false", "none", "", "0")
SOURCE = re.compile(r"\b([A-Z]\w*)(?:Trainer|Config)\(")
OF_TRL = re.compile(
    r"^[ \t]*from trl[\w.]* import [^\n]*?\b(?!SFT)([A-Z]\w*)Trainer\b", re.MULTILINE
)
COMMENT = re.compile(r"(?:^|\s)#(?!SBATCH).*$", re.MULTILINE)


def objective_of(text: str, file: str) -> str:
    """Return a config's or command's name for its objective by preference or reward; else empty."""
    return next(filter(None, _objectives(text, file)), "")


def _objectives(text: str, file: str) -> Iterator[str]:
    """Yield the objectives in a text: in its source code, its commands and its fields."""
    source = next(
        (
            name
            for name in SOURCE.findall(COMMENT.sub("", text))
            if name.lower() in field_catalog().objectives
        ),
        "",
    )
    yield source
    form = file_form(text, file)
    if form == "Python" and not source:
        yield from OF_TRL.findall(text)
        yield _of_reference(text)
    if source or form == "Python":
        return
    if form in ("command", "Makefile"):
        yield from _of_script(text, file)
        return
    fields = _fields_of(text, file, form)
    yield _of_fields(fields)
    yield _of_sections(fields)
    for name, value in fields.items():
        if name.rpartition(".")[2] in SHELLS:
            script = " ".join(map(str, value)) if isinstance(value, list) else str(value)
            yield from _of_script(script, file)
    for program in programs_of(tree_of(text, file)):
        yield from _of_script(program.script, file)
        yield _of_command(list(program.words), file) if program.words else ""


def _of_reference(text: str) -> str:
    """The objective of a script that loads a reference model: what its text speaks of most."""
    if not REFERENCE.search(text):
        return ""
    spoken = Counter(word for word in WORD.findall(text.lower()) if word in BY_RESULT)
    return spoken.most_common(1)[0][0] if spoken else "ref_model"


def _fields_of(text: str, file: str, form: str) -> Json:
    """The dotted fields of a config; none of several documents, or of another form."""
    if form not in ("YAML", "JSON", "TOML"):
        return {}
    try:
        return flat(read_mapping(text, file, form), file)
    except ConfigProblem:
        return {}


def _of_script(script: str, file: str) -> Iterator[str]:
    """Yield the objectives of a script's commands."""
    yield from (_of_command(words, file) for words in shell_commands(script, file)[0])


def _of_command(words: list[str], file: str) -> str:
    """The objective of a command: by its script, module, recipe or subcommand, or by its flags."""
    program = next(_programs(words), "").removesuffix(".py").rpartition("/")[2].rpartition(".")[2]
    try:
        flags, others = fields_of(words, file, {})
    except ConfigProblem:  # sed has -e twice; for a tool's command its reader says what is wrong
        flags, others = {}, []
    objective = _of_name(program) or _of_fields(
        flags | dict(word.lstrip("+~").split("=", 1) for word in others if "=" in word)
    )
    other = next((name for name in OTHER_TRAINERS if any(name in word for word in words)), "")
    return f"{objective} by {other}" if objective and other else objective


def _programs(words: list[str]) -> Iterator[str]:
    """The words that say what a command runs, launchers left out."""
    runs = words[0].endswith(".py") or any(word.rpartition("/")[2] in RUNNERS for word in words)
    for before, word in zip(["", *words], words, strict=False):
        is_recipe = word.endswith(("_single_device", "_distributed")) and "tune" in words
        if (
            is_recipe
            or before in SUBCOMMANDS
            or (runs and word not in LAUNCHERS and (before in MODULES or word.endswith(".py")))
        ):
            yield word


def _of_name(name: str) -> str:
    """The objective in the name of a script: DPO of train_dpo, none of one that prepares SFT."""
    words = re.split(r"[_\W]+", name.lower())
    if {"dpo", "online"} <= set(words):
        return "OnlineDPO"
    return (
        ""
        if "sft" in words
        else next((word.upper() for word in words if word in field_catalog().objectives), "")
    )


def _of_fields(fields: Json) -> str:
    """The objective that fields name, or a field that only preference or reward training has."""
    for name in ("rl", "train_impl", "stage", "loss_type"):  # axolotl, GPT-NeoX, LLaMA-Factory, TRL
        word = as_word(fields.get(name))
        if word in SUPERVISED or _of_name(word):
            return "" if word in SUPERVISED else _of_name(word)
    filled = [name for name, value in fields.items() if as_word(value) not in OFF]
    telling = (
        name
        for mark in field_catalog().telling
        for name in filled
        if name == mark or (mark[-1] == "." and name.startswith(mark))
    )
    recipes = (str(value) for value in fields.values() if str(value).startswith(OF_TORCHTUNE))
    told = next(telling, "") or next(map(_of_component, recipes), "")
    return _of_results(fields) or told if told in VAGUE else told


def _of_sections(fields: Json) -> str:
    """The objective of a config of one's own trainer: by its method, or by a section for it."""
    tool = best_tool(fields)
    is_own = tool is None or tool.id == ANY_TRAINER
    own = fields_of_sections(fields) if is_own else {}
    methods = [as_word(value) for name, value in (own or fields).items() if _is_method(name)]
    if not is_own or any(method in SUPERVISED for method in methods):
        return ""
    named = next(filter(None, map(_of_name, methods)), "") or (_of_fields(own) if own else "")
    sections = {section for name in fields for section in name.lower().split(".")[:-1]}
    of_sections = [word for word in BY_RESULT if own and word in sections]
    return named or (of_sections[0] if len(of_sections) == 1 and "sft" not in sections else "")


def _is_method(name: str) -> bool:
    """Return whether a field says the method of training: outside of sections, or in training's."""
    section, _, last = name.rpartition(".")
    return last in METHODS and (not section or "train" in section.rpartition(".")[2])


def _of_component(name: str) -> str:
    """The objective of a component of torchtune: DPO of torchtune.rlhf.loss.DPOLoss."""
    known = LOSS.fullmatch(name.rpartition(".")[2])
    return known[1] if known and known[1].lower() in field_catalog().objectives else name


def _of_results(fields: Json) -> str:
    """The objective in the name of what a run writes: ORPO of hub_model_id zephyr-orpo."""
    named = (_of_name(PurePath(str(fields[name])).name) for name in RESULTS if name in fields)
    return next((name for name in named if name.lower() in BY_RESULT), "")
