"""The names of a script with the expressions that give their values."""

import ast
import re
from collections.abc import Iterator

from calc.files.configs.python_flow import last_values, returned_values
from calc.files.configs.python_loads import LOADS, loaded_settings
from calc.files.configs.python_parameters import parameter_defaults, parameters_of_functions
from calc.files.configs.python_properties import properties_of
from calc.files.configs.python_values import dotted_name
from calc.mappings import Json

ADDS = "add_argument"
HOLDERS = (
    *("args", "opts", "opt", "options", "flags", "cli_args", "script_args", "parsed_args"),
    *("model_args", "data_args", "peft_args", "lora_args", "train_args", "training_args"),
    *("cfg", "config", "hparams", "self.args", "self.cfg", "self.config"),
)  # names of parsed arguments
SWITCHES = {"store_true": False, "store_false": True}  # actions with a default of their own
OBJECTS = ("", "self.", "self.hparams.", "hparams.")  # on which a method reads its parameters
SETTINGS = re.compile(r"(?:Config|Args|Arguments|Settings|Params|Options)\d*$|^(?:CFG|Hyper)")
CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
LOOP_CONFIG = "train_loop_config"  # of a trainer of Ray
MAPPED = re.compile(
    r"(?i)c|cfg|conf|config|configs|configuration|args|params|hparams|hp|hps|opts?|settings"
    r"|(?:hyper|train(?:ing)?|model|default)_?(?:parameters|params|config|cfg|args|settings)"
)  # names that scripts give a mapping of their settings
OF_OTHERS = re.compile(r"(?i)^_*(?:eval|valid|val|test|infer|generat|sampl|hydra)")  # no training
CONFIGURED = "exec(open("  # of scripts whose names at the top a configurator may set
FIELDS = ("field", "Field")  # functions that describe a field of a class
PARSERS = ("HfArgumentParser", "TrlParser", "H4ArgumentParser")
PARSES = ("parse_args", "parse_known_args", "parse_args_into_dataclasses", "parse_args_and_config")
Expressions = dict[str, list[ast.expr]]


def known_names(tree: ast.Module, flags: Json) -> Json:
    """Each name whose value the script says once: of flags, configs, parameters, assignments.

    An assignment of None beside one of a value leaves the value. `flags`: those of the command that
    starts the script, which stand over their defaults.
    """
    returned = returned_values(tree)
    assigned = {
        name: [one for one in several if dotted_name(_called(one, returned)) != name] or several
        for name, several in assignments(tree).items()
    }
    defaults = _parameters_by_name(tree) | _passed_parameters(tree)
    defaults |= argument_defaults(tree, flags) | _handed_over(tree)
    once = {}
    for name, several in assigned.items():
        filled = [one for one in several if not is_none(one)] if len(several) > 1 else several
        if len(filled) == 1:
            once[name] = filled[0]
    known = {name: value for name, value in defaults.items() if name not in assigned or "." in name}
    own = {name: value for name, value in once.items() if "." not in name or name not in known}
    last = {
        name: value
        for name, value in last_values(tree).items()
        if len(assigned.get(name, [])) > 1 and name not in once
    }
    called = {name: _called(value, returned) for name, value in own.items()}
    return {"__name__": "__main__"} | _members(tree) | known | last | called | _attributes(tree)


def _members(tree: ast.AST) -> Json:
    """The members of the enumerations of a script, by their names behind that of their class."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return {
        f"{one.name}.{name}": value
        for one in classes
        if any(dotted_name(base).endswith("Enum") for base in one.bases)
        for part in one.body
        if isinstance(part, ast.Assign)
        for name, value in assigned_by(part)
    }


def _called(expression: ast.expr, returned: dict[str, ast.expr]) -> ast.expr:
    """An expression; for a call of a function of the script what that returns."""
    callee = expression.func if isinstance(expression, ast.Call) else None
    inner = returned.get(callee.id) if isinstance(callee, ast.Name) else None
    return expression if inner is None or isinstance(inner, ast.Tuple) else inner


def _attributes(tree: ast.AST) -> Json:
    """The attributes of an object that its class sets once, to a parameter that a call gives."""
    given = parameters_of_functions(tree)
    found: dict[str, list[ast.expr]] = {}
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        values = parameter_defaults(function) | given.get(function, {})
        for name, several in assignments(function).items():
            for one in several if name.startswith("self.") else ():
                found.setdefault(name, []).append(values.get(dotted_name(one), one))
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def assignments(tree: ast.AST) -> Expressions:
    """The expressions that each name or attribute is set to, the fields of classes left out."""
    found: Expressions = {}
    of_classes = {
        part for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node not in of_classes:
            for name, expression in assigned_by(node):
                found.setdefault(name, []).append(expression)
    return found


def assigned_by(node: ast.Assign | ast.AnnAssign) -> Iterator[tuple[str, ast.expr]]:
    """The names that an assignment sets, each with its expression; a, b = 1, 2 sets two."""
    target, value = (node.targets[0] if isinstance(node, ast.Assign) else node.target), node.value
    if value is None:
        return
    if isinstance(target, ast.Name | ast.Attribute):
        yield dotted_name(target), value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, expression in zip(target.elts, value.elts, strict=False):
            if isinstance(one, ast.Name | ast.Attribute):
                yield dotted_name(one), expression


def flag_defaults(tree: ast.AST) -> dict[str, ast.expr]:
    """The defaults of a script's own flags, by their names."""
    defaults: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or dotted_name(node.func).rpartition(".")[2] != ADDS:
            continue
        flag = flag_name(node)
        given = {one.arg: one.value for one in node.keywords if one.arg}
        action = getattr(given.get("action"), "value", None)
        if action in SWITCHES:
            given.setdefault("default", ast.Constant(SWITCHES[action]))
        if flag and "default" in given:
            defaults[flag] = given["default"]
    return defaults


