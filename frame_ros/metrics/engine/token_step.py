# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fused token metrics: one object for all four of an inference."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.engine.samples import StepValue
from frame_ros.metrics.token_probabilities import largest_gini


class TokenStep:
    """TB-TP, TB-PCS, TB-D and TB-E over inferences, from the statistics of PolicyInference.

    `tb_tp`, `tb_pcs`, `tb_d` (1), `tb_e` (nats): each has `step` (the newest inference), `value`
    (mean over the last 8) and `mean` (all so far), NaN before the first. Batch form:
    `token_metrics`.

    Source: VLA-UQ eq. 8, 10, 12, 14.
    """

    def __init__(self, normalised: bool = False) -> None:
        """`normalised`: each value is divided by its maximum for V classes."""
        self._normalised = normalised
        self.tb_tp, self.tb_pcs, self.tb_d, self.tb_e = (StepValue(0) for _ in range(4))

    def reset(self) -> None:
        """Forgets everything."""
        for metric in (self.tb_tp, self.tb_pcs, self.tb_d, self.tb_e):
            metric.reset()

    def update(
        self,
        max_probability: Sequence[float],
        second_probability: Sequence[float],
        sum_of_squares: Sequence[float],
        entropy: Sequence[float],
        vocabulary_size: int | None = None,
    ) -> None:
        """Takes the statistics of one inference: TN values each; V where they are normalised.

        Raises:
            ShapeError: no token, or not as many values of each.
            ValueRangeError: a value is not finite, or V is needed and below 2. Nothing has changed
                in either case.
        """
        count = len(max_probability)
        if not count == len(second_probability) == len(sum_of_squares) == len(entropy) or not count:
            sizes = [
                len(each) for each in (max_probability, second_probability, sum_of_squares, entropy)
            ]
            raise ShapeError(f'token statistics have {sizes} values; as many of each, 1 or more')
        largest = sum(max_probability) / count
        tp = 1.0 - largest
        pcs = 1.0 - (largest - sum(second_probability) / count)
        gini = 1.0 - sum(sum_of_squares) / count
        nats = sum(entropy) / count
        total = pcs + gini + nats
        if total - total != 0.0:  # true for NaN and infinity
            raise ValueRangeError('token statistics hold values that are not finite')
        if self._normalised:
            if vocabulary_size is None or vocabulary_size < 2:
                raise ValueRangeError(
                    f'vocabulary_size is {vocabulary_size}; 2 or more is expected to normalise by'
                )
            tp /= largest_gini(vocabulary_size, True)
            gini /= largest_gini(vocabulary_size, True)
            nats /= log(vocabulary_size)
        self.tb_tp.add(tp)
        self.tb_pcs.add(pcs)
        self.tb_d.add(gini)
        self.tb_e.add(nats)
