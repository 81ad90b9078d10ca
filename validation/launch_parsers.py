"""Starts every launch kit of a folder as far as a machine without a GPU can.

Each file goes through the parser of the pinned release of its tool, each command through its
launcher's, each script through bash and shellcheck; uv resolves what setup.sh installs, and aws
runs without sending. TABLE, a CSV, gets one line per kit. It needs the tools of
requirements/launch.txt and neither a GPU nor this project. Exit 0: all was accepted; 1: something
was refused or not checked.
"""

import argparse
import csv
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import yaml

BESIDE = Path(sys.executable).parent
# Of the example's own ModelArguments and DataTrainingArguments.
RUN_CLM = {
    "model_name_or_path",
    "train_file",
    "block_size",
    "dtype",
}
# The Deep Learning AMI's Ubuntu 22.04.
SETUP_PLACE = (
    "--python-version",
    "3.12",
    "--python-platform",
    "x86_64-manylinux_2_34",
)


def words_of(path, program):
    """The words that follow a program in the commands of a script."""
    # A variable with its default.
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", path.read_text("utf-8"))
    lines = text.replace("\\\n", " ").splitlines()
    line = next(line for line in lines if not line.startswith("#") and program in line.split())
    words = shlex.split(line.removesuffix("&"))
    return words[words.index(program) + 1 :]


def training_json(path):
    """Check a JSON of transformers: every argument is one of TrainingArguments or run_clm.py.

    bf16 needs a GPU unless use_cpu is set.
    """
    from transformers import HfArgumentParser, TrainingArguments

    fields = json.loads(path.read_text("utf-8"))
    arguments = {name: value for name, value in fields.items() if name not in RUN_CLM}
    arguments.pop("deepspeed", None)  # named beside it and read on its own
    arguments |= {"use_cpu": True, "output_dir": "/dev/null"}
    HfArgumentParser(TrainingArguments).parse_dict(arguments)


def training_yaml(path):
    """Check a YAML of TRL with the parser of its script for the objective."""
    import importlib

    from transformers import TrainingArguments
    from trl import ModelConfig, ScriptArguments, TrlParser

    objective = re.search(
        r"trl\.scripts\.(\w+)|(\w+)\.py --config", path.with_name("launch.sh").read_text("utf-8")
    )
    name = objective[1] or objective[2]
    if objective[1]:
        parser = importlib.import_module(f"trl.scripts.{name}").make_parser()
    else:
        parser = TrlParser(
            (
                ScriptArguments,
                getattr(
                    importlib.import_module(f"trl.experimental.{name}"), f"{name.upper()}Config"
                ),
                ModelConfig,
            )
        )
    fields = yaml.safe_load(path.read_text("utf-8"))
    fields.pop("deepspeed", None)  # named beside it and read on its own
    launcher = path.with_name("accelerate.yaml")
    processes = (
        yaml.safe_load(launcher.read_text("utf-8"))["num_processes"] if launcher.exists() else 1
    )
    # A generation's batch is divided by it.
    TrainingArguments.world_size = property(lambda _: processes)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "training.yaml"
        file.write_text(yaml.safe_dump(fields | {"use_cpu": True, "output_dir": folder}))
        parser.parse_args_and_config(["--config", str(file)], fail_with_unknown_args=True)


def accelerate_yaml(path):
    """Check a YAML of accelerate as its launcher reads it, and the plugin's fields.

    The launcher itself does not check the latter.
    """
    from accelerate import FullyShardedDataParallelPlugin
    from accelerate.commands.config.config_args import load_config_from_file

    load_config_from_file(str(path))
    fields = yaml.safe_load(path.read_text("utf-8")).get("fsdp_config")
    if fields:
        plugin = {name.removeprefix("fsdp_"): value for name, value in fields.items()}
        renamed = {"offload_params": "cpu_offload", "version": "fsdp_version"}
        FullyShardedDataParallelPlugin(
            **{renamed.get(name, name): value for name, value in plugin.items()}
        )


def deepspeed_json(path):
    """Check a JSON with DeepSpeed's own config class."""
    from deepspeed.runtime.config import DeepSpeedConfig

    DeepSpeedConfig(json.loads(path.read_text("utf-8")))


