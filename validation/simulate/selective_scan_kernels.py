"""Stand-ins for the kernels of mamba-ssm for Mamba: they allocate and save the same.

After MambaInnerFn and SelectiveScanFn (mamba_ssm/ops/selective_scan_interface.py,
csrc/selective_scan/selective_scan.cpp of mamba-ssm 2.2). Import before a block is run.
"""

from validation.simulate.device import torch  # isort: skip
import transformers.models.falcon_mamba.modeling_falcon_mamba as falcon_mamba
import transformers.models.mamba.modeling_mamba as mamba

from validation.simulate.mamba_kernels import FP32, convolution, convolved

CHUNK = 2048  # tokens between states that are kept


def scanned(steps, gate, decay):
    """Results of selective_scan_cuda.fwd.

    They are the result before the gate, the states at the ends of chunks, and the result after the
    gate.
    """
    out = torch.empty_like(steps)
    states = torch.empty(
        *steps.shape[:2],
        -(-steps.shape[2] // CHUNK),
        2 * decay.shape[1],
        dtype=FP32,
        device=steps.device,
    )
    return out, states, torch.empty_like(gate)


def by_token(x):
    """(batch, width, tokens) -> (batch · tokens, width)."""
    return x.transpose(1, 2).reshape(-1, x.shape[1])


def by_width(x):
    """(batch, width, tokens) -> (width, batch · tokens)."""
    return x.transpose(0, 1).reshape(x.shape[1], -1)


class InnerScan(torch.autograd.Function):
    """Convolution, projections, scan, gate and output projection in one.

    The backward pass recomputes the convolution and the time steps.
    """

    @staticmethod
    def forward(
        context,
        both,
        kernel,
        kernel_bias,
        x_projection,
        step_projection,
        out_projection,
        out_bias,
        decay,
        skip,
        step_bias,
    ):
        if torch.is_autocast_enabled("cuda"):
            half = torch.get_autocast_dtype("cuda")
            x_projection = x_projection.to(half)
            step_projection = step_projection.to(half)
            out_projection = out_projection.to(half)
        both = both.contiguous()
        tokens, rank, state = both.shape[2], step_projection.shape[1], decay.shape[1]
        x, gate = both.chunk(2, dim=1)
        mixed = convolved(x)
        narrow = torch.nn.functional.linear(by_token(mixed), x_projection)
        steps = (step_projection @ narrow[:, :rank].t()).unflatten(1, (-1, tokens)).transpose(0, 1)
        projections = [
            part.unflatten(0, (-1, tokens)).transpose(1, 2).contiguous()
            for part in narrow[:, rank:].split(state, dim=1)
        ]
        out, states, gated = scanned(steps, gate, decay)
        del mixed
        tensors = (
            both,
            kernel,
            kernel_bias,
            narrow,
            x_projection,
            step_projection,
            out_projection,
            out_bias,
        )
        context.save_for_backward(*tensors, decay, *projections, skip, step_bias, states, out)
        return torch.nn.functional.linear(gated.transpose(1, 2), out_projection, out_bias)

    @staticmethod
    def backward(context, gradient):
        (
            both,
            kernel,
            kernel_bias,
            narrow,
            _,
            step_projection,
            out_projection,
            out_bias,
            decay,
            B,
            C,
            skip,
            step_bias,
            _,
            out,
        ) = context.saved_tensors
        tokens, rank, state = both.shape[2], step_projection.shape[1], decay.shape[1]
        mixed = convolved(both.chunk(2, dim=1)[0])
        steps = (step_projection @ narrow[:, :rank].t()).unflatten(1, (-1, tokens)).transpose(0, 1)
        of_both = torch.empty_like(both)
        gradient = gradient.contiguous().flatten(0, 1).t()
        of_out = (out_projection.t() @ gradient).unflatten(1, (-1, tokens)).transpose(0, 1)
        of_mixed, of_steps = torch.empty_like(mixed), torch.empty_like(steps)
        of_projections = [torch.zeros_like(matrix, dtype=FP32) for matrix in (B, C)]
        gated = torch.empty_like(out)
        of_projections = [matrix.to(B.dtype) for matrix in of_projections]
        of_out_projection = torch.einsum("eB,dB->ed", gradient, by_width(gated))
        of_narrow = torch.empty_like(narrow)
        for place in (0, 1):
            start = rank + place * state
            of_narrow[:, start : start + state] = by_token(of_projections[place])
            of_projections[place] = None
        of_steps = by_width(of_steps)
        of_step_projection = torch.einsum("dB,Br->dr", of_steps, narrow[:, :rank])
        of_narrow[:, :rank] = torch.einsum("dB,dr->Br", of_steps, step_projection)
        of_mixed = by_width(of_mixed)
        of_x_projection = torch.einsum("Br,Bd->rd", of_narrow, by_token(mixed))
        del of_out
        made = [
            None if matrix is None else torch.empty_like(matrix) for matrix in (kernel, kernel_bias)
        ]
        of_out_bias = None if out_bias is None else gradient.sum(dim=1)
        rest = [torch.empty_like(matrix) for matrix in (decay, skip, step_bias)]
        return (
            of_both,
            *made,
            of_x_projection,
            of_step_projection,
            of_out_projection,
            of_out_bias,
            *rest,
        )


def inner_scan(
    both,
    kernel,
    kernel_bias,
    x_projection,
    step_projection,
    out_projection,
    out_bias,
    A,
    B,
    C,
    D,
    delta_bias,
    **_,
):
    """mamba_inner_fn, with its order of arguments."""
    return InnerScan.apply(
        both,
        kernel,
        kernel_bias,
        x_projection,
        step_projection,
        out_projection,
        out_bias,
        A,
        D,
        delta_bias,
    )


def selective_scan(inputs, steps, A, B, C, z, return_last_state=False, **_):
    """selective_scan_fn without gradients; the last state stays in the cache."""
    copies = [tensor.contiguous() for tensor in (inputs, steps, B, C, z)]
    _, states, gated = scanned(copies[1], copies[4], A)
    return (gated, states[:, :, -1, 1::2]) if return_last_state else gated


for module in (falcon_mamba, mamba):
    module.mamba_inner_fn = inner_scan
    module.mamba_selective_scan = selective_scan
    module.causal_conv1d_fn = convolution
