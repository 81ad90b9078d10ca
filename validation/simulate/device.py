"""A CUDA device that does not exist: fake tensors take PyTorch's CUDA code paths on a CPU.

Import before torch is used. Attention is sent to the kernel that CUDA's dispatcher would choose,
and transformers is told that fake tensors are ordinary ones (it takes other branches while
tracing).
"""

import contextlib
import ctypes
import importlib.util
import os
import subprocess
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).parent
TORCH = Path(importlib.util.find_spec("torch").origin).parent


def load_guard():
    """Compile (once) and load the CUDA guard that does nothing."""
    source = HERE / "noop_cuda_guard.cpp"
    library = (
        Path(tempfile.gettempdir())
        / f"headroom_cuda_guard_{os.getuid()}_{int(source.stat().st_mtime)}.so"
    )
    if not library.exists():
        command = [
            "g++",
            "-O1",
            "-std=c++20",
            "-shared",
            "-fPIC",
            f"-I{TORCH / 'include'}",
            str(source),
        ]
        subprocess.run(
            [*command, "-o", str(library), f"-L{TORCH / 'lib'}", "-lc10", "-ltorch_cpu"], check=True
        )
    ctypes.CDLL(str(TORCH / "lib" / "libtorch_cpu.so"), ctypes.RTLD_GLOBAL)
    ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)


warnings.filterwarnings("ignore")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
load_guard()

import torch  # noqa: E402
import torch.cuda.amp.common  # noqa: E402
import torch.nn.functional  # noqa: E402
import torch.utils.checkpoint  # noqa: E402

torch.set_num_threads(1)
torch.cuda.amp.common.amp_definitely_not_available = lambda: False
torch.cuda.is_bf16_supported = lambda *arguments, **options: True
# Of a layer whose tensors are all given by name.
torch.utils.checkpoint.DefaultDeviceType.set_device_type("cuda")
torch.cuda.get_device_capability = lambda *arguments, **options: (9, 0)
aten = torch.ops.aten
real_attention = torch.nn.functional.scaled_dot_product_attention
kernels_used = []


def attention_kernel(query, key, value, mask, is_causal, enable_gqa):
    """The attention kernel that CUDA chooses on sm80 and newer.

    Source: torch 2.13, aten/src/ATen/native/transformers/cuda/sdp_utils.cpp. Flash takes 16-bit
    without a mask, memory-efficient takes any mask but no grouped heads, math takes the rest.
    cuDNN, where it comes first, saves the same tensors as flash.
    """
    grouped = query.shape[-3] != key.shape[-3]
    half = query.dtype in (torch.bfloat16, torch.float16)
    one_width = query.shape[-1] == key.shape[-1] == value.shape[-1]
    causal_fits = not is_causal or query.shape[-2] == key.shape[-2]
    if grouped and not enable_gqa:
        return "math"
    if half and mask is None and one_width and query.shape[-1] <= 256 and causal_fits:
        return "flash"
    step = 8 if half else 4
    if not grouped and query.shape[-1] % step == 0 and value.shape[-1] % step == 0:
        return "efficient"
    return "math"


def padded_mask(mask, query, key):
    """The additive mask in the query's type, its last dimension padded to a multiple of 16.

    The memory-efficient kernel needs it so.
    """
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        mask = torch.zeros_like(mask, dtype=query.dtype).masked_fill_(
            mask.logical_not(), float("-inf")
        )
    width = mask.shape[-1]
    if width % 16:
        mask = torch.nn.functional.pad(mask, (0, 16 - width % 16))[..., :width]
    return mask.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])


