# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Times of the simulator's ticks and of the work at each; stamps and times in ns."""

from __future__ import annotations

from collections.abc import Mapping

from frame_ros.core.time import SECOND

TICK = 10_000_000  # between two looks at the commands; everything is published at a tick
FAST_TICK = 5_000_000  # of a robot whose joint states come at a kilohertz
# Lateness from which time is given up rather than caught up: less than others wait for. The arm
# then stands still while stamps go on, unlike a real one.
LARGEST_LAG = 200_000_000
# Lateness from which ticks only move the arm and read its sensors, to catch up sooner.
FAR_BEHIND = 50_000_000
# Lateness from which images are left out, so that physics and stamps stay on time. A lower priority
# of the rendering thread does not help: while it waits for a core it can hold the interpreter's
# lock, and physics waits with it.
LATE = 15_000_000
LONGEST_GAP = 250_000_000  # after which a camera has its image however late it is


class Pace:
    """Keeps the stamps of the ticks in step with the clock.

    Attributes:
        delays: number of times that time was given up.
        given_up: its sum.
    """

    def __init__(self, tick: int = TICK) -> None:
        self._tick = tick
        self.delays = 0
        self.given_up = 0

    def next(self, stamp: int, now: int) -> int:
        """Returns the stamp of the next tick: one tick later, or the clock's time if far behind it
        or after it was set back.
        """
        due = stamp + self._tick
        lag = now - due
        if abs(lag) <= LARGEST_LAG:
            return due
        self.delays += 1
        self.given_up += max(lag, 0)
        return now


class Schedule:
    """Finds the stamps at which something is due; never twice to catch up."""

    def __init__(self, rate: float, offset: float = 0.0, tick: int = TICK):
        """Sets the rate in Hz; 0 is never.

        Args:
            offset: share of the period by which the first is delayed.
            tick: ns between two calls.
        """
        self._tolerance = tick // 2
        self._period = round(SECOND / rate) if rate > 0 else 0
        self._next: int | None = None
        self._offset = offset

    def is_due(self, stamp: int) -> bool:
        """Returns whether it is due at `stamp` (ns), which must rise from call to call."""
        if not self._period:
            return False
        if self._next is None:
            self._next = stamp + round(self._offset * self._period)
        if stamp < self._next - self._tolerance:
            return False
        self._next += self._period
        if self._next <= stamp:
            self._next = stamp + self._period
        return True


class Sampling:
    """The timesteps of the physics that a stream samples: at ends of ticks, or several in every
    tick.

    every: timesteps between two samples; 0: at ticks chosen by a schedule.
    """

    def __init__(self, rate: float, timestep: int, tick: int) -> None:
        """rate: Hz; above one in a tick, a whole number of timesteps apart. timestep, tick: ns."""
        self._steps = tick // timestep
        self.every = round(SECOND / rate / timestep) if rate * tick > SECOND else 0
        self._schedule = Schedule(0.0 if self.every else rate, tick=tick)
        self._passed = 0

    def due(self, stamp: int) -> list[int]:
        """Returns the timesteps to sample, from 0, of the tick that ends at `stamp`."""
        if not self.every:
            return [self._steps - 1] if self._schedule.is_due(stamp) else []
        first = -self._passed % self.every
        self._passed += self._steps
        return list(range(first, self._steps, self.every))


class PictureParts:
    """The parts of a camera's pictures: image, depth, or both of one instant.

    rate: Hz of the pictures, of the more frequent part: every picture has it.
    """

    def __init__(self, image_rate: float, depth_rate: float, tick: int) -> None:
        """Rates in Hz; 0 is never."""
        self.rate = max(image_rate, depth_rate)
        self._has_image, self._has_depth = image_rate == self.rate, depth_rate == self.rate
        self._other = Schedule(min(image_rate, depth_rate), tick=tick)

    def due(self, stamp: int) -> tuple[bool, bool]:
        """Returns whether the picture at `stamp` has the image, and whether the depth."""
        is_other = self._other.is_due(stamp)
        return self._has_image or is_other, self._has_depth or is_other


class PictureSchedule:
    """Chooses the cameras with a due picture, and leaves pictures out while physics is late.

    Attributes:
        schedules: by camera.
        left_out: number of pictures left out.
    """

    def __init__(self, schedules: Mapping[str, Schedule]) -> None:
        self._schedules = dict(schedules)
        self._newest: dict[str, int] = {}
        self.left_out = 0

    def due(self, stamp: int, now: int) -> list[str]:
        """The cameras to draw from at `stamp`, which must rise from call to call. now: the time."""
        due = [camera for camera, schedule in self._schedules.items() if schedule.is_due(stamp)]
        drawn = [
            camera
            for camera in due
            if now - stamp <= LATE or stamp - self._newest.get(camera, 0) > LONGEST_GAP
        ]
        self._newest.update(dict.fromkeys(drawn, stamp))
        self.left_out += len(due) - len(drawn)
        return drawn