def axolotl_yaml(path):
    """Check a YAML with axolotl's schema.

    The schema silently accepts unknown fields, so they are compared with its own and its Liger
    plugin's.
    """
    from axolotl.integrations.liger.args import LigerArgs
    from axolotl.utils.schemas.config import AxolotlInputConfig

    fields = yaml.safe_load(path.read_text("utf-8"))
    AxolotlInputConfig(**fields)
    names = AxolotlInputConfig.model_fields.keys() | (
        LigerArgs.model_fields.keys() if "plugins" in fields else set()
    )
    if unknown := fields.keys() - names:
        raise ValueError(f"unknown fields {sorted(unknown)}")


def torchtitan_toml(path):
    """Check a TOML with torchtitan's own reader, which is strict about names."""
    from torchtitan.config.manager import ConfigManager

    ConfigManager().parse_args(["--job.config_file", str(path)])


def llamafactory_yaml(path):
    """Check a YAML with LLaMA-Factory's own argument classes.

    It needs an older transformers than the other tools, so its version check is switched off.
    """
    os.environ["DISABLE_VERSION_CHECK"] = "1"
    from llamafactory.hparams.parser import _TRAIN_ARGS, HfArgumentParser

    fields = yaml.safe_load(path.read_text("utf-8")) | {"use_cpu": True, "output_dir": "/dev/null"}
    HfArgumentParser(_TRAIN_ARGS).parse_dict(fields)


def sky_yaml(path):
    """Check a YAML with SkyPilot's own task."""
    import sky

    here = os.getcwd()
    os.chdir(path.parent)
    try:
        sky.Task.from_yaml("sky.yaml")
    finally:
        os.chdir(here)


def vllm_yaml(path):
    """Check a YAML with vLLM's parser, together with the flags of its command."""
    import vllm.platforms
    from vllm.platforms.cpu import CpuPlatform

    vllm.platforms._current_platform = CpuPlatform()
    from vllm.entrypoints.openai.cli_args import make_arg_parser
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    fields = yaml.safe_load(path.read_text("utf-8"))
    words = [
        word
        for name, value in fields.items()
        for word in (f"--{name.replace('_', '-')}", *([str(value)] * (value is not True)))
    ]
    make_arg_parser(FlexibleArgumentParser()).parse_args(
        ["--model", "x", *words, *words_of(path.with_name("launch.sh"), "serve")[3:]]
    )


def sglang(words):
    """Check a command with SGLang's parser."""
    from sglang.srt.server_args import ServerArgs

    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    parser.parse_args(words)


def launcher(words):
    """Check a command with accelerate's parser, or torchrun's if its flags begin with --nnodes."""
    from accelerate.commands.launch import launch_command_parser
    from torch.distributed.run import get_args_parser

    (get_args_parser() if words[0] == "--nnodes" else launch_command_parser()).parse_args(words)


def tune(words):
    """Check a torchtune recipe's config and overrides by its `validate`.

    It builds each call.
    """
    from omegaconf import OmegaConf
    from torchtune import config

    recipes = Path(importlib.util.find_spec("recipes").submodule_search_locations[0]) / "configs"
    name = next(word for word in words if word.startswith("--config=")).removeprefix("--config=")
    overrides = OmegaConf.from_dotlist(
        [word for word in words if "=" in word and not word.startswith("--")]
    )
    config.validate(OmegaConf.merge(OmegaConf.load(recipes / f"{name}.yaml"), overrides))


def verl(words):
    """Check overrides with hydra over verl's own config, which refuses unknown names."""
    from hydra import compose, initialize_config_dir

    configs = (
        Path(importlib.util.find_spec("verl").submodule_search_locations[0]) / "trainer" / "config"
    )
    with initialize_config_dir(str(configs), version_base=None):
        compose("ppo_trainer", overrides=words)


def vllm_serve(words):
    """Check the flags of TRL's own vLLM server."""
    from trl.scripts.vllm_serve import make_parser

    make_parser().parse_args_and_config(words, fail_with_unknown_args=True)


COMMANDS = {  # a word of a command -> the parser of what follows it
    "sglang.launch_server": sglang,
    "launch": launcher,
    "torchrun": launcher,
    "run": tune,
    "verl.trainer.main_ppo": verl,
    "vllm-serve": vllm_serve,
}


