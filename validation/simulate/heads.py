"""Reads off what a model holds outside its blocks: embeddings, final norm, logits and loss.

python -m validation.simulate.heads --family llama
"""

import argparse
import gc

from torch._subclasses.fake_tensor import FakeTensorMode

from validation.simulate.blocks import tokens_of
from validation.simulate.families import FAMILIES
from validation.simulate.ledger import Ledger
from validation.simulate.observe import WEIGHTS, autocast_of, build, need_gradient, watch_forward
from validation.simulate.read_off import Reader, Unread, add, read

VOCABULARIES = (1009, 1511)


def observe_ends(family, case, number_format, frozen):
    """Storages made before and after the blocks.

    They are taken at the end of the forward pass and at all moments of the loss.
    """
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    model = build(lambda: family.model(case), WEIGHTS[number_format], mode)
    model.train()
    if frozen:
        model.requires_grad_(False)
    stacks, ledger = family.stacks(model), Ledger()
    for blocks in stacks.values():
        if frozen:
            blocks[0].register_forward_pre_hook(need_gradient, with_kwargs=True)
        watch_forward(blocks, ledger)
    final = list(stacks.values())[-1][-1]
    final.register_forward_hook(lambda *_: setattr(ledger, "watching", True))

    def reached(gradient):
        ledger.watching = False

    def at_output(module, arguments, output):
        first = output[0] if isinstance(output, (tuple, list)) else output
        if first.requires_grad:
            first.register_hook(reached)

    final.register_forward_hook(at_output)
    with mode:
        first = family.inputs(case, WEIGHTS[number_format])
        with ledger:
            ledger.enter_model(model)
            for tensor in first.values():
                ledger.enter_tensor(tensor, "input", "input")
            with autocast_of(number_format):
                loss = family.loss(model, first)
            gc.collect()
            forward, ledger.snapshots = ledger.snapshots, []
            at_end = list(ledger.live.values())
            ledger.period = "backward"
            loss.backward()
    outside = ("before", "after", "backward")
    keep = [
        [s for s in taken if s.period in outside and s.kind == "activation"]
        for taken in (
            [taken for _, _, taken in forward]
            + [at_end]
            + [taken for _, _, taken in ledger.snapshots]
        )
    ]
    parameters = [parameter.numel() for parameter in model.parameters()]
    return keep, len(forward), parameters


def form_of(reader, firsts, seconds, logits):
    """The form of all storages alive; rows of logits are read first."""
    form = {}
    for first, second in zip(firsts, seconds, strict=True):
        if reader.is_weight(first.bytes, second.bytes):
            continue
        pair = first.bytes / reader.tokens[0], second.bytes / reader.tokens[1]
        reading = read(*pair, logits) or read(*pair, reader.sizes)
        if reading is None:
            raise Unread(
                f"{first.operator} {first.shape} {first.dtype} and {second.shape}: {first.period}"
            )
        add(form, reading)
    return form


def apart(case):
    """Sizes that only the ends have.

    Labels are one token longer, and the other side has one number per token.
    """
    return dict(shifted=(case["seq"] + 1) / case["seq"]) | dict(
        source_one=case.get("other", 0) / case["seq"]
    )


def ends_of(family, number_format, frozen=False):
    """Forms per token: logits at three moments, and what is saved outside the blocks."""
    attention = family.attentions[0]
    cases = [
        dict(case, vocabulary=size)
        for case, size in zip(family.made_up(number_format, attention), VOCABULARIES, strict=False)
    ]
    runs = [observe_ends(family, case, number_format, frozen) for case in cases]
    sizes = [family.measure(case) | apart(case) for case in cases]
    reader = Reader(sizes, [tokens_of(case) for case in cases], [run[2] for run in runs])
    logits = [
        {"logits": case["vocabulary"], "labels_apart": case["vocabulary"] / case["seq"]}
        for case in cases
    ]
    forms = [
        form_of(reader, one, two, logits) for one, two in zip(runs[0][0], runs[1][0], strict=True)
    ]
    end = runs[0][1]

    def most(some):
        return max((form.get("logits", 0) for form in some), default=0)

    kept = {name: times for name, times in forms[end].items() if name != "logits"}
    kept["one"] = kept.get("one", 0) + kept.pop("shifted", 0)
    return dict(
        forward=most(forms[: end + 1]),
        saved=forms[end].get("logits", 0),
        backward=most(forms[end + 1 :]),
        outside=kept,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", choices=list(FAMILIES), nargs="+", required=True)
    for name in parser.parse_args().family:
        for number_format in FAMILIES[name].formats:
            for frozen in (False, True):
                try:
                    ends = ends_of(FAMILIES[name], number_format, frozen)
                    print(name, number_format, "frozen" if frozen else "", ends)
                except Unread as unread:
                    print(name, number_format, frozen, "unread:", unread)
