# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A magnitude against a threshold, with hysteresis and debounce by the samples' own stamps."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import option
from frame_ros.core.time import SECOND

LONGEST = 3600.0  # s


def end_share(default: float) -> float:
    """The option of the share of `on` that is `off`."""
    text = 'share of the threshold below which a contact ends'
    return option(default, text, above=0.0, at_most=1.0, live=True)


def time_of(default: float, text: str) -> float:
    """The option of a debounce, s."""
    text = f'time for which {text} must last'
    return option(default, text, unit='s', at_least=0.0, at_most=LONGEST, live=True)


class Threshold:
    """A comparison of a magnitude with a threshold: `is_over`.

    It becomes true once every sample of `on_time` has been at least `on`, and false once every
    sample of `off_time` has been below `off`; in between nothing changes. With a time of 0 the
    first such sample decides. A magnitude that is NaN, and a sample whose stamp is not after the
    one before, change nothing; a NaN also interrupts a pending change.
    """

    __slots__ = (
        'on', 'off', 'on_time', 'off_time', 'is_over', 'since', '_on', '_off', '_pending', '_last',
    )  # fmt: skip

    def __init__(self, on: float, off: float, on_time: float = 0.0, off_time: float = 0.0) -> None:
        """Makes a threshold, not reached; arguments as of `change`."""
        self.change(on, off, on_time, off_time)
        self.reset()

    def change(self, on: float, off: float, on_time: float, off_time: float) -> None:
        """Takes other values from the next sample on.

        Args:
            on, off: in the unit of the magnitude, on >= off >= 0.
            on_time, off_time: s.

        Raises:
            ValueRangeError: on is below off, or a value is negative or not finite.
        """
        if not all(map(isfinite, (on, off, on_time, off_time))) or min(off, on_time, off_time) < 0:
            raise ValueRangeError(
                f'a threshold of on={on}, off={off}, on_time={on_time} s, off_time={off_time} s; '
                f'all must be finite and not negative'
            )
        if on < off:
            raise ValueRangeError(
                f'the threshold begins at {on} and ends below {off}; the end must not be above'
            )
        self.on, self.off, self.on_time, self.off_time = on, off, on_time, off_time
        self._on, self._off = round(on_time * SECOND), round(off_time * SECOND)

    def reset(self) -> None:
        """Forgets all samples: under the threshold."""
        self.is_over = False
        self.since: int | None = None  # stamp of the first sample of what `is_over` says, ns
        self._pending: int | None = None
        self._last: int | None = None

    def end(self) -> None:
        """Ends what is over the threshold, whatever is left of it: it begins again from `on`."""
        if self.is_over:
            self.is_over, self.since, self._pending = False, self._last, None

    def update(self, stamp: int, magnitude: float) -> bool:
        """Takes one sample, stamp in ns; returns `is_over`."""
        if self._last is not None and stamp <= self._last:
            return self.is_over
        self._last = stamp
        changes = magnitude < self.off if self.is_over else magnitude >= self.on
        if not changes:
            self._pending = None
            return self.is_over
        if self._pending is None:
            self._pending = stamp
        if stamp - self._pending >= (self._off if self.is_over else self._on):
            self.is_over = not self.is_over
            self.since, self._pending = self._pending, None
        return self.is_over

    def update_block(
        self, stamps: NDArray[np.int64], magnitudes: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Takes samples (T,) at once; returns `is_over` after each, as `update` does one by one."""
        bound = self.off if self.is_over else self.on
        changes = magnitudes < bound if self.is_over else magnitudes >= bound
        if not len(stamps):
            return np.zeros(0, dtype=bool)
        rises = (self._last is None or stamps[0] > self._last) and (np.diff(stamps) > 0).all()
        if rises and not changes.any():
            self._last, self._pending = int(stamps[-1]), None
            return np.full(len(stamps), self.is_over)
        pairs = zip(stamps.tolist(), magnitudes.tolist(), strict=True)
        return np.array([self.update(stamp, value) for stamp, value in pairs])
