# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps a stream of joint commands within limits, whatever the stream does next.

The state is what was sent: the place p of each joint, its velocity v, the difference of the last
two places over the time h between them, and the stream's time at which it is there. Commands,
holding, braking and starting again differ only in where the joints are to go; all of them take the
same step to p + w h, where w lies within v -+ a h, within -+ the velocity limit, and the joint can
still come to rest before its position limit. Nothing resets the state: no transition assumes rest,
and none gets more time than has passed.

Time. A command that came late leaves `jitter` s at most of its lateness to the next one, which
comes early by as much: the stream's time is never ahead of the clock, and behind it by at most this
slot. So over any time t a joint moves no farther than the velocity limit times (t + jitter). Rest
is always possible in steps as long as the slot (see `braking`). If a command comes so early that
the time is too short for any step, the last place is sent once more.

In the workspace the way to rest must be known as a whole. All joints of the arm brake in
proportion, which is a straight way in joint space but for joints that their limits stop earlier,
and a command is accepted if that way stays inside; if not, the largest part of it beyond braking
that does. A moving joint of the arm that a command leaves out brakes along with it.

Limits may be lowered while the joints move. A joint faster than its velocity limit brakes. With a
lower acceleration it might not stop before its position limit, or in the workspace; so it brakes
at the former one until the lower suffices to come to rest within the next step.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.gate.limits import joint_step
from frame_ros.gate.limits.command_excess import ROUNDING, excesses, far_from_measured, lagging
from frame_ros.gate.limits.command_limits import ACCELERATION, Excess, JointLimits
from frame_ros.gate.limits.command_step import Proposal, Step
from frame_ros.gate.limits.workspace import Workspace
from frame_ros.gate.limits.workspace_check import WorkspaceCheck

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Times = NDArray[np.int64]
Mask = NDArray[np.bool_]

SHORTEST = 1_000  # ns: no step is shorter
START = 1 / 30  # s that an arm counts as having been where it is measured when it is sent first
REMEMBERED = 16  # commands whose mean distance in time is the stream's period


