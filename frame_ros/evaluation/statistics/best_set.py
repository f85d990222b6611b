# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policies that cannot be distinguished from the best."""

from __future__ import annotations

from typing import Any

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.statistics.several_tests import checked_p_values
from frame_ros.metrics.arrays import as_floats, on_cpu


def best_set(estimates: Any, p_values: Any, confidence: float = 0.95) -> list[int]:
    """The policies of which none other is significantly better.

    The subset selection of Gupta (1965), as multiple comparisons with the best (Hsu 1996, chapter
    4), with Bonferroni in place of a joint distribution. A policy is left out if another has a
    better estimate and (k - 1) p of this pair is at most 1 - confidence.

    The claim: with probability at least `confidence` the policy that is truly the best is in the
    set (of several best ones, each of them). For it to be left out, one of the k - 1 others must
    be found significantly better though it is not, which is a p-value of at most
    (1 - confidence) / (k - 1). It holds for any number of policies, whatever the dependence of
    the tests, and does not take the best estimate for the best policy. The p-values are two-sided;
    where they are twice the smaller tail (McNemar, Boschloo), half the error is possible only.
    Nothing is claimed of the others in the set: they may be worse, with too few episodes to see it.
    Comparing with the best estimate only, by Holm's method, claims less: the policy that is
    compared with is then chosen by the same data.

    Args:
        estimates: (k,) point estimates, larger is better; NaN: none, such a policy is never left
            out nor leaves one out.
        p_values: (k, k) two-sided p-values of the pairs, symmetric, not adjusted; the diagonal is
            not read; NaN: not compared.
        confidence: in (0, 1).

    Returns:
        Places of the policies in the set, the best estimate first.

    Raises:
        ShapeError: other shapes, or no policy.
        ValueRangeError: a p-value is outside 0 to 1, or confidence not within.
    """
    values = np.asarray(on_cpu(as_floats(estimates, 'estimates', allow_nan=True)[1]), np.float64)
    table = np.asarray(on_cpu(as_floats(p_values, 'p_values', allow_nan=True)[1]), np.float64)
    if values.ndim != 1 or not len(values) or table.shape != (len(values),) * 2:
        raise ShapeError(
            f'estimates have shape {values.shape} and p_values {table.shape}; (k,) and (k, k) are '
            'expected'
        )
    if not 0.0 < confidence < 1.0:
        raise ValueRangeError(f'confidence is {confidence}; a value between 0 and 1 is expected')
    checked_p_values(table[~np.eye(len(values), dtype=np.bool_)])
    beats = (table * (len(values) - 1) <= 1.0 - confidence) & (values[None, :] > values[:, None])
    beaten = set(np.flatnonzero(np.any(beats, axis=1)).tolist())
    order = np.argsort(-values, kind='stable')
    return [place for place in order.tolist() if place not in beaten]
