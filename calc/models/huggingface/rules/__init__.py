"""Rules that the catalog of model types names, if an expression is not enough."""

from calc.evaluate import formulas_of
from calc.models.huggingface.rules import layer_kinds, sizes

RULES = {
    key: {rule.__name__: rule for rule in formulas_of(module)}
    for key, module in {"layer_kinds": layer_kinds, "derive": sizes}.items()
}