def launch_script(path):
    """Check the script, and its commands with the parsers of their launchers and tools."""
    shell_script(path)
    text = "\n".join(
        line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")
    )
    for program, parse in COMMANDS.items():
        if re.search(rf"(?<![\w.-]){re.escape(program)} ", text.replace("\\\n", " ")):
            parse(words_of(path, program))


@cache
def package_conflict(packages):
    """Return why uv finds no set of releases that install together; empty if it finds one."""
    command = [BESIDE / "uv", "pip", "compile", "--quiet", *SETUP_PLACE, "-"]
    done = subprocess.run(
        command, input="\n".join(packages), capture_output=True, text=True, check=False
    )
    return " ".join(done.stderr.splitlines()[:2]) if done.returncode else ""


def setup_script(path):
    """Check the script, and resolve its packages for the machine's Python."""
    shell_script(path)
    if why := package_conflict(tuple(words_of(path, "pip")[3:])):
        raise ValueError(why)


def aws_script(path):
    """Check aws.sh by running it with a stand-in for `aws`.

    The stand-in asks the real one for a skeleton, which checks the parameters and sends nothing.
    """
    real = BESIDE / "aws"
    stand_in = f'''#!/bin/bash
if [ "$1 $2" = "ssm get-parameter" ]; then
  "{real}" "$@" --generate-cli-skeleton output >/dev/null && echo ami-0 && exit
fi
exec "{real}" "$@" --generate-cli-skeleton output
'''
    with tempfile.TemporaryDirectory() as folder:
        aws = Path(folder) / "aws"
        aws.write_text(stand_in)
        aws.chmod(0o755)
        place = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": folder}
        keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "none")
        done = subprocess.run(
            ["bash", str(path)], env=place | keys, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise ValueError(done.stderr.strip())


def shell_script(path):
    """Check a script with bash's parser and with shellcheck."""
    for check in (["bash", "-n"], [BESIDE / "shellcheck", "--severity=warning"]):
        done = subprocess.run([*check, str(path)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError((done.stderr + done.stdout).strip())


PARSERS = {
    "setup.sh": setup_script,
    "launch.sh": launch_script,
    "spot_watch.sh": shell_script,
    "aws.sh": aws_script,
    "sky.yaml": sky_yaml,
    "training.json": training_json,
    "training.yaml": training_yaml,
    "accelerate.yaml": accelerate_yaml,
    "deepspeed.json": deepspeed_json,
    "axolotl.yaml": axolotl_yaml,
    "llamafactory.yaml": llamafactory_yaml,
    "torchtitan.toml": torchtitan_toml,
    "vllm.yaml": vllm_yaml,
}


def verdict_of(path):
    """Return accepted, or what the parser says against the file."""
    try:
        PARSERS[path.name](path)
    except ImportError as error:
        return f"NOT CHECKED: {error.name or error} is not installed"
    except (Exception, SystemExit) as error:  # parsers refuse in exceptions of their own
        return f"REFUSED: {type(error).__name__} {error}"
    return "accepted"


def main(folder: str, table: str = "") -> int:
    """A line for each file, and for each kit a line of the table."""
    lines = []
    for kit in sorted(Path(folder).iterdir()):
        verdicts = {
            path.name: " ".join(verdict_of(path).split())[:300]
            for path in sorted(kit.iterdir())
            if path.name in PARSERS
        }
        for name, verdict in verdicts.items():
            print(f"{kit.name}/{name}: {verdict}", flush=True)
        against = [
            f"{name}: {verdict}" for name, verdict in verdicts.items() if verdict != "accepted"
        ]
        accepted = [name for name, verdict in verdicts.items() if verdict == "accepted"]
        unread = sorted(
            path.name
            for path in kit.iterdir()
            if path.name.endswith((".yaml", ".json", ".toml")) and path.name not in PARSERS
        )
        lines.append(
            {
                "kit": kit.name,
                "accepted": " ".join(accepted),
                "no_parser": " ".join(unread),
                "against": "; ".join(against),
            }
        )
    if table:
        with Path(table).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
    return 1 if any(line["against"] for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
