# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact from a force-torque sensor that carries a tool."""

from __future__ import annotations

from math import exp, isfinite, isinf, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.detection import Detection, unknown
from frame_ros.sensing.contact.sensitivity import SETTLED, UNKNOWN, Sensitivity
from frame_ros.sensing.contact.source import ContactSource
from frame_ros.sensing.contact.threshold import Threshold
from frame_ros.sensing.contact.wrench.block import BLOCK, BlockBuffer
from frame_ros.sensing.contact.wrench.drift import BiasDrift
from frame_ros.sensing.contact.wrench.filter import CausalLowPass
from frame_ros.sensing.contact.wrench.free_space import FreeSpace
from frame_ros.sensing.contact.wrench.hung_weight import HungWeight
from frame_ros.sensing.contact.wrench.options import ROOM, WrenchOptions
from frame_ros.sensing.contact.wrench.payload import Payload, PayloadEstimator
from frame_ros.sensing.contact.wrench.tare import TareResult, WrenchTare
from frame_ros.sensing.contact.wrench.tool_model import Tool, ToolLoad, norm
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotion
from frame_ros.sensing.contact.wrench.upward_pull import UpwardPull
from frame_ros.sensing.contact.wrench.weight_place import hidden, widening

Array = NDArray[np.float64]
_WRENCH = int(ContactSource.WRENCH)
_NONE = unknown(0)
_POINT = unknown(3)
# Hz, of the low-pass behind which pushes are looked for while the arm shakes: its gears do so at
# ten to thirty, and a push of 50 ms passes by nine tenths.
SLOW_CUTOFF = 8.0
_SIX = unknown(6)
for _constant in (_NONE, _POINT, _SIX):
    _constant.flags.writeable = False


