"""The feed-forward network of one block, dense or mixture of experts. Counts, not bytes.

Source: Vaswani et al. 2017, arXiv 1706.03762; gated: Shazeer 2020, arXiv 2002.05202; routed
experts: Shazeer et al. 2017, arXiv 1701.06538, and Fedus et al. 2021, arXiv 2101.03961; shared
experts: DeepSeekMoE, arXiv 2401.06066.
"""


def dense_parameters(gated, hidden, ffn_width):
    """Weight matrices of the dense feed-forward network. [parameters]

    Vaswani et al. 2017, arXiv 1706.03762, equation 2; gated: Shazeer 2020, arXiv 2002.05202.
    """
    return (2 + gated) * hidden * ffn_width


def dense_biases(mlp_bias, down_bias, gated, ffn_width, hidden, experts):
    """Biases of the dense network; a block with experts has none. [parameters]"""
    if experts or not ffn_width:
        return 0
    return mlp_bias * (1 + gated) * ffn_width + max(mlp_bias, down_bias) * hidden


def expert_hidden(hidden, expert_latent):
    """Width of routed experts' inputs; a latent in Nemotron 3 Super. [elements per token]"""
    return expert_latent or hidden


def expert_latent_parameters(expert_latent, hidden):
    """Matrices into the latent of the experts and out of it. [parameters]"""
    return 2 * hidden * expert_latent


def block_expert_parameters(experts, gated, expert_hidden, expert_ffn_width, expert_bias):
    """Parameters of all routed experts of one block. [parameters]

    Shazeer et al. 2017, arXiv 1701.06538; Fedus et al. 2021, arXiv 2101.03961.
    """
    biases = expert_bias * ((1 + gated) * expert_ffn_width + expert_hidden)
    return experts * ((2 + gated) * expert_hidden * expert_ffn_width + biases)


def shared_parameters(gated, hidden, shared_ffn_width, shared_gate, mlp_bias):
    """Parameters of the shared experts, which serve every token, and their gate. [parameters]

    DeepSeekMoE, arXiv 2401.06066, section 3.2; the gate: transformers, modeling_qwen2_moe.py.
    """
    biases = mlp_bias * ((1 + gated) * shared_ffn_width + hidden) if shared_ffn_width else 0
    return (
        (2 + gated) * hidden * shared_ffn_width
        + biases
        + (shared_gate * hidden if shared_ffn_width else 0)
    )


def router_parameters(experts, hidden, router_bias, router_scales):
    """Parameters of the router, and of Gemma 4's scales. [parameters]

    Shazeer et al. 2017, arXiv 1701.06538, section 2.1; Fedus et al. 2021, arXiv 2101.03961.
    """
    return experts * (hidden + router_bias) + (router_scales * (hidden + experts) if experts else 0)


def moe_parameters(
    block_expert_parameters, shared_parameters, router_parameters, expert_latent_parameters
):
    """Parameters of routed and shared experts, router and latent. [parameters]"""
    return (
        block_expert_parameters + shared_parameters + router_parameters + expert_latent_parameters
    )


def expert_linear_parameters(
    gated,
    experts,
    expert_hidden,
    expert_ffn_width,
    hidden,
    shared_ffn_width,
    shared_gate,
    expert_latent_parameters,
):
    """Weight matrices of routed and shared experts without the router. [parameters]"""
    of_experts = (2 + gated) * (
        experts * expert_hidden * expert_ffn_width + hidden * shared_ffn_width
    ) + expert_latent_parameters
    return of_experts + (shared_gate * hidden if shared_ffn_width else 0)


def largest_network_matrix(
    hidden,
    gated,
    fused_gate_up,
    ffn_width,
    shared_ffn_width,
    experts,
    expert_hidden,
    expert_ffn_width,
):
    """Size of the largest matrix of the network. [elements]

    transformers stacks the gate and up matrices of all experts in one.
    """
    of_dense = hidden * max((1 + fused_gate_up) * ffn_width, shared_ffn_width)
    return max(of_dense, experts * expert_hidden * (1 + gated) * expert_ffn_width)
