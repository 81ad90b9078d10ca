"""Words for a file in which nothing is read."""

import re

from calc.files.configs.inside.fact import Fact
from calc.files.configs.inside.others import unread_engine
from calc.files.configs.own_scripts import does_other_work
from calc.files.configs.tool_commands import engine_of
from calc.mappings import Json

MOST_NAMED = 3
BY_FORM = {
    "Python": "a Python script",
    "notebook": "a notebook",
    "Dockerfile": "a Dockerfile",
    "Makefile": "a Makefile",
    "justfile": "a justfile",
    "unit": "a unit of a service",
    "page": "a page of text",
    "Modelfile": "a Modelfile of Ollama",
    "pbtxt": "a model config of Triton",
    "braces": "a program in Terraform, TypeScript or the like",
    "properties": "a list of variables",
}
BY_KEYS = {  # kinds of files by the keys of their first level
    ("services",): "a compose file",
    ("resources", "run"): "a SkyPilot task",
    ("cells", "nbformat"): "a notebook",
    ("stages",): "a pipeline of jobs",
    ("jobs", "on"): "a GitHub workflow",
    ("AWSTemplateFormatVersion",): "a CloudFormation template",
    ("Resources",): "a CloudFormation template",
    ("dependencies",): "a list of packages",
    ("architectures",): "the config of a model",
    ("image", "environment"): "a container",
}
NEXT = (
    "Give the part that starts the model: its command or arguments, with the model, or the "
    "trainer's own config."
)
INSTEAD = (
    "It starts {}, which has no estimate here. Ask for the model in words, with its format and its "
    "card, as in 'serve qwen3-8b in fp8 on l4': its weights and its cache take as much."
)
OF_AMAZON = (
    "It trains {}, whose size and weights Amazon does not publish, so that no memory is estimated. "
    "Name a model with open weights that shall do the same work."
)
CLOSED = re.compile(r"(?<![a-z])nova[-_](?:textgeneration[-_])?(?:micro|lite|pro|premier|sonic)")
ELSEWHERE = (
    "It asks for {}, which is not planned here. Name a GPU or an AWS instance that shall do the "
    "same work."
)
BEHIND_AN_API = (
    "It calls a model behind the API of {}, which runs on none of your GPUs and is paid by the "
    "token. Name a model with open weights that shall do the same work."
)
OTHER_WORK = "It runs {}, which by its name trains and serves nothing"
CONFIG_OF_SCRIPT = re.compile(  # the config that a script is given, or Hydra's
    r"--config(?:[-_](?:file|path))?[ =]['\"]?(?P<flag>[^\s'\"]+\.(?:ya?ml|json|toml))"
    r"|@hydra\.main\([^)]*?config_path=['\"](?P<folder>[^'\"]*)['\"][^)]*?"
    r"config_name=['\"](?P<hydra>[^'\"]+)['\"]"
)
ELSEWHERE_SET = "The settings of its run stand in {}, which is not here. Add that file with +."
SCRIPT = re.compile(r"(?<![\w./:-])[\w.][\w./-]{0,200}\.py(?!\w)")
API = re.compile(
    r"\b(?P<bedrock>bedrock(?:-runtime|_runtime)?)\b"
    r"|(?P<anthropic>anthropic\.Anthropic\(|from anthropic import)"
    r"|(?P<openai>api\.openai\.com|openai\.azure\.com)"
)
API_NAMES = {"bedrock": "Amazon Bedrock", "anthropic": "Anthropic", "openai": "OpenAI"}
MOST_WORDS = 2_000  # that may name an engine
FOREIGN = re.compile(
    r"\btpu-v\d\w*(?:-\d+)?|google\.com/tpu|cloud-tpu[\w.-]*|aws\.amazon\.com/neuron\w*|habana\.ai/gaudi|"
    r"\bvllm(?:-openai)?-cpu\b|"
    r"\b(?:ml\.)?(?:trn\d\w*|inf\d|dl1|dl2q)\.\d*x?large\b|gpu\.intel\.com/\w+|huawei\.com/Ascend\w*",
    re.IGNORECASE,
)
COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.M)


