"""The sentences on sequences beyond the context for which a model was made."""


def extension(max_position: float, extended_tokens: float, extended_by: str) -> str:
    """Say how a model's context can be extended; "" if nothing extends it.

    Example: YaRN by 4 in its config.json extends it to 131,072.
    """
    if extended_tokens > max_position:
        return f"{extended_by} in its config.json extends it to {extended_tokens:,.0f}"
    return ""


def context_exceeded(
    model: str,
    max_position: float,
    sequence_tokens: float,
    implementation: str,
    extended_tokens: float,
    extended_by: str,
) -> str:
    """Say that software refuses a sequence beyond the context, and how to serve it."""
    cure = f"take at most {max_position:,.0f} tokens"
    extends = extension(max_position, extended_tokens, extended_by)
    if extends and sequence_tokens <= extended_tokens:
        cure = f"{extends}: bring that config, serve with context_extension yarn, or {cure}"
    elif extends:
        cure = f"{extends}: {cure}, or as many as that with context_extension yarn"
    return (
        f"{model} takes {max_position:,.0f} tokens, and {sequence_tokens:,.0f} are asked for, "
        f"which {implementation} refuses; {cure}."
    )


def beyond_context(
    max_position: float, extended_tokens: float, extended_by: str, trains: bool
) -> str:
    """Say that a sequence is longer than the context, and what that means."""
    limit = f"The model was made for {max_position:,.0f} tokens"
    extends = extension(max_position, extended_tokens, extended_by)
    if trains and extends:
        return f"{limit}: {extends}; longer ones are learned by training."
    if trains:
        return (
            f"{limit}: longer positions are learned by training, with another base of its "
            f"positions."
        )
    if extends:
        return f"{limit}: {extends}; without it, its answers to longer texts are poor."
    return f"{limit}: its answers to longer texts are poor."
