# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The probability that a noisy value stays the same, against scipy."""

import numpy as np
import pytest
from scipy.special import erf, ndtri

from frame_ros.sensing.stream_health.own_noise import (
    BIN_SAMPLES,
    LEAST_LOG,
    WEAKEST,
    NoiseWhileStanding,
)


@pytest.mark.parametrize('jumps', [0, 5, 10, 15, 20])
def test_the_probability_to_stay_is_scipys(jumps):
    noise = NoiseWhileStanding(1)
    noise.see(np.array([1.0]))
    for _ in range(WEAKEST):
        for sample in range(BIN_SAMPLES):
            noise.add(np.array([2.0 if sample < jumps else 0.0]), 1.0 / (BIN_SAMPLES - 0.5))
    share = jumps / BIN_SAMPLES
    share -= 2.0 * np.sqrt(share / (WEAKEST * BIN_SAMPLES))
    with np.errstate(divide='ignore'):
        expected = max(np.log(erf(0.5 * ndtri(1.0 - 0.5 * max(share, 0.0)))), LEAST_LOG)
    assert noise.log_same[0] == pytest.approx(expected, abs=1e-12)
