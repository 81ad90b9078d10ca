"""The place of the dense blocks in a mixture of experts."""

import numpy as np
import pytest

from calc.layout import first_blocks


@pytest.mark.parametrize(
    ("dense", "routed", "first"), [(3, 58, 3), (1, 3, 1), (24, 24, 0), (0, 32, 0)]
)
def test_dense_blocks_come_first_where_at_most_every_fourth_is_dense(dense, routed, first):
    """DeepSeek-V3, four of its blocks as SimuMax runs them, Llama 4 Maverick, gpt-oss."""
    layers, experts = np.array([[dense], [routed]]), np.array([[0], [64]])
    assert first_blocks(layers, experts, np.zeros(1)) == first