def unread_kind(tree: Json, form: str, text: str, facts: list[Fact]) -> str:
    """Return what a file is, what was seen in it, and what to give instead."""
    named = f"this is {_kind_by_name(tree, form, text)}"
    if lacks_gpu(text, facts):
        machine = foreign_machine(text)
        return f"{named}. {ELSEWHERE.format(machine)}"
    if engine := "Ollama" if form == "Modelfile" else started_engine(text):
        return f"{named}. {INSTEAD.format(engine)}"
    if CLOSED.search(text):
        return f"{named}. {OF_AMAZON.format('Amazon Nova')}"
    if called := API.search(text):
        return f"{named}. {BEHIND_AN_API.format(API_NAMES[called.lastgroup or 'openai'])}"
    if not tree and form != "page":
        return f"this is a file without fields. {NEXT}"
    if other := other_script(text):
        return f"{named}. {other}"
    if config := CONFIG_OF_SCRIPT.search(text):
        name = f"{config['hydra']}".removesuffix(".yaml") + ".yaml"
        path = config["flag"] or "/".join(filter(None, (config["folder"], name)))
        return f"{named}. {ELSEWHERE_SET.format(path)}"
    return f"{named}{_found_words(facts)}. {NEXT}"


def other_script(text: str) -> str:
    """A sentence on a script that a text runs and that by its name trains and serves nothing."""
    scripts = (script for script in SCRIPT.findall(text) if does_other_work(script))
    other = next(scripts, "")
    return f"{OTHER_WORK.format(other)}. {NEXT}" if other else ""


def started_engine(text: str) -> str:
    """The engine without an estimate that a text starts; empty where it names none."""
    words = COMMENT.sub("", text).replace('"', " ").replace("'", " ").split()[:MOST_WORDS]
    return next(filter(None, map(unread_engine, words)), "")


def foreign_machine(text: str) -> str:
    """Return the accelerator of another kind that a text requests; empty without one."""
    found = FOREIGN.search(COMMENT.sub("", text))
    return found[0] if found else ""


def lacks_gpu(text: str, facts: list[Fact]) -> bool:
    """Return whether a file requests only accelerators of another kind."""
    named = [fact.value for fact in facts if fact.kind in ("card", "instance")]
    return bool(foreign_machine(text)) and all(foreign_machine(str(name)) for name in named)


def _kind_by_name(tree: Json, form: str, text: str) -> str:
    """Name the kind of a file that starts no run: by its manifests, its keys, or its form."""
    manifests = [
        str(part["kind"])
        for part in (tree, *tree.values())
        if isinstance(part, dict) and "apiVersion" in part and part.get("kind")
    ]
    if manifests:
        several = ", ".join(dict.fromkeys(manifests[:MOST_NAMED]))
        return f"a Kubernetes {several}"
    for keys, words in BY_KEYS.items():
        if all(key in tree for key in keys):
            return words
    if form in BY_FORM:
        return BY_FORM[form]
    if set(tree) == {"run"}:
        first = next((line.strip() for line in text.splitlines() if line.strip()), "")
        return f'a script (it begins "{first[:60]}")'
    if list(tree) == ["values"]:
        return "a list of values"
    return f"a file with the fields {', '.join(list(tree)[:MOST_NAMED])[:80]}"


def _found_words(facts: list[Fact]) -> str:
    """Return what was found in the file, though it does not suffice."""
    models = [fact.value for fact in facts if fact.kind == "model"]
    images = [
        fact.value
        for fact in facts
        if fact.kind == "engine" and ("/" in fact.value or ":" in fact.value)
    ]
    engines = [name for name in images if engine_of(name)]
    machines = [
        str(fact.value if fact.kind == "instance" else fact.value[0][0])
        for fact in facts
        if fact.kind in ("instance", "card")
    ]
    parts = [
        f"names the model {models[0]}" if models else "",
        f"uses the image {engines[0][:80]}" if engines else "",
        f"runs '{images[0][:80]}'" if images and not engines else "",
        f"asks for {machines[0]}" if machines else "",
    ]
    findings = " and ".join(part for part in parts if part)
    what = "but no command of an engine or a trainer that is read was found in it"
    return f" that {findings}, {what}" if findings else f", {what}"
