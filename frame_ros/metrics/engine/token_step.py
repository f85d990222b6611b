# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fused token metrics of the live path: one object for all four of an inference."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import log

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.constants import NAN, WINDOW
from frame_ros.metrics.token_probabilities import gini_maximum


class TokenStep:
    """TB-TP, TB-PCS, TB-D and TB-E over inferences, from the statistics of PolicyInference.

    Values, NaN before the first inference: `tb_tp`, `tb_pcs`, `tb_d` (1), `tb_e` (nats), each the
    mean over the last 8 inferences, with `_step` (this inference) and `_mean` (all so far).
    `samples`: inferences since `reset`. Batch form: `token_metrics`.

    Source: VLA-UQ eq. 8, 10, 12, 14.
    """

    __slots__ = (
        'tb_tp', 'tb_pcs', 'tb_d', 'tb_e', 'tb_tp_step', 'tb_pcs_step', 'tb_d_step', 'tb_e_step',
        'tb_tp_mean', 'tb_pcs_mean', 'tb_d_mean', 'tb_e_mean', 'samples',
        '_normalised', '_sum1', '_sum2', '_sum3', '_sum4',
        '_window1', '_window2', '_window3', '_window4',
    )  # fmt: skip

    def __init__(self, normalised: bool = False) -> None:
        """`normalised`: each value is divided by its maximum for V classes."""
        self._normalised = normalised
        self._window1: deque[float] = deque(maxlen=WINDOW)
        self._window2: deque[float] = deque(maxlen=WINDOW)
        self._window3: deque[float] = deque(maxlen=WINDOW)
        self._window4: deque[float] = deque(maxlen=WINDOW)
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.tb_tp = self.tb_pcs = self.tb_d = self.tb_e = NAN
        self.tb_tp_step = self.tb_pcs_step = self.tb_d_step = self.tb_e_step = NAN
        self.tb_tp_mean = self.tb_pcs_mean = self.tb_d_mean = self.tb_e_mean = NAN
        self.samples = 0
        self._sum1 = self._sum2 = self._sum3 = self._sum4 = 0.0
        for window in (self._window1, self._window2, self._window3, self._window4):
            window.clear()

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
            tp /= gini_maximum(vocabulary_size)
            gini /= gini_maximum(vocabulary_size)
            nats /= log(vocabulary_size)
        self._add(tp, pcs, gini, nats)

    def _add(self, tp: float, pcs: float, gini: float, nats: float) -> None:
        self.samples = samples = self.samples + 1
        size = samples if samples < WINDOW else WINDOW
        self.tb_tp_step, self.tb_pcs_step, self.tb_d_step, self.tb_e_step = tp, pcs, gini, nats
        window = self._window1
        window.append(tp)
        self.tb_tp = sum(window) / size
        window = self._window2
        window.append(pcs)
        self.tb_pcs = sum(window) / size
        window = self._window3
        window.append(gini)
        self.tb_d = sum(window) / size
        window = self._window4
        window.append(nats)
        self.tb_e = sum(window) / size
        self._sum1 += tp
        self._sum2 += pcs
        self._sum3 += gini
        self._sum4 += nats
        self.tb_tp_mean = self._sum1 / samples
        self.tb_pcs_mean = self._sum2 / samples
        self.tb_d_mean = self._sum3 / samples
        self.tb_e_mean = self._sum4 / samples
