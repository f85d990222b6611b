# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Seeded, causal noise of wrist force-torque sensors, joint torque sensors and encoders.

All take one sample or a block of samples, and give the same numbers either way. They are called
with every sample, at the rate that they were made for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.robots.simulated import EncoderOptions

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WrenchNoiseOptions:
    """A strain-gauge sensor at the wrist; first value N, second N m.

    noise: RMS of white noise per sample. bias: RMS of the constant offset before a tare. drift: RMS
    of the random walk of the offset after one second (after one hour 60 times as much). resolution:
    of the values.

    Of the order of ATI's Mini45 (calibration SI-145-5: resolution 1/16 N and 1/752 N m). The drift
    is an assumption: 0.6 N in an hour, as temperature brings about.
    """

    noise: tuple[float, float] = (0.05, 0.002)
    bias: tuple[float, float] = (2.0, 0.05)
    drift: tuple[float, float] = (0.01, 0.0003)
    resolution: tuple[float, float] = (1 / 16, 1 / 752)


class WrenchNoise:
    """Noise, offset and drift of a wrench (6,): force, torque. bias: (6,) the offset now."""

    def __init__(
        self,
        rate: float,
        settings: WrenchNoiseOptions | None = None,
        seed: int = 0,
    ) -> None:
        """rate: Hz of the samples.

        Raises:
            ValueRangeError: the rate is not positive or the seed negative.
        """
        settings = settings or WrenchNoiseOptions()
        self._rng = _generator(rate, seed, 0xF0)
        self._noise = np.repeat(settings.noise, 3)
        self._walk = np.repeat(settings.drift, 3) / math.sqrt(rate)
        self._resolution = np.repeat(settings.resolution, 3)
        self.bias: Array = np.repeat(settings.bias, 3) * self._rng.standard_normal(6)

    def __call__(self, wrench: ArrayLike) -> Array:
        """Returns the sensor's reading of a wrench (6,), or of samples (N, 6) one after the
        other.

        Raises:
            ShapeError: it is neither.
        """
        values, rows = _rows(wrench, 6)
        drawn = self._rng.standard_normal((len(rows), 2, 6))
        offsets = np.cumsum(np.vstack((self.bias[None], self._walk * drawn[:, 0])), axis=0)[1:]
        self.bias = offsets[-1] if len(rows) else self.bias
        noisy = rows + offsets + self._noise * drawn[:, 1]
        return _rounded(noisy, self._resolution).reshape(values.shape)


@dataclass(frozen=True)
class JointTorqueNoiseOptions:
    """Joint torque sensors, N m.

    noise: RMS of white noise per sample at 1 kHz. error: RMS over postures of an error that depends
    on the posture: of the sensors and of the model that the reader subtracts. drift: RMS of the
    random walk after one second. resolution: of the values.

    Franka's data sheet of the Panda gives a resolution of 0.02, a relative accuracy of 0.15, a
    repeatability of 0.05 and a noise of 0.005 N m RMS. The white noise here is more, as raw samples
    have the control's ripple.
    """

    noise: float = 0.02
    error: float = 0.15
    drift: float = 0.0005
    resolution: float = 0.005


