"""Rules that the catalog of model types names, where an expression is not enough."""

from calc.evaluate import formulas_of
from calc.models.huggingface.rules import layer_kinds, layer_sizes, sizes

RULES = {
    key: {rule.__name__: rule for rule in formulas_of(module)}
    for key, module in {"layer_kinds": layer_kinds, "layer_sizes": layer_sizes, "derive": sizes}.items()
}
