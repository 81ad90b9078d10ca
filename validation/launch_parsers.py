"""Every launch kit of a folder through the parser of the tool that it is for: `python validation/launch_parsers.py FOLDER`.

It needs the tools of requirements/launch.txt and neither a GPU nor this project.
Exit 0: every file was accepted; 1: one was refused, or its tool is not installed.
"""

import argparse
import dataclasses
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

RUN_CLM = {"model_name_or_path", "train_file", "block_size", "dtype"}  # of the example's own ModelArguments and DataTrainingArguments


def training_json(path):
    """transformers: every argument is TrainingArguments' or run_clm.py's own; bf16 asks for a GPU unless use_cpu is set."""
    from transformers import HfArgumentParser, TrainingArguments

    fields = json.loads(path.read_text("utf-8"))
    arguments = {name: value for name, value in fields.items() if name not in RUN_CLM}
    arguments.pop("deepspeed", None)  # named beside it and read on its own
    arguments |= {"use_cpu": True, "output_dir": "/dev/null"}
    HfArgumentParser(TrainingArguments).parse_dict(arguments)


def training_yaml(path):
    """TRL: every argument is SFTConfig's, ModelConfig's or ScriptArguments'."""
    from trl import ModelConfig, SFTConfig

    fields = yaml.safe_load(path.read_text("utf-8"))
    fields.pop("dataset_name")
    fields.pop("deepspeed", None)  # named beside it and read on its own
    of_model = {field.name for field in dataclasses.fields(ModelConfig)}
    ModelConfig(**{name: value for name, value in fields.items() if name in of_model})
    SFTConfig(**{name: value for name, value in fields.items() if name not in of_model} | {"use_cpu": True})


def accelerate_yaml(path):
    """accelerate: the file as its launcher reads it, and the plugin with its fields, which the launcher does not check."""
    from accelerate import FullyShardedDataParallelPlugin
    from accelerate.commands.config.config_args import load_config_from_file

    load_config_from_file(str(path))
    fields = yaml.safe_load(path.read_text("utf-8")).get("fsdp_config")
    if fields:
        plugin = {name.removeprefix("fsdp_"): value for name, value in fields.items()}
        renamed = {"offload_params": "cpu_offload", "version": "fsdp_version"}
        FullyShardedDataParallelPlugin(**{renamed.get(name, name): value for name, value in plugin.items()})


def deepspeed_json(path):
    """DeepSpeed's own config class."""
    from deepspeed.runtime.config import DeepSpeedConfig

    DeepSpeedConfig(json.loads(path.read_text("utf-8")))


def axolotl_yaml(path):
    """axolotl's schema, which takes unknown fields silently: they are compared with its own and its Liger plugin's."""
    from axolotl.integrations.liger.args import LigerArgs
    from axolotl.utils.schemas.config import AxolotlInputConfig

    fields = yaml.safe_load(path.read_text("utf-8"))
    AxolotlInputConfig(**fields)
    names = AxolotlInputConfig.model_fields.keys() | (LigerArgs.model_fields.keys() if "plugins" in fields else set())
    if unknown := fields.keys() - names:
        raise ValueError(f"unknown fields {sorted(unknown)}")


def torchtune_yaml(path):
    """torchtune's OmegaConf; its `validate` wants tokenizer and data set, which are the user's."""
    from omegaconf import OmegaConf

    OmegaConf.to_container(OmegaConf.load(path), resolve=True)


def vllm_yaml(path):
    """vLLM's parser, with the file as `--config` gives it."""
    os.environ["VLLM_TARGET_DEVICE"] = "cpu"
    from vllm.entrypoints.common.cli_args import make_arg_parser
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    fields = yaml.safe_load(path.read_text("utf-8"))
    words = [word for name, value in fields.items() for word in (f"--{name.replace('_', '-')}", *([str(value)] * (value is not True)))]
    make_arg_parser(FlexibleArgumentParser()).parse_args(["--model", "x", *words])


def sglang_command(path):
    """SGLang's parser, with the flags of its command."""
    command = next(line for line in path.read_text("utf-8").replace("\\\n", " ").splitlines() if "sglang.launch_server" in line)
    from sglang.srt.server_args import ServerArgs

    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    words = shlex.split(command)
    parser.parse_args(words[words.index("sglang.launch_server") + 1 :])


def aws_script(path):
    """aws.sh as it stands, with an `aws` before the real one that asks it for a skeleton: parameters are checked, nothing is sent."""
    real = Path(sys.executable).parent / "aws"
    stand_in = f'''#!/bin/bash
[ "$1 $2" = "ssm get-parameter" ] && set -- "$@" --generate-cli-skeleton output && "{real}" "$@" >/dev/null && echo ami-0 && exit
exec "{real}" "$@" --generate-cli-skeleton output
'''
    with tempfile.TemporaryDirectory() as folder:
        aws = Path(folder) / "aws"
        aws.write_text(stand_in)
        aws.chmod(0o755)
        place = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": folder}
        keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "none")
        done = subprocess.run(["bash", str(path)], env=place | keys, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip())


def shell_script(path):
    """bash's parser."""
    done = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    if "sglang.launch_server" in path.read_text("utf-8"):
        sglang_command(path)


PARSERS = {
    "launch.sh": shell_script,
    "spot_watch.sh": shell_script,
    "aws.sh": aws_script,
    "training.json": training_json,
    "training.yaml": training_yaml,
    "accelerate.yaml": accelerate_yaml,
    "deepspeed.json": deepspeed_json,
    "axolotl.yaml": axolotl_yaml,
    "torchtune.yaml": torchtune_yaml,
    "vllm.yaml": vllm_yaml,
}


def main(folder: str) -> int:
    """A line for each file that a parser is for; the same file in several kits is asked about once."""
    refused, seen = 0, set()
    for path in sorted(Path(folder).glob("*/*")):
        content = (path.name, path.read_bytes())
        if path.name not in PARSERS or content in seen:
            continue
        seen.add(content)
        try:
            PARSERS[path.name](path)
            verdict = "accepted"
        except ImportError as error:
            refused, verdict = refused + 1, f"NOT CHECKED: {error.name or error} is not installed"
        except (Exception, SystemExit) as error:  # parsers refuse in exceptions of their own
            refused, verdict = refused + 1, f"REFUSED: {type(error).__name__} {error}"
        print(f"{path.parent.name}/{path.name}: {verdict[:300]}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
