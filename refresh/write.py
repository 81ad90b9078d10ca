"""Catalogs as YAML text: the same data always gives the same text, so that a diff shows what changed and nothing else."""

import yaml


class Row(dict):
    """A mapping that is written on one line."""


class Words(list):
    """A list that is written on one line."""


class Dumper(yaml.SafeDumper):
    """Block style, rows on one line, large numbers in thousands of thousands (320.0e+9) as YAML 1.1 and 1.2 both read them."""

    def ignore_aliases(self, data):
        return True

    def increase_indent(self, flow=False, indentless=False):
        return super().increase_indent(flow, indentless=False)


def _number(dumper, value):
    text = repr(value)
    if value != float("inf") and abs(value) >= 1e7:
        exponent = 12 if abs(value) >= 1e13 else 9
        text = f"{float(f'{value / 10**exponent:.12g}')!r}e+{exponent}"
    return dumper.represent_scalar("tag:yaml.org,2002:float", ".inf" if value == float("inf") else text)


Dumper.add_representer(Row, lambda dumper, row: dumper.represent_mapping("tag:yaml.org,2002:map", row, flow_style=True))
Dumper.add_representer(Words, lambda dumper, words: dumper.represent_sequence("tag:yaml.org,2002:seq", words, flow_style=True))
Dumper.add_representer(float, _number)


def yaml_text(name, document):
    """The catalog `name` as text, its schema named in the first line for editors."""
    body = yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=10_000, default_flow_style=False)
    return f"# yaml-language-server: $schema=schema/{name}.json\n{body}"
