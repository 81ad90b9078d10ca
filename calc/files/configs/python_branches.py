"""The branches of a script's if statements in which its calls stand."""

import ast
from collections.abc import Iterator
from typing import NamedTuple


class Guard(NamedTuple):
    """A branch of an if statement.

    `chain`: a number of the statement; `branch`: of the branch in it; `tests`: of the branches
    before it and its own; `is_else`: it has no test of its own.
    """

    chain: int
    branch: int
    tests: tuple[ast.expr, ...]
    is_else: bool = False


Guarded = tuple[ast.AST, tuple[Guard, ...]]


def functions_around(tree: ast.AST) -> dict[ast.Call, ast.FunctionDef]:
    """Every call inside a function of a script, with the innermost one."""
    found: dict[ast.Call, ast.FunctionDef] = {}
    left: list[tuple[ast.AST, ast.FunctionDef | None]] = [(tree, None)]
    while left:
        node, function = left.pop()
        if isinstance(node, ast.Call) and function:
            found[node] = function
        function = node if isinstance(node, ast.FunctionDef) else function
        left += [(child, function) for child in ast.iter_child_nodes(node)]
    return found


def guards_of(tree: ast.AST) -> dict[ast.Call, tuple[Guard, ...]]:
    """Every call of a script with the branches that it stands in, the outermost first."""
    found: dict[ast.Call, tuple[Guard, ...]] = {}
    left: list[Guarded] = [(tree, ())]
    while left:
        node, guards = left.pop()
        if isinstance(node, ast.Call):
            found[node] = guards
        if isinstance(node, ast.If):
            left += _branches(node, guards)
        elif isinstance(node, ast.IfExp):
            inner = (Guard(id(node), place, (node.test,), place == 2) for place in (1, 2))
            parts = zip((node.body, node.orelse), inner, strict=True)
            left += [(node.test, guards), *((part, (*guards, guard)) for part, guard in parts)]
        elif isinstance(node, ast.FunctionDef):
            left += [(child, guards) for child in (node.args, *node.decorator_list)]
            left += _statements(node.body, guards)
        else:
            left += [(child, guards) for child in ast.iter_child_nodes(node)]
    return found


def _branches(node: ast.If, guards: tuple[Guard, ...]) -> list[Guarded]:
    """The tests and the statements of an if statement, with those of its elif."""
    chain = node.lineno
    tests: tuple[ast.expr, ...] = (node.test,)
    parts: list[Guarded] = [(node.test, guards)]
    while True:
        inner = (*guards, Guard(chain, len(tests), tests))
        parts += [(statement, inner) for statement in node.body]
        if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
            break
        node = node.orelse[0]
        tests = (*tests, node.test)
        parts.append((node.test, guards))
    last = (*guards, Guard(chain, len(tests) + 1, tests, is_else=True))
    return parts + [(statement, last) for statement in node.orelse]


def _statements(body: list[ast.stmt], guards: tuple[Guard, ...]) -> Iterator[Guarded]:
    """Yield the statements of a function; those behind `if a: return b` stand in its else."""
    for statement in body:
        yield statement, guards
        if isinstance(statement, ast.If) and (tests := _tests_that_leave(statement)):
            guards = (*guards, Guard(statement.lineno, len(tests) + 1, tests, is_else=True))


def _tests_that_leave(node: ast.If) -> tuple[ast.expr, ...]:
    """The tests of an if statement without an else whose every branch returns a value."""
    tests: tuple[ast.expr, ...] = ()
    while True:
        last = node.body[-1]
        if not isinstance(last, ast.Return) or last.value is None:
            return ()
        tests = (*tests, node.test)
        if not node.orelse:
            return tests
        if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
            return ()
        node = node.orelse[0]
