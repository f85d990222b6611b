# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Points of the curves that are drawn: time-to-success CDFs and what is traced through them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.kaplan_meier import KaplanMeier, curve_of

Array = NDArray[np.float64]
STEPS = 600  # of a curve that are drawn; one is about a pixel wide
PP_POINTS = 2000  # points of a P-P curve up to which all corners are drawn


class Band(NamedTuple):
    """Pointwise interval of a CDF.

    Attributes:
        times: (k,) s, ascending.
        lower, upper: (k,) ends of the interval of F at them; NaN where there is none.
    """

    times: Array
    lower: Array
    upper: Array


def curves_of(cells: Mapping[str, Cell]) -> dict[str, KaplanMeier]:
    """Returns object -> the estimate of its cell; objects without operations are left out."""
    return {name: curve_of(cell) for name, cell in cells.items() if len(cell.times)}


def step_corners(curve: KaplanMeier, tau: float, steps: int = STEPS) -> tuple[Array, Array]:
    """Returns times and F of the steps over [0, tau], both ends included, for a line that goes
    right, then up; steps that fall into one pixel are one.
    """
    until = curve.times[curve.times <= tau]
    times = np.concatenate([[0.0], until, [tau]])
    return thinned_steps(times, np.asarray(curve.cdf(times)), steps)


def thinned_steps(times: Array, values: Array, steps: int = STEPS) -> tuple[Array, Array]:
    """Returns a step curve whose jumps lie at least 1 / steps of its width apart: of closer ones
    the place of the first with the value of the last.
    """
    if len(times) <= 2:
        return times, values
    pixel = np.floor((times - times[0]) / max(times[-1] - times[0], 1e-12) * steps)
    is_first = np.diff(pixel, prepend=-1.0) > 0
    is_last = np.append(is_first[1:], True)
    kept_times, kept_values = times[is_first], values[is_last]
    if kept_times[-1] < times[-1]:
        kept_times, kept_values = (
            np.append(kept_times, times[-1]),
            np.append(kept_values, values[-1]),
        )
    return kept_times, kept_values


def macro_steps(curves: Sequence[KaplanMeier], tau: float) -> tuple[Array, Array]:
    """Returns times and the mean over curves of F, as `step_corners`."""
    every = np.unique(np.concatenate([[0.0], *(each.times for each in curves), [tau]]))
    times = every[every <= tau]
    return thinned_steps(times, np.mean([each.cdf(times) for each in curves], axis=0))


def pp_corners(curve: KaplanMeier, reference: KaplanMeier, tau: float) -> tuple[Array, Array]:
    """Returns F of the reference and of the curve at every time up to tau from (0, 0) on. Joined by
    straight lines, and from the last one to (1, 1), the area below is `probability_faster`: ties
    and what is beyond tau count half. PhAIL, section 3.2.
    """
    times = np.union1d(curve.times, reference.times)
    times = np.concatenate([[-1.0], times[times <= tau]])
    x, y = np.asarray(reference.cdf(times)), np.asarray(curve.cdf(times))
    corner = np.ones(len(x), bool)
    # Points inside a horizontal or vertical run are on the line between its ends.
    corner[1:-1] = ~((np.diff(x)[:-1] == 0) & (np.diff(x)[1:] == 0)) & ~(
        (np.diff(y)[:-1] == 0) & (np.diff(y)[1:] == 0)
    )
    x, y = x[corner], y[corner]
    if len(x) > PP_POINTS:
        kept = np.unique(np.linspace(0, len(x) - 1, PP_POINTS).round().astype(int))
        x, y = x[kept], y[kept]
    return x, y