def flag_name(call: ast.Call) -> str:
    """The name under which a script reads a flag that it adds: dest, else the first long one."""
    given = {one.arg: getattr(one.value, "value", None) for one in call.keywords}
    flags = [flag for flag in spellings(call) if flag.startswith("--")] or spellings(call)
    name = str(given.get("dest") or next(iter(flags), ""))
    return name.lstrip("-").replace("-", "_")


def spellings(call: ast.Call) -> list[str]:
    """The spellings of a flag that a call adds: -b, --batch."""
    words = [one.value for one in call.args if isinstance(one, ast.Constant)]
    return [word for word in words if isinstance(word, str) and word.startswith("-")]


def argument_defaults(tree: ast.AST, flags: Json) -> Json:
    """The values of flags and of configs, by the names under which a script reads them."""
    parsed = _assigned_from(tree, (*PARSES, *_functions_that_parse(tree)))
    texts = _assigned_from(tree, LOADS)
    return (
        {
            f"{holder}.{name}": value
            for name, value in loaded_settings(tree).items()
            for holder in (*HOLDERS, *texts)
        }
        | _config_defaults(tree, flags)
        | {
            f"{holder}.{name}": value
            for name, value in (_fields_by_default(tree) | flag_defaults(tree) | flags).items()
            for holder in (*HOLDERS, *parsed)
        }
    )


def _fields_by_default(tree: ast.AST) -> dict[str, ast.expr]:
    """The defaults of parsed classes, unless their parser also reads a config, which decides."""
    called = {dotted_name(call.func).rpartition(".")[2] for call in _calls(tree)}
    return {} if PARSES[-1] in called else parsed_defaults(tree)


def _functions_that_parse(tree: ast.AST) -> list[str]:
    """The names of a script's own functions that return its parsed arguments."""
    return [
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(dotted_name(call.func).rpartition(".")[2] in PARSES for call in _calls(function))
        and any(isinstance(node, ast.Return) and node.value for node in ast.walk(function))
    ]


def config_classes(tree: ast.AST) -> dict[str, dict[str, ast.expr]]:
    """The fields with a default of each dataclass and each class of settings."""
    classes: dict[str, dict[str, ast.expr]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        is_data = any("dataclass" in ast.unparse(one) for one in node.decorator_list)
        if is_data or SETTINGS.search(node.name):
            parts = [part for part in node.body if isinstance(part, ast.Assign | ast.AnnAssign)]
            pairs = [pair for part in parts for pair in assigned_by(part)]
            fields = {name: _field_default(value) for name, value in pairs}
            classes[node.name] = {name: value for name, value in fields.items() if value}
    return classes


def parsed_defaults(tree: ast.AST) -> dict[str, ast.expr]:
    """The defaults of the classes of arguments that a parser fills from the command line."""
    classes = config_classes(tree)
    parsed = [
        dotted_name(one)
        for call in _calls(tree)
        if dotted_name(call.func).rpartition(".")[2] in PARSERS and call.args
        for one in getattr(call.args[0], "elts", [call.args[0]])
    ]
    return {name: value for one in parsed for name, value in classes.get(one, {}).items()}


def _config_defaults(tree: ast.AST, flags: Json) -> Json:
    """The values of configs, by the names under which a script reads them."""
    defaults: Json = {}
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for name, fields in config_classes(tree).items():
        calls = [call for call in _calls(tree) if dotted_name(call.func) == name]
        given = {one.arg: one.value for one in calls[0].keywords if one.arg} if calls else {}
        holders = (*HOLDERS, name, *_assigned_from(tree, (name,)), *_annotated(tree, name))
        for holder in dict.fromkeys(holders):
            for field, default in (fields | given).items():
                defaults.setdefault(f"{holder}.{field}", flags.get(field, default))
            for one, value in properties_of(classes[name], holder).items():
                defaults.setdefault(f"{holder}.{one}", value)
    return defaults


def _assigned_from(tree: ast.AST, callees: tuple[str, ...]) -> list[str]:
    """The names that are set to what calls of these names return."""
    names = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        if dotted_name(node.value.func).rpartition(".")[2] in callees:
            target = node.targets[0]
            several = target.elts if isinstance(target, ast.Tuple) else [target]
            names += [dotted_name(one) for one in several]
    return [name for name in names if name]


def _annotated(tree: ast.AST, class_name: str) -> list[str]:
    """The parameters of functions that are of a class."""
    return [
        node.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.arg)
        and node.annotation
        and dotted_name(node.annotation) == class_name
    ]


