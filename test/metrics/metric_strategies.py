# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies of the metric tests: positions, stamps, orientations, gaps."""

import numpy as np
from hypothesis import strategies as st

# Coordinates of a robot's work space, m, and of places far from the origin; none so small that its
# square is no longer a number.
coordinates = st.one_of(
    st.floats(-1.0, 1.0).map(lambda value: round(value, 15)),
    st.floats(999.0, 1001.0),
    st.just(0.0),
)


@st.composite
def paths(draw, minimum=1, maximum=24, dimension=3):
    """(T, dimension) positions, m; some of them the same as the one before."""
    count = draw(st.integers(minimum, maximum))
    rows = []
    for _ in range(count):
        if rows and draw(st.integers(0, 5)) == 0:
            rows.append(rows[-1])
        else:
            rows.append([draw(coordinates) for _ in range(dimension)])
    return np.array(rows)


@st.composite
def stamps(draw, count):
    """(count,) strictly increasing ns, irregular."""
    steps = draw(st.lists(st.integers(1_000_000, 100_000_000), min_size=count, max_size=count))
    return 1_700_000_000_000_000_000 + np.cumsum(np.array(steps, dtype=np.int64))


@st.composite
def quaternions(draw, count):
    """(count, 4) xyzw, none of them zero, of any length."""
    part = st.floats(-1.0, 1.0)
    rows = draw(st.lists(st.tuples(part, part, part, part), min_size=count, max_size=count))
    array = np.array(rows).reshape(count, 4)
    array[np.linalg.norm(array, axis=1) < 1e-3] = (0.0, 0.0, 0.0, 1.0)
    return array


@st.composite
def breaks(draw, count):
    """Indices at which a gap begins a new run, sorted, none of them 0."""
    if count < 2:
        return []
    return sorted(draw(st.sets(st.integers(1, count - 1), max_size=3)))
