"""The moments of a training step and of a request in words: what is alive."""

MOMENTS = {
    "load": "The model on the GPU before anything runs",
    "rollout": "Answers are generated, next to the rest of the training state",
    "log-probs": "Answers and references are scored without gradient",
    "head-forward": "The head's forward pass: everything saved, logits upcast",
    "loss-gradient": "The loss's gradient: everything saved and the logits' gradients",
    "head-gradient": "The head's own gradient, next to that of earlier micro-batches",
    "head-reduction": "The reduction of the head's gradient, while the blocks' activations remain",
    "embedding-gradient": "The embedding's gradient, built dense, and FSDP's last reduction",
    "optimizer-step": "The optimizer's step: all gradients and the step's temporaries",
    "prompt-block": "The prompt passes through the widest block",
    "prompt-logits": "The prompt's logits: of its last token, or of all",
    "decode": "One token per sequence on the full cache",
    "block-products": "The backward pass inside one block, at its widest products",
    "block-attention": "The backward pass inside one block, at attention's worst moment",
    "block-gradients": "The backward pass inside one block, once it has all its gradients",
    "block-reduction": "The backward pass inside one block, while its gradients are reduced",
}