def cuda_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """F.scaled_dot_product_attention as it runs on CUDA."""
    if query.device.type != "cuda":
        return real_attention(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )
    mask = attn_mask
    if torch.is_autocast_enabled("cuda"):
        half = torch.get_autocast_dtype("cuda")
        query, key, value = query.to(half), key.to(half), value.to(half)
        mask = mask.to(half) if mask is not None and mask.is_floating_point() else mask
    kernel = attention_kernel(query, key, value, mask, is_causal, enable_gqa)
    kernels_used.append(kernel)
    if kernel == "flash":
        width = query.shape[-1]
        scale = scale if scale is not None else width**-0.5
        if width % 8:
            query = torch.nn.functional.pad(query, (0, -width % 8))
            key = torch.nn.functional.pad(key, (0, -width % 8))
            value = torch.nn.functional.pad(value, (0, -width % 8))
        out = aten._scaled_dot_product_flash_attention(
            query, key, value, dropout_p, is_causal, False, scale=scale
        )[0]
        return out[..., :width] if width % 8 else out
    if kernel == "efficient":
        grad = torch.is_grad_enabled() and any(t.requires_grad for t in (query, key, value))
        bias = padded_mask(mask, query, key)
        run = aten._scaled_dot_product_efficient_attention
        return run(query, key, value, bias, grad, dropout_p, is_causal, scale=scale)[0]
    run = aten._scaled_dot_product_attention_math
    return run(
        query, key, value, mask, dropout_p, is_causal, None, scale=scale, enable_gqa=enable_gqa
    )[0]


torch.nn.functional.scaled_dot_product_attention = cuda_attention


real_split = torch.Tensor.split


def even_split(tensor, sizes, dim=0):
    """Split a tensor evenly if the sizes come from numbers that fake tensors do not hold."""
    if isinstance(sizes, list | tuple) and sum(sizes) != tensor.shape[dim]:
        each, rest = divmod(tensor.shape[dim], len(sizes))
        sizes = [each + (number < rest) for number in range(len(sizes))]
    return real_split(tensor, sizes, dim)


torch.Tensor.split = even_split


@contextlib.contextmanager
def silu_in_one_kernel(yes=True):
    """Run the backward pass of SiLU as one kernel, as a CUDA build does.

    A CPU build decomposes it into seven operators. The body is never run: shapes are computed
    without it.
    """
    kernels = torch.library.Library("aten", "IMPL") if yes else None
    if kernels is not None:
        kernels.impl("silu_backward", lambda gradient, values: torch.empty_like(values), "CUDA")
    try:
        yield
    finally:
        if kernels is not None:
            kernels._destroy()


# CUDA's grouped product takes any of the usual formats (16-bit ones by a fast path), its shape rule
# only bf16.
import torch._meta_registrations  # noqa: E402


def grouped_product_shape(mat_a, mat_b, offs=None, out_dtype=None, **_):
    return torch._meta_registrations._create_grouped_mm_output_tensor(mat_a, mat_b, offs, out_dtype)


torch._meta_registrations._meta_grouped_mm_common = grouped_product_shape

import transformers  # noqa: E402
import transformers.utils.import_utils  # noqa: E402

transformers.logging.set_verbosity_error()
transformers.utils.import_utils.is_fake_tensor = lambda tensor: False


# Falcon picks its key and value with a list of one index. Where a block is recomputed that list
# would become a real CUDA tensor; the same index, made a tensor beforehand, is a fake one.
import transformers.models.falcon.modeling_falcon as falcon  # noqa: E402


def falcon_heads(self, fused):
    """FalconAttention._split_heads for grouped and for one shared key and value."""
    groups = self.num_kv_heads if self.new_decoder_architecture else 1
    heads = fused.view(*fused.shape[:2], groups, self.num_heads // groups + 2, self.head_dim)
    heads = (
        heads if self.new_decoder_architecture else heads.view(*fused.shape[:2], -1, self.head_dim)
    )
    places_of_key_and_value = [
        torch.full((1,), place, dtype=torch.long, device=fused.device) for place in (-2, -1)
    ]
    query = heads[..., :-2, :]
    key, value = (
        torch.ops.aten.index(heads, [None] * (heads.dim() - 2) + [place, None])
        for place in places_of_key_and_value
    )
    if not self.new_decoder_architecture:
        return query, key, value
    return tuple(
        x.flatten(2, 3)
        for x in (query, key.broadcast_to(query.shape), value.broadcast_to(query.shape))
    )


falcon.FalconAttention._split_heads = falcon_heads
