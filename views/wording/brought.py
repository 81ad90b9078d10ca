"""The sentences of the Bring page: what the files are, what became of each of their lines."""

from typing import Any

from calc.columns import GLOSSARY
from calc.files.brought import Brought
from calc.files.configs.fields import tools
from calc.files.configs.lines import STANDINGS, Line
from calc.say.numbers import counted, gib
from calc.say.setting import name_of
from calc.search.compare import in_words
from views.wording.rows import figures

EXAMPLE = "accelerate launch --num_processes 8 train.py --model_name_or_path Qwen/Qwen3-8B --max_length 4096 --bf16 True"
MESSAGE = "CUDA out of memory. Tried to allocate 424.00 MiB. GPU 0 has a total capacity of 21.96 GiB of which 163.12 MiB is free. ..."
FILES_HELP = "A config, its launcher (accelerate, DeepSpeed, a script), the model's config.json where the catalog lacks it, a log."
TAKE_HELP = (
    "The plan becomes this run. What its files leave open, such as the instance, is chosen by the answer; Undo brings today's plan back."
)
ORDER = ("unused", "read", "open", "assumed", "idle", "aside")
SHORT = {"read": "read", "unused": "no place here", "assumed": "the tool's default", "open": "left open", "idle": "no bearing"}
SHORT |= {"aside": "not looked into"}
SAID = {  # in the summary
    "read": "read",
    "unused": "with a say in memory or money and no place here",
    "assumed": "that the tool sets by default",
    "open": "left open",
    "idle": "without bearing on memory or money",
    "aside": "of a script that starts no tool that is read",
}
WIDTHS: dict[str, Any] = {
    "Field": "medium",
    "In the file": "medium",
    "What becomes of it": "small",
    "In the plan": "large",
    "File": "small",
}


def heading(run: Brought | None) -> str:
    """TRL: training Llama 3.1 8B takes 23.1 GiB per GPU."""
    if run is None:
        return "Bring what you have"
    row = run.row
    work = "serving" if row["work"] == "inference" else "training"
    memory = row["memory_bytes"]
    if memory != memory:
        return f"{name(run)} cannot be estimated yet"
    return f"{name(run)}: {work} {name_of('model', row['model'], run.catalogs)} takes {gib(figures(row)['memory_gib'])} per GPU"


def name(run: Brought) -> str:
    """TRL with accelerate config: the tools whose files were given."""
    return " with ".join(tools()[tool].name for tool in dict.fromkeys(run.source_tool.split("+")) if tool)


def goes_on(run: Brought) -> str:
    """What the plan will choose by itself."""
    names = {"instance": "the instance", "gpus": "how many GPUs", "batch": "the micro-batch"}
    left = [name for column, name in names.items() if column not in run.scenario]
    return f"Left open for the plan to choose: {', '.join(left)}." if left else ""


def summary(lines: list[Line]) -> str:
    """33 fields in the files: 11 read, 22 without bearing; 5 choices are defaults."""
    inside, beside = [[line.standing for line in lines if bool(line.file) is is_said] for is_said in (True, False)]
    sentence = ", ".join(f"{inside.count(each)} {SAID[each]}" for each in STANDINGS if each in inside)
    more = " and ".join(f"{beside.count(each)} {SAID[each]}" for each in STANDINGS if each in beside)
    return f"{counted(len(inside), 'field')} in the files: {sentence}." + (f" Beside them {more}." if more else "")


def line(each: Line, run: Brought) -> dict[str, str]:
    """One field as a row of the table."""
    settled = [_settled(column, value, run) for column, value in each.columns.items()]
    default = each.standing == "open" and not each.file
    cells = (
        each.field if each.file else "",
        each.said,
        SHORT[each.standing],
        ", ".join(settled),
        each.file or ("" if default else each.field),
    )
    return dict(zip(WIDTHS, cells, strict=True))


def _settled(column: str, value: str, run: Brought) -> str:
    """Precision: BF16 mixed; of a column that is left open what the estimate takes."""
    text = in_words(column, run.row, run.catalogs) or value
    return f"{GLOSSARY[column].label}: {text or 'as usual'}"
