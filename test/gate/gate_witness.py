# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An observer of what a command gate sends, who knows nothing of how it came about."""

import math
from collections import deque

import numpy as np

from frame_ros.core.time import SECOND

START = 1 / 30  # s that an arm counts as having been where it is measured when it is sent first
NEAR = 0.1  # rad
REMEMBERED = 40
LED = 5.0  # s ago that a joint may have been where it is led


class Witness:
    """Checks every output: in range, no faster than v, no change of speed faster than a. Who was
    measured outside its range begins there, and does not go farther. Where v is lowered, a faster
    joint brakes; where a is, it brakes at the former a until it can come to rest in a step.

    By the times that come with the outputs, which may lie behind the clock by at most the slot (s),
    and, of speed, by the clock itself over all outputs of late, the slot added.
    """

    def __init__(self, limits, slot):
        self.limits, self.slot = limits, slot
        size = len(limits.names)
        self.strong = limits.acceleration.copy()  # the acceleration in force
        self.place, self.speed = [None] * size, [0.0] * size
        self.lasted = [0.0] * size  # the last step, s
        self.time, self.sent = [0] * size, [0] * size
        self.silent = [0.0] * size  # before the last output, s
        self.before = [None] * size  # place and time before the last output
        self.measured = deque()  # of late, with its time
        self.past = [deque(maxlen=REMEMBERED) for _ in range(size)]

    def silences(self, now):
        """(D,) for how long (s) each joint was sent nothing; 0 if it never was."""
        return np.array([(now - sent if sent else 0) / SECOND for sent in self.sent])

    def limit_to(self, limits):
        """The limits were set to others."""
        self.limits = limits
        is_at_once = (np.array(self.speed) == 0.0) | (limits.acceleration >= self.strong)
        self.strong = np.where(is_at_once, limits.acceleration, self.strong)

    def set_back(self, ns):
        """The clock of the stream was set back."""
        self.time = [time - ns for time in self.time]
        self.sent = [sent and sent - ns for sent in self.sent]
        self.past = [
            deque(((then - ns, place, fast) for then, place, fast in past), maxlen=REMEMBERED)
            for past in self.past
        ]
        self.measured = deque((then - ns, seen) for then, seen in self.measured)

    def see(self, joints, places, times, now, measured, returns=False):
        """One output at `now` (ns), places (K,) of the joints at times (K,), ns. measured: (D,).
        returns: the joints may be on their way back to where they were stopped.
        """
        self.measured.append((now, np.where(np.isfinite(measured), measured, self.limits.lower)))
        while now - self.measured[0][0] > LED * SECOND:
            self.measured.popleft()
        places_seen = np.stack([seen for _, seen in self.measured])
        self.least = np.minimum(self.limits.lower, places_seen.min(axis=0))
        self.most = np.maximum(self.limits.upper, places_seen.max(axis=0))
        for k, place, time in zip(joints, places.tolist(), times.tolist(), strict=True):
            self._see(k, place, time, now, float(measured[k]), returns)

    def _see(self, k, place, time, now, measured, returns):
        limits, name = self.limits, self.limits.names[k]
        lower, upper = limits.lower[k], limits.upper[k]
        v, a = float(limits.velocity[k]), float(limits.acceleration[k])
        if abs(self.speed[k]) <= a * (now - self.time[k]) / SECOND:
            self.strong[k] = a
        is_weaker, a = a < self.strong[k], float(self.strong[k])
        if self.place[k] is None:
            self.place[k] = measured if math.isfinite(measured) else min(max(place, lower), upper)
            self.time[k] = now - round(START * SECOND)
        least, most = min(self.least[k], self.place[k]), max(self.most[k], self.place[k])
        assert least <= place <= most, f'{name} at {place}, its range is {lower} to {upper}'
        assert now - round(self.slot * SECOND) - 2 <= time <= now, f'{name} is late: {now - time}'
        assert time >= self.time[k], f'{name}: time runs back'
        h, way = (time - self.time[k]) / SECOND, place - self.place[k]
        self.before[k], self.lasted[k] = (self.place[k], h, self.speed[k]), h
        if h == 0.0:
            assert way == 0.0, f'{name} jumps by {way} in no time'
        else:
            speed, rounding = way / h, 1e-14 / h
            fast = max(v, abs(self.speed[k]) - a * h)
            assert abs(speed) <= fast * (1 + 1e-6) + rounding, f'{name} at {speed}, limit {v}'
            is_slower = abs(speed) <= abs(self.speed[k]) * (1 + 1e-6) + 1e-7 / h
            assert is_slower or not is_weaker or returns, f'{name} does not brake: {speed}'
            gain = abs(speed - self.speed[k]) / h
            bound = a * (1 + 1e-6) + 1e-7 / h + rounding / h
            assert gain <= bound, f'{name} gains {gain} per s, limit {a}, in {h} s'
            self.speed[k] = speed
        for then, there, fast in reversed(self.past[k]):
            v = max(v, fast)
            most = v * ((now - then) / SECOND + self.slot) * (1 + 1e-6) + 1e-9
            assert abs(place - there) <= most, f'{name} went {place - there}, at most {most}'
        self.past[k].append((now, place, max(float(limits.velocity[k]), abs(self.speed[k]))))
        self.silent[k] = (now - self.sent[k]) / SECOND
        self.place[k], self.time[k], self.sent[k] = place, time, now

    def check_near(self, joints, measured, longest):
        """A joint that was sent nothing for longer than `longest` (s) starts near where it is
        measured, if the time was enough.
        """
        for k in joints:
            if k == len(self.limits.names) - 1:  # the gripper squeezes
                continue
            before, h, speed = self.before[k]
            if self.silent[k] <= longest:
                continue
            v, a = float(self.limits.velocity[k]), float(self.limits.acceleration[k])
            aim = float(measured[k])
            way = abs(aim - before)
            if way <= v * h / 2 and way <= a * h * h / 4 and abs(speed) <= a * h / 4:
                left, slot = abs(aim - self.place[k]), min(a * START**2, v * START)
                assert left <= NEAR + slot + 1e-9, f'{self.limits.names[k]} is {left} away'
