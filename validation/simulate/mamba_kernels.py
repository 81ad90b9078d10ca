"""Stand-ins for the kernels of mamba-ssm and causal-conv1d: they allocate and save the same.

After MambaSplitConv1dScanCombinedFn and _mamba_chunk_scan_combined_bwd
(mamba_ssm/ops/triton/ssd_combined.py, ssd_chunk_scan.py, ssd_chunk_state.py, ssd_state_passing.py,
ssd_bmm.py, layernorm_gated.py of mamba-ssm 2.2), with as many blocks of work as keep heads
together. What a kernel leaves in registers is nobody's tensor. Import before a block is run.
"""

from validation.simulate.device import torch  # isort: skip
import transformers.models.bamba.modeling_bamba as bamba
import transformers.models.falcon_h1.modeling_falcon_h1 as falcon_h1
import transformers.models.granitemoehybrid.modeling_granitemoehybrid as granitemoehybrid
import transformers.models.mamba2.modeling_mamba2 as mamba2
import transformers.models.nemotron_h.modeling_nemotron_h as nemotron_h

FP32 = torch.float32
ROWS = 32  # of a chunk that one program works on: each leaves its share of a sum


class Scan:
    """The sizes of one scan and its tensors, by the kernels' own names."""

    def __init__(self, x, groups, state, chunk):
        self.batch, self.tokens, self.heads, self.head_dim = x.shape
        self.groups, self.state, self.chunk, self.x = groups, state, chunk, x
        self.chunks = -(-self.tokens // chunk)

    def make(self, *shape, dtype=FP32):
        return torch.empty(self.batch, *shape, dtype=dtype, device=self.x.device)

    def steps(self):
        """One number per head and token, padded to whole chunks."""
        return self.make(self.heads, self.chunks, self.chunk)

    def products(self):
        """Products of the state's projections, of each token of a chunk with each."""
        return self.make(self.chunks, self.groups, self.chunk, self.chunk)

    def states(self, dtype=FP32):
        return self.make(self.chunks, self.heads, self.head_dim, self.state, dtype=dtype)

    def projected(self):
        """Projections of the state by group and token, summed over the kernel's programs."""
        return self.make(self.tokens, 1, self.groups, self.state).sum(2)

    def passed_states(self):
        """The state at the beginning of each chunk."""
        states = self.states()
        passed = self.states(self.x.dtype)
        del states
        return passed

    def forward(self, gated=False):
        """Return the result before its gate, if it has one, and after it.

        Temporaries are freed on return.
        """
        alive = [self.steps(), self.steps(), self.passed_states(), self.products()]
        out = torch.empty_like(self.x, memory_format=torch.contiguous_format)
        ungated = torch.empty_like(out) if gated else out
        del alive
        return ungated, out

    def backward(self, gradient):
        """Allocate the temporaries of the backward pass, besides the gradients that it fills."""
        kept = [torch.empty_like(gradient[..., 0]), self.steps(), self.steps(), self.products()]
        states = self.passed_states()
        of_states = self.states(self.x.dtype)
        of_states = torch.empty_like(of_states)
        kept += [states, of_states, self.steps()]
        of_b, next_steps = self.projected(), self.steps()
        of_c, earlier_steps = self.projected(), self.steps()
        of_products = self.make(self.chunks, 1, self.groups, self.chunk, self.chunk).sum(2)
        earlier_steps = earlier_steps.flip([-1]).cumsum(dim=-1).flip([-1])
        partial = self.make(self.heads, self.chunks, -(-self.chunk // ROWS), self.chunk).sum(3)
        return kept, of_b, of_c, of_products, next_steps, earlier_steps, partial


def convolved(inputs):
    """causal_conv1d_fwd: a result like its input."""
    return torch.empty(inputs.shape, dtype=inputs.dtype, device=inputs.device)


class SplitConvolutionScan(torch.autograd.Function):
    """Convolution, scan, gated norm and output projection in one.

    The backward pass recomputes what lies between them.
    """

    @staticmethod
    def forward(
        context,
        projected,
        convolution,
        convolution_bias,
        step_bias,
        decay,
        skip,
        norm,
        out_weight,
        out_bias,
        sizes,
    ):
        heads, head_dim, groups, chunk = sizes
        inner = heads * head_dim
        state = (convolution.shape[0] - inner) // groups // 2
        mixed = convolved(projected[..., inner : inner + convolution.shape[0]])
        x = mixed[..., :inner].unflatten(-1, (heads, head_dim))
        ungated, out = Scan(x, groups, state, chunk).forward(gated=norm is None)
        deviations = None
        if norm is not None:
            deviations = torch.empty(groups * x.shape[0] * x.shape[1], dtype=FP32, device=x.device)
            out = torch.empty_like(ungated)
        out = out.flatten(2)
        if torch.is_autocast_enabled("cuda"):
            out = out.to(torch.get_autocast_dtype("cuda"))
            out_weight = out_weight.to(torch.get_autocast_dtype("cuda"))
            out_bias = out_bias if out_bias is None else out_bias.to(out.dtype)
        tensors = (
            projected,
            convolution,
            convolution_bias,
            ungated,
            decay,
            skip,
            step_bias,
            norm,
            deviations,
            out_weight,
            out_bias,
        )
        context.save_for_backward(*tensors)
        context.sizes = (heads, head_dim, groups, state, chunk)
        return torch.nn.functional.linear(out, out_weight, out_bias)

    @staticmethod
    def backward(context, gradient):
        (
            projected,
            convolution,
            convolution_bias,
            ungated,
            decay,
            skip,
            step_bias,
            norm,
            _,
            out_weight,
            out_bias,
        ) = context.saved_tensors
        heads, head_dim, groups, state, chunk = context.sizes
        inner = heads * head_dim
        again = torch.empty(*ungated.shape[:2], inner, dtype=ungated.dtype, device=ungated.device)
        mixed = convolved(projected[..., inner : inner + convolution.shape[0]])
        x = mixed[..., :inner].unflatten(-1, (heads, head_dim))
        gradients = torch.empty_like(projected), torch.empty_like(mixed)
        of_result = torch.nn.functional.linear(gradient, out_weight.t()).unflatten(
            -1, (heads, head_dim)
        )
        of_scan = torch.empty_like(of_result)
        Scan(x, groups, state, chunk).backward(of_scan)
        del x
        # As autocast does.
        of_weight = torch.einsum("bso,bsd->od", gradient, again.to(gradient.dtype))
        made = [
            None if tensor is None else torch.empty_like(tensor)
            for tensor in (convolution, convolution_bias, step_bias, decay, skip, norm)
        ]
        return (
            gradients[0],
            *made,
            of_weight,
            None if out_bias is None else gradient.sum(dim=(0, 1)),
            None,
        )


def split_convolution_scan(
    projected, convolution, convolution_bias, step_bias, decay, D, chunk_size, **options
):
    """mamba_split_conv1d_scan_combined, with its argument names."""
    sizes = (D.shape[0], options["headdim"], options["ngroups"], chunk_size)
    weights = options["rmsnorm_weight"], options["outproj_weight"], options["outproj_bias"]
    return SplitConvolutionScan.apply(
        projected, convolution, convolution_bias, step_bias, decay, D, *weights, sizes
    )


def scan(x, steps, decay, B, C, chunk_size, D=None, z=None, return_final_states=False, **_):
    """mamba_chunk_scan_combined without gradients."""
    shapes = Scan(x, B.shape[2], B.shape[3], chunk_size)
    _, out = shapes.forward(gated=z is not None)
    last = torch.empty(1, dtype=FP32, device=x.device).expand(
        shapes.batch, shapes.heads, shapes.head_dim, shapes.state
    )
    return (out, last) if return_final_states else out  # the last state stands in the cache


def convolution(inputs, weight, bias=None, activation=None, **_):
    """causal_conv1d_fn without gradients."""
    return convolved(inputs)


for module in (bamba, falcon_h1, granitemoehybrid, mamba2, nemotron_h):
    module.mamba2_split_conv1d_scan_combined = split_convolution_scan
    module.mamba2_chunk_scan = scan
    module.causal_conv1d_fn = convolution
