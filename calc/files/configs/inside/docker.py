"""Containers as mappings: a Dockerfile, and the words of a docker run command."""

import json
import re
import shlex

from calc.mappings import Json

RUNNERS = ("docker", "podman", "nerdctl")
LONGEST_IMAGE = 300  # characters
LONGEST_VALUE = 5_000  # characters
SWITCHES = (
    *("-d", "-i", "-t", "-it", "-ti", "-dit", "-itd", "-P", "--rm", "--detach", "--interactive"),
    *("--tty", "--privileged", "--init", "--read-only", "--no-healthcheck", "--publish-all"),
)  # options of docker run without a value
RELEASED_IMAGE = re.compile(
    r"(?:^|(?<!lmcache)/)vllm(?:-openai)?:v?([01]\.\d{1,3}(?:\.\d{1,3}){0,2})(?!\d)"
)  # not that of a container of NVIDIA's, 25.10
DEFAULT = re.compile(r"\$\{\w{1,60}:?-([^}]{0,200})\}")  # ${TAG:-v0.10.2}
VARIABLE = re.compile(r"\$(?:\{(\w{1,60})\}|(\w{1,60}))")
INSTRUCTION = re.compile(r"^[ \t]*+(FROM|ENV|ARG|CMD|ENTRYPOINT|RUN)[ \t]++(\S[^\n]*)", re.I | re.M)


def run_of_docker(words: list[str]) -> Json | None:
    """A docker run command as the mapping of a compose service; None of any other command."""
    names = [word.rpartition("/")[2] for word in words]
    runner = next((place for place, name in enumerate(names) if name in RUNNERS), -1)
    if runner < 0 or "run" not in words[runner + 1 :]:
        return None
    place = words.index("run", runner) + 1
    environment: dict[str, str] = {}
    service: Json = {"environment": environment}
    while place < len(words) and words[place].startswith("-"):
        option, equals, value = words[place].partition("=")
        place += 1
        if not equals and option not in SWITCHES and place < len(words):
            value, place = words[place], place + 1
        if option in ("-e", "--env"):
            name, _, setting = value.partition("=")
            environment[name] = setting
        elif option in ("--gpus", "--entrypoint", "-v", "--volume"):
            service.setdefault(option.lstrip("-"), value)
    if place >= len(words):
        return None
    return service | {"image": words[place], "command": words[place + 1 :]}


def release_of(image: str) -> str:
    """The release in the tag of an image of vLLM; empty without one."""
    release = RELEASED_IMAGE.search(DEFAULT.sub(r"\1", image[:LONGEST_IMAGE]))
    return release[1] if release else ""


def gpus_of_docker(value: str) -> int | None:
    """GPUs that --gpus requests, as in 2 or device=0,1; None for all."""
    plain = value.strip("'\"")
    if re.fullmatch(r"[0-9]{1,5}", plain):
        return int(plain)
    devices = re.search(r"devices?=([\w,:-]+)", plain)
    count = re.search(r"count=(\d{1,3})", plain)
    if count:
        return int(count[1])
    return len([name for name in devices[1].split(",") if name]) if devices else None


def dockerfile_tree(text: str) -> Json:
    """A Dockerfile as the mapping of a compose service."""
    text = re.sub(r"\\[ \t]*\n", " ", text)
    service: Json = {"environment": {}}
    for instruction, rest in INSTRUCTION.findall(text):
        name, rest = instruction.upper(), rest.strip()
        if name == "FROM":
            service["image"] = _with_values(rest, service["environment"]).split()[0]
        elif name in ("ENV", "ARG"):
            known = service["environment"]
            said = {name: _with_values(value, known) for name, value in _variables(rest).items()}
            service["environment"] = known | said
        elif name in ("CMD", "ENTRYPOINT"):
            service["command" if name == "CMD" else "entrypoint"] = _words(rest)
    return service


def _with_values(text: str, known: dict[str, str]) -> str:
    """A text with the values of the variables that stand above it."""
    filled = VARIABLE.sub(lambda use: known.get(use[1] or use[2], use[0]), text)
    return filled if len(filled) <= LONGEST_VALUE else text


def _variables(rest: str) -> dict[str, str]:
    """The variables of ENV A=1 B=2, or of ENV A 1."""
    if "=" not in rest.split()[0]:
        name, _, value = rest.partition(" ")
        return {name: value.strip()}
    try:
        pairs = shlex.split(rest)
    except ValueError:
        pairs = rest.split()
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def _words(rest: str) -> list[str] | str:
    """The words of an exec form, or the text of a shell form."""
    try:
        words = json.loads(rest)
    except ValueError:
        return rest
    return [str(word) for word in words] if isinstance(words, list) else rest