class CommandLimiter:
    """The stream of commands to one robot.

    Args:
        limits: of its D joints.
        workspace: of the arm, whose joints are among them.
        jitter: s, see above.
        longest: s after which a command counts as the first after a pause.

    Attributes:
        limits, started: those in force, and those it was made with.
        positions, velocities: (D,) of the last commands, rad or m, NaN for joints without any.
        requested: (D,) of the last requests, before they were limited; where a joint was sent
            without one.
        times: (D,) ns, the stream's time of the last commands.
        base: (D,) where a joint is to start again before it goes on, NaN for none.
        longest: as above, but in ns.
    """

    def __init__(
        self,
        limits: JointLimits,
        workspace: Workspace | None = None,
        jitter: float = 0.02,
        longest: float = 0.1,
    ) -> None:
        self.limits = self.started = self._wanted = limits
        self._workspace = workspace
        self._whole_check = WorkspaceCheck(workspace, limits, jitter) if workspace else None
        self._jitter, self._slot = jitter, round(jitter * SECOND)
        self.longest, self._start = round(longest * SECOND), round(START * SECOND)
        size = len(limits.names)
        self.positions: Array = np.full(size, math.nan)
        self.velocities: Array = np.zeros(size)
        self.times: Times = np.zeros(size, dtype=np.int64)
        self._sent: Times = np.zeros(size, dtype=np.int64)
        self.base: Array = np.full(size, math.nan)
        self.requested: Array = np.full(size, math.nan)
        self._asked: Array = np.zeros(size)
        self._cause: str = ACCELERATION
        self._is_sent = np.zeros(size, dtype=bool)
        self._gaps: deque[int] = deque(maxlen=REMEMBERED)
        self._last = 0
        self._use_wanted(0)

    def limit_to(self, limits: JointLimits, tip_speed: float = 0.0) -> None:
        """Takes other rates and distances, each at most the one at the start.

        tip_speed: m/s, of a workspace that has none or a higher one; 0: any.
        """
        self._wanted = limits.at_most(self.started)
        if self._workspace is not None:
            self._workspace.speed = tip_speed
        self._use_wanted(self.times)

    def _use_wanted(self, time: int | Times) -> None:
        """Takes the wanted limits into force for commands at `time` (ns), a lower acceleration only
        for joints that can come to rest with it at once.
        """
        wanted, before = self._wanted, self.limits.acceleration
        is_fast = np.abs(self.velocities) > wanted.acceleration * (time - self.times) / SECOND
        self._waits = is_fast & (wanted.acceleration < before)
        strength = np.where(self._waits, before, wanted.acceleration)
        self.limits = limits = replace(wanted, acceleration=strength)
        is_limited = self._workspace is not None and self._workspace.is_limited
        self._check = self._whole_check if is_limited else None
        if self._check is not None:
            self._check.limits = limits
        # Speeds from which a joint that gets no more commands may stop abruptly, wherever it is.
        longest = self.longest / SECOND
        self._gentle = np.minimum(
            longest * limits.acceleration, 2.0 * np.sqrt(limits.acceleration * limits.tick)
        )
        stopping = limits.velocity**2 / (2.0 * limits.acceleration)
        # Per joint: the range in which nothing need brake before its ends, and its other limits.
        columns = (limits.lower + stopping, limits.upper - stopping, limits.velocity)
        others = (limits.acceleration, limits.tick, limits.step)
        self._simple = list(zip(*(c.tolist() for c in (*columns, *others)), strict=True))

    def begin(self, positions: Array, time: int) -> None:
        """Starts joints that were never commanded at rest at these positions (D,), in range or not.

        NaN: unknown; such a joint begins at its first command. time: ns.
        """
        if self._is_sent.all():
            return
        new = ~self._is_sent & np.isfinite(positions)
        self.positions[new] = self.requested[new] = positions[new]
        self.times[new] = self._sent[new] = time - self._start

    def start_again(self, which: Mask, positions: Array) -> None:
        """Sends the joints `which` (D,) to these positions (D,) first, as fast as they may go. They
        then go on with the stream; NaN: at once.
        """
        self.base = np.where(which, positions, self.base)

    def go_on(self) -> None:
        """Lets every joint go on with the stream at once."""
        self.base = np.full(len(self.base), math.nan)

    def comes_in(self) -> Mask:
        """Returns (D,) whether a joint is outside its range, and on its way back into it."""
        with np.errstate(invalid='ignore'):
            is_below = (self.positions < self.limits.lower) & (self.velocities > 0.0)
            is_above = (self.positions > self.limits.upper) & (self.velocities < 0.0)
        return is_below | is_above

    def turn(self, by: Array) -> None:
        """Counts joints from another turn, by (D,) rad, whole ones: none moves by that."""
        self.positions = self.positions + by
        self.requested = self.requested + by

    def set_back(self, by: int) -> None:
        """Notes that the stream's clock was set back by so many ns, in no time."""
        self.times -= by
        self._sent -= by
        self._last -= by

    def has_paused(self, time: int) -> Mask:
        """Returns (D,) whether a joint has had no command for longer than a period may be."""
        result: Mask = time - self._sent > self.longest
        return result

    def is_fast(self, time: int) -> bool:
        """Returns whether the joints would stop too fast without a command until `time` (ns)."""
        i, h = np.flatnonzero(self._is_sent), (time - self.times) / SECOND
        return bool((np.abs(self.velocities[i]) > self.limits.acceleration[i] * h[i]).any())

    def is_moving(self, time: int) -> bool:
        """Returns the same; also true while joints are on their way to where they start again."""
        return self.is_fast(time) or bool(np.isfinite(self.base[self._is_sent]).any())

    def deadline(self) -> int | None:
        """Returns when (ns) the joints must be braked if no command comes; None: never. Later they
        would stop faster than they may, or could not be braked in steps within the tick limit.
        """
        speed, a = np.abs(self.velocities), self.limits.acceleration
        if (speed <= self._gentle).all():
            return None
        longest = self.longest / SECOND
        waits = np.where(speed > a * longest, longest, math.inf)
        square = speed * speed - 4.0 * a * self.limits.tick
        with np.errstate(invalid='ignore'):
            waits = np.minimum(
                waits, np.where(square > 0.0, (speed - np.sqrt(square)) / (2.0 * a), math.inf)
            )
        worst = np.isfinite(waits)
        if not worst.any():
            return None
        return int(np.min(self.times[worst] + (waits[worst] * SECOND).astype(np.int64)))

    def propose(
        self, indices: Indices, requested: Array, time: int, measured: Array | None = None
    ) -> Proposal:
        """Returns the command to send for a request (K,) to the joints `indices` at `time` (ns). A
        joint without a command yet begins at this one. measured: (D,) positions, NaN where not
        measured; None: no step limit.
        """
        if self._waits.any():
            self._use_wanted(time)
        waits = self._waits[indices]
        if not waits.any():
            return self._proposal(indices, requested, time, measured)
        found = self._proposal(indices, np.where(waits, math.nan, requested), time, measured)
        lags = np.where(waits, np.abs(requested - self.positions[indices]), 0.0)
        excess = lagging(self.limits, indices, lags, ACCELERATION)
        return replace(found, excesses=(*found.excesses, excess))

    def _proposal(
        self, indices: Indices, requested: Array, time: int, measured: Array | None
    ) -> Proposal:
        indices, requested = self._with_moving(indices, requested)
        harmless = self._harmless(indices, requested, time, measured)
        if harmless is not None and self._is_clear(harmless):
            return harmless
        step = self._next_step(indices, requested, time, measured)
        if harmless is not None and (harmless.times == harmless.times[0]).all():
            step.h = harmless.durations
            check, speeds = self._check, harmless.velocities
            if check is None or check.problem(self.positions, step, speeds, requested) is None:
                return harmless
        goes_on = np.isinf(step.room)
        least = np.maximum(step.available - self._slot, 0)
        regular = np.clip(self._period(time), least, step.available)
        regular = self._common_times(step, np.where(goes_on, regular, step.available))
        proposals: list[Proposal] = []
        is_shorter = bool((regular < step.available).any())
        for span in (regular, step.available) if is_shorter else (step.available,):
            proposals.append(self._limited(step, span, time))
            if not proposals[-1].excesses and not proposals[-1].is_repeat:
                return proposals[-1]
        return proposals[-1] if proposals[0].is_repeat else proposals[0]

    def commit(self, proposal: Proposal) -> Array:
        """Makes a proposal the last command; returns its positions (K,)."""
        i, time = proposal.indices, proposal.time
        self._asked[i] = proposal.asked
        self.requested[i] = proposal.requested
        if proposal.excesses:
            self._cause = proposal.excesses[0].cause
        self.positions[i] = proposal.positions
        self.velocities[i] = proposal.velocities
        self.times[i], self._sent[i] = proposal.times, time
        self._is_sent[i] = True
        if proposal.is_there is not None:
            self.base[i[proposal.is_there]] = math.nan
        if 0 <= time - self._last <= self.longest:
            self._gaps.append(time - self._last)
        self._last = time
        return proposal.positions

    def brake(self, time: int, which: Mask) -> Proposal | None:
        """Commits the next braking command to those of the joints `which` (D,) that were commanded.

        They go to where they start again, or to rest. time: ns. None: there are no such joints.
        """
        i = np.flatnonzero(which & self._is_sent)
        if not i.size:
            return None
        if self._waits.any():
            self._use_wanted(time)
        step = self._next_step(i, self.base[i], time, None)
        # Who paused on its way is still where it was sent last.
        step.center = np.where(self.has_paused(time)[i], step.p, step.center)
        found = self._limited(step, step.available, time)
        self.positions[i], self.velocities[i] = found.positions, found.velocities
        self.times[i], self._sent[i] = found.times, time
        self.requested[i], self._asked[i] = found.positions, found.velocities
        is_there = np.abs(self.positions[i] - self.base[i]) <= ROUNDING
        self.base[i[is_there]] = math.nan
        return found

    def _harmless(
        self, indices: Indices, requested: Array, time: int, measured: Array | None
    ) -> Proposal | None:
        """Returns the command unchanged if simple checks show that it keeps to all joint limits.
        That is so if it goes on from the last slowly enough, far from where any joint must brake:
        nearly always. It costs a third of `_limited`, with the same result.
        """
        period, slot, longest = self._period(time), self._slot, self.longest
        state = (self.positions, self.requested, self.velocities, self.base)
        sent, asked, speeds, bases = [values.tolist() for values in state]
        times, since, table = self.times.tolist(), (time - self._sent).tolist(), []
        places = measured.tolist() if measured is not None else sent
        requests = requested.tolist()
        for k, i in enumerate(indices.tolist()):
            q, p, v, available = requests[k], sent[i], speeds[i], time - times[i]
            lower, upper, fastest, a, tick, room = self._simple[i]
            if p != asked[i] or not lower <= q <= upper or abs(q - p) > tick:
                return None
            span = min(max(period, available - slot), available)
            if span < SHORTEST or since[i] > longest or bases[i] == bases[i]:
                return None
            if abs(q - places[i]) > room:
                return None
            h = span / SECOND
            w = (q - p) / h
            if abs(w) > fastest or abs(w - v) > a * h:
                return None
            table.append((w, h, times[i] + span))
        velocities, durations, reached = zip(*table, strict=True)
        w_all = np.array(velocities)
        return Proposal(
            indices, requested, w_all, requested, w_all, np.array(durations),
            np.array(reached, dtype=np.int64), time,
        )  # fmt: skip

    def _with_moving(self, indices: Indices, requested: Array) -> tuple[Indices, Array]:
        """Adds to the command, in a workspace, the moving joints of the arm that it leaves out."""
        if self._check is None or len(indices) == len(self.positions):
            return indices, requested
        arm = self._check.arm
        if not np.isin(indices, arm).any():
            return indices, requested
        left_out = np.setdiff1d(arm[self.velocities[arm] != 0.0], indices)
        if not left_out.size:
            return indices, requested
        nowhere = np.full(len(left_out), math.nan)
        return np.append(indices, left_out), np.append(requested, nowhere)

    def _next_step(self, i: Indices, requested: Array, time: int, measured: Array | None) -> Step:
        limits, is_new = self.limits, ~np.isfinite(self.positions[i])
        inside = np.clip(requested, limits.lower[i], limits.upper[i])
        p = np.where(is_new, inside, self.positions[i])
        available = np.where(is_new, self._start, np.maximum(time - self.times[i], 0))
        base, v = self.base[i], self.velocities[i]
        has_base = np.isfinite(base)
        starts = has_base | (~is_new & self.has_paused(time)[i])
        g = np.minimum(min(self._period(time), self._start), available) / SECOND
        slow = np.minimum(limits.acceleration[i] * g * g, limits.velocity[i] * g)
        room = np.where(starts, np.minimum(slow, limits.tick[i]), math.inf)
        center = np.where(has_base, base, p)
        step = Step(
            i=i, p=p, v=v, q=requested, before=self.requested[i], asked=self._asked[i],
            measured=None if measured is None else measured[i], others=self.velocities.copy(),
            available=available, base=base, center=center, room=room, h=np.zeros(len(i)),
            lower=p, upper=p,
        )  # fmt: skip
        step.lower, step.upper = joint_step.ends(limits, step, self._jitter)
        return step

    def _period(self, time: int) -> int:
        """Returns the stream's own period, ns: the mean distance of the last commands."""
        count = len(self._gaps)
        if count >= 3:
            return sum(self._gaps) // count
        passed = time - self._last
        return passed if 0 < passed <= self.longest else self._start

    def _limited(self, step: Step, span: Times, time: int) -> Proposal:
        """Returns the allowed step nearest to the request, and the limits for which it differs."""
        i, p, q = step.i, step.p, step.q
        step.h = h = np.maximum(span, SHORTEST) / SECOND
        before, goes = step.before, np.isfinite(q)
        asked = np.where(goes, q - np.where(np.isfinite(before), before, p), 0.0) / h
        low, high = joint_step.bounds(self.limits, step, self._jitter)
        slack = ROUNDING * self.limits.velocity[i]
        can = (low <= high + slack) & (span >= SHORTEST)
        high = np.maximum(low, high)  # they are equal then, but for rounding
        exact, place = (q - p) / h, joint_step.place(self.limits, step)
        is_exact = (exact >= low - slack) & (exact <= high + slack) & (place == q)
        is_exact &= joint_step.is_met(self.limits, step, slack)
        tracking = joint_step.tracking(self.limits, step, place, self._jitter)
        w = np.where(goes, tracking, 0.0)
        w = np.where(is_exact, exact, np.clip(w, low, high))
        positions = np.where(is_exact, q, p + w * h)
        found: tuple[Excess, ...] = ()
        if not (is_exact & can)[goes].all():
            found = excesses(self.limits, step, self.requested, self._asked, self._jitter)
        if self._check is not None:
            w, positions, can, found = self._check.limited(
                self.positions, step, w, positions, can, found
            )
        positions = np.where(can, np.clip(positions, step.lower, step.upper), p)
        if (positions != q)[goes].any() and not found:
            lags = np.where(goes, np.abs(q - p), 0.0)
            found = (lagging(self.limits, i, lags, self._cause),)
        if (positions == q)[goes].all():
            far = far_from_measured(self.limits, step)
            found = () if far is None else (far,)
        w = np.where(can, (positions - p) / h, step.v)
        # A joint that cannot take a step yet goes on from where it was; one at rest has rested
        # until now.
        times = np.where(can, self.times[i] + span, np.where(step.v == 0.0, time, self.times[i]))
        times = np.where(np.isfinite(self.positions[i]), times, time)
        wanted = np.where(goes, q, positions)
        is_there = np.abs(positions - step.center) <= step.room
        is_repeat = not can.all()
        return Proposal(i, positions, w, wanted, asked, h, times, time, found, is_there, is_repeat)

    # The workspace.

    def _common_times(self, step: Step, span: Times) -> Times:
        """Returns the times (K,), ns, at which a workspace's joints arrive together."""
        if self._check is None:
            return span
        before, is_arm = self.times[step.i], np.isin(step.i, self._check.arm)
        latest = (before + span)[is_arm].max(initial=0)
        result: Times = np.where(is_arm, latest - before, span)
        return result

    def _is_clear(self, proposal: Proposal) -> bool:
        if self._check is None:
            return True
        return self._check.is_clear(self.positions, self.velocities, proposal)
