"""The classes of log_probabilities.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from calc.catalogs.schemas.kinds import (
    CatalogFile,
    DottedKey,
    Entry,
    Filled,
    FilledMap,
    Flag,
    NotNegative,
    Release,
    Text,
    hint,
)


class Scoring(Entry, kw_only=True):
    """Scoring of the tokens of an objective by a release."""

    software: Annotated[Filled[Text], hint("implementations that score so")]
    objectives: Annotated[Filled[Text], hint("objectives that it holds for")]
    since: Annotated[Release, hint("the first release; 0: from the first one on")]
    fuses_head: Annotated[Flag, hint("1: head and log-probability in tiles, logits never whole")]
    scores_answers: Annotated[
        Flag, hint("1: logits of the answers and one token before each; 0: of whole sequences")
    ]
    forward_bytes_each: Annotated[
        NotNegative, hint("per logit at the forward peak, outputs in 16 bits")
    ]
    wide_forward_bytes_each: Annotated[
        NotNegative, hint("per logit at the forward peak, outputs in fp32")
    ]
    reference_bytes_each: Annotated[
        NotNegative,
        hint("per logit more in the forward pass beside a reference, outputs in 16 bits"),
    ]
    wide_reference_bytes_each: Annotated[
        NotNegative, hint("per logit more in the forward pass beside a reference, outputs in fp32")
    ]
    backward_bytes_each: Annotated[
        NotNegative, hint("per logit as the backward pass begins, outputs in 16 bits")
    ]
    wide_backward_bytes_each: Annotated[
        NotNegative, hint("per logit as the backward pass begins, outputs in fp32")
    ]
    answers_forward_bytes_each: Annotated[
        NotNegative, hint("per logit of the answers at the forward peak, outputs in 16 bits")
    ]
    wide_answers_forward_bytes_each: Annotated[
        NotNegative, hint("per logit of the answers at the forward peak, outputs in fp32")
    ]
    answers_backward_bytes_each: Annotated[
        NotNegative,
        hint("per logit of the answers as the backward pass begins, outputs in 16 bits"),
    ]
    wide_answers_backward_bytes_each: Annotated[
        NotNegative, hint("per logit of the answers as the backward pass begins, outputs in fp32")
    ]
    quiet_bytes_each: Annotated[
        NotNegative, hint("per logit of a pass without gradient, outputs in 16 bits")
    ]
    wide_quiet_bytes_each: Annotated[
        NotNegative, hint("per logit of a pass without gradient, outputs in fp32")
    ]
    metric_values: Annotated[NotNegative, hint("values per vocabulary entry of a metric's chunk")]
    source: Annotated[Text, hint("where the figures come from")]


class File(CatalogFile, kw_only=True):
    """Log-probabilities: what software holds while it scores the tokens of an objective."""

    log_probabilities: Annotated[FilledMap[DottedKey, Scoring], hint("id -> entry, sorted by id")]