class WrenchContact:
    """Detects whether something touches the tool beyond a force-torque sensor, sample by sample.

    The weight and inertia of the tool (and of the payload, once known) are subtracted from each
    sample; the rest goes through one causal low-pass, loses the bias, and is compared with the
    thresholds: the largest of force norm, torque norm and single axes, each as a share of its
    threshold. The inertia goes through the same low-pass, so phases agree; its possible error
    widens the thresholds for as long as it lasts. Infrequent joint states, or those without
    velocities, show accelerations late: the beginning of a motion is not seen yet, so the
    thresholds are then wider by the tool's possible inertia, even at rest.

    The thresholds follow what free space reads: lower while the arm stands, higher by vibration
    (`FreeSpace`); where the arm shakes, what passes a slower low-pass counts, too, by thresholds of
    its own; the bias follows drift and cables (`BiasDrift`); a weight that nobody announced
    becomes part of the tool, with a warning (`HungWeight`).

    Tare, drift of the bias and payload are worked out per block of 50 ms, which begins at the first
    sample and again whenever `is_holding` changes. The first tare begins by itself and goes on
    until the sensor has been at rest for its window; until then contact is unavailable.

    A sample whose stamp is not after the last is counted in `late`, and returns the last detection
    again. After a gap, or a clock that fell back, the filter starts again; the bias stays.
    """

    def __init__(self, settings: WrenchOptions, tool: Tool, bias: ArrayLike | None = None) -> None:
        """bias: (6,) N and N m, as force on the tool, if known: then no tare begins by itself."""
        self.settings = settings
        self.tool = tool
        self.late = 0
        # (6,) N and N m, of the sensor, as force on the tool.
        self.bias: Array | None = None if bias is None else np.array(bias, dtype=np.float64)
        self.tare_result: TareResult | None = None  # of the last tare that has ended
        self.share = 0.0  # of the threshold that the newest sample reached
        self.filter = CausalLowPass(settings.cutoff)
        self.slow = CausalLowPass(min(SLOW_CUTOFF, settings.cutoff))
        self.threshold = Threshold(1.0, settings.hysteresis, settings.on_time, settings.off_time)
        self.load = ToolLoad(tool)
        self.block: BlockBuffer | None = None
        self.last: int | None = None
        self.gap = int(settings.gap * SECOND)
        self.gravity = (0.0, 0.0, 0.0)  # in the sensor's axes at the newest sample
        self.peak = (0.0, 0.0)  # what the thresholds are widened by, N and N m
        self.is_at_rest = False
        self._tare = WrenchTare(settings)
        self.free = FreeSpace(settings)
        self.hung = HungWeight(settings, tool.gravity)
        self._upward = UpwardPull(settings, tool)
        self._drift = BiasDrift(settings)
        self._payload = PayloadEstimator(settings, norm(*tool.gravity))
        self.newest = Detection(0, _WRENCH, None, unavailable='no wrench yet')  # also if late
        self._set_constants()
        if self.bias is None:
            self._tare.start(is_patient=True)

    @property
    def delay(self) -> float:
        """Delay of the filtered wrench, s."""
        return self.filter.delay

    @property
    def sensitivity(self) -> Sensitivity:
        """The force at the tip that reaches the threshold of force or torque now."""
        if self.newest.is_contact is None:
            return UNKNOWN
        settings, (force, torque) = self.settings, self.peak
        more_force, more_torque = self.free.vibration
        least, twist = self.limits
        force += min(least, *(each + more_force for each in self.axes[:3]))
        torque += min(twist, *(each + more_torque for each in self.axes[3:])) + self.unknown_torque
        lever = max(norm(*settings.tip), 1e-9)
        return Sensitivity(min(force, torque / lever), SETTLED * self.delay + settings.on_time)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons for which contact is less sure, in words."""
        unsure = hidden(self.unknown_torque, self.settings.torque_on)
        parts = self._drift, self.hung, self._upward, self.free
        return tuple(filter(None, (*(part.warning for part in parts), unsure)))

    @property
    def unknown_torque(self) -> float:
        """N m by which the threshold is wider, as it is not known where weights act."""
        return widening(self._payload.unknown, self.hung.unknown, self.settings.torque_on)

    @property
    def payload(self) -> Payload:
        """The payload that the gripper holds."""
        return self._payload.payload

    def tare(self) -> None:
        """Begins a tare with the next block of samples, whose result is in `tare_result`, None
        until then.

        A refused tare keeps the bias as it was; without any, tares go on by themselves.
        """
        self.end_block()
        self._tare.start()
        self.tare_result = None

    def cancel_tare(self, why: str) -> None:
        """Refuses the tare that is under way, if any."""
        if self._tare.is_running:
            self._finish(self._tare.interrupt(why, self.last or 0, self.bias))

    def update(
        self, stamp: int, wrench: ArrayLike, motion: ToolMotion, is_holding: bool | None = None
    ) -> Detection:
        """Takes one sample.

        Args:
            stamp: ns.
            wrench: (6,) N and N m, in the sensor's axes about its origin.
            motion: of the sensor at this stamp.
            is_holding: whether the gripper holds something; None: unknown: no payload is taken off.

        Raises:
            ShapeError: the wrench is not (6,).
        """
        wrench = np.asarray(wrench, dtype=np.float64)
        if wrench.shape != (6,):
            raise ShapeError(f'a wrench of shape {wrench.shape}; (6,) is expected')
        step = self._step(stamp)
        if step is None:
            return self.newest
        if motion.unavailable:
            return self._interrupt(stamp, motion.unavailable)
        rotation = motion.rotation.ravel().tolist()
        self.gravity = gravity = self.load.gravity(rotation)
        row = self._values(wrench.tolist(), rotation, gravity, motion)
        if not isfinite(sum(row)):
            return self._interrupt(stamp, 'the wrench, or the motion of the sensor, is not finite')
        self.last = stamp
        if step > self.gap:
            why = f'no wrench for {step / SECOND:.3f} s; the filter starts again'
            return self._interrupt(stamp, why)
        if self.roll(stamp, is_holding):
            row = self._values(wrench.tolist(), rotation, gravity, motion)
        filtered = self.filter.update(step, np.array(row)).tolist()
        slow = self.slow.update(step, np.array(row[:6])) - (0.0 if self.bias is None else self.bias)
        is_over = self._compare(stamp, step, filtered, slow, motion.is_moving is False)
        moving = -1 if motion.is_moving is None else int(motion.is_moving)
        assert self.block is not None
        values = row[:6] + list(gravity) + filtered[:6] + slow.tolist()
        self.block.add(stamp, values, self.share, is_over, moving, rotation, motion.speed)
        return self.detect(stamp, filtered, rotation, is_over)

    def reset(self) -> None:
        """Forgets all samples, and the payload; keeps the bias."""
        self.restart()
        self._tare.restart()
        self._drift.reset()
        self._payload.reset()
        self.hung.reset()
        self._upward.reset()
        self.load = ToolLoad(self._carried())
        self.last = None

    def change(self, settings: WrenchOptions) -> None:
        """Takes other values of the options that are live, from the next sample on."""
        self.settings = settings
        self.threshold.change(1.0, settings.hysteresis, settings.on_time, settings.off_time)
        for part in (self.free, self.hung, self._drift, self._payload):
            part.change(settings)
        self._set_constants()

    def _set_constants(self) -> None:
        settings = self.settings
        self.sign = 1.0 if settings.is_force_on_tool else -1.0
        self.axes = settings.axes_on
        self.has_axes = not all(map(isinf, self.axes))
        self.swing = 2.0 * pi * settings.motion_bandwidth

    def _step(self, stamp: int) -> int | None:
        """Returns ns since the last sample; None if it comes late."""
        if self.last is None:
            return 0
        step = stamp - self.last
        if step > 0:
            return step
        if -step > self.gap:
            self.restart()
            self._tare.restart()
            self._drift.hold(stamp)
            self.free.reset()
            self._payload.interrupt(stamp)
            return 0
        self.late += 1
        return None

    def _values(
        self,
        wrench: list[float],
        rotation: list[float],
        gravity: tuple[float, float, float],
        motion: ToolMotion,
    ) -> list[float]:
        """Returns 8 values: the wrench beyond the tool, and its possible errors, N and N m."""
        load, sign = self.load, self.sign
        own = load.weight(gravity)
        most = self.settings.unknown_acceleration
        inertial = None if motion.noise > most else load.inertial(rotation, motion)
        force, torque = self._unseen(motion)
        if inertial is None:
            if motion.is_moving is not False:
                force = load.tool.mass * most
                torque = force * self._lever()
            return [*(sign * w - a for w, a in zip(wrench, own)), force, torque]
        row = [sign * w - a - b for w, a, b in zip(wrench, own, inertial)]
        gain = min(self.settings.inertial_gain + self.swing * motion.delay, 1.0)
        row.append(max(gain * norm(*inertial[:3]), force))
        row.append(max(gain * norm(*inertial[3:]), torque))
        return row

    def _unseen(self, motion: ToolMotion) -> tuple[float, float]:
        """Returns N and N m of the inertia's possible error though none is seen. Late accelerations
        may have changed by `unknown_acceleration`, as far as `motion_bandwidth` lets them in that
        time; or they scatter. The thresholds' own allowance is not counted.
        """
        settings = self.settings
        late = settings.unknown_acceleration * min(self.swing * motion.delay, 1.0)
        force = self.load.tool.mass * max(late, min(motion.noise, settings.unknown_acceleration))
        return (
            max(force - ROOM * settings.force_on, 0.0),
            max(force * self._lever() - ROOM * settings.torque_on, 0.0),
        )

    def _lever(self) -> float:
        """Returns m from the sensor to the centre of mass."""
        return norm(*self.load.tool.centre_of_mass)

    def roll(self, stamp: int, is_holding: bool | None) -> bool:
        """Begins a new block at its first sample; returns whether that changed the tool."""
        block = self.block
        if block is None:
            self.block = BlockBuffer(stamp, is_holding)
            for weight in (self._payload, self.hung):
                weight.look(np.array(self.gravity))
            return False
        if stamp - block.start < BLOCK and is_holding == block.is_holding:
            return False
        before = self.load
        self.end_block()
        self.block = BlockBuffer(stamp, is_holding)
        if not is_holding and self.payload.mass:
            self._payload.reset()
            self._carry()
        return self.load is not before

    def end_block(self) -> None:
        """Works out tare, drift and payload from the block so far, and ends it."""
        block = None if self.block is None else self.block.close()
        self.block = None
        if block is None:
            return
        if self._tare.is_running:
            self._finish(self._tare.update(block, self.bias))
        if self.bias is None:
            return
        payload = self.payload
        if self._payload.update(block, self.bias) is not payload:
            self._carry()
        self.free.update(block)
        self._upward.update(block, self.hung.payload.mass)
        self.bias = self._drift.update(block, self.bias, self.free.intensity)
        if self._drift.is_as_before:
            self.threshold.end()
        if self.hung.update(block, self.bias):
            self._carry()
            self.bias = self.bias + self.hung.bias_change
            self._drift.follow_from(self.bias, self.hung.shift)

    def _finish(self, result: TareResult | None) -> None:
        if result is None:
            return
        self.tare_result = result
        if result.is_accepted and result.bias is not None:
            self.bias = result.bias
            self._drift.anchor(result.bias)
            self.hung.tare(result.bias)
        elif self.bias is None and not self._tare.is_running:
            self._tare.start(is_patient=True)

    def _carry(self) -> None:
        """Makes what is held or hangs part of the tool, without a jump in the filter."""
        before = self.load
        self.load = ToolLoad(self._carried())
        gravity = self.gravity
        change = np.zeros(8)
        change[:6] = np.subtract(before.weight(gravity), self.load.weight(gravity))
        self.filter.shift(change)
        self.slow.shift(change[:6])

    def _carried(self) -> Tool:
        """Returns the tool with what it holds, and what hangs on it."""
        held, hung = self.payload, self.hung.payload
        tool = self.tool.with_payload(hung.mass, hung.position)
        return tool.with_payload(held.mass, held.position)

    @property
    def limits(self) -> tuple[float, float]:
        """Thresholds of force and torque at the newest sample, without what its inertia adds."""
        return self.limits_at(self.is_at_rest)

    def limits_at(self, is_at_rest: bool) -> tuple[float, float]:
        """Returns the thresholds of force and torque, N and N m, while it stands or not."""
        return self.free.limits(is_at_rest)

    def _compare(
        self, stamp: int, step: int, filtered: list[float], slow: Array, is_at_rest: bool
    ) -> bool:
        """Returns whether there is contact; removes the bias from `filtered`."""
        self.is_at_rest, settings = is_at_rest, self.settings
        if self.bias is None:
            self.share = 0.0
            return False
        for i, value in enumerate(self.bias.tolist()):
            filtered[i] -= value
        fade = exp(-step / (settings.peak_time * SECOND)) if settings.peak_time else 0.0
        force_more = max(filtered[6], self.peak[0] * fade, 0.0)
        torque_more = max(filtered[7], self.peak[1] * fade, 0.0)
        self.peak = (force_more, torque_more)
        torque_more += self.unknown_torque
        fx, fy, fz, tx, ty, tz = filtered[:6]
        force_on, torque_on = self.limits
        share = max(
            sqrt(fx * fx + fy * fy + fz * fz) / (force_on + force_more),
            sqrt(tx * tx + ty * ty + tz * tz) / (torque_on + torque_more),
        )
        if self.has_axes:
            force, torque = self.free.vibration
            force_more, torque_more = force_more + force, torque_more + torque
            for i, value in enumerate(filtered[:6]):
                more = force_more if i < 3 else torque_more
                share = max(share, abs(value) / (self.axes[i] + more))
        if self.free.slow_limits is not None:
            wider = np.array([(self.peak[0], self.peak[1] + self.unknown_torque)])
            share = max(share, float(self.free.slow_shares(slow[None], wider)[0]))
        self.share = share
        return self.threshold.update(stamp, share)

    def detect(
        self, stamp: int, external: list[float], rotation: list[float], is_over: bool
    ) -> Detection:
        """Returns the detection of a sample, `newest` from now on.

        Args:
            external: 6 values, in the sensor's axes.
            rotation: 9 values.
        """
        if self.bias is None:
            self.newest = self._unavailable(stamp, self.why_not_tared())
        else:
            self.newest = self._detect(stamp, external, rotation, is_over)
        return self.newest

    def _detect(
        self, stamp: int, external: list[float], r: list[float], is_over: bool
    ) -> Detection:
        fx, fy, fz, tx, ty, tz = external[:6]
        px, py, pz = self.settings.tip
        tx, ty, tz = tx - py * fz + pz * fy, ty - pz * fx + px * fz, tz - px * fy + py * fx
        wrench = np.array(
            [
                r[0] * fx + r[1] * fy + r[2] * fz,
                r[3] * fx + r[4] * fy + r[5] * fz,
                r[6] * fx + r[7] * fy + r[8] * fz,
                r[0] * tx + r[1] * ty + r[2] * tz,
                r[3] * tx + r[4] * ty + r[5] * tz,
                r[6] * tx + r[7] * ty + r[8] * tz,
            ]
        )
        force = sqrt(fx * fx + fy * fy + fz * fz)
        normal = wrench[:3] / force if is_over and force > 0 else _POINT
        return Detection(
            stamp, _WRENCH, is_over, force, wrench, '', _POINT, normal, '', (), _NONE, _NONE, (),
            self.share,
        )  # fmt: skip

    def why_not_tared(self) -> str:
        """Returns why contact is unknown before the first tare."""
        refused = self.tare_result
        return f'not tared yet: {refused.reason}' if refused else 'not tared yet'

    def _unavailable(self, stamp: int, why: str) -> Detection:
        return Detection(
            stamp, _WRENCH, None, np.nan, _SIX, '', _POINT, _POINT, why, (), _NONE, _NONE, ()
        )

    def _interrupt(self, stamp: int, why: str) -> Detection:
        """Returns the detection of an unusable sample."""
        self.restart()
        self.last = stamp
        if self._tare.has_begun:
            self._finish(self._tare.interrupt(why, stamp, self.bias))
        self._drift.hold(stamp)
        self.free.reset()
        self._payload.interrupt(stamp)
        self.newest = self._unavailable(stamp, why)
        return self.newest

    def restart(self) -> None:
        """Forgets the samples, not the bias."""
        self.filter.reset()
        self.slow.reset()
        self.threshold.reset()
        self.block = None
        self.share = 0.0
        self.peak = (0.0, 0.0)
