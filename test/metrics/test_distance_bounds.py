# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The distance that is used: of the nearest seen, or the cautious bound."""

from math import inf, nan

import pytest

from frame_ros.metrics.distance_bounds import CAUTIOUS, NEAREST_SEEN, bounded

CASES = (  # seen, not seen, cautious bound
    (0.2, 0.05, 0.05),
    (0.2, 0.3, 0.2),
    (0.2, inf, 0.2),
    (0.2, nan, 0.2),
    (nan, 0.05, 0.05),
    (nan, inf, nan),
    (nan, nan, nan),
    (-0.01, 0.0, -0.01),
)


@pytest.mark.parametrize(('distance', 'unobserved', 'cautious'), CASES)
def test_the_bounds(distance, unobserved, cautious):
    assert bounded(distance, unobserved, CAUTIOUS) == pytest.approx(cautious, nan_ok=True)
    assert bounded(distance, unobserved, NEAREST_SEEN) == pytest.approx(distance, nan_ok=True)
