"""Write a launcher's processes and the variables of a shell into a script that reads them."""

import ast
import re
from typing import Any

from calc.files.configs.python_values import COUNTS_GPUS, FROM_ENVIRONMENT, dotted_name
from calc.files.configs.tool_commands import launcher_readings

WORLD, OF_NODE = "WORLD_SIZE", "LOCAL_WORLD_SIZE"
OF_FIRST = {"RANK": "0", "LOCAL_RANK": "0"}  # of the first process
COUNTS_PROCESSES = re.compile(r"(?:^|\.)(?:get_world_size|world_size)$")  # a call of PyTorch's
PROCESSES = re.compile(r"(?:^|\.)(?:accelerator|acc|self\.accelerator|state)\.num_processes$")
VISIBLE = re.compile(r"CUDA_VISIBLE_DEVICES=['\"]?(\d{1,3}(?:,\s?\d{1,3}){0,15})['\"]?(?!\S)")
STARTS = re.compile(r"\.py\b|\s-m\s")


def visible_gpus(comments: str) -> int:
    """The GPUs that the only commands in comments leave visible; 0 where they do not say."""
    counts = {
        len(match[1].split(","))
        for line in comments.splitlines()
        if STARTS.search(line) and (match := VISIBLE.search(line))
    }
    return counts.pop() if len(counts) == 1 else 0


def processes_of(launcher: list[str], comments: str) -> dict[str, str]:
    """The variables for the processes of a run and of a node, as far as its launcher says them."""
    parts: dict[str, Any] = {}
    for reading in launcher_readings(launcher, ""):
        parts |= reading.parts | reading.fields
    per_node = str(parts.get("gpus_per_node") or parts.get("num_processes") or "")
    nodes = str(parts.get("nodes") or "1")
    if not per_node.isdigit() and (visible := visible_gpus(comments)):
        per_node = str(visible)
    if not per_node.isdigit() or not nodes.isdigit():
        return {}
    return {OF_NODE: per_node, WORLD: str(int(per_node) * int(nodes)), **OF_FIRST}


def with_environment(tree: ast.Module, environment: dict[str, str]) -> None:
    """Write the variables of a run, and the number of its processes, into a script."""
    if environment:
        _Environment(environment).visit(tree)


def with_variable_names(tree: ast.Module) -> None:
    """Write os.environ.get in the place of another name that a script gives it."""
    names = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and dotted_name(node.value) in FROM_ENVIRONMENT
    }
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        call.func = names.get(dotted_name(call.func), call.func)


class _Environment(ast.NodeTransformer):
    """Replace what reads a variable, or counts processes or GPUs, by its value."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = dotted_name(node.func)
        first = node.args[0] if node.args else None
        variable = first.value if isinstance(first, ast.Constant) else None
        if name in FROM_ENVIRONMENT and str(variable) in self.environment:
            return ast.Constant(self.environment[str(variable)])
        if COUNTS_PROCESSES.search(name) and WORLD in self.environment:
            return ast.Constant(int(self.environment[WORLD]))
        if name.endswith(COUNTS_GPUS) and OF_NODE in self.environment:
            return ast.Constant(int(self.environment[OF_NODE]))
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if PROCESSES.search(dotted_name(node)) and WORLD in self.environment:
            return ast.Constant(int(self.environment[WORLD]))
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if dotted_name(node.value) in ("os.environ", "environ") and str(key) in self.environment:
            return ast.Constant(self.environment[str(key)])
        return self.generic_visit(node)
