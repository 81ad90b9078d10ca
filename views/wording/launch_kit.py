"""The sentences of the launch kit: what it is, what none of its files can say."""

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.launch.kit import Kit
from calc.files.launch.specs import kit_specs
from calc.say.setting import name_of


def none(row: Row, catalogs: Catalogs) -> str:
    """No files are written for Megatron-LM; they are for axolotl and others."""
    software = name_of("implementation", row["implementation"], catalogs)
    written = ", ".join(spec.name for spec in kit_specs())
    return f"No files are written for {software} set up so; they are for {written}. Set the software or the sharding by hand."


def summary(kit: Kit) -> str:
    """What was found by reading the files back."""
    if kit.differences:
        return "Read back by Headroom the files give this scenario, but for:"
    return "Read back by Headroom the files give this very scenario. Names in them that begin with your- are to be filled in."


def file_name(row: Row, kit: Kit) -> str:
    """headroom-llama-3.1-8b-axolotl.zip."""
    return f"headroom-{row['model']}-{kit.id}.zip"


def shown(name: str, content: bytes) -> str:
    """A file's text; of the plan's CSV, which is wide, only that it is there."""
    return "The row with every input and result: python -m calc reads it again." if name.endswith(".csv") else content.decode()
