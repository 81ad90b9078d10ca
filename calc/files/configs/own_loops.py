"""Micro-batches that a training loop of a script's own accumulates before each step."""

import ast
import re

STEPS = re.compile(r"(?:opt\w*|scaler|self\.opt\w*|engine)\.step\(")
BACKWARD = re.compile(r"\.backward\(")


def accumulation_of_loop(tree: ast.AST) -> ast.expr | None:
    """The expression of the micro-batches between two steps of the optimizer; None without one.

    Either a test such as (i + 1) % n == 0 stands around the step, or a loop over range(n) around
    the backward pass alone. Where nothing steps, no loop is known to be within a step.
    """
    if not STEPS.search(ast.unparse(tree)):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and (number := _divisor(node.test)) and _steps(node.body):
            return number
        if isinstance(node, ast.For) and (number := _of_range(node)) and not _steps(node.body):
            return number
    return None


def _divisor(test: ast.expr) -> ast.expr | None:
    """The n of a test such as (i + 1) % n == 0."""
    divisions = [
        node.right
        for node in ast.walk(test)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
    ]
    return divisions[0] if len(divisions) == 1 else None


def _of_range(loop: ast.For) -> ast.expr | None:
    """The n of a loop over range(n) in which a backward pass runs."""
    call = loop.iter
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "range" or len(call.args) != 1:
        return None
    runs = any(BACKWARD.search(ast.unparse(node)) for node in loop.body)
    return call.args[0] if runs else None


def _steps(statements: list[ast.stmt]) -> bool:
    """Return whether statements step an optimizer."""
    return any(STEPS.search(ast.unparse(node)) for node in statements)
