# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A causal low-pass over samples at whatever times their stamps say."""

from __future__ import annotations

from cmath import exp
from math import isfinite, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.time import SECOND

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
SHORT = 0.01  # share of a radian of the pole, up to which its exponential is taken as a series
MOST_DECAY = 12.0  # e-folds of a state, in which a sum of what it was keeps all but five digits
CHUNK = 1024  # samples that are looked at together
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
        found = np.empty_like(values)
        row = 0
        while row < len(values):
            row += self._chunk(steps[row : row + CHUNK], values[row : row + CHUNK], found[row:])
        return found

    def _chunk(self, steps: NDArray[np.int64], values: Array, found: Array) -> int:
        """Filters samples into `found`; returns how many: those in which a state keeps digits.

        The state z of the sample k is P_k (z_0 + sum of u_j / P_j), with the inputs u and the decay
        P_k since the first sample.
        """
        found[0] = self.update(int(steps[0]), values[0])
        elapsed = np.add.accumulate(steps[1:]) / SECOND
        count = int(np.searchsorted(elapsed, MOST_DECAY / -self._pole.real, side='right'))
        if count < 4:
            return 1
        assert self._rows is not None
        steps, values = steps[1 : count + 1], values[: count + 1]
        before: complex | Complex
        now: complex | Complex
        if (steps == steps[0]).all():
            _, before, now = self._complex(int(steps[0]) / SECOND)
        else:
            before, now = self._weights(steps / SECOND)
        decay = np.exp(self._pole * elapsed[:count])[:, None]
        states = (before * values[:-1] + now * values[1:]) / decay
        states = np.add.accumulate(states, axis=0, out=states)
        states += self._rows[0] + 1j * self._rows[1]
        states *= decay
        self._rows[0], self._rows[1] = states[-1].real, states[-1].imag
        self._rows[2] = values[-1]
        np.multiply(states.real, 2.0, out=found[1 : count + 1])
        return count + 1

    def _weights(self, times: Array) -> tuple[Complex, Complex]:
        """Returns the weights (T, 1) of last and new input, as `_complex` of each time, s."""
        reach = self._pole * times
        short = abs(self._pole) * times <= SHORT
        long = np.where(short, 1.0, reach)  # no division by what is near 0
        decay = np.exp(reach)
        constant = np.where(short, _constant(reach) * times, (decay - 1.0) / self._pole)
        rising = np.where(
            short, _rising(reach) * times, (decay - 1.0 - reach) / (self._pole * long)
        )
        before, now = self._residue * (constant - rising), self._residue * rising
        return before[:, None], now[:, None]

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
        if abs(reach) > SHORT:
            constant = (decay - 1.0) / self._pole
            rising = (decay - 1.0 - reach) / (self._pole * reach)
        else:  # the same by their series, which lose no digits
            constant, rising = time * _constant(reach), time * _rising(reach)
        return decay, self._residue * (constant - rising), self._residue * rising


def _constant(reach: Any) -> Any:
    """Returns (exp(r) - 1) / r of a small r."""
    return 1.0 + reach / 2 * (1.0 + reach / 3 * (1.0 + reach / 4))


def _rising(reach: Any) -> Any:
    """Returns (exp(r) - 1 - r) / r^2 of a small r."""
    return 0.5 + reach / 6 * (1.0 + reach / 4 * (1.0 + reach / 5))