class JointTorqueNoise:
    """Noise and posture-dependent error of the torques (A,) of an arm's joints."""

    _WAVES = 4

    def __init__(
        self,
        rate: float,
        settings: JointTorqueNoiseOptions | None = None,
        joints: int = 7,
        seed: int = 0,
    ) -> None:
        """rate: Hz of the samples.

        Raises:
            ValueRangeError: the rate is not positive or the seed negative.
        """
        self._rng = _generator(rate, seed, 0xF1)
        self._settings = settings = settings or JointTorqueNoiseOptions()
        self._joints = joints
        self._waves = self._rng.standard_normal((joints, self._WAVES, joints)) * 0.8
        self._phases = self._rng.uniform(-math.pi, math.pi, (joints, self._WAVES))
        self._walk = settings.drift / math.sqrt(rate)
        self._offset: Array = np.zeros(joints)

    def error(self, positions: ArrayLike) -> Array:
        """(A,) or (N, A) N m: the part that depends on the posture (rad) alone."""
        values, rows = _rows(positions, self._joints)
        angles = np.einsum('jwk,nk->njw', self._waves, rows) + self._phases
        share = self._settings.error * math.sqrt(2.0 / self._WAVES)
        return (share * np.sin(angles).sum(axis=2)).reshape(values.shape)

    def __call__(self, torques: ArrayLike, positions: ArrayLike) -> Array:
        """Returns the sensors' reading of torques (A,) N m at positions (A,) rad; or (N, A) of
        both.

        Raises:
            ShapeError: these do not fit.
        """
        values, rows = _rows(torques, self._joints)
        drawn = self._rng.standard_normal((len(rows), 2, self._joints))
        steps = np.vstack((self._offset[None], self._walk * drawn[:, 0]))
        offsets = np.cumsum(steps, axis=0)[1:]
        self._offset = offsets[-1] if len(rows) else self._offset
        noisy = rows + offsets + self._settings.noise * drawn[:, 1]
        noisy += self.error(positions).reshape(rows.shape)
        return _rounded(noisy, np.array(self._settings.resolution)).reshape(values.shape)


class JointNoise:
    """Positions and velocities of encoders."""

    def __init__(self, rate: float, settings: EncoderOptions, joints: int, seed: int = 0) -> None:
        """rate: Hz of the samples.

        Raises:
            ValueRangeError: the rate is not positive or the seed negative.
        """
        self._rng = _generator(rate, seed, 0xF2)
        self._settings, self._joints, self._rate = settings, joints, rate
        self._lag = max(1, round(settings.velocity_window * rate))
        self._past: Array = np.zeros((0, joints))

    def __call__(self, positions: ArrayLike, velocities: ArrayLike) -> tuple[Array, Array]:
        """Positions and velocities as measured, of the shape of the arguments, (D,) or (N, D).

        Raises:
            ShapeError: these do not fit.
        """
        values, rows = _rows(positions, self._joints)
        speeds = np.asarray(velocities, np.float64)
        if speeds.shape != values.shape:
            raise ShapeError(f'velocities of {speeds.shape} for positions of {values.shape}')
        measured = _rounded(rows, np.array(self._settings.resolution))
        drawn = self._rng.standard_normal(rows.shape) * self._settings.velocity_noise
        if self._settings.velocity_window:
            rates = self._differences(measured)
        else:
            rates = speeds.reshape(rows.shape)
        return measured.reshape(values.shape), (rates + drawn).reshape(values.shape)

    def _differences(self, measured: Array) -> Array:
        """(N, D) per second, over the window, or over what there is of it since the beginning."""
        count, lag = len(measured), self._lag
        history = np.vstack((self._past, measured))
        last = np.arange(len(history) - count, len(history))
        first = np.maximum(last - lag, 0)
        elapsed = np.maximum(last - first, 1)[:, None] / self._rate
        self._past = history[-lag:]
        return (history[last] - history[first]) / elapsed


def _generator(rate: float, seed: int, stream: int) -> np.random.Generator:
    if seed < 0 or not rate > 0:
        raise ValueRangeError(f'noise needs a rate above 0 Hz and a seed >= 0: {rate}, {seed}')
    return np.random.default_rng((seed, stream))


def _rows(values: ArrayLike, width: int) -> tuple[Array, Array]:
    """As an array, and as (N, width)."""
    array = np.asarray(values, np.float64)
    if array.ndim not in (1, 2) or array.shape[-1] != width:
        raise ShapeError(f'samples of {array.shape}: needed are ({width},) or (N, {width})')
    return array, array.reshape(-1, width)


def _rounded(values: Array, resolution: Array | Sequence[float]) -> Array:
    return np.rint(values / resolution) * resolution
