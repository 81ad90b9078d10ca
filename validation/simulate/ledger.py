"""Follows every CUDA storage from its allocation to its release, in the order of operators."""

import sys
import weakref

from validation.simulate.device import aten, torch  # isort: skip
from torch.utils._python_dispatch import TorchDispatchMode

ADDS_IN_PLACE = {aten.add.Tensor, aten._unsafe_index_put.default}
DROPOUTS = {aten.native_dropout.default, aten.native_dropout_backward.default}


class Storage:
    """One allocation: its position in the run, bytes, operator and period."""

    def __init__(self, place, tensor, operator, period):
        self.place, self.bytes, self.operator, self.period = (
            place,
            tensor.untyped_storage().nbytes(),
            operator,
            period,
        )
        self.shape, self.dtype = tuple(tensor.shape), tensor.dtype
        self.kind = "activation"
        self.mask, self.stands_for = False, None


def key_of(tensor):
    return tensor.untyped_storage()._cdata


def called_by_engine():
    """Return whether the C++ autograd engine called the operator.

    In that case there is hardly a Python frame below the ledger's three.
    """
    frame, depth = sys._getframe(3), 0
    while frame is not None and depth < 4:
        frame, depth = frame.f_back, depth + 1
    return depth <= 2


class Ledger(TorchDispatchMode):
    """The storages alive on the fake device; enter it inside FakeTensorMode.

    Set `period` to name what runs; snapshots of what is alive are taken at each allocation while
    `watching`. A value that Python asks for (.item(), bool()) is answered by 1 or True, and a
    question for places by those of even routing to `experts`. `stand_ins`: what runs in an
    operator's place.
    """

    def __init__(self):
        super().__init__()
        self.live, self.weights, self.snapshots, self.stand_ins = {}, set(), [], {}
        self.period, self.watching, self.made, self.experts = "before", False, 0, 1

    def enter_tensor(self, tensor, operator, kind="activation"):
        if not isinstance(tensor, torch.Tensor) or tensor.device.type != "cuda":
            return None
        key = key_of(tensor)
        if key in self.live:
            return None
        storage = Storage(self.made, tensor, operator, self.period)
        storage.kind = kind
        self.made += 1
        untyped = tensor.untyped_storage()
        storage.alive = weakref.ref(untyped, lambda reference, key=key: self.leave(key, reference))
        self.live[key] = storage
        return storage

    def leave(self, key, reference):
        storage = self.live.get(key)
        if storage is not None and storage.alive is reference:
            del self.live[key]

    def enter_model(self, model):
        for parameter in model.parameters():
            self.enter_tensor(parameter.data, "parameter", "parameter")
            self.weights.add(key_of(parameter))
        for buffer in model.buffers():
            self.enter_tensor(buffer, "buffer", "buffer")

    def name(self, tensor, kind):
        storage = self.live.get(key_of(tensor))
        if storage is not None:
            storage.kind = kind

    def in_place(self, function, arguments):
        """Add into the gradient buffer as C++ autograd does if it alone holds the buffer.

        Under a dispatch mode it does not. Four references to the tensor here mean that the engine's
        buffer is its only holder.
        """
        if function not in ADDS_IN_PLACE or torch.is_grad_enabled() or not called_by_engine():
            return False
        first, second = arguments[0], arguments[1]
        if function is aten._unsafe_index_put.default:
            return True
        return (
            isinstance(second, torch.Tensor)
            and first.shape == second.shape
            and first.dtype == second.dtype
            and first._use_count() <= 4
            and torch._C._storage_Use_Count(key_of(first)) <= 4
            and first.untyped_storage().nbytes() == first.numel() * first.element_size()
        )

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function is aten._local_scalar_dense.default:
            kind = args[0].dtype
            if kind == torch.bool:
                return True
            if kind.is_floating_point:
                return 1.0
            return 1
        if function is aten.nonzero.default:
            return self.places(args[0])
        if self.in_place(function, args):
            return args[0]
        out = self.stand_ins.get(function, function)(*args, **kwargs)
        cast = function is aten._to_copy.default and key_of(args[0]) in self.weights
        made = []
        for tensor in out if isinstance(out, (tuple, list)) else (out,):
            made.append(
                self.enter_tensor(tensor, function.__name__, "cast" if cast else "activation")
            )
        if function in DROPOUTS and made[0] is not None:
            self.note_dropout(made, args[0])
        if self.watching and any(made):
            self.snapshots.append((self.period, function.__name__, tuple(self.live.values())))
        return out

    def places(self, mask):
        """Positions at which a mask is true, whose number fake tensors do not know.

        It is true everywhere along the experts; otherwise for an expert's share of the tokens.
        """
        rows = (
            mask.numel()
            if mask.dim() == 1 or mask.numel() == self.experts
            else max(mask.numel() // self.experts, 1)
        )
        out = aten.new_empty.default(mask, (rows, mask.dim()), dtype=torch.long)
        self.enter_tensor(out, "nonzero")
        return out

    def note_dropout(self, made, source):
        """Mark a dropout's result as its input, and its mask as one that only dropout needs."""
        original = self.live.get(key_of(source))
        made[0].stands_for = original.place if original is not None else None
        if len(made) > 1 and made[1] is not None:
            made[1].mask = True