def _field_default(node: ast.expr) -> ast.expr | None:
    """The default of a field, also one that field(default=...) gives; None without one."""
    if isinstance(node, ast.Call) and dotted_name(node.func).rpartition(".")[2] in FIELDS:
        return next((one.value for one in node.keywords if one.arg == "default"), None)
    return node


def is_none(node: ast.expr) -> bool:
    """Return whether an expression is None itself."""
    return isinstance(node, ast.Constant) and node.value is None


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _parameters_by_name(tree: ast.AST) -> Json:
    """The defaults of parameters by the names under which functions and methods read them."""
    return {
        f"{holder}{name}": value
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for name, value in parameter_defaults(function).items()
        if not is_none(value)
        for holder in OBJECTS
    }


def _passed_parameters(tree: ast.AST) -> Json:
    """The values that calls give to parameters, if all of them give one of a name the same."""
    passed: dict[str, list[ast.expr]] = {}
    for given in parameters_of_functions(tree).values():
        for parameter, value in given.items():
            if dotted_name(value) != parameter:
                passed.setdefault(parameter, []).append(value)
    return {
        f"{holder}{name}": values[0]
        for name, values in passed.items()
        if len({ast.unparse(value) for value in values}) == 1
        for holder in OBJECTS
    }


def _handed_over(tree: ast.AST) -> Json:
    """The settings that Ray hands to a function of the script, by the name of its parameter."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    handed: Json = {}
    for call in _calls(tree):
        named = {argument.arg: argument.value for argument in call.keywords}
        loop = call.args[0] if call.args else named.get("train_loop_per_worker")
        function = functions.get(loop.id) if isinstance(loop, ast.Name) else None
        if LOOP_CONFIG in named and function and function.args.args:
            handed[function.args.args[0].arg] = named[LOOP_CONFIG]
    return handed


def settings_of(tree: ast.Module, flags: Json) -> Json:
    """The settings of a script by plain names: of flags, configs and constants in capitals.

    Every name is a setting of a script that does nothing but set names.
    """
    is_config = not any(isinstance(node, ast.FunctionDef | ast.For) for node in ast.walk(tree))
    is_configured = CONFIGURED in ast.unparse(tree)  # whose flags its names at the top have
    is_config = is_config or is_configured
    last = last_values(tree)
    constants = {
        name.lower(): last.get(name, values[0])
        for name, values in assignments(tree).items()
        if (len(values) == 1 or name in last) and (is_config or CONSTANT.fullmatch(name))
    }
    classes = config_classes(tree).values()
    fields = {name.lower(): value for one in classes for name, value in one.items()}
    settings = _mapped_settings(tree) | constants | fields | flag_defaults(tree)
    return settings | ({} if is_configured else flags)


def _mapped_settings(tree: ast.Module) -> Json:
    """The settings of the mappings that a script calls its config: CFG = dict(seq=512, bs=4)."""
    settings: Json = {}
    for name, values in assignments(tree).items():
        if len(values) == 1 and MAPPED.fullmatch(name):
            settings |= dict(_items_of(values[0]))
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        for name, value in parameter_defaults(function).items():
            if isinstance(value, ast.Dict) and MAPPED.fullmatch(name):  # as Hydra composes it
                settings |= dict(_items_of(value))
    return settings


def _items_of(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the keys of a mapping, also of those inside it, with their expressions."""
    pairs: list[tuple[str, ast.expr]] = []
    if isinstance(node, ast.Dict):
        pairs = [
            (str(getattr(key, "value", "")), value)
            for key, value in zip(node.keys, node.values, strict=True)
        ]
    elif isinstance(node, ast.Call) and dotted_name(node.func) == "dict":
        pairs = [(str(one.arg), one.value) for one in node.keywords]
    for key, value in pairs:
        yield key.lower(), value
        yield from () if OF_OTHERS.search(key) else _items_of(value)
