"""What a block saves of one sequence alone, where that differs: some copies stay views when there is nothing to keep apart."""

import sys

from validation.simulate.device import silu_in_one_kernel
from validation.simulate.observe import observe_training
from validation.simulate.read_off import Reader, Unread

LONGER = 2  # so that no table of activations is shaped like a weight


def saved_alone(family, number_format, attention, saved):
    """The form of what is saved with a batch of one; None where it is that of larger batches, or cannot be read."""
    cases = [case | dict(batch=1, seq=LONGER * case["seq"]) for case in family.made_up(number_format, attention)[:2]]
    try:
        with silu_in_one_kernel():
            seen = [observe_training(family, case, number_format) for case in cases]
        tokens = [case.get("seq_of_block", case["seq"]) for case in cases]
        reader = Reader([family.measure(case) for case in cases], tokens, [run.parameters for run in seen])
        form = reader.total(seen[0].saved, seen[1].saved)
    except (Unread, RuntimeError, ValueError) as error:
        print(f"  {family.id} {number_format} {attention} alone: {error}", file=sys.stderr)
        return None
    form = {name: times for name, times in form.items() if times}
    return form if form != {name: times for name, times in saved.items() if times} else None
