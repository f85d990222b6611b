# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A causal low-pass over samples at whatever times their stamps say."""

from __future__ import annotations

from cmath import exp
from math import isfinite, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.time import SECOND

Array = NDArray[np.float64]
_JITTERS = 4096  # time steps whose coefficients are kept


class CausalLowPass:
    """Butterworth low-pass of 2nd order over several channels: 1 at DC, -3 dB at the cut-off.

    The continuous filter is solved exactly for an input that runs straight from sample to sample,
    so it needs no constant rate, its cut-off does not depend on the rate, and `delay` is exact at
    every rate: what changes slowly comes out `delay` s later. With the poles p and its conjugate,
    H(s) = w^2 / ((s - p)(s - p*)) = r / (s - p) + r* / (s - p*), so one complex state per channel
    is enough: z' = p z + r u, y = 2 Re z (partial fractions; any textbook of linear systems).

    It starts at rest at its first sample, as if that had lasted for ever.
    """

    __slots__ = ('cutoff', 'delay', '_pole', '_residue', '_rows', '_kept')

    def __init__(self, cutoff: float) -> None:
        """cutoff: Hz.

        Raises:
            ValueRangeError: it is not a positive number.
        """
        if not (isfinite(cutoff) and cutoff > 0):
            raise ValueRangeError(f'a cut-off frequency of {cutoff} Hz; it must be positive')
        omega = 2.0 * pi * cutoff
        self.cutoff = cutoff
        self.delay = sqrt(2.0) / omega  # s, of the group at DC
        self._pole = omega * complex(-1.0, 1.0) / sqrt(2.0)
        self._residue = omega * omega / (2j * self._pole.imag)
        self._kept: dict[int, Array] = {}
        self.reset()

    def reset(self) -> None:
        """Forgets all samples."""
        # Rows: real and imaginary part of the state, the last input, and the newest.
        self._rows: Array | None = None

    def shift(self, offset: Array) -> None:
        """Adds (C,) to all inputs so far, as if they had always been so."""
        if self._rows is not None:
            self._rows = self._rows + self._at_rest(offset)

    def update(self, step: int, values: Array) -> Array:
        """Takes samples (C,) `step` ns after the last; returns the filtered ones (C,)."""
        rows = self._rows
        if rows is None:
            self._rows = self._at_rest(values)
            return values.copy()
        mixing = self._kept.get(step)
        if mixing is None:
            mixing = self._coefficients(step)
        rows[3] = values
        rows[:3] = mixing @ rows
        filtered: Array = 2.0 * rows[0]
        return filtered

    @property
    def slope(self) -> Array:
        """(C,) per s: the rate of the newest filtered values, exactly; raises ShapeError without
        samples.

        Raises:
            ShapeError: there was no sample yet.
        """
        if self._rows is None:
            raise ShapeError('the filter has no slope before its first sample')
        real, imaginary = self._rows[0], self._rows[1]
        found: Array = 2.0 * (self._pole.real * real - self._pole.imag * imaginary)
        return found

    def update_block(self, steps: NDArray[np.int64], values: Array) -> Array:
        """Takes samples (T, C), `steps` (T,) ns after the previous one each; returns (T, C), as
        `update` one by one, up to rounding.
        """
        if not len(values):
            return values.copy()
        if len(values) < 8 or (steps[1:] != steps[1]).any():
            pairs = zip(steps.tolist(), values, strict=True)
            return np.array([self.update(step, row) for step, row in pairs])
        from scipy.signal import lfilter

        first = self.update(int(steps[0]), values[0])
        assert self._rows is not None
        decay, before, now = self._complex(int(steps[1]) / SECOND)
        state = self._rows[0] + 1j * self._rows[1]
        inputs = before * values[:-1] + now * values[1:]
        states, _ = lfilter([1.0 + 0j], [1.0 + 0j, -decay], inputs, axis=0, zi=decay * state[None])
        self._rows[0], self._rows[1] = states[-1].real, states[-1].imag
        self._rows[2] = values[-1]
        return np.concatenate([first[None, :], 2.0 * states.real])

    def _at_rest(self, values: Array) -> Array:
        state = -self._residue / self._pole
        return np.array([state.real, state.imag, 1.0, 1.0])[:, None] * values

    def _coefficients(self, step: int) -> Array:
        """Returns (3, 4): the new first three rows of the four."""
        decay, before, now = self._complex(step / SECOND)
        if len(self._kept) >= _JITTERS:
            self._kept.clear()
        self._kept[step] = mixing = np.array(
            [
                [decay.real, -decay.imag, before.real, now.real],
                [decay.imag, decay.real, before.imag, now.imag],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
        return mixing

    def _complex(self, time: float) -> tuple[complex, complex, complex]:
        """Returns the weights of state, last input and new input in the state `time` s later."""
        reach = self._pole * time
        decay = exp(reach)
        if abs(reach) > 0.01:
            constant = (decay - 1.0) / self._pole
            rising = (decay - 1.0 - reach) / (self._pole * reach)
        else:  # the same by their series, which lose no digits
            constant = time * (1.0 + reach / 2 * (1.0 + reach / 3 * (1.0 + reach / 4)))
            rising = time * (0.5 + reach / 6 * (1.0 + reach / 4 * (1.0 + reach / 5)))
        return decay, self._residue * (constant - rising), self._residue * rising
